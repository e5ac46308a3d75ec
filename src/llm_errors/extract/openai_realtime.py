"""Reads responses of OpenAI's Realtime API. A response is a series of events; the last one contains the whole response."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, embedded_error, identity, suspect, unexpected, usage
from llm_errors.extract.fields import field, is_json, items, text

DIALECT = "openai"
NATURAL = frozenset(("completed", "cancelled", "in_progress"))
"""Statuses of a healthy response. A response that the user interrupts by speaking (`turn_detected`) is healthy too."""
BY_CALLER = "client_cancelled"
_DONE = "response.done"
_NOTHING = ("", None)


class RealtimeReader:
    """Reads a response with `status`, `status_details` and `output`."""

    def whole(self, result: Any) -> Answer:
        """Read the status, its details and every output item."""
        status = text(field(result, "status"), 64) if not isinstance(result, str | bytes) else ""
        if not status:
            return unexpected(DIALECT, result)
        return _answer(result, status, False)

    def chunks(self) -> "RealtimeChunks":
        """Return a state that reads one response."""
        return RealtimeChunks()


def _answer(response: Any, status: str, content: bool) -> Answer:
    details = field(response, "status_details")
    reason = text(field(details, "reason"), 64)
    tokens = usage(field(response, "usage"), "input_tokens", "output_tokens")
    return Answer(
        _judge(response, details, status, reason, content),
        **identity(response),
        finish_reasons=(reason or status,),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
    )


def _judge(response: Any, details: Any, status: str, reason: str, content: bool) -> Evidence | None:
    error = field(details, "error")
    if error is not None:
        return embedded_error(DIALECT, {"error": error}, status)
    if status not in NATURAL:
        return suspect(DIALECT, "unnatural_finish", finish_reason=reason or status)
    output = items(field(response, "output"))
    if any(_is_broken_call(item) for item in output):
        return suspect(DIALECT, "invalid_arguments", finish_reason=status)
    empty = status == "completed" and not content and not any(map(_has_content, output))
    return suspect(DIALECT, "empty", finish_reason=status) if empty else None


def _is_broken_call(item: Any) -> bool:
    arguments = field(item, "arguments") if text(field(item, "type")) == "function_call" else None
    return isinstance(arguments, str) and bool(arguments.strip()) and not is_json(arguments)


def _has_content(item: Any) -> bool:
    """Whether an output item has text, audio or a call. The audio arrives in events; the item has only its transcript."""
    if text(field(item, "type")) != "message":
        return True
    parts = items(field(item, "content"))
    return any(field(part, "text", "transcript", "audio") not in _NOTHING for part in parts)


class RealtimeChunks:
    """The state of one response. Only the event that ends it is read."""

    __slots__ = ("_answer", "_content", "done")

    def __init__(self) -> None:
        self.done = self._content = False
        self._answer: Answer | None = None

    def chunk(self, chunk: Any) -> bool:
        """Read the type of one event, and the response in the last one."""
        kind = getattr(chunk, "type", None) if type(chunk) is not dict else chunk.get("type")
        if kind == _DONE:
            self.done = True
            response = field(chunk, "response")
            self._answer = _answer(response, text(field(response, "status"), 64) or "completed", self._content)
        elif not self._content and isinstance(kind, str):
            self._content = kind.endswith(".delta")
        return self.done

    def end(self) -> Answer:
        """The answer in the last event. If that event is missing, the response was cut off."""
        if self._answer is not None:
            return self._answer
        return Answer(suspect(DIALECT, "no_end" if self._content else "empty"), finish_reasons=("error",))
