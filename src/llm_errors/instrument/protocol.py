"""What an adapter must answer. No wrapt, no OpenTelemetry, no SDK."""

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
    """How a patched function behaves, and so which wrapper it gets."""

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
    ASYNC_PART = "such a method that is a coroutine function"
    OUTER_CALL = "call of a layer whose inner SDK may report it"
    ASYNC_OUTER_CALL = "the same as a coroutine function"


Function = Callable[..., Any]
Wrap = Callable[[Any, Function], Function]
"""Makes the wrapper of a function that only one SDK has: it is given an `Edge` and the function."""


@dataclass(frozen=True)
class Target:
    """A function to patch: `attribute` of class `owner` in `module`, or of the module itself if `owner` is empty.

    `when` tells from the class whether the SDK at hand wants this patch. A target that is `optional` may be missing
    silently.
    """

    module: str
    owner: str
    attribute: str
    kind: Kind | Wrap
    when: Callable[[type], bool] | None = None
    optional: bool = False
    through: str = ""
    """Of a helper that can be closed: the attribute in which it holds the stream."""

    @property
    def name(self) -> str:
        """How reports name it."""
        return f"{self.module}:{self.owner}.{self.attribute}"


class Adapter:
    """What the patcher asks of an SDK family. The answers given here suit most; a subclass overrides what is different."""

    def __init__(self, row: Sdk) -> None:
        self.row = row
        """The SDK's row in the table."""

    def targets(self) -> Iterable[Target]:
        """The functions to patch."""
        return ()

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """The call that begins with this call of the target, or None to stay out: it is no model call.

        `instance` is the object whose method was called; None where the target is a function of a module.
        """
        return None

    def is_of(self, call: Invocation, target: Target, instance: Any) -> bool:
        """Whether a method that runs inside the call serves it: by default one of the object whose call it is."""
        return call.instance is instance

    def begin(self, call: Invocation) -> None:
        """A last chance before the SDK runs with `call.args` and `call.kwargs`: some deliver their answer by a hook."""

    def returned(self, call: Invocation, result: Any) -> None:
        """The SDK returned: settle, or follow the stream that it returned."""
        call.judge(result)

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence of an exception that only this SDK's adapter can read; None to leave it to the neutral reader."""
        return None

    def part(self, call: "Invocation", result: Any) -> None:
        """A method of a stream returned a part of the answer (`Kind.PART`)."""

    def attempt_failed(self, call: Invocation, kwargs: dict[str, Any]) -> Evidence | None:
        """Between two attempts: evidence of the one that failed, which the SDK's own retry is about to hide."""
        return None

    def attempt_returned(self, call: Invocation, result: Any) -> BaseException | Evidence | None:
        """The failure inside what one attempt returned, where an SDK returns failures instead of raising them."""
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
        """The facts of a call, with what the SDK's row says; `provider` and `dialect` only where the row is not right."""
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
