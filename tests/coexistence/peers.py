"""The other instrumentations, one row per package and SDK, and what is known of whose span is current where we look."""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

OPENAI, RESPONSES, ANTHROPIC, GOOGLE = "openai", "responses", "anthropic", "google-genai"
BEDROCK, INVOKE, MISTRAL, COHERE, OLLAMA = "bedrock", "bedrock-invoke", "mistralai", "cohere", "ollama"

Start = Callable[[dict[str, Any]], Callable[[], Any]]
"""Begins with the given providers; returns what undoes it."""


@dataclass(frozen=True)
class Peer:
    """One instrumentation of one SDK.

    `plain`, `streamed`: its span is current at the inner request. `streamed_async`: so it is with the async client.
    `reads`: that span still records while a stream is read.
    `undoes`: its own `uninstrument` takes everything out again. `saves`: it does so by putting back what it found, not by unwrapping.
    """

    name: str
    api: str
    module: str
    start: Start
    plain: bool = True
    streamed: bool = True
    streamed_async: bool = True
    reads: bool = True
    undoes: bool = True
    saves: bool = False

    def __str__(self) -> str:
        return f"{self.name}-{self.api}"

    @property
    def flavours(self) -> tuple[str, ...]:
        """The clients that the SDK has; boto3 has no async one."""
        return ("sync",) if self.api in (BEDROCK, INVOKE) else ("sync", "async")

    @contextmanager
    def running(self, providers: dict[str, Any]) -> Iterator[None]:
        """Instrumented by this peer."""
        stop = self.start(providers)
        try:
            yield
        finally:
            stop()

    def needed(self) -> None:
        """Skip the test where the peer is not installed."""
        pytest.importorskip(
            self.module, reason=f"could not import {self.module}, which another peers environment holds"
        )


def _instrumentor(module: str, name: str) -> Start:
    def start(providers: dict[str, Any]) -> Callable[[], Any]:
        instrumentor = getattr(importlib.import_module(module), name)()
        instrumentor.instrument(**providers)
        assert instrumentor.is_instrumented_by_opentelemetry, f"{module} refuses the installed SDK"
        return instrumentor.uninstrument

    return start


def _openlit(module: str, name: str) -> Start:
    def start(providers: dict[str, Any]) -> Callable[[], Any]:
        from openlit._config import OpenlitConfig
        from openlit.otel.metrics import setup_meter

        config = OpenlitConfig()
        config.disable_metrics = True
        OpenlitConfig.metrics_dict = setup_meter("app", "test", None, None, None)[0]
        return _instrumentor(f"openlit.instrumentation.{module}", name)({"disable_metrics": False})

    return start


def _logfire(method: str) -> Start:
    def start(providers: dict[str, Any]) -> Callable[[], Any]:
        import logfire

        processors = [providers["tracer_provider"].processor]
        local = logfire.configure(
            local=True, send_to_logfire=False, console=False, additional_span_processors=processors
        )
        undo = getattr(local, method)()

        def stop() -> None:
            with undo:
                pass

        return stop

    return start


def _family(
    name: str, prefix: str, rows: tuple[tuple[str, str, str, dict[str, bool]], ...], make: Any = None
) -> Iterator[Peer]:
    for api, module, cls, known in rows:
        path = f"{prefix}.{module}"
        yield Peer(name, api, path, _instrumentor(path, cls) if make is None else make(module, cls), **known)


ALL = (
    *_family(
        "official",
        "opentelemetry.instrumentation",
        (
            (OPENAI, "genai.openai", "OpenAIInstrumentor", {}),
            (RESPONSES, "genai.openai", "OpenAIInstrumentor", {}),
            (ANTHROPIC, "genai.anthropic", "AnthropicInstrumentor", {}),
            (GOOGLE, "google_genai", "GoogleGenAiSdkInstrumentor", {"saves": True}),
            (BEDROCK, "botocore", "BotocoreInstrumentor", {}),
            (INVOKE, "botocore", "BotocoreInstrumentor", {}),
        ),
    ),
    *_family(
        "openllmetry",
        "opentelemetry.instrumentation",
        (
            (OPENAI, "openai", "OpenAIInstrumentor", {"undoes": False}),
            (RESPONSES, "openai", "OpenAIInstrumentor", {"plain": False, "streamed": False, "undoes": False}),
            (ANTHROPIC, "anthropic", "AnthropicInstrumentor", {"plain": False, "streamed": False}),
            (GOOGLE, "google_generativeai", "GoogleGenerativeAiInstrumentor", {"plain": False, "streamed": False}),
            (BEDROCK, "bedrock", "BedrockInstrumentor", {"streamed": False}),
            (INVOKE, "bedrock", "BedrockInstrumentor", {"streamed": False}),
            (MISTRAL, "mistralai", "MistralAiInstrumentor", {"plain": False, "streamed": False}),
            (COHERE, "cohere", "CohereInstrumentor", {"streamed": False}),
            (OLLAMA, "ollama", "OllamaInstrumentor", {"plain": False, "streamed": False, "undoes": False}),
        ),
    ),
    *_family(
        "openinference",
        "openinference.instrumentation",
        (
            (OPENAI, "openai", "OpenAIInstrumentor", {"saves": True}),
            (RESPONSES, "openai", "OpenAIInstrumentor", {"saves": True}),
            (ANTHROPIC, "anthropic", "AnthropicInstrumentor", {}),
            (GOOGLE, "google_genai", "GoogleGenAIInstrumentor", {"streamed": False, "saves": True}),
            (BEDROCK, "bedrock", "BedrockInstrumentor", {}),
            (INVOKE, "bedrock", "BedrockInstrumentor", {"streamed": False}),
            (MISTRAL, "mistralai", "MistralAIInstrumentor", {"streamed_async": False, "saves": True}),
        ),
    ),
    *_family(
        "openlit",
        "openlit.instrumentation",
        (
            (OPENAI, "openai", "OpenAIInstrumentor", {"undoes": False}),
            (RESPONSES, "openai", "OpenAIInstrumentor", {"undoes": False}),
            (ANTHROPIC, "anthropic", "AnthropicInstrumentor", {"undoes": False}),
            (GOOGLE, "google_ai_studio", "GoogleAIStudioInstrumentor", {"streamed": False, "undoes": False}),
            (BEDROCK, "bedrock", "BedrockInstrumentor", {"undoes": False}),  # of Converse only
            (MISTRAL, "mistral", "MistralInstrumentor", {"reads": False, "undoes": False}),
            # Its cohere instrumentation fails in every stream by itself: it calls what the SDK does not have.
            (OLLAMA, "ollama", "OllamaInstrumentor", {"reads": False, "undoes": False}),
        ),
        make=_openlit,
    ),
    # logfire ends its span before a stream is read.
    Peer("logfire", OPENAI, "logfire", _logfire("instrument_openai"), reads=False, saves=True),
    Peer("logfire", RESPONSES, "logfire", _logfire("instrument_openai"), reads=False, saves=True),
    Peer("logfire", ANTHROPIC, "logfire", _logfire("instrument_anthropic"), reads=False, saves=True),
)  # fmt: skip
