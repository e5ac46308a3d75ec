"""Observes those parts of response bodies that an SDK does not show.

The SDK drops a body that arrives instead of an event stream, and the end marker of a stream, although they show how the call
ended. Of a body that the application reads itself, only the end and the time of the last part are recorded.
"""

import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from time import perf_counter
from typing import Any
from weakref import ref

from llm_errors.extract import glimpse
from llm_errors.extract.answer import Answer, Reader
from llm_errors.extract.fields import field, parsed, text
from llm_errors.instrument.invocation import Invocation
from llm_errors.safety import quietly

KEPT = 262_144
"""The maximum size, in bytes, of a body that is kept while it is read in pieces."""
LIMIT = 16_384
"""The maximum number of bytes that are kept of a body that arrives instead of a stream. An error object is shorter."""
_MARK = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")
"""The last event of a stream in the openai dialect. JSON escapes line breaks, so generated text cannot match."""

_ENDS = (
    b"data: [DONE]",
    b"data:[DONE]",
    b"event: message_stop",
    b"event: response.completed",
    b"event: response.incomplete",
    b"event: interaction.completed",
)
"""Lines that end an event stream."""
_LONGEST = max(map(len, _ENDS))


class EventStreamEnd:
    """Detects the end of an event stream that the application reads itself.

    Text inside an event is JSON, which contains no line break, so it cannot match.
    """

    __slots__ = ("_tail", "done")

    def __init__(self) -> None:
        self.done = False
        self._tail = b"\n"

    def chunk(self, chunk: bytes) -> bool:
        """Look for a line that ends the stream. The line may be split between two chunks."""
        seen = self._tail + chunk
        self.done = self.done or any(b"\n" + end in seen for end in _ENDS)
        self._tail = seen[-_LONGEST:]
        return self.done

    def end(self) -> Answer:
        """A healthy answer, because the status was successful and nothing else is known."""
        return Answer()


def tap_body(response: Any, observe: Callable[[bytes], Any]) -> None:
    """Call `observe` with every piece of the response body before the SDK receives it."""

    def tapped(data: bytes) -> bytes:
        observe(data)
        return data

    async def tapped_async(body: Any) -> AsyncIterator[bytes]:
        async with aclosing(body):
            async for data in body:
                observe(data)
                yield data

    _Tapped.install(response, lambda body: map(tapped, body), tapped_async, "iter_bytes")


def beginning(kept: list[bytes]) -> Callable[[bytes], None]:
    """A function that appends the beginning of a body to `kept`."""

    def observe(data: bytes) -> None:
        if sum(map(len, kept)) < LIMIT:
            kept.append(data[:LIMIT])

    return observe


def mark_in(response: Any) -> Callable[[], bool]:
    """Observe a stream. After the last chunk, the returned function tells whether the end marker was received."""
    last: deque[bytes] = deque(maxlen=2)  # the marker may be split between two pieces
    tap_body(response, last.append)
    return lambda: _MARK.search(b"".join(last)) is not None


def tap_application(call: Invocation, response: Any) -> None:
    """Observe the body of a stream if the application reads it itself. The call ends with the body.

    While the call waits for a chunk, the SDK is reading, and the body is not observed. Both methods are replaced, because the
    application may call either; `iter_bytes` itself calls `iter_raw`.
    """

    async def follow_async(body: Any) -> AsyncIterator[bytes]:
        async with aclosing(body), aclosing(call.follow_async(body, chunks=EventStreamEnd())) as followed:
            async for data in followed:
                yield data

    _Tapped.install(
        response,
        lambda body: body if call.waiting else call.follow(body, chunks=EventStreamEnd()),
        lambda body: body if call.waiting else follow_async(body),
        "iter_bytes",
        "iter_raw",
    )


def tap_times(call: Invocation, response: Any) -> None:
    """Record when the parts of a body arrive, because the application may parse the body much later."""

    def note(body: Any) -> Iterator[bytes]:
        for data in body:
            call.received = perf_counter()
            yield data

    async def note_async(body: Any) -> AsyncIterator[bytes]:
        async with aclosing(body):
            async for data in body:
                call.received = perf_counter()
                yield data

    _Tapped.install(response, note, note_async, "iter_raw")


class JsonBody:
    """The body of an answer that the application reads. A very large body that is read in pieces is not kept.

    `headers` are the headers of the response, with lower-case names.
    """

    __slots__ = ("_dialect", "_headers", "_kept", "_length", "_reader", "_size", "done")

    def __init__(self, reader: Reader, dialect: str, headers: Any) -> None:
        self.done = False
        self._reader, self._dialect, self._headers = reader, dialect, headers
        self._length = text(field(headers, "content-length"), 32)
        kind = text(field(headers, "content-type"), 128)
        self._kept: list[bytes] | None = [] if "json" in kind or "html" in kind else None
        self._size = 0

    def chunk(self, chunk: Any) -> bool:
        """Keep a piece until the body is complete."""
        if not isinstance(chunk, bytes):
            return False
        self._size += len(chunk)
        if self._kept is not None:
            self._kept.append(chunk)
        self.done = self._ends_with(chunk)
        if not self.done and self._size > KEPT:
            self._kept = None
        return self.done

    def _ends_with(self, chunk: bytes) -> bool:
        if not chunk or str(self._size) == self._length:
            return True
        if self._length or self._kept is None or not chunk.rstrip().endswith((b"}", b"]")):
            return False
        return not isinstance(parsed(b"".join(self._kept)), str)

    def end(self) -> Answer:
        """The answer in the complete body. An incomplete body is a healthy answer, because its status was successful."""
        if not self.done or self._kept is None:
            return Answer()
        answer = glimpse.read(self._reader, self._dialect, b"".join(self._kept))
        if answer.input_tokens is None:
            answer = answer._replace(input_tokens=self._counted("input"), output_tokens=self._counted("output"))
        return answer

    def _counted(self, which: str) -> int | None:
        count = text(field(self._headers, f"x-amzn-bedrock-{which}-token-count"), 16)
        return int(count) if count.isdecimal() else None


def tap_reads(call: Invocation, raw: Any) -> None:
    """Observe the reads of a raw body, even if another instrumentation has put a wrapper around the body.

    The replaced methods do not reference the body, so it is freed when the application drops it.
    """
    held, kind = ref(raw), type(raw)

    def read(*args: Any, **kwargs: Any) -> Any:
        try:
            data = kind.read(held(), *args, **kwargs)
        except BaseException as exc:
            quietly("chunk", None, call.failed, exc)
            raise
        quietly("chunk", None, call.took, data)
        return data

    vars(raw)["read"] = read


class _Tapped:
    """Replaces the method of one response that iterates over its body. A copy of the response gets the original method."""

    __slots__ = ("_name", "_original", "_response", "_through")

    def __init__(self, response: Any, name: str, through: Callable[[Any], Any]) -> None:
        self._response, self._name, self._through = response, name, through
        self._original = getattr(response, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._through(self._original(*args, **kwargs))

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._response, self._name)

    @classmethod
    def install(
        cls, response: Any, through: Callable[[Any], Any], through_async: Callable[[Any], Any], *names: str
    ) -> None:
        """Replace methods of a response of the HTTP library, for example `iter_bytes`; for an async response, `aiter_bytes`."""
        is_async = hasattr(getattr(response, "stream", None), "__aiter__")
        for name in (f"a{name}" if is_async else name for name in names):
            if hasattr(response, name):
                vars(response)[name] = cls(response, name, through_async if is_async else through)
