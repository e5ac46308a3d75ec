"""Reads chats and generated texts of Cohere's API version 1. An answer is whole, or arrives as a stream of events."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, embedded_error, finish_of, nothing, suspect, unexpected
from llm_errors.extract.cohere import DIALECT, NATURAL, tokens
from llm_errors.extract.fields import field, is_object, items, text

_CONTENT = ("text", "tool_calls", "search_queries", "tool_call_delta", "summary")
"""Fields with content. Search queries count as content, because a request may ask for nothing else."""
_KNOWN = (*_CONTENT, "generations", "generation_id", "finish_reason")
_NATURAL = NATURAL | {"USER_CANCEL"}


class CohereV1Reader:
    """Reads answers with `text`, or with a list `generations` of texts."""

    def whole(self, result: Any) -> Answer:
        """Read the finish reasons and the content."""
        if not is_object(result) or field(result, *_KNOWN) is None:
            return unexpected(DIALECT, result)
        parts = items(field(result, "generations")) or [result]
        finish = tuple(filter(None, (finish_of(part, "finish_reason") for part in parts)))
        suspicion = next((_ended(reason, "") for reason in finish if reason not in _NATURAL), None)
        if suspicion is None and not any(field(part, name) for part in parts for name in _CONTENT):
            suspicion = nothing(DIALECT, result, *finish[:1])
        used = tokens(field(field(result, "meta"), "tokens", "billed_units"))
        identifier = text(field(result, "response_id", "id"), 256)
        return Answer(suspicion, "", identifier, finish, *used)

    def chunks(self) -> "CohereV1Chunks":
        """Return a state that reads a streamed answer."""
        return CohereV1Chunks()


class CohereV1Chunks:
    """The state of one stream of events. The last event has the finish reason."""

    __slots__ = ("_content", "_error", "_finish", "_id", "_tokens", "done")

    def __init__(self) -> None:
        self.done = self._content = False
        self._error = self._finish = self._id = ""
        self._tokens: tuple[int | None, int | None] = (None, None)

    def chunk(self, chunk: Any) -> bool:
        """Read one event: look for content until some is found; read everything else from the last event."""
        if not self._content:
            self._content = any(field(chunk, name) for name in _CONTENT)
        if field(chunk, "event_type") in ("stream-end", "stream-error"):
            whole = field(chunk, "response")
            self._finish = finish_of(chunk, "finish_reason") or finish_of(whole, "finish_reason")
            self._error = text(field(chunk, "err"))
            self._id = text(field(whole, "response_id", "id"), 256)
            self._tokens = tokens(field(field(whole, "meta"), "tokens", "billed_units"))
            self.done = True
        return self.done

    def end(self) -> Answer:
        """Judge the answer in this order: an error or the finish reason, an empty answer, a missing end."""
        suspicion = None
        if self._error or (self._finish and self._finish not in _NATURAL):
            suspicion = _ended(self._finish, self._error)
        elif not self._content:
            suspicion = suspect(DIALECT, "empty", finish_reason=self._finish)
        elif not self.done:
            suspicion = suspect(DIALECT, "no_end")
        return Answer(suspicion, "", self._id, (self._finish or "error",), *self._tokens)


def _ended(finish: str, error: str) -> Evidence:
    """Evidence of an answer with an unhealthy finish reason, and with its error if there is one."""
    if error:
        return embedded_error(DIALECT, error, finish)
    return suspect(DIALECT, "unnatural_finish", finish_reason=finish)
