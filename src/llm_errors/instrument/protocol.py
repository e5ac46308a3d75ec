"""The interface of an adapter. This module imports neither wrapt nor OpenTelemetry nor an SDK."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Reader
from llm_errors.instrument.invocation import Invocation
from llm_errors.providers import Sdk


@unique
class Kind(Enum):
    """How a patched function behaves. It determines the wrapper."""

    CALL = "call"
    ASYNC_CALL = "async call"
    GENERATOR = "generator function"
    ASYNC_GENERATOR = "coroutine function that returns an async generator"
    ATTEMPT = "one attempt of a call, which raises when it fails"
    ASYNC_ATTEMPT = "one attempt, as a coroutine function"
    RETRY = "called between an attempt that failed and the next"
    ASYNC_RETRY = "called between attempts, as a coroutine function"
    CLOSE = "closes a stream or a raw response"
    ASYNC_CLOSE = "closes, as a coroutine function"
    PART = "method of a stream that returns one part of an answer, or raises instead"
    ASYNC_PART = "method that returns one part, as a coroutine function"
    OUTER_CALL = "call of a layer whose inner SDK may report it"
    ASYNC_OUTER_CALL = "the same as a coroutine function"


Function = Callable[..., Any]
Wrap = Callable[[Any, Function], Function]
"""Creates a wrapper from an `Edge` and the function. It replaces a `Kind` where no kind fits."""


@dataclass(frozen=True)
class Target:
    """A function to patch: `attribute` of class `owner` in `module`, or of the module itself if `owner` is empty.

    `when` decides from the class whether the installed version of the SDK needs this patch. If an `optional` target is
    missing, no warning is logged.
    """

    module: str
    owner: str
    attribute: str
    kind: Kind | Wrap
    when: Callable[[type], bool] | None = None
    optional: bool = False
    through: str = ""
    """For the close method of a stream helper: the attribute of the helper that holds the stream."""
    lost: str = ""
    """What is not observed if the target is missing, for the warning. By default, a text that depends on the kind."""
    undecorated: bool = False
    """Patch the function inside the SDK's own decorator, because names that were imported before refer to the decorator."""

    @property
    def name(self) -> str:
        """The name of the target in warnings and reports."""
        return f"{self.module}:{self.owner}.{self.attribute}"


class Adapter:
    """The adapter of an SDK family. The defaults suit most families; a subclass overrides what differs."""

    def __init__(self, row: Sdk) -> None:
        self.row = row
        """The row of the SDK in `providers`."""

    only_models = True
    """Whether applications usually import the SDK to call models. If not, its import does not load the code for failures."""

    def targets(self) -> Iterable[Target]:
        """The functions to patch."""
        return ()

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """The model call that begins with this call of the target, or None to ignore it.

        `instance` is the object of the called method; None if the target is a module function.
        """
        return None

    def is_of(self, call: Invocation, target: Target, instance: Any) -> bool:
        """Whether a method that runs inside the call belongs to it. By default, it must be a method of the same object."""
        return call.instance is instance

    def begin(self, call: Invocation) -> None:
        """Called before the SDK runs with `call.args` and `call.kwargs`, which may be changed, for example to add a hook."""

    def returned(self, call: Invocation, result: Any) -> None:
        """The SDK returned `result`. Settle the call, or follow the returned stream."""
        call.judge(result)

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence from an exception that only this adapter can read; None to use `extract.exceptions`."""
        return None

    def part(self, call: "Invocation", result: Any) -> None:
        """A method of a stream returned a part of the answer (`Kind.PART`)."""

    def attempt_failed(self, call: Invocation, kwargs: dict[str, Any]) -> Evidence | None:
        """Called between two attempts: evidence of the failed attempt, which the SDK retries by itself."""
        return None

    def attempt_returned(self, call: Invocation, result: Any) -> BaseException | Evidence | None:
        """The failure in the result of an attempt, for SDKs that return failures instead of raising them."""
        return None

    def info(
        self,
        *,
        operation: str,
        model: str | None,
        reader: Reader,
        provider: str = "",
        stream: bool = False,
        address: str | None = None,
        port: int | None = None,
        dialect: str = "",
        native_span: bool = False,
        background: bool = False,
    ) -> CallInfo:
        """Build a CallInfo from the row of the SDK. `provider` and `dialect` override the row."""
        return CallInfo(
            sdk=self.row.name,
            distribution=self.row.distribution,
            dialect=dialect or self.row.dialect,
            provider=provider or self.row.provider,
            operation=operation,
            model=model or None,
            stream=stream,
            address=address,
            port=port,
            reader=reader,
            native_span=native_span,
            background=background,
        )
