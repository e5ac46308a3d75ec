"""Reads the body, or the events of a stream, that dspy's own engine receives, before the engine creates objects from them."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

from llm_errors.extract.answer import Answer, Reader
from llm_errors.extract.fields import field
from llm_errors.extract.tgi import LinesReader
from llm_errors.instrument.adapters.received import OfReceived, Received
from llm_errors.instrument.invocation import ACTIVE, Invocation
from llm_errors.instrument.protocol import Function
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly


class Arrived:
    """The state of one call: what the events that arrived so far have shown."""

    __slots__ = ("_lines",)

    def __init__(self, reader: Reader) -> None:
        self._lines = LinesReader(reader).chunks()

    def event(self, event: Any) -> None:
        """An event arrived."""
        self._lines.chunk(f"data:{field(event, 'data') or ''}")

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._lines.done

    def chunk(self, chunk: Any) -> None:
        """Ignore an object of the engine, because the event from which it was created was read already."""

    def end(self) -> Answer:
        """The answer after the last event."""
        return self._lines.end()


class Events:
    """A reader of the body that the engine received, or of the events of a stream as they arrive.

    CallInfos are kept and compared, so a reader holds no state of a call, and two readers for the same API are equal.
    """

    __slots__ = ("_body", "_kind")

    def __init__(self, reader: Reader, dialect: str) -> None:
        self._kind = reader
        self._body = OfReceived(reader, dialect)

    def __eq__(self, other: object) -> bool:
        return type(other) is Events and other._kind is self._kind

    def __hash__(self) -> int:
        return hash((Events, id(self._kind)))

    def whole(self, result: Any) -> Answer:
        """Read the body, or the events of a stream. The engine may end a stream early, at a word that the caller named."""
        if type(result) is Received:
            return self._body.whole(result)
        answer = (result if type(result) is Arrived else self.chunks()).end()
        return answer._replace(suspicion=None) if answer.suspicion and "no_end" in answer.suspicion.facts else answer

    def chunks(self) -> Arrived:
        """The state of one stream."""
        return Arrived(self._kind)


def _read(call: Invocation, event: Any) -> None:
    """Read an event into the state of its call. If the application requested no stream, `call.parsed` holds the state."""
    state = call.chunks if type(call.chunks) is Arrived else call.parsed
    if type(state) is not Arrived:
        state = call.parsed = call.info.reader.chunks()
    if type(state) is Arrived:
        state.event(event)


def _running(edge: Edge) -> Invocation | None:
    """The call for which a stream of events is opened. It is in the context only now, not when an event is read."""
    call = ACTIVE.get()
    return call if call is not None and call.adapter is edge.adapter and edge.patcher.active else None


def events(edge: Edge, original: Function) -> Function:
    """The wrapper of the function that splits a body into events."""

    def observed(call: Invocation, parts: Iterator[Any]) -> Iterator[Any]:
        for event in parts:
            quietly("chunk", None, _read, call, event)
            yield event

    def wrapper(*args: Any, **kwargs: Any) -> Iterator[Any]:
        call = _running(edge)
        parts = original(*args, **kwargs)
        return parts if call is None else observed(call, parts)

    return wrapper


def events_async(edge: Edge, original: Function) -> Function:
    """The same for an async generator function."""

    async def observed(call: Invocation, parts: Any) -> AsyncIterator[Any]:
        async with aclosing(parts):
            async for event in parts:
                quietly("chunk", None, _read, call, event)
                yield event

    def wrapper(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        call = _running(edge)
        parts = original(*args, **kwargs)
        return parts if call is None else observed(call, parts)

    return wrapper
