"""Reads conversations of the mistral dialect, whole or as events. They have no finish reason; content and errors decide."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, Identity, embedded_error, nothing, suspect, unexpected, usage
from llm_errors.extract.fields import NO_OBJECTS, field, is_json, items, text

DIALECT = "mistral"
_EVENT = "conversation.response."


class ConversationsReader:
    """Reads answers with `outputs`: messages, and tool calls, which the server or the caller executes."""

    def whole(self, result: Any) -> Answer:
        """Read every entry. The id of the answer is the id of the conversation."""
        outputs = field(result, "outputs") if not isinstance(result, NO_OBJECTS) else None
        if not isinstance(outputs, list | tuple):
            return unexpected(DIALECT, result)
        suspicion = None if any(map(_is_content, outputs)) else nothing(DIALECT, result)
        if any(map(_is_broken_call, outputs)):
            suspicion = suspect(DIALECT, "invalid_arguments")
        model = next(filter(None, (text(field(entry, "model"), 256) for entry in outputs)), "")
        tokens = _tokens(result)
        return Answer(suspicion, model, text(field(result, "conversation_id"), 256), (), *tokens)

    def chunks(self) -> "ConversationChunks":
        """Return a state that reads a streamed answer."""
        return ConversationChunks()


def _tokens(source: Any) -> tuple[int | None, int | None]:
    return usage(field(source, "usage"), "prompt_tokens", "completion_tokens")


def _is_content(entry: Any) -> bool:
    """Whether an entry, or an event about an entry, is more than an empty message or a thought."""
    content = field(entry, "content")
    if not text(field(entry, "type"), 64).startswith("message."):
        return True
    return any(
        text(field(part, "type")) != "thinking" for part in items(content) or [content] if part not in (None, "")
    )


def _is_broken_call(entry: Any) -> bool:
    given = field(entry, "arguments") if text(field(entry, "type"), 64) == "function.call" else None
    return isinstance(given, str) and bool(given.strip()) and not is_json(given)


class ConversationChunks:
    """The state of one stream of conversation events."""

    __slots__ = ("_content", "_error", "_identity", "_tokens", "done")

    def __init__(self) -> None:
        self.done = self._content = False
        self._error: Evidence | None = None
        self._identity: Identity = {}
        self._tokens: tuple[int | None, int | None] = (None, None)

    def chunk(self, chunk: Any) -> bool:
        """Read the type of one event, and the fields of the first and the last event."""
        kind = text(field(chunk, "type"), 64)
        if kind == f"{_EVENT}started":
            self._identity["id"] = text(field(chunk, "conversation_id"), 256)
        elif kind == f"{_EVENT}done":
            self.done, self._tokens = True, _tokens(chunk)
        elif kind == f"{_EVENT}error":
            self.done = True
            told = {"code": field(chunk, "code"), "message": text(field(chunk, "message"))}
            self._error = embedded_error(DIALECT, told)
        elif not self._content:
            self._content = _is_content(chunk)
            self._identity["model"] = text(field(chunk, "model"), 256)
        return self.done

    def end(self) -> Answer:
        """Judge the answer in this order: an error event, an empty answer, a missing end."""
        fact = "" if self.done and self._content else "no_end" if self._content else "empty"
        suspicion = self._error or (suspect(DIALECT, fact) if fact else None)
        return Answer(suspicion, **self._identity, input_tokens=self._tokens[0], output_tokens=self._tokens[1])
