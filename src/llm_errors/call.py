"""The contract between `instrument` and `telemetry`: what a call is, how it ended, and the recorder that receives both.

It imports no SDK and no OpenTelemetry.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from llm_errors.evidence import Evidence
    from llm_errors.extract.answer import Answer, Reader


class CallInfo(NamedTuple):
    """What is known about a call when it begins. The third argument of a `failure_hook`."""

    sdk: str
    """The SDK's name, as in `LLM_ERRORS_DISABLED_SDKS`."""
    distribution: str
    """The PyPI distribution of the SDK, as other instrumentations declare it in their dependencies."""
    dialect: str
    """The wire dialect of answers and errors, such as `openai`."""
    provider: str
    """`gen_ai.provider.name`."""
    operation: str
    """`gen_ai.operation.name`."""
    model: str | None
    """The requested model; None if the call names no model."""
    stream: bool
    address: str | None
    """The host name of the server, if it is known."""
    port: int | None
    reader: "Reader"
    """Reads the answer. Internal."""
    native_span: bool = False
    """Whether the SDK, or a framework around it, created a span for this call and made it current; it may be unsampled."""
    around: str = ""
    """The distribution of the instrumented layer that made this call, such as `litellm`."""
    background: bool = False
    """Whether the caller requested a background job, which continues after the SDK has returned."""


class CallOutcome(NamedTuple):
    """How a call ended. The recorder receives it once per call."""

    info: CallInfo
    evidence: "Evidence | None"
    cancelled: bool
    answer: "Answer"
    duration: float
    """In seconds."""
    ago: float
    """Seconds since the call ended. An answer may be read later than it arrived."""
    time_to_first_chunk: float | None
    retries: int
    counted: bool = False
    """Whether a nested SDK call was counted already. Then only the failure is counted."""


class CallRecorder(Protocol):
    """Receives the beginning and the end of every call."""

    def prepare(self) -> None:
        """An SDK was patched, so failures may follow: import what they need now."""
        ...

    def open(self, info: CallInfo, ago: float = 0.0) -> Any:
        """A call begins: find its span, or create one and make it current. None if instrumentation is suppressed.

        `ago` is how many seconds before now it began, for a call that is reported late.
        """
        ...

    def leave(self, scope: Any) -> None:
        """The SDK's code no longer runs in this context: stop making the span from `open` current."""
        ...

    def retried(self, info: CallInfo, evidence: "Evidence") -> None:
        """An attempt failed, and the SDK retries it by itself."""
        ...

    def close(self, scope: Any, ending: CallOutcome) -> None:
        """The call ended."""
        ...

    def agent_span(self, scope: Any = None) -> Any:
        """The current span, or the one around a call, if it records the run of an agent or a chain; else None."""
        ...

    def open_on(self, info: CallInfo, agent: Any, create: bool) -> Any:
        """A failure that a framework detects is reported: on the span of the agent while it is recording.

        Otherwise a span is created as for `open`, if `create` is true. None if instrumentation is suppressed.
        """
        ...

    def enclosing_span(self) -> Any:
        """The current span, unless it represents a model call; then None."""
        ...

    def recovered(self, agent: Any, recovered: bool) -> None:
        """Write on the span around model calls whether a later call succeeded after a failed one."""
        ...
