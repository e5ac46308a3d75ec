"""Instrumentations of frameworks that tell only at the end of a span that it is one of a model call: no second span of ours."""

import asyncio
import os
from typing import Any

import pytest

from llm_errors.testing.provider import Reply

from .litellm_provider import ANTHROPIC, GEMINI, OPENAI, error, events, given, lines, litellm, streamed, whole

OPENINFERENCE = "openinference.instrumentation.litellm:LiteLLMInstrumentor"
OPENLLMETRY = "opentelemetry.instrumentation.litellm:LiteLLMInstrumentor"
ROADS = (OPENAI, ANTHROPIC, GEMINI)
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "false")


def marked(telemetry: Any) -> list[Any]:
    """The spans that carry a class."""
    return [span for span in telemetry.spans() if "llm.error.class" in span.attributes]


def ours(telemetry: Any) -> list[str]:
    return [span.name for span in telemetry.spans() if span.instrumentation_scope.name == "llm_errors"]


def counted(telemetry: Any) -> tuple[dict[str, int], dict[str, int]]:
    return telemetry.outcomes(), telemetry.errors()


CALLS = {
    "sync": lambda model, url: litellm.completion(**given(model, url)),
    "async": lambda model, url: asyncio.run(litellm.acompletion(**given(model, url))),
    "stream": lambda model, url: list(litellm.completion(**given(model, url, stream=True))),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("model", ROADS)
def test_a_span_of_openinference_is_the_only_one_of_a_healthy_call(beside, provider, model, call):
    telemetry = beside(OPENINFERENCE)
    CALLS[call](model, provider([streamed(model) if call == "stream" else Reply(json=whole(model))]).url)
    assert counted(telemetry) == ({"ok": 1}, {})
    (span,) = telemetry.spans()
    assert span.attributes["openinference.span.kind"] == "LLM"


KINDS = {OPENAI: "rate_limit_exceeded", ANTHROPIC: "rate_limit_error", GEMINI: "RESOURCE_EXHAUSTED"}


@pytest.mark.parametrize("call", ["sync", "async"])
@pytest.mark.parametrize("model", ROADS)
def test_the_class_is_on_the_span_of_openinference(beside, provider, model, call):
    telemetry = beside(OPENINFERENCE)
    url = provider([error(model, 429, KINDS[model])]).url
    with pytest.raises(litellm.RateLimitError):
        CALLS[call](model, url)
    assert counted(telemetry) == ({"error": 1}, {"RATE_LIMITED": 1})
    (span,) = telemetry.spans()
    assert span.attributes["llm.error.class"] == "RATE_LIMITED"


@pytest.mark.parametrize("model", ROADS)
def test_a_stream_that_fails_beside_openinference(beside, provider, model):
    telemetry = beside(OPENINFERENCE)
    reply = Reply(sse=lines(model, events(model, end=False), end=False), action="cut_mid_stream")
    with pytest.raises(Exception):
        CALLS["stream"](model, provider([reply]).url)
    assert counted(telemetry) == ({"error": 1}, {"TRANSPORT": 1})
    (span,) = telemetry.spans()
    assert span.attributes["llm.error.class"] == "TRANSPORT"


@pytest.mark.parametrize("model", ROADS)
def test_beside_openllmetry_whose_span_is_not_current_there_is_no_second_span(beside, provider, model):
    telemetry = beside(OPENLLMETRY)
    url = provider([error(model, 429, KINDS[model])]).url
    with pytest.raises(litellm.RateLimitError):
        CALLS["sync"](model, url)
    assert counted(telemetry) == ({"error": 1}, {"RATE_LIMITED": 1})
    assert [span.name for span in telemetry.spans()] == ["litellm.chat"]


# --- frameworks that call SDKs ---


def llama(url: str) -> Any:
    module = pytest.importorskip("llama_index.llms.openai")
    return module.OpenAI(model="gpt-4o", api_base=f"{url}/v1", api_key="k", max_retries=0, timeout=30)


def ask_llama(url: str, stream: bool = False) -> Any:
    from llama_index.core.llms import ChatMessage

    model = llama(url)
    said = [ChatMessage(role="user", content="hello")]
    return list(model.stream_chat(said)) if stream else model.chat(said)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_llama_index_has_one_model_span(beside, provider, stream):
    pytest.importorskip("llama_index.llms.openai")
    telemetry = beside("openinference.instrumentation.llama_index:LlamaIndexInstrumentor")
    reply = streamed(OPENAI, "length") if stream else Reply(json=whole(OPENAI, finish="length"))
    ask_llama(provider([reply]).url, stream)
    assert counted(telemetry) == ({"error": 1}, {"TRUNCATED": 1})
    assert not ours(telemetry)
    if not stream:  # the span of a stream is not current when its request is sent
        (span,) = marked(telemetry)
        assert span.attributes["openinference.span.kind"] == "LLM"


def generator(url: str) -> Any:
    module = pytest.importorskip("haystack.components.generators.chat")
    secret = pytest.importorskip("haystack.utils").Secret.from_token("k")
    return module.OpenAIChatGenerator(api_key=secret, model="m", api_base_url=f"{url}/v1", max_retries=0, timeout=30)


@pytest.mark.parametrize("in_pipeline", [False, True], ids=["component", "pipeline"])
def test_haystack_has_one_model_span(beside, provider, in_pipeline):
    pytest.importorskip("haystack")
    telemetry = beside("openinference.instrumentation.haystack:HaystackInstrumentor")
    from haystack import Pipeline
    from haystack.dataclasses import ChatMessage

    component = generator(provider([Reply(json=whole(OPENAI, finish="length"))]).url)
    said = [ChatMessage.from_user("hello")]
    if in_pipeline:
        pipeline = Pipeline()
        pipeline.add_component("model", component)
        pipeline.run({"model": {"messages": said}})
    else:
        component.run(messages=said)
    assert counted(telemetry) == ({"error": 1}, {"TRUNCATED": 1})
    if in_pipeline:
        assert not ours(telemetry)
        (span,) = marked(telemetry)
        assert span.attributes["openinference.span.kind"] == "LLM"
