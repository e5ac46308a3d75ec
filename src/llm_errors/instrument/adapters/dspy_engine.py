"""dspy's own HTTP engine: its provider classes build a request, send it, and turn the answer into objects of dspy.

This adapter reads what these classes received, because dspy's objects have only five finish reasons for all providers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import Reader
from llm_errors.extract.fields import field, number, text
from llm_errors.instrument.adapters.dspy_events import Events, events, events_async
from llm_errors.instrument.adapters.generators import stepping
from llm_errors.instrument.adapters.methods import Method, Methods
from llm_errors.instrument.adapters.received import Received
from llm_errors.instrument.adapters.refusals import refusal
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.invocation import ACTIVE, Invocation
from llm_errors.instrument.protocol import Kind, Target
from llm_errors.providers import provider, provider_of_host

_SYNC = ("dspy._vendor.lm15.providers.base", "BaseProviderLM")
_ASYNC = ("dspy._vendor.lm15.providers.async_base", "AsyncBaseProviderLM")
_DIALECTS: dict[str, tuple[str, Reader]] = {
    "AnthropicLM": ("anthropic", results.MESSAGES),
    "GeminiLM": ("google", results.GENERATE_CONTENT),
    "OpenAILM": ("openai", results.RESPONSES),
}
"""The class of a provider -> dialect and reader. All other classes use OpenAI's chat completions."""
_FAILED = 400
"""The lowest HTTP status of an error."""


@dataclass(slots=True)
class _Response:
    """A response of the engine, with the field names that HTTP libraries use."""

    status_code: int
    headers: dict[str, str]
    _content: bytes


class DspyEngine(Methods):
    """The adapter of the engine. dspy retries by calling the engine again, so each attempt is counted as a call."""

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
        Target(_SYNC[0], "", "parse_sse", events, lost="finish reasons of streams will not be read"),
        Target(_ASYNC[0], "", "aparse_sse", events_async, lost="finish reasons of streams will not be read"),
    )

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a request. A stream that the engine opens inside another call of the same object is part of that call."""
        around = ACTIVE.get()
        if around is not None and around.adapter is self and around.instance is instance:
            return None
        return self._described(self._by_target[target.module, target.owner, target.attribute], instance, args, kwargs)

    def _described(self, method: Method, instance: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> CallInfo:
        classes = (c.__name__.removeprefix("Async") for c in type(instance).__mro__)
        dialect, reader = next((_DIALECTS[name] for name in classes if name in _DIALECTS), ("openai", results.CHAT))
        host, port = split_address(text(field(instance, "base_url")))
        asked = text(field(kwargs.get("request") or (args[0] if args else None), "model"), 256)
        prefix, _, model = asked.partition("/")
        named = text(field(instance, "provider"), 64).removesuffix("-chat")
        if not named and model:  # dspy has not chosen the provider class yet
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
        """Describes a call without a request: dspy could not build it for a stream, or found no provider or key for a model."""
        return self._described(self.methods[1 if hasattr(instance, "base_url") else 0], instance, given, {})

    def read_failure(
        self, call: Invocation, exc: BaseException, names: tuple[str, ...], response: Any
    ) -> Evidence | None:
        """Evidence from the body of the response. The engine's exception contains only a part of it."""
        if response is None:
            return None
        found: Evidence | None = exceptions.of_response(response, call.info.dialect, call.info.provider)
        if (number(field(response, "status_code")) or 0) < _FAILED:
            found = call.info.reader.whole(Received(response)).suspicion
        return None if found is None else replace(found, exceptions=(names,))

    def returned(self, call: Invocation, result: Any) -> None:
        """The engine returned its own object. What the engine received is judged instead."""
        call.judge(call.parsed)

    def attempt_returned(self, call: Invocation, result: Any) -> Any:
        """Keep the received response until the engine has created its object."""
        headers = {str(name).lower(): value for name, value in field(result, "headers") or ()}
        response = _Response(field(result, "status"), headers, field(result, "body") or b"")
        return super().attempt_returned(call, response)
