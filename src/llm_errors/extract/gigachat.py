"""Reads answers of GigaChat. Its older API sends chat completions; those of newer APIs and of threads are converted to them."""

from dataclasses import replace
from typing import Any

from llm_errors.extract.answer import Answer, Chunks, Reader
from llm_errors.extract.fields import field, items
from llm_errors.extract.openai_chat import ChatReader
from llm_errors.extract.reshaped import Reshaped, chat

_CONTENT = ("text", "files", "function_call", "function_result", "tool_execution", "inline_data")


def _shape(streamed: bool) -> Any:
    def shape(result: Any) -> Any:
        messages, used = items(field(result, "messages")), field(result, "usage")
        finish = field(result, "finish_reason") or next(
            filter(None, (field(m, "finish_reason") for m in messages)), None
        )
        if not messages and finish is None and (used is None or not streamed):
            return None
        calls = [call for m in messages if (call := field(m, "function_call")) is not None]
        parts = [part for message in messages for part in items(field(message, "content"))]
        return chat(
            finish if finish or streamed else "stop",
            "part" if any(field(part, name) for part in parts for name in _CONTENT) else None,
            tools=[{"function": {"name": field(call, "name")}} for call in calls] or None,
            streamed=streamed,
            usage=(field(used, "input_tokens"), field(used, "output_tokens")),
            model=field(result, "model"),
            answer_id=field(result, "message_id"),
        )

    return shape


def _thread(result: Any) -> Any:
    said, used = field(result, "message"), field(result, "usage")
    if said is None or isinstance(said, str):  # the text of an error
        return None
    return {
        **chat(
            field(result, "finish_reason"), None, model=field(result, "model"), answer_id=field(result, "message_id")
        ),
        "choices": [{"index": 0, "message": said, "finish_reason": field(result, "finish_reason")}],
        "usage": used,
    }


def _told(answer: Answer) -> Answer:
    """Add what the finish reason `error` means at GigaChat: the arguments of a function are invalid.

    At other providers, it means that the server failed.
    """
    found = answer.suspicion
    if found is None or found.finish_reason != "error":
        return answer
    return answer._replace(suspicion=replace(found, facts=found.facts | {"invalid_arguments"}))


class GigaChatReader:
    """Reads answers with GigaChat's own meaning of a finish reason."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        return _told(self._reader.whole(result))

    def chunks(self) -> "GigaChatChunks":
        """Return a state that reads a streamed answer."""
        return GigaChatChunks(self._reader.chunks())


class GigaChatChunks:
    """The state of one stream."""

    __slots__ = ("_chunks",)

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._chunks.done

    def chunk(self, chunk: Any) -> bool | None:
        """Read one chunk."""
        return self._chunks.chunk(chunk)

    def end(self) -> Answer:
        """The answer after the last chunk."""
        return _told(self._chunks.end())


_CHAT = ChatReader()
CHAT = GigaChatReader(_CHAT)
MESSAGES = GigaChatReader(Reshaped(_CHAT, _shape(False), _shape(True)))
THREAD = GigaChatReader(Reshaped(_CHAT, _thread, lambda chunk: None))
