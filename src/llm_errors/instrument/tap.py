"""Seeing a body pass: what came in place of an event stream, the mark at a stream's end, what the application reads itself.

SDKs drop the first two silently, and they say how the call ended. Of the last only the end is known, and when it came.
"""

import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from time import perf_counter
from typing import Any

from llm_errors.extract.answer import Answer
from llm_errors.instrument.invocation import Invocation

LIMIT = 16_384
"""Bytes of a body in place of a stream that are kept until its end: an error object is shorter."""
_MARK = re.compile(rb"(?:^|[\r\n])data: ?\[DONE\]")
"""The last event of a stream of OpenAI's dialect. In JSON a line break is escaped, so no generated text looks like it."""

_ENDS = (
    b"data: [DONE]",
    b"data:[DONE]",
    b"event: message_stop",
    b"event: response.completed",
    b"event: response.incomplete",
    b"event: interaction.completed",
)
"""Lines of an event stream behind which nothing follows."""
_LONGEST = max(map(len, _ENDS))


class EventStreamEnd:
    """The chunks of an event stream that the application reads itself: whether its end has passed.

    Text inside an event is JSON, in which no line begins.
    """

    __slots__ = ("_tail", "done")

    def __init__(self) -> None:
        self.done = False
        self._tail = b"\n"

    def chunk(self, chunk: bytes) -> bool:
        """Look for a line that ends the stream, which two chunks may share."""
        seen = self._tail + chunk
        self.done = self.done or any(b"\n" + end in seen for end in _ENDS)
        self._tail = seen[-_LONGEST:]
        return self.done

    def end(self) -> Answer:
        """Its status was good, and nothing more is known of it."""
        return Answer()


def tap_body(response: Any, hear: Callable[[bytes], Any]) -> None:
    """Let `hear` have every piece of the response's body before the SDK gets it."""

    def heard(data: bytes) -> bytes:
        hear(data)
        return data

    async def heard_async(body: Any) -> AsyncIterator[bytes]:
        async with aclosing(body):
            async for data in body:
                hear(data)
                yield data

    _Tapped.place(response, lambda body: map(heard, body), heard_async, "iter_bytes")


def beginning(kept: list[bytes]) -> Callable[[bytes], None]:
    """Keep the beginning of a body."""

    def hear(data: bytes) -> None:
        if sum(map(len, kept)) < LIMIT:
            kept.append(data[:LIMIT])

    return hear


def mark_in(response: Any) -> Callable[[], bool]:
    """Listen for the mark at the end of a stream; to be asked when no further chunk comes."""
    last: deque[bytes] = deque(maxlen=2)  # two pieces may share it
    tap_body(response, last.append)
    return lambda: _MARK.search(b"".join(last)) is not None


def tap_application(call: Invocation, response: Any) -> None:
    """End the call where the application reads the body of a stream itself; what the SDK reads is left alone.

    While the call waits for a chunk, it is the SDK that reads. The one method calls the other.
    """

    async def follow_async(body: Any) -> AsyncIterator[bytes]:
        async with aclosing(body), aclosing(call.follow_async(body, chunks=EventStreamEnd())) as followed:
            async for data in followed:
                yield data

    _Tapped.place(
        response,
        lambda body: body if call.waiting else call.follow(body, chunks=EventStreamEnd()),
        lambda body: body if call.waiting else follow_async(body),
        "iter_bytes",
        "iter_raw",
    )


def tap_times(call: Invocation, response: Any) -> None:
    """Note when the parts of a body come that the application may read at its leisure."""

    def note(body: Any) -> Iterator[bytes]:
        for data in body:
            call.received = perf_counter()
            yield data

    async def note_async(body: Any) -> AsyncIterator[bytes]:
        async with aclosing(body):
            async for data in body:
                call.received = perf_counter()
                yield data

    _Tapped.place(response, note, note_async, "iter_raw")


class _Tapped:
    """Stands in for the method of one response that gives its body in parts. A copy of the response has its own method."""

    __slots__ = ("_name", "_original", "_response", "_through")

    def __init__(self, response: Any, name: str, through: Callable[[Any], Any]) -> None:
        self._response, self._name, self._through = response, name, through
        self._original = getattr(response, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._through(self._original(*args, **kwargs))

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._response, self._name)

    @classmethod
    def place(
        cls, response: Any, through: Callable[[Any], Any], through_async: Callable[[Any], Any], *names: str
    ) -> None:
        """Put one into a response of the HTTP library, sync or async, in place of its `iter_bytes` and such."""
        is_async = hasattr(getattr(response, "stream", None), "__aiter__")
        for name in (f"a{name}" if is_async else name for name in names):
            if hasattr(response, name):
                vars(response)[name] = cls(response, name, through_async if is_async else through)
