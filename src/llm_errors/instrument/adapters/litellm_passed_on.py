"""Streams that litellm passes on as the provider sent them: pieces of an event stream, in an async generator or an iterator."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from llm_errors.extract import results
from llm_errors.extract.answer import Answer, Chunks
from llm_errors.extract.tgi import LinesChunks
from llm_errors.instrument.finalizers import StreamFinalizer
from llm_errors.instrument.invocation import Invocation

PASSED_ON = (results.MESSAGES, results.GENERATE_CONTENT)
"""The readers of functions that pass the provider's own answers on."""


class EventBytes:
    """The state of a stream whose chunks are pieces of an event stream. A line may be split between two pieces."""

    __slots__ = ("_chunks", "_lines", "_rest")

    def __init__(self, chunks: Chunks) -> None:
        self._chunks, self._lines = chunks, LinesChunks(chunks)
        self._rest = b""

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._lines.done or self._chunks.done

    def chunk(self, chunk: Any) -> None:
        """Read the lines that a piece completes."""
        piece = chunk.encode() if isinstance(chunk, str) else chunk
        if not isinstance(piece, bytes):
            self._chunks.chunk(piece)
            return
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._lines.chunk(line.decode("utf-8", "replace").strip())

    def end(self) -> Answer:
        """The answer after the last piece."""
        return self._lines.end()


async def followed(
    call: Invocation, stream: AsyncGenerator[Any, None], chunks: Chunks, finalizer: StreamFinalizer
) -> AsyncGenerator[Any, None]:
    """The chunks of an async generator. An async generator accepts no attribute, so this one keeps the finalizer alive."""
    async with aclosing(stream), aclosing(call.follow_async(stream, finalizer, chunks)) as observed:
        async for chunk in observed:
            yield chunk
