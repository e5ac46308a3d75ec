"""What an adapter must answer. No wrapt, no OpenTelemetry, no SDK."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, unique
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.providers import Sdk

if TYPE_CHECKING:
    from llm_errors.instrument.invocation import Invocation


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
    REFUSAL = "raises instead of calling the model: a framework's budget is spent"
    FEED = "async generator function that is given the model's stream of responses first"
    SPAN_END = "function of a module, given the client, the SDK's own span that it is about to end, and a result"
    BODY_END = "told how the reading of a body ended, before the SDK ends its own span"


@dataclass(frozen=True)
class Target:
    """A function to patch: `attribute` of class `owner` in `module`, or of the module itself if `owner` is empty.

    `when` tells from the class whether the SDK at hand wants this patch. A target that is `optional` may be missing
    silently.
    """

    module: str
    owner: str
    attribute: str
    kind: Kind
    when: Callable[[type], bool] | None = None
    optional: bool = False
    through: str = ""
    """Of a helper that can be closed: the attribute in which it holds the stream."""

    @property
    def name(self) -> str:
        """How reports name it."""
        return f"{self.module}:{self.owner}.{self.attribute}"


class Adapter(Protocol):
    """Everything the patcher asks of an SDK family."""

    @property
    def row(self) -> Sdk:
        """The SDK's row in the table."""
        ...

    def targets(self) -> Iterable[Target]:
        """Where to hook."""
        ...

    def describe(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """What call this is, or None to stay out: it is no model call."""
        ...

    def begin(self, call: "Invocation") -> None:
        """A last chance before the SDK runs with `call.args` and `call.kwargs`: some deliver their answer by a hook."""
        ...

    def returned(self, call: "Invocation", result: Any) -> None:
        """The SDK returned; settle, or follow what was returned."""
        ...

    def attempt_failed(self, call: "Invocation", kwargs: dict[str, Any]) -> Evidence | None:
        """What the SDK's own retry is about to hide."""
        ...


@runtime_checkable
class Framework(Protocol):
    """What the patcher asks of a framework that has budgets of its own."""

    def refused(self, instance: Any, exc: BaseException) -> CallInfo | None:
        """The run that an exception ends before a model was called; None if it is none of that kind."""
        ...
