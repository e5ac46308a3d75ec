"""Reads answers of Bedrock's services around its models: agents, flows, knowledge bases, and guardrails called directly."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, suspect, unexpected
from llm_errors.extract.bedrock import DIALECT
from llm_errors.extract.fields import field, text
from llm_errors.extract.guardrail import assessed_stage, only_masks

INTERVENED = frozenset(("INTERVENED", "GUARDRAIL_INTERVENED"))
NATURAL = frozenset(("SUCCESS", "INPUT_REQUIRED", ""))
"""Reasons with which a flow ends or waits normally."""


def _blocked(*stage: str) -> Evidence:
    return suspect(DIALECT, "unnatural_finish", *stage, finish_reason="guardrail_intervened")


class PolicyReader:
    """Reads the answer of ApplyGuardrail. `source` is what was checked: `INPUT` or `OUTPUT`."""

    def __init__(self, source: str = "OUTPUT") -> None:
        self._source = source

    def whole(self, result: Any) -> Answer:
        """Read the action. If the guardrail only masked parts of a text, the text has passed."""
        if not isinstance(result, dict):
            return unexpected(DIALECT, result)
        acted = field(result, "action") in INTERVENED and not only_masks(field(result, "assessments"))
        stage = ["input_stage"] if self._source == "INPUT" else []
        return Answer(_blocked(*stage) if acted else None)

    def chunks(self) -> "EventsChunks":
        """Return a state, although this API does not stream."""
        return EventsChunks(())


class TextReader:
    """Reads the answer of RetrieveAndGenerate: text in `output`, and the action of the guardrail."""

    def whole(self, result: Any) -> Answer:
        """Read the action of the guardrail, and the text."""
        output = field(result, "output") if isinstance(result, dict) else None
        if output is None:
            return unexpected(DIALECT, result)
        if field(result, "guardrailAction") in INTERVENED:
            return Answer(_blocked())
        return Answer(None if field(output, "text") else suspect(DIALECT, "empty"))

    def chunks(self) -> "EventsChunks":
        """Return a state that reads a streamed answer."""
        return EventsChunks(("output", "citation"))


class AcceptedReader:
    """Reads the answer of an operation that starts a job or returns results in unknown shapes."""

    def whole(self, result: Any) -> Answer:
        """Read the answer: only an HTML page or an error object is a failure."""
        return Answer() if isinstance(result, dict) else unexpected(DIALECT, result)

    def chunks(self) -> "EventsChunks":
        """Return a state that reads a streamed answer."""
        return EventsChunks(())


class EventsReader:
    """Reads the events of an agent or a flow.

    `content` names the events that contain a part of the answer; `last` names the final event, if the service sends one.
    """

    def __init__(self, content: tuple[str, ...], last: str = "") -> None:
        self._content, self._last = content, last

    def whole(self, result: Any) -> Answer:
        """Judge a result that is not a stream, although these operations always stream."""
        return unexpected(DIALECT, result)

    def chunks(self) -> "EventsChunks":
        """Return a state that reads one stream."""
        return EventsChunks(self._content, self._last)


class EventsChunks:
    """The state of one stream of events. An event is a dictionary whose only key is the name of the event."""

    __slots__ = ("_content", "_failed", "_last", "_wanted", "done")

    def __init__(self, content: tuple[str, ...], last: str = "") -> None:
        self.done = False
        self._wanted, self._last = content, last
        self._content = False
        self._failed: Evidence | None = None

    def chunk(self, chunk: Any) -> bool:
        """Read one event."""
        self._content = self._content or any(field(chunk, name) for name in self._wanted)
        guarded = field(chunk, "guardrail") or field(field(field(chunk, "trace"), "trace"), "guardrailTrace")
        if field(guarded, "action") in INTERVENED and not self._failed:
            on_input, on_output = field(guarded, "inputAssessments"), field(guarded, "outputAssessments")
            if not only_masks([on_input, on_output]):
                self._failed = _blocked(*assessed_stage(on_input, on_output))
        ended = field(chunk, self._last) if self._last else None
        self.done = self.done or ended is not None
        reason = text(field(ended, "completionReason"), 64)
        if reason not in NATURAL:
            self._failed = suspect(DIALECT, "unnatural_finish", finish_reason=reason)
        return self.done

    def end(self) -> Answer:
        """Judge the answer in this order: a guardrail or an unhealthy end of a flow, an empty answer, a missing end."""
        if self._failed is not None:
            return Answer(self._failed, finish_reasons=(self._failed.finish_reason,))
        if self._wanted and not self._content and not self.done:
            return Answer(suspect(DIALECT, "empty"))
        return Answer(suspect(DIALECT, "no_end") if self._last and not self.done else None)
