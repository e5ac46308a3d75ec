"""Where calls are reported to, and what is reported of one that has ended."""

from typing import Any, NamedTuple, Protocol

from llm_errors.adapters._protocol import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.reading.answer import Answer


class Ending(NamedTuple):
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


class Sink(Protocol):
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

    def close(self, scope: Any, ending: Ending) -> None:
        """The call ended."""
        ...
