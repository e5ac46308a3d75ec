"""Defines what `instrument` passes to `telemetry`: what a call is, how it ended, and the recorder that receives both.

This module imports neither an SDK nor OpenTelemetry.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from llm_errors.evidence import Evidence
    from llm_errors.extract.answer import Answer, Reader


class CallInfo(NamedTuple):
    """What is known about a call when it begins. A `failure_hook` receives it as its third argument."""

    sdk: str
    """The SDK's name, as in `LLM_ERRORS_DISABLED_SDKS`."""
    distribution: str
    """The PyPI distribution of the SDK, as other instrumentations declare it in their dependencies."""
    dialect: str
    """The wire dialect of answers and errors, such as `openai`."""
    provider: str
    """The value of `gen_ai.provider.name`."""
    operation: str
    """The value of `gen_ai.operation.name`."""
    model: str | None
    """The requested model; None if the call names no model."""
    stream: bool
    address: str | None
    """The host name of the server, if it is known."""
    port: int | None
    reader: "Reader"
    """Internal: the object that reads the answer of this call."""
    native_span: bool = False
    """Whether the SDK or a framework around it created a span for this call and made it current. The span may be unsampled."""
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
    """Seconds from the end of the call to this report: an application may read an answer later than it arrived."""
    time_to_first_chunk: float | None
    retries: int
    counted: bool = False
    """Whether a nested SDK has counted this call already. If so, only the failure is counted."""


class CallRecorder(Protocol):
    """Receives the beginning and the end of every call."""

    def prepare(self) -> None:
        """Import now what the first failure will need. Called when an SDK has been patched."""
        ...

    def open(self, info: CallInfo, ago: float = 0.0) -> Any:
        """Begin a call: find its span, or create one and make it current. Return None if instrumentation is suppressed.

        The result is the `scope` of the call in the methods below. If the call is reported late, `ago` is how many seconds
        before now it began.
        """
        ...

    def leave(self, scope: Any) -> None:
        """Stop making the span from `open` current, because the code of the SDK no longer runs in this context."""
        ...

    def retried(self, info: CallInfo, evidence: "Evidence") -> None:
        """Count a failed attempt that the SDK retries by itself."""
        ...

    def close(self, scope: Any, ending: CallOutcome) -> None:
        """End the call, and record how it ended."""
        ...

    def agent_span(self, scope: Any = None) -> Any:
        """Return the current span if it records the run of an agent or a chain; else None.

        If `scope` is given, the span around that call is meant instead of the current one.
        """
        ...

    def open_on(self, info: CallInfo, agent: Any, create: bool) -> Any:
        """Begin the report of a failure that a framework has detected. The failure is written on the span of the agent.

        If there is no such span or it has ended, a span is created as by `open`, provided that `create` is true. Return None
        if instrumentation is suppressed.
        """
        ...

    def enclosing_span(self) -> Any:
        """Return the current span, or None if that span represents a model call."""
        ...

    def recovered(self, agent: Any, recovered: bool) -> None:
        """Write on the span around model calls whether a later call succeeded after a failed one."""
        ...
