"""Reads answers of Letta's agents, whole or as events: why the loop of an agent stopped, or how a background run went."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, embedded_error, suspect, unexpected, usage
from llm_errors.extract.fields import field, is_object, text

DIALECT = "openai"
NATURAL = frozenset(("end_turn", "tool_rule", "requires_approval", "cancelled"))
"""Healthy stop reasons. A run that the caller has cancelled is healthy."""
_WRITES = ("assistant_message", "approval_request_message", "tool_call_message")
_FAILED = ("failed", "error")


class LettaReader:
    """Reads the messages of an agent with its stop reason, or a run that continues in the background."""

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        if not is_object(result):
            return unexpected(DIALECT, result)
        stop, used = field(result, "stop_reason"), field(result, "usage")
        reason = text(field(stop, "stop_reason"), 64) or text(stop, 64)
        if field(result, "messages") is None and field(result, "agent_id") is None:
            return unexpected(DIALECT, result)
        status = text(field(result, "status"), 16)
        tokens = usage(used, "prompt_tokens", "completion_tokens")
        failed = _judge(reason) or (_judge(status) if status in _FAILED else None)
        return Answer(
            failed,
            id=text(field(result, "id"), 256),
            finish_reasons=(reason,) if reason else (),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
        )

    def chunks(self) -> "LettaChunks":
        """Return a state that reads a streamed answer."""
        return LettaChunks()


def _judge(reason: str) -> Evidence | None:
    return suspect(DIALECT, "unnatural_finish", finish_reason=reason) if reason and reason not in NATURAL else None


class LettaChunks:
    """The state of one stream of messages. The last messages are the stop reason and the usage."""

    __slots__ = ("_content", "_error", "_reason", "_tokens", "done")

    def __init__(self) -> None:
        self.done = self._content = False
        self._error: Evidence | None = None
        self._reason = ""
        self._tokens: tuple[int | None, int | None] = (None, None)

    def chunk(self, chunk: Any) -> bool:
        """Read one message. The token usage follows the stop reason, if the server sends the usage at all."""
        kind = text(field(chunk, "message_type"), 64)
        if kind == "stop_reason":
            self._reason, self.done = text(field(chunk, "stop_reason"), 64), True
        elif kind == "error_message" and self._error is None:
            told = {"code": field(chunk, "error_type"), "message": field(chunk, "message")}
            self._error = embedded_error(DIALECT, {"error": told})
        elif kind == "usage_statistics":
            self._tokens = usage(chunk, "prompt_tokens", "completion_tokens")
            return self.done
        self._content = self._content or kind in _WRITES
        return False

    def end(self) -> Answer:
        """Judge the answer in this order: an error, the stop reason, an empty answer, a missing end."""
        suspicion = self._error or _judge(self._reason)
        if suspicion is None and not self.done:
            suspicion = suspect(DIALECT, "no_end" if self._content else "empty")
        return Answer(
            suspicion,
            finish_reasons=(self._reason or "error",),
            input_tokens=self._tokens[0],
            output_tokens=self._tokens[1],
        )


LETTA, RUN = LettaReader(), LettaReader()
"""The readers of answers, and of runs in the background."""
