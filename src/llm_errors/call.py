"""The contract between observing a call and telling of it: what a call is, how it ended, and who records both.

No SDK, no OpenTelemetry.
"""

from typing import Any, NamedTuple, Protocol

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, Reader


class CallInfo(NamedTuple):
    """What is known of a call when it begins; the third argument of a `failure_hook`."""

    sdk: str
    """The SDK's name, as in `LLM_ERRORS_DISABLED_SDKS`."""
    distribution: str
    """The PyPI distribution, as peers name it in their dependencies."""
    dialect: str
    """The wire dialect of its answers and errors, such as `openai`."""
    provider: str
    """`gen_ai.provider.name`."""
    operation: str
    """`gen_ai.operation.name`."""
    model: str | None
    """The model that was asked for; None where the call names none."""
    stream: bool
    address: str | None
    """The server's host name, where it is known."""
    port: int | None
    reader: Reader
    """What reads the answer; internal."""
    native_span: bool = False
    """Whether the SDK has made a span of its own for this call, sampled or not, and it is current."""
    background: bool = False
    """Whether the caller asked for a job that goes on when the SDK has returned."""


class CallOutcome(NamedTuple):
    """How a call ended: what the sink is told, once."""

    info: CallInfo
    evidence: Evidence | None
    cancelled: bool
    answer: Answer
    duration: float
    """Seconds."""
    ago: float
    """Seconds since then: an answer may be judged later than it came."""
    time_to_first_chunk: float | None
    retries: int
    counted: bool = False
    """Whether a layer below has counted the call already: then only the failure is new."""


class CallRecorder(Protocol):
    """Where calls are reported to."""

    def open(self, info: CallInfo) -> Any:
        """A call begins: find its span, or make one and make it current. None where instrumentation is suppressed."""
        ...

    def leave(self, scope: Any) -> None:
        """The SDK's code no longer runs in this context: a span that `open` made is current no more."""
        ...

    def retried(self, info: CallInfo, evidence: Evidence) -> None:
        """An attempt failed that the SDK's own retry hides."""
        ...

    def close(self, scope: Any, ending: CallOutcome) -> None:
        """The call ended."""
        ...
