"""Seeing a body pass: one that came in place of an event stream, and one that the application reads past the SDK.

SDKs drop the first silently, and it says what went wrong. Of the second only the end is known, and when it came.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from time import perf_counter
from typing import Any

from llm_errors.extract.answer import Answer
from llm_errors.instrument.invocation import Invocation

LIMIT = 16_384
"""Bytes of a body in place of a stream that are kept until its end: an error object is shorter."""

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


def tap_body(response: Any, kept: list[bytes]) -> None:
    """Keep the beginning of the response's body while the SDK reads it."""

    def keep(data: bytes) -> bytes:
        if sum(map(len, kept)) < LIMIT:
            kept.append(data[:LIMIT])
        return data

    async def keep_async(body: Any) -> AsyncIterator[bytes]:
        async with aclosing(body):
            async for data in body:
                yield keep(data)

    _Tapped.place(response, lambda body: map(keep, body), keep_async, "iter_bytes")


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
