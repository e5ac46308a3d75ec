"""dspy's own HTTP engine: its provider classes build a request, send it, and turn the answer into objects of dspy.

What they received is read instead of their objects, which know five finish reasons for all providers.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import Answer, Chunks, Reader
from llm_errors.extract.fields import field, number, text
from llm_errors.extract.tgi import LinesReader
from llm_errors.instrument.adapters.generators import stepping
from llm_errors.instrument.adapters.methods import Method, Methods
from llm_errors.instrument.adapters.received import OfReceived, Received
from llm_errors.instrument.adapters.unusual import refusal
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.invocation import ACTIVE, Invocation
from llm_errors.instrument.protocol import Function, Kind, Target
from llm_errors.instrument.wrappers import Edge
from llm_errors.providers import provider, provider_of_host
from llm_errors.safety import quietly

_SYNC = ("dspy._vendor.lm15.providers.base", "BaseProviderLM")
_ASYNC = ("dspy._vendor.lm15.providers.async_base", "AsyncBaseProviderLM")
_DIALECTS: dict[str, tuple[str, Reader]] = {
    "AnthropicLM": ("anthropic", results.MESSAGES),
    "GeminiLM": ("google", results.GENERATE_CONTENT),
    "OpenAILM": ("openai", results.RESPONSES),
}
"""The class of a provider -> dialect and reader. All others speak OpenAI's chat completions."""
_FAILED = 400
"""The lowest HTTP status of an error."""


class Events:
    """The reader of one call: of the body that was received, or of the events of a stream as they were received.

    Readers of one kind are equal, because descriptions of calls are compared.
    """

    __slots__ = ("_body", "_kind", "_lines")

    def __init__(self, reader: Reader, dialect: str) -> None:
        self._kind = reader
        self._body = OfReceived(reader, dialect)
        self._lines = LinesReader(reader).chunks()

    def __eq__(self, other: object) -> bool:
        return type(other) is Events and other._kind is self._kind

    def __hash__(self) -> int:
        return hash((Events, id(self._kind)))

    def event(self, event: Any) -> None:
        """An event arrived."""
        self._lines.chunk(f"data:{field(event, 'data') or ''}")

    def whole(self, result: Any) -> Answer:
        """Read the body. If the engine used a stream, it has ended that itself, at a word that the caller named."""
        if type(result) is Received:
            return self._body.whole(result)
        answer = self._lines.end()
        return answer._replace(suspicion=None) if answer.suspicion and "no_end" in answer.suspicion.facts else answer

    def chunks(self) -> Chunks:
        """The state of the stream, which the events have changed already."""
        return self

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._lines.done

    def chunk(self, chunk: Any) -> None:
        """An object of the engine says nothing that its event did not."""

    def end(self) -> Answer:
        """The answer after the last event."""
        return self._lines.end()


@dataclass(slots=True)
class _Response:
    """A response of the engine, with the fields that those of HTTP libraries have."""

    status_code: int
    headers: dict[str, str]
    _content: bytes


def _read(call: Invocation, event: Any) -> None:
    reader = call.info.reader
    if isinstance(reader, Events):
        reader.event(event)


def _running(edge: Edge) -> Invocation | None:
    """The call for which a stream of events is opened. Its code runs only now, not at every event."""
    call = ACTIVE.get()
    return call if call is not None and call.adapter is edge.adapter and edge.patcher.active else None


def _events(edge: Edge, original: Function) -> Function:
    """The wrapper of the function that splits a body into events."""

    def observed(call: Invocation, events: Iterator[Any]) -> Iterator[Any]:
        for event in events:
            quietly("chunk", None, _read, call, event)
            yield event

    def wrapper(*args: Any, **kwargs: Any) -> Iterator[Any]:
        call = _running(edge)
        events = original(*args, **kwargs)
        return events if call is None else observed(call, events)

    return wrapper


