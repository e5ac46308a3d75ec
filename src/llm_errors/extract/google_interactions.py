"""Reads interactions of the google dialect. An interaction is whole or a stream of events, of SDK objects or JSON.

Releases 1.x of google-genai have `outputs` and `content.delta`, later releases `steps` and `step.delta`. Both are read.
"""

from dataclasses import replace
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, embedded_error, identity, suspect, unexpected, usage
from llm_errors.extract.error_shapes import RPC_CODES
from llm_errors.extract.fields import field, items, number, text

DIALECT = "google"
NATURAL = frozenset(("completed", "in_progress", "queued", "idle", "requires_action"))
"""Statuses of a running or healthy interaction."""
CANCELLED = "cancelled"
_RUNNING = frozenset(("in_progress", "queued", "idle", ""))
_TERMINAL = frozenset(("interaction.completed", "interaction.complete", "interaction.cancelled", "error"))
_BEGINNING = frozenset(("interaction.created", "interaction.start", "interaction.connected"))
_DELTAS = frozenset(("step.delta", "content.delta"))
_NO_ANSWER = frozenset(("", "thought", "thought_summary", "thought_signature", "user_input", "text_annotation"))
"""Types of steps and outputs that do not count as an answer."""


class InteractionsReader:
    """Reads answers with `status` and `steps` (or `outputs`)."""

    def whole(self, result: Any) -> Answer:
        """Read the error, the status and the content."""
        status = "" if isinstance(result, str | bytes | list) else text(field(result, "status"), 64)
        if not status or (field(result, "error") is not None and field(result, "id") is None):
            return unexpected(DIALECT, result)
        parts = items(field(result, "steps", "outputs"))
        return _answer(result, _judge(result, status, parts, any(map(_is_content, parts))))

    def chunks(self) -> "InteractionChunks":
        """Return a state that reads a streamed answer."""
        return InteractionChunks()


def _answer(interaction: Any, suspicion: Evidence | None) -> Answer:
    tokens = usage(field(interaction, "usage"), "total_input_tokens", "total_output_tokens")
    status = text(field(interaction, "status"), 64)
    return Answer(
        suspicion,
        **identity(interaction),
        finish_reasons=(status,) if status else (),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
    )


def _judge(interaction: Any, status: str, parts: list[Any], content: bool) -> Evidence | None:
    error = field(interaction, "error") or next((e for part in parts if (e := field(part, "error")) is not None), None)
    if error is not None and status not in NATURAL - {"completed"}:
        return _error(error, status)
    if status == CANCELLED:  # the caller cancelled it with `interactions.cancel`
        return None
    if status not in NATURAL:
        return suspect(DIALECT, "unnatural_finish", finish_reason=status)
    return suspect(DIALECT, "empty", finish_reason=status) if status == "completed" and not content else None


def _error(error: Any, status: str) -> Evidence:
    """Evidence of the error of an interaction: its code, or else the status. A step's error has only a number as its code."""
    rpc = number(field(error, "code"))
    if rpc is not None and 0 <= rpc < len(RPC_CODES):
        error = {"status": RPC_CODES[rpc], "message": field(error, "message")}
    evidence = embedded_error(DIALECT, error if isinstance(error, str) else {"error": error})
    return evidence if evidence.codes or evidence.status else replace(evidence, finish_reason=status)


def _is_content(part: Any) -> bool:
    """Whether a step or an output is more than a thought or the user's input."""
    if text(field(part, "type"), 64) == "model_output":
        return any(map(_is_content, items(field(part, "content")))) or bool(text(field(part, "content")))
    if text(field(part, "type"), 64) == "text":
        return bool(field(part, "text"))
    return text(field(part, "type"), 64) not in _NO_ANSWER


class InteractionChunks:
    """The state of one stream of interaction events. The outcome is read from the terminal events."""

    __slots__ = ("_answer", "_content", "_created", "_error", "_seen", "_status", "done")

    def __init__(self) -> None:
        self.done = False
        self._content = self._seen = False
        self._status = ""
        self._created: Any = None
        self._answer: Answer | None = None
        self._error: Evidence | None = None

    def chunk(self, chunk: Any) -> bool:
        """Read the type of one event, and the content of the events that decide the outcome.

        Return true for the event with a completed interaction, which is the last one. If an interaction requires an action,
        the SDK may continue it, and more events follow.
        """
        self._seen = True
        kind = chunk.get("event_type") if type(chunk) is dict else getattr(chunk, "event_type", None)
        kind = kind if isinstance(kind, str) else None
        if kind in _DELTAS:
            if not self._content:
                self._content = _is_content(field(chunk, "delta"))
        elif kind in _TERMINAL:
            self._terminal(chunk)
        elif kind in _BEGINNING:
            self.done = False  # the SDK continues the interaction with another request
            self._created = identity(field(chunk, "interaction"))
        elif kind == "interaction.status_update":
            self._status = text(field(chunk, "status"), 64)
            self.done = self.done or self._status not in _RUNNING
        elif kind is None and field(chunk, "error") is not None:
            self._terminal(chunk)
        return self._answer is not None and self._status == "completed"

    def _terminal(self, chunk: Any) -> None:
        self.done = True
        error = field(chunk, "error")
        interaction = field(chunk, "interaction")
        if error is not None:
            self._error = self._error or _error(error, "error")
        elif interaction is not None:
            self._status = text(field(interaction, "status"), 64)
            parts = items(field(interaction, "steps", "outputs"))
            self._content = self._content or any(map(_is_content, parts))
            self._answer = _answer(interaction, _judge(interaction, self._status, parts, self._content))

    def end(self) -> Answer:
        """Judge the answer in this order: an error, the interaction in the terminal event, the last status, a missing end."""
        if self._answer is not None and self._error is None:
            return self._answer
        suspicion = self._error or self._judged()
        finish = (self._status or "error",) if self._seen else ()
        return Answer(suspicion, **(self._created or {}), finish_reasons=finish)

    def _judged(self) -> Evidence | None:
        if self.done:
            return _judge(None, self._status or CANCELLED, [], self._content)
        return suspect(DIALECT, "no_end" if self._content else "empty")
