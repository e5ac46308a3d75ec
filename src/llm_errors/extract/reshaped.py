"""Converts an answer to the shape that an existing reader expects. Text, finish reason and usage keep their meaning."""

from collections.abc import Callable
from typing import Any

from llm_errors.extract.answer import Answer, Chunks, Reader, unexpected

Shape = Callable[[Any], Any]
"""Converts an answer, or one chunk of a streamed answer, to another shape. Returns None if it is not an answer."""


class Reshaped:
    """Converts answers with `whole` and chunks with `chunk`, and reads the results with a `reader` of the openai dialect.

    Wrap the reader in `InDialect` to change the dialect.
    """

    def __init__(self, reader: Reader, whole: Shape, chunk: Shape) -> None:
        self._reader, self._whole, self._chunk = reader, whole, chunk

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        shaped = self._whole(result)
        return unexpected("openai", result) if shaped is None else self._reader.whole(shaped)

    def chunks(self) -> "ReshapedChunks":
        """Return a state that reads a streamed answer."""
        return ReshapedChunks(self._reader.chunks(), self._chunk)


class ReshapedChunks:
    """The state of one stream. A chunk that is not part of an answer is not converted, because it may be an error."""

    __slots__ = ("_chunks", "_shape")

    def __init__(self, chunks: Chunks, shape: Shape) -> None:
        self._chunks, self._shape = chunks, shape

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._chunks.done

    def chunk(self, chunk: Any) -> bool | None:
        """Read one chunk."""
        shaped = self._shape(chunk)
        return self._chunks.chunk(chunk if shaped is None else shaped)

    def end(self) -> Answer:
        """The answer after the last chunk."""
        return self._chunks.end()


def chat(
    finish: Any,
    content: Any,
    *,
    tools: Any = None,
    streamed: bool = False,
    usage: tuple[Any, Any] = (None, None),
    model: Any = None,
    answer_id: Any = None,
) -> dict[str, Any]:
    """A chat completion of the openai dialect with one choice, or (`streamed`) one chunk of it."""
    message = {"content": content, "tool_calls": tools}
    choice = {"index": 0, "finish_reason": finish, "delta" if streamed else "message": message}
    tokens = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if usage != (None, None) else None
    return {"choices": [choice], "usage": tokens, "model": model, "id": answer_id}