def _events_async(edge: Edge, original: Function) -> Function:
    """The same for an async generator function."""

    async def observed(call: Invocation, events: Any) -> AsyncIterator[Any]:
        async for event in events:
            quietly("chunk", None, _read, call, event)
            yield event

    def wrapper(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        call = _running(edge)
        events = original(*args, **kwargs)
        return events if call is None else observed(call, events)

    return wrapper


class DspyEngine(Methods):
    """The adapter of the engine. Each attempt of dspy's own retry is a call of it."""

    methods = (
        Method(*_SYNC, "complete", Kind.CALL, "chat", results.CHAT, streams=False),
        Method(*_SYNC, "_stream_raw", Kind.GENERATOR, "chat", results.CHAT, streams=True),
        Method(*_SYNC, "image_generate", Kind.CALL, "generate_content", results.MEDIA, streams=False),
        Method(*_SYNC, "speech_generate", Kind.CALL, "speech", results.MEDIA, streams=False),
        Method(*_ASYNC, "complete", Kind.ASYNC_CALL, "chat", results.CHAT, streams=False),
        Method(*_ASYNC, "_astream", stepping, "chat", results.CHAT, streams=True),
        Method(*_ASYNC, "image_generate", Kind.ASYNC_CALL, "generate_content", results.MEDIA, streams=False),
        Method(*_ASYNC, "speech_generate", Kind.ASYNC_CALL, "speech", results.MEDIA, streams=False),
    )
    others = (
        Target(*_SYNC, "_send", Kind.ATTEMPT),
        Target(*_ASYNC, "_send", Kind.ASYNC_ATTEMPT),
        Target(*_SYNC, "stream", refusal),
        Target("dspy.clients.engines.lm15_engine", "_Routing", "_target", refusal, optional=True),
        Target(_SYNC[0], "", "parse_sse", _events, lost="finish reasons of streams will not be read"),
        Target(_ASYNC[0], "", "aparse_sse", _events_async, lost="finish reasons of streams will not be read"),
    )

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """The request of the application. A stream that the engine opens inside a whole call is part of it."""
        around = ACTIVE.get()
        if around is not None and around.adapter is self and around.instance is instance:
            return None
        return self._told(self._by_target[target.module, target.owner, target.attribute], instance, args, kwargs)

    def _told(self, method: Method, instance: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> CallInfo:
        classes = (c.__name__.removeprefix("Async") for c in type(instance).__mro__)
        dialect, reader = next((_DIALECTS[name] for name in classes if name in _DIALECTS), ("openai", results.CHAT))
        host, port = split_address(text(field(instance, "base_url")))
        asked = text(field(kwargs.get("request") or (args[0] if args else None), "model"), 256)
        prefix, _, model = asked.partition("/")
        named = text(field(instance, "provider"), 64).removesuffix("-chat")
        if not named and model:  # not routed yet
            named, asked = prefix, model
        known = provider(named)
        return self.info(
            operation=method.operation,
            model=asked,
            stream=bool(method.streams),
            provider=provider_of_host(host, port) or (known.name if known is not None else named),
            address=host,
            port=port,
            dialect=dialect,
            reader=Events(reader if method.operation == "chat" else method.reader, dialect),
        )

    def refused(self, instance: Any, exc: BaseException, given: Sequence[Any] = ()) -> CallInfo | None:
        """The request of a stream could not be built, or dspy found no provider or no key for a model."""
        return self._told(self.methods[1 if hasattr(instance, "base_url") else 0], instance, given, {})

    def told(self, call: Invocation, exc: BaseException, names: tuple[str, ...], response: Any) -> Evidence | None:
        """What the body says, of which the engine's exception tells a part."""
        if response is None:
            return None
        said: Evidence | None = exceptions.of_response(response, call.info.dialect, call.info.provider)
        if (number(field(response, "status_code")) or 0) < _FAILED:
            said = call.info.reader.whole(Received(response)).suspicion
        return None if said is None else replace(said, exceptions=(names,))

    def returned(self, call: Invocation, result: Any) -> None:
        """The engine has made an object of the body."""
        call.judge(call.parsed)

    def attempt_returned(self, call: Invocation, result: Any) -> Any:
        """Keep what was received, until the engine has made an object of it."""
        headers = {str(name).lower(): value for name, value in field(result, "headers") or ()}
        response = _Response(field(result, "status"), headers, field(result, "body") or b"")
        return super().attempt_returned(call, response)
