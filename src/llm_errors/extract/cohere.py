"""Reads chats of Cohere's API version 2. An answer is whole or a stream of events, and is an SDK object or JSON."""

from typing import Any

from llm_errors.extract.answer import Answer, Identity, embedded_error, finish_of, identity, suspect, unexpected
from llm_errors.extract.data import DataReader
from llm_errors.extract.fields import field, is_object, items, number, text

DIALECT = "cohere"
NATURAL = frozenset(("COMPLETE", "STOP_SEQUENCE", "TOOL_CALL"))
_CONTENT = ("tool_calls", "citations")


class CohereReader:
    """Reads answers with `message` and `finish_reason`."""

    def whole(self, result: Any) -> Answer:
        """Read the finish reason and the content."""
        message = field(result, "message") if not isinstance(result, str | bytes | list) else None
        if not is_object(message) or not finish_of(result, "finish_reason").isupper():
            return unexpected(DIALECT, result)
        chunks = CohereChunks()
        chunks.chunk({"type": "content-start", "delta": {"message": message}})
        chunks.chunk({"type": "message-end", "delta": result, "id": field(result, "id")})
        return chunks.end()

    def chunks(self) -> "CohereChunks":
        """Return a state that reads a streamed answer."""
        return CohereChunks()


class PagesReader(DataReader):
    """Reads parsed documents: a list of pages, which may break off at the token limit."""

    def __init__(self) -> None:
        super().__init__("pages", DIALECT)

    def whole(self, result: Any) -> Answer:
        """Read the list, then the finish reason."""
        answer = super().whole(result)
        finish = finish_of(result, "finish_reason")
        if answer.suspicion is None and finish and finish not in NATURAL:
            answer = answer._replace(suspicion=suspect(DIALECT, "unnatural_finish", finish_reason=finish))
        return answer._replace(finish_reasons=(finish,) if finish else ())


class CohereChunks:
    """The state of one stream of chat events."""

    __slots__ = ("_content", "_error", "_finish", "_identity", "_tokens", "done")

    def __init__(self) -> None:
        self.done = False
        self._content = False
        self._error = self._finish = ""
        self._identity: Identity = {}
        self._tokens: tuple[int | None, int | None] = (None, None)

    def chunk(self, chunk: Any) -> bool:
        """Read one event: look for content; read finish reason, error and usage from the last event."""
        delta = field(chunk, "delta")
        message = field(delta, "message")
        if not self._content and message is not None:
            parts = field(message, "content")
            texts = (field(part, "text") for part in (items(parts) or [parts]))
            self._content = any(texts) or any(field(message, name) for name in _CONTENT)
        if field(chunk, "type") == "message-end":
            self._finish = finish_of(delta, "finish_reason")
            self.done = bool(self._finish)
            self._identity = identity(chunk)
            self._error = text(field(delta, "error"))
            self._tokens = tokens(field(field(delta, "usage"), "tokens"))
        return self.done

    def end(self) -> Answer:
        """Judge the answer in this order: an error, the finish reason, an empty answer, a missing end."""
        suspicion = None
        if self._error:
            suspicion = embedded_error(DIALECT, self._error, self._finish)
        elif self._finish and self._finish not in NATURAL:
            suspicion = suspect(DIALECT, "unnatural_finish", finish_reason=self._finish)
        elif not self._content:
            suspicion = suspect(DIALECT, "empty", finish_reason=self._finish)
        elif not self.done:
            suspicion = suspect(DIALECT, "no_end")
        return Answer(
            suspicion,
            **self._identity,
            finish_reasons=(self._finish or "error",),
            input_tokens=self._tokens[0],
            output_tokens=self._tokens[1],
        )


def tokens(used: Any) -> tuple[int | None, int | None]:
    """Input and output tokens. The SDK parses them as floating-point numbers."""
    read, written = (field(used, name) for name in ("input_tokens", "output_tokens"))
    return _whole(read), _whole(written)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, float) and value.is_integer() else number(value)
