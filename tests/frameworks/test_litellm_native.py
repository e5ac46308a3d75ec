"""litellm's functions in the providers' own formats: Anthropic's messages and Gemini's generate_content, sync and async."""

import asyncio
from typing import Any

import pytest

from llm_errors.testing.provider import Reply

from .litellm_provider import ANTHROPIC, ASK, GEMINI, OPENAI, error, given, lines, litellm, streamed, whole
from .test_litellm import events, found

pytest.importorskip("fastapi")  # litellm imports its proxy for some of these streams
pytestmark = pytest.mark.filterwarnings("ignore")  # litellm's own deprecations
CONTENTS = [{"role": "user", "parts": [{"text": "hello"}]}]


def asked(model: str, url: str, **more: Any) -> dict[str, Any]:
    """The arguments of a call."""
    common = {key: value for key, value in given(model, url).items() if key in ("model", "api_base", "api_key")}
    if model == GEMINI:
        return {**common, "contents": CONTENTS, **more}
    return {**common, "messages": ASK, "max_tokens": 9, **more}


def plain(model: str, url: str) -> Any:
    if model == GEMINI:
        from litellm.google_genai import generate_content

        return generate_content(**asked(model, url))
    return asyncio.run(litellm.anthropic_messages(**asked(model, url)))


def awaited(model: str, url: str) -> Any:
    if model == GEMINI:
        from litellm.google_genai import agenerate_content

        return asyncio.run(agenerate_content(**asked(model, url)))
    return asyncio.run(litellm.anthropic.messages.acreate(**asked(model, url)))


def stream(model: str, url: str) -> Any:
    from litellm.google_genai import generate_content_stream

    return list(generate_content_stream(**asked(model, url)))


def stream_async(model: str, url: str) -> Any:
    async def chunks() -> list[Any]:
        if model == GEMINI:
            from litellm.google_genai import agenerate_content_stream

            return [chunk async for chunk in await agenerate_content_stream(**asked(model, url))]
        return [chunk async for chunk in await litellm.anthropic_messages(**asked(model, url, stream=True))]

    return asyncio.run(chunks())


WHOLE = [(plain, ANTHROPIC), (awaited, ANTHROPIC), (plain, GEMINI), (awaited, GEMINI)]
STREAMED = [(stream, GEMINI), (stream_async, GEMINI), (stream_async, ANTHROPIC)]
each_way = pytest.mark.parametrize(("call", "model"), [*WHOLE, *STREAMED])
OPERATION = {ANTHROPIC: "chat", GEMINI: "generate_content"}
PROVIDER = {ANTHROPIC: "anthropic", GEMINI: "gcp.gemini"}


def answer(call: Any, model: str, finish: str = "") -> Reply:
    return streamed(model, finish) if call in (stream, stream_async) else Reply(json=whole(model, finish=finish))


@each_way
def test_a_call_is_one_call_with_one_span(observed, provider, call, model):
    call(model, provider([answer(call, model)]).url)
    assert found(observed) == ({"ok": 1}, {}, {}, 1)
    labels = observed.points("llm_calls_total")[0][0]
    assert (labels["gen_ai.provider.name"], labels["gen_ai.request.model"]) == (PROVIDER[model], "m")
    assert observed.span().attributes["gen_ai.operation.name"] == OPERATION[model]


@each_way
def test_an_error_of_the_provider_is_counted_once(observed, provider, call, model):
    kind = {ANTHROPIC: "rate_limit_error", GEMINI: "RESOURCE_EXHAUSTED"}[model]
    with pytest.raises(Exception):
        call(model, provider([error(model, 429, kind)]).url)
    assert found(observed) == ({"error": 1}, {"RATE_LIMITED/requests": 1}, {}, 1)


@each_way
def test_the_finish_reason_is_that_of_the_provider(observed, provider, call, model):
    finish, verdict = {ANTHROPIC: ("refusal", "refusal"), GEMINI: ("RECITATION", "recitation")}[model]
    call(model, provider([answer(call, model, finish)]).url)
    assert found(observed) == ({"error": 1}, {f"OUTPUT_BLOCKED/{verdict}": 1}, {}, 1)


@pytest.mark.parametrize(("call", "model"), STREAMED)
def test_a_stream_that_is_cut(observed, provider, call, model):
    reply = Reply(sse=lines(model, events(model, end=False), end=False), action="cut_mid_stream")
    with pytest.raises(Exception):
        call(model, provider([reply]).url)
    assert (observed.outcomes(), observed.errors(), len(observed.spans())) == ({"error": 1}, {"TRANSPORT": 1}, 1)


async def test_messages_of_another_provider_are_one_call(observed, provider):
    """litellm converts them and calls its own completion."""
    url = provider([Reply(json=whole(OPENAI))]).url
    await litellm.anthropic_messages(**{**asked(OPENAI, url), "model": "hosted_vllm/m"})
    assert found(observed) == ({"ok": 1}, {}, {}, 1)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_moderation_is_one_call(observed, provider, asynchronous, monkeypatch):
    reply = Reply(
        json={"id": "1", "model": "m", "results": [{"flagged": False, "categories": {}, "category_scores": {}}]}
    )
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider([reply]).url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    call = litellm.amoderation if asynchronous else litellm.moderation
    result = call(input="a", model="omni-moderation-latest")
    if asynchronous:
        asyncio.run(_awaited(result))
    assert found(observed) == ({"ok": 1}, {}, {}, 1)


async def _awaited(result: Any) -> Any:
    return await result
