"""Answers of what Bedrock builds on its models: agents, flows, knowledge bases, guardrails that are asked by themselves."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, suspect, unexpected
from llm_errors.extract.bedrock import DIALECT
from llm_errors.extract.fields import field
from llm_errors.extract.guardrail import assessed_stage, only_masks

INTERVENED = frozenset(("INTERVENED", "GUARDRAIL_INTERVENED"))


def _blocked(*stage: str) -> Evidence:
    return suspect(DIALECT, "unnatural_finish", *stage, finish_reason="guardrail_intervened")


class PolicyReader:
    """Reads what ApplyGuardrail says. `source` is what it was asked about: `INPUT`, or `OUTPUT`."""

    def __init__(self, source: str = "OUTPUT") -> None:
        self._source = source

    def whole(self, result: Any) -> Answer:
        """A text that the guardrail has only masked has passed."""
        if not isinstance(result, dict):
            return unexpected(DIALECT, result)
        acted = field(result, "action") in INTERVENED and not only_masks(field(result, "assessments"))
        stage = ["input_stage"] if self._source == "INPUT" else []
        return Answer(_blocked(*stage) if acted else None)

    def chunks(self) -> "EventsChunks":
        """A guardrail has no stream."""
        return EventsChunks(())


class TextReader:
    """Reads an answer whose text stands in `output`, with a guardrail's action beside it: RetrieveAndGenerate."""

    def whole(self, result: Any) -> Answer:
        """Judge guardrail and text."""
        output = field(result, "output") if isinstance(result, dict) else None
        if output is None:
            return unexpected(DIALECT, result)
        if field(result, "guardrailAction") in INTERVENED:
            return Answer(_blocked())
        return Answer(None if field(output, "text") else suspect(DIALECT, "empty"))

    def chunks(self) -> "EventsChunks":
        """A fresh state."""
        return EventsChunks(("output", "citation"))


class AcceptedReader:
    """Reads what the service answers that has taken on a job, or whose results are not looked into."""

    def whole(self, result: Any) -> Answer:
        """Anything but a page is well."""
        return Answer() if isinstance(result, dict) else unexpected(DIALECT, result)

    def chunks(self) -> "EventsChunks":
        """A fresh state."""
        return EventsChunks(())


class EventsReader:
    """Reads the events of an agent or a flow. `content` are those that hold an answer, `last` ends one, where there is such."""

    def __init__(self, content: tuple[str, ...], last: str = "") -> None:
        self._content, self._last = content, last

    def whole(self, result: Any) -> Answer:
        """There is no answer but the stream."""
        return unexpected(DIALECT, result)

    def chunks(self) -> "EventsChunks":
        """A fresh state."""
        return EventsChunks(self._content, self._last)


class EventsChunks:
    """The state of one stream of events: the one key of each names it."""

    __slots__ = ("_blocked", "_content", "_last", "_wanted", "done")

    def __init__(self, content: tuple[str, ...], last: str = "") -> None:
        self.done = False
        self._wanted, self._last = content, last
        self._content = False
        self._blocked: Evidence | None = None

    def chunk(self, chunk: Any) -> bool:
        """Look at one event."""
        self._content = self._content or any(field(chunk, name) for name in self._wanted)
        guarded = field(chunk, "guardrail") or field(field(field(chunk, "trace"), "trace"), "guardrailTrace")
        if field(guarded, "action") in INTERVENED and not self._blocked:
            on_input, on_output = field(guarded, "inputAssessments"), field(guarded, "outputAssessments")
            if not only_masks([on_input, on_output]):
                self._blocked = _blocked(*assessed_stage(on_input, on_output))
        self.done = self.done or (bool(self._last) and field(chunk, self._last) is not None)
        return self.done

    def end(self) -> Answer:
        """What the guardrail did, nothing at all, or a missing end where an end is due."""
        if self._blocked is not None:
            return Answer(self._blocked, finish_reasons=(self._blocked.finish_reason,))
        if self._wanted and not self._content and not self.done:
            return Answer(suspect(DIALECT, "empty"))
        return Answer(suspect(DIALECT, "no_end") if self._last and not self.done else None)
