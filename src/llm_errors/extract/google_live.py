"""Reads turns of Gemini's Live API. A turn is a series of messages; the last one tells why the turn ended."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, suspect, unexpected
from llm_errors.extract.fields import field, number, text
from llm_errors.extract.google import has_content

DIALECT = "google"
NATURAL = frozenset(("", "TURN_COMPLETE_REASON_UNSPECIFIED", "NEED_MORE_INPUT", "STOP"))
"""Reasons with which a healthy turn ends."""
_IDLE = "IDLE"


class LiveReader:
    """Reads the turns of a session."""

    def whole(self, result: Any) -> Answer:
        """Judge a result that is not a message of a session."""
        return unexpected(DIALECT, result)

    def chunks(self) -> "LiveChunks":
        """Return a state that reads one turn."""
        return LiveChunks()


class LiveChunks:
    """The state of one turn. A tool call ends the turn, because the model then waits for the application."""

    __slots__ = ("_content", "_finish", "_interrupted", "_tokens", "done")

    def __init__(self) -> None:
        self.done = self._content = self._interrupted = False
        self._finish = ""
        self._tokens: tuple[int | None, int | None] = (None, None)

    def chunk(self, chunk: Any) -> bool:
        """Read one message."""
        usage = chunk.usage_metadata
        if usage is not None:
            self._tokens = (
                number(field(usage, "prompt_token_count")),
                number(field(usage, "response_token_count")),
            )
        if chunk.tool_call is not None:
            self._content = self.done = True
        content = chunk.server_content
        if content is not None:
            self._content = self._content or gives(content)
            self._interrupted = self._interrupted or content.interrupted is True
            self.done = self.done or is_complete(content)
            reason = getattr(content, "turn_complete_reason", None)
            if reason is not None:
                self._finish = text(reason, 64) or self._finish
        return self.done

    def end(self) -> Answer:
        """Judge the turn in this order: its reason, missing content, a missing end."""
        finish = self._finish or ("" if self.done else "error")
        return Answer(
            self._suspicion(),
            finish_reasons=(finish,) if finish else (),
            input_tokens=self._tokens[0],
            output_tokens=self._tokens[1],
        )

    def _suspicion(self) -> Evidence | None:
        if self._finish not in NATURAL:
            return suspect(DIALECT, "unnatural_finish", finish_reason=self._finish)
        if self._interrupted or self._finish == "NEED_MORE_INPUT":
            return None
        if not self._content:
            return suspect(DIALECT, "empty")
        return None if self.done else suspect(DIALECT, "no_end")


def gives(content: Any) -> bool:
    """Whether a message contains a part of the answer."""
    spoken = content.output_transcription
    return (content.model_turn is not None and has_content(content.model_turn)) or bool(
        spoken and field(spoken, "text")
    )


def is_complete(content: Any) -> bool:
    """Whether the message ends the turn. Newer models report the status of the interaction instead."""
    if content.turn_complete is True:
        return True
    status = getattr(content, "interaction_status", None)
    return status is not None and text(status, 64) == _IDLE
