"""litellm over a provider on a loopback port: one call per attempt, whichever layer sends its request.

openai's models go through openai's SDK, which reports them; the others through litellm's own HTTP handlers, so that litellm
reports them. The tables state calls, errors, hidden retries and spans for both.
"""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from llm_errors.testing.provider import Reply
from tests.promises.wire import collected

from .litellm_provider import (
    ANTHROPIC,
    ASK,
    BEDROCK,
    GEMINI,
    IN_BAND,
    MODELS,
    OPENAI,
    VENDOR,
    error,
    events,
    given,
    lines,
    litellm,
    streamed,
    whole,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # litellm's own deprecations


def plain(model: str, url: str, **more: Any) -> Any:
    return litellm.completion(**given(model, url, **more))


def awaited(model: str, url: str, **more: Any) -> Any:
    return asyncio.run(litellm.acompletion(**given(model, url, **more)))


def stream(model: str, url: str, **more: Any) -> Any:
    return list(litellm.completion(**given(model, url, stream=True, **more)))


def stream_async(model: str, url: str, **more: Any) -> Any:
    async def chunks() -> list[Any]:
        return [chunk async for chunk in await litellm.acompletion(**given(model, url, stream=True, **more))]

    return asyncio.run(chunks())


WHOLE, STREAMED = (plain, awaited), (stream, stream_async)
EVERY = (*WHOLE, *STREAMED)


def found(telemetry: Any) -> tuple[dict[str, int], dict[str, int], dict[str, int], int]:
    """Calls by outcome, errors by class and reason, hidden retries by class, and spans."""
    errors = {"/".join(key): count for key, count in telemetry.reasons().items()}
    return telemetry.outcomes(), errors, telemetry.retries(), len(telemetry.spans())


def answer(call: Any, model: str, text: str = "one two", finish: str = "") -> Reply:
    return streamed(model, finish) if call in STREAMED else Reply(json=whole(model, text, finish))


def raising(call: Any, *args: Any, **kwargs: Any) -> BaseException:
    with pytest.raises(Exception) as caught:
        call(*args, **kwargs)
    return caught.value


# --- healthy calls ---


@pytest.mark.parametrize("call", EVERY)
@pytest.mark.parametrize("model", MODELS)
def test_a_call_is_one_call_with_one_span(observed, provider, model, call):
    call(model, provider([answer(call, model)]).url)
    assert found(observed) == ({"ok": 1}, {}, {}, 1)
    labels = observed.points("llm_calls_total")[0][0]
    assert (labels["gen_ai.provider.name"], labels["gen_ai.request.model"]) == (VENDOR[model], "m")
    assert observed.span().attributes["gen_ai.operation.name"] == "chat"


@pytest.mark.parametrize("model", MODELS)
def test_names_that_were_imported_before_are_observed_and_restored(telemetry, instrument, provider, model):
    from litellm import completion
    from litellm.main import acompletion

    before = completion
    instrumentor = instrument()
    url = provider([Reply(json=whole(model))]).url
    completion(**given(model, url))
    asyncio.run(acompletion(**given(model, url)))
    litellm.main.completion(**given(model, url))
    assert telemetry.outcomes() == {"ok": 3}
    instrumentor.uninstrument()
    completion(**given(model, url))
    assert telemetry.outcomes() == {"ok": 3}
    assert litellm.completion is before


def test_tools_in_a_loop_are_two_calls(observed, provider):
    use = {"type": "tool_use", "id": "t1", "name": "ping", "input": {}}
    asks = {**whole(ANTHROPIC, "", "tool_use"), "content": [use]}
    url = provider([Reply(json=asks), Reply(json=whole(ANTHROPIC))]).url
    tools = [{"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}]
    message = plain(ANTHROPIC, url, tools=tools).choices[0].message
    said = [*ASK, message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "pong"}]
    litellm.completion(**{**given(ANTHROPIC, url, tools=tools), "messages": said})
    assert found(observed) == ({"ok": 2}, {}, {}, 2)


DATA = {"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [0.1]}],
        "usage": {"prompt_tokens": 1, "total_tokens": 1}}  # fmt: skip
TEXT = {"id": "c", "object": "text_completion", "created": 1, "model": "m", "usage": whole(OPENAI)["usage"],
        "choices": [{"index": 0, "text": "hi", "finish_reason": "stop", "logprobs": None}]}  # fmt: skip
IMAGE = {"created": 1, "data": [{"url": "https://images.example/1"}]}
RESPONSE = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "tools": [],
            "parallel_tool_calls": True, "tool_choice": "auto", "metadata": {}, "temperature": 1.0, "top_p": 1.0,
            **dict.fromkeys(("error", "incomplete_details", "instructions", "max_output_tokens", "previous_response_id",
                             "reasoning", "text", "truncation", "usage", "user")),
            "output": [{"id": "o", "type": "message", "role": "assistant", "status": "completed",
                        "content": [{"type": "output_text", "text": "hi", "annotations": []}]}]}  # fmt: skip
OTHERS = {
    "embedding": ({"model": "openai/m", "input": ["a"]}, DATA, "embeddings"),
    "embedding of cohere": ({"model": "cohere/m", "input": ["a"]},
                            {"id": "e", "texts": ["a"], "embeddings": {"float": [[0.1]]}, "meta": {"billed_units": {"input_tokens": 1}}},
                            "embeddings"),
    "text_completion": ({"model": "text-completion-openai/m", "prompt": "a"}, TEXT, "text_completion"),
    "image_generation": ({"model": "openai/m", "prompt": "a"}, IMAGE, "generate_content"),
    "responses": ({"model": "openai/m", "input": "a"}, RESPONSE, "chat"),
    "responses of anthropic": ({"model": "anthropic/m", "input": "a"}, whole(ANTHROPIC), "chat"),
}  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", OTHERS)
def test_every_function_is_one_call(observed, provider, name, asynchronous):
    arguments, reply, operation = OTHERS[name]
    function = name.partition(" ")[0]
    url = provider([Reply(json=reply)]).url
    call = getattr(litellm, f"a{function}" if asynchronous else function)
    base = f"{url}/v1" if "openai" in arguments["model"] else url
    result = call(**arguments, api_base=base, api_key="k", max_retries=0)
    if asynchronous:
        asyncio.run(_awaited(result))
    assert found(observed) == ({"ok": 1}, {}, {}, 1)
    assert observed.span().attributes["gen_ai.operation.name"] == operation


async def _awaited(result: Any) -> Any:
    return await result


def test_an_answer_from_the_cache_is_no_call(observed, provider):
    from litellm.caching.caching import Cache

    litellm.cache = Cache(type="local")
    try:
        url = provider([Reply(json=whole(ANTHROPIC))]).url
        plain(ANTHROPIC, url, caching=True)
        plain(ANTHROPIC, url, caching=True)
    finally:
        litellm.cache = None
    assert observed.outcomes() == {"ok": 1}


# --- one failure of each channel ---

LIMIT = {OPENAI: "rate_limit_exceeded", ANTHROPIC: "rate_limit_error", GEMINI: "RESOURCE_EXHAUSTED"}


@pytest.mark.parametrize("call", EVERY)
@pytest.mark.parametrize("model", MODELS)
def test_an_error_of_the_provider_is_counted_once(observed, provider, model, call):
    raising(call, model, provider([error(model, 429, LIMIT[model])]).url)
    assert found(observed) == ({"error": 1}, {"RATE_LIMITED/requests": 1}, {}, 1)


@pytest.mark.parametrize("call", EVERY)
@pytest.mark.parametrize(("model", "finish"), IN_BAND)
def test_the_finish_reason_is_that_of_the_provider(observed, provider, model, finish, call):
    call(model, provider([answer(call, model, finish=finish)]).url)
    assert found(observed) == ({"error": 1}, {IN_BAND[model, finish]: 1}, {}, 1)


@pytest.mark.parametrize("call", EVERY)
def test_a_pause_that_litellm_calls_a_limit_is_healthy(observed, provider, call):
    call(ANTHROPIC, provider([answer(call, ANTHROPIC, finish="pause_turn")]).url)
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("call", EVERY)
def test_a_blocked_prompt_of_gemini_is_told_from_a_blocked_answer(observed, provider, call):
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 1}}
    reply = Reply(sse=lines(GEMINI, [blocked]), chunked=True) if call in STREAMED else Reply(json=blocked)
    call(GEMINI, provider([reply]).url)
    assert observed.reasons() == {("PROMPT_BLOCKED", "safety"): 1}


@pytest.mark.parametrize("call", WHOLE)
@pytest.mark.parametrize("model", MODELS)
def test_a_page_in_place_of_an_answer(observed, provider, model, call):
    raising(call, model, provider([Reply(text="<html>sorry</html>")]).url)
    assert found(observed) == ({"error": 1}, {"UNKNOWN/unexpected_body": 1}, {}, 1)


@pytest.mark.parametrize("call", EVERY)
@pytest.mark.parametrize("model", MODELS)
def test_a_network_error_is_found_below_the_status_that_litellm_makes_up(observed, model, call):
    raising(call, model, "http://127.0.0.1:9")
    assert found(observed) == ({"error": 1}, {"TRANSPORT/connection_refused": 1}, {}, 1)
    assert "llm.error.status_code" not in observed.span().attributes


@pytest.mark.parametrize("call", STREAMED)
@pytest.mark.parametrize("model", MODELS)
def test_a_stream_that_is_cut(observed, provider, model, call):
    reply = Reply(sse=lines(model, events(model, end=False), end=False), action="cut_mid_stream")
    with suppress(Exception):  # older releases end an async stream that is cut as if it were whole
        call(model, provider([reply]).url)
    assert (observed.outcomes(), observed.errors(), len(observed.spans())) == ({"error": 1}, {"TRANSPORT": 1}, 1)
    assert observed.span().attributes["llm.error.partial_output"] is True


@pytest.mark.parametrize("call", STREAMED)
@pytest.mark.parametrize("model", MODELS)
def test_a_stream_that_ends_without_a_finish_reason(observed, provider, model, call):
    reply = Reply(sse=lines(model, events(model, end=False), end=False), chunked=True)
    with suppress(litellm.exceptions.MidStreamFallbackError):  # for some providers; for others it makes up a `stop`
        call(model, provider([reply]).url)
    assert found(observed) == ({"error": 1}, {"TRANSPORT/stream_cut": 1}, {}, 1)


@pytest.mark.parametrize("call", STREAMED)
def test_an_error_inside_a_stream_keeps_its_type(observed, provider, call):
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    reply = Reply(sse=lines(ANTHROPIC, [*events(ANTHROPIC, end=False), overloaded]), chunked=True)
    raising(call, ANTHROPIC, provider([reply]).url)
    assert found(observed) == ({"error": 1}, {"SERVER/overloaded": 1}, {}, 1)


# --- streams that the application ends ---

can_close = pytest.mark.skipif(
    not hasattr(litellm.CustomStreamWrapper, "close"), reason="only newer releases of litellm can close a stream"
)


@can_close
@pytest.mark.parametrize("model", MODELS)
def test_a_stream_that_is_closed_early_is_cancelled(observed, provider, model):
    chunks = litellm.completion(**given(model, provider([streamed(model)]).url, stream=True))
    assert isinstance(chunks, litellm.CustomStreamWrapper)
    next(chunks)
    chunks.close()
    assert found(observed) == ({"cancelled": 1}, {}, {}, 1)


@can_close
@pytest.mark.parametrize("model", [ANTHROPIC, GEMINI])
def test_a_stream_that_is_dropped_is_cancelled(observed, provider, monkeypatch, model):
    monkeypatch.setattr(litellm, "disable_streaming_logging", True)  # its threads hold the stream for a while
    chunks = litellm.completion(**given(model, provider([streamed(model)]).url, stream=True))
    next(chunks)
    del chunks
    collected(lambda: observed.outcomes() == {"cancelled": 1})


@pytest.mark.parametrize("model", MODELS)
def test_a_stream_that_is_left_at_its_finish_reason_is_whole(observed, provider, model):
    chunks = litellm.completion(**given(model, provider([streamed(model)]).url, stream=True))
    for chunk in chunks:
        if chunk.choices[0].finish_reason:
            break
    assert observed.outcomes() == {"ok": 1}


async def test_a_cancelled_task_is_a_cancelled_call(observed, provider):
    server = provider([Reply(action="hang")])
    task = asyncio.create_task(litellm.acompletion(**given(ANTHROPIC, server.url)))
    await asyncio.to_thread(server.hanging.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    server.release.set()
    assert observed.outcomes() == {"cancelled": 1}


# --- retries, routers, budgets ---


@pytest.mark.parametrize("call", WHOLE)
def test_attempts_of_litellm_are_calls_and_attempts_of_an_sdk_are_hidden_retries(observed, provider, call):
    """`num_retries` reaches openai's SDK, which retries by itself; for the others litellm calls again."""
    call(OPENAI, provider([Reply(status=503), Reply(status=503), Reply(json=whole(OPENAI))]).url, num_retries=2)
    assert found(observed) == ({"ok": 1}, {}, {"SERVER": 2}, 1)
    call(ANTHROPIC, provider([Reply(status=503), Reply(status=503), Reply(json=whole(ANTHROPIC))]).url, num_retries=2)
    assert found(observed) == ({"ok": 2, "error": 2}, {"SERVER/unavailable": 2}, {"SERVER": 2}, 4)


def router(url: str, **more: Any) -> Any:
    """Two models, of which the first falls back to the second."""
    names = {"first": OPENAI, "second": ANTHROPIC}
    models = [
        {"model_name": n, "litellm_params": {k: v for k, v in given(m, url).items() if k != "messages"}}
        for n, m in names.items()
    ]
    return litellm.Router(model_list=models, fallbacks=[{"first": ["second"]}], **more)


def first_fails(request: Any) -> Reply:
    return Reply(json=whole(ANTHROPIC)) if request.path.endswith("messages") else error(OPENAI, 503, "x")


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("retries", "failed"), [(0, 1), (1, 2)])
def test_each_attempt_of_a_router_is_one_call(observed, provider, asynchronous, retries, failed):
    ask = router(provider(first_fails).url, num_retries=retries, retry_after=0)
    if asynchronous:
        asyncio.run(ask.acompletion(model="first", messages=ASK))
    else:
        ask.completion(model="first", messages=ASK)
    assert found(observed) == ({"ok": 1, "error": failed}, {"SERVER/unavailable": failed}, {}, failed + 1)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_stream_that_a_router_opens_before_its_first_chunk_is_counted_if_it_fails(observed, provider, asynchronous):
    """Gemini's request is sent with the first chunk, or by the router, which then falls back."""
    url = provider(lambda r: streamed(ANTHROPIC) if r.path.endswith("messages") else error(GEMINI, 503, "x")).url
    asked = {"first": given(GEMINI, url), "second": given(ANTHROPIC, url)}
    models = [
        {"model_name": n, "litellm_params": {k: v for k, v in a.items() if k != "messages"}} for n, a in asked.items()
    ]
    ask = litellm.Router(model_list=models, fallbacks=[{"first": ["second"]}], num_retries=0)

    async def chunks() -> list[Any]:
        return [c async for c in await ask.acompletion(model="first", messages=ASK, stream=True)]

    with suppress(litellm.exceptions.ServiceUnavailableError):  # older releases fall back for whole answers only
        asyncio.run(chunks()) if asynchronous else list(ask.completion(model="first", messages=ASK, stream=True))
    assert observed.reasons() == {("SERVER", "unavailable"): 1}


def test_fallbacks_of_one_call_are_calls(observed, provider):
    url = provider(first_fails).url
    plain(OPENAI, url, fallbacks=[given(ANTHROPIC, url)])
    assert found(observed) == ({"ok": 1, "error": 1}, {"SERVER/unavailable": 1}, {}, 2)


@pytest.mark.parametrize("call", WHOLE)
@pytest.mark.parametrize("model", MODELS)
def test_a_spent_budget_is_counted_once_although_nothing_is_sent(observed, provider, monkeypatch, model, call):
    server = provider([Reply(json=whole(model))])
    monkeypatch.setattr(litellm, "max_budget", 0.1)
    monkeypatch.setattr(litellm, "_current_cost", 1.0)
    assert isinstance(raising(call, model, server.url), litellm.BudgetExceededError)
    assert found(observed) == ({"error": 1}, {"CALL_BUDGET/spend_limit": 1}, {}, 1)
    assert not server.requests


def test_a_guardrail_that_refuses_a_call_is_counted_once(observed, provider, monkeypatch):
    from litellm.integrations.custom_logger import CustomLogger

    class Guard(CustomLogger):
        async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:
            raise litellm.exceptions.GuardrailRaisedException(guardrail_name="pii", message="no")

    monkeypatch.setattr(litellm, "callbacks", [Guard()])
    server = provider([Reply(json=whole(ANTHROPIC))])
    raising(awaited, ANTHROPIC, server.url)
    assert found(observed) == ({"error": 1}, {"PROMPT_BLOCKED/guardrail": 1}, {}, 1)
    assert not server.requests


@pytest.mark.parametrize("call", EVERY)
@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("inner", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("fails", [False, True])
def test_a_call_that_a_callback_makes_before_the_request_is_a_call_of_its_own(
    observed, provider, monkeypatch, call, model, inner, fails
):
    from litellm.integrations.custom_logger import CustomLogger

    other, asked = provider([Reply(json=whole(inner, finish={OPENAI: "length", ANTHROPIC: "max_tokens"}[inner]))]), []

    class Asks(CustomLogger):
        def log_pre_api_call(self, model: Any, messages: Any, kwargs: Any) -> None:
            if not asked:
                asked.append(True)
                plain(inner, other.url)

    monkeypatch.setattr(litellm, "callbacks", [Asks()])
    answer = streamed(model) if call in STREAMED else Reply(json=whole(model))
    url = provider([error(model, 401, "authentication_error") if fails else answer]).url
    if fails:
        raising(call, model, url)
    else:
        call(model, url)
    assert len(other.requests) == 1
    own = {"error": 2} if fails else {"ok": 1, "error": 1}
    errors = {"TRUNCATED/max_tokens": 1, **({"AUTH/invalid_key": 1} if fails else {})}
    assert found(observed) == (own, errors, {}, 2)


def test_a_call_without_a_key_is_refused_before_it_is_sent(observed):
    raising(litellm.completion, model="anthropic/m", messages=ASK)
    assert found(observed) == ({"error": 1}, {"AUTH/missing_key": 1}, {}, 1)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_fallback_that_succeeds_marks_the_span_around_the_attempts(observed, provider, asynchronous):
    tracer = observed.tracer_provider.get_tracer("application")
    ask = router(provider(first_fails).url, num_retries=0)
    with tracer.start_as_current_span("request"):
        if asynchronous:
            asyncio.run(ask.acompletion(model="first", messages=ASK))
        else:
            ask.completion(model="first", messages=ASK)
    around = {span.name: span for span in observed.spans()}["request"]
    assert around.attributes["llm.error.recovered"] is True


@pytest.mark.parametrize("call", WHOLE)
def test_a_retry_that_succeeds_marks_the_span_around_the_attempts(observed, provider, call):
    tracer = observed.tracer_provider.get_tracer("application")
    with tracer.start_as_current_span("request"):
        call(ANTHROPIC, provider([Reply(status=503), Reply(json=whole(ANTHROPIC))]).url, num_retries=1)
    around = {span.name: span for span in observed.spans()}["request"]
    assert around.attributes["llm.error.recovered"] is True


FALLBACKS = {ANTHROPIC: OPENAI, OPENAI: ANTHROPIC}
"""A model whose request litellm sends itself, one that goes through an SDK, and for each the model that fails before."""


@pytest.mark.parametrize("model", FALLBACKS)
@pytest.mark.parametrize("finish", ["", "length"])
async def test_a_stream_marks_the_span_around_the_attempts_when_it_has_ended_well(observed, provider, model, finish):
    """Async only: the stream of a fallback of the sync function cannot be read without a loop."""
    first = FALLBACKS[model]
    word = {ANTHROPIC: "max_tokens", OPENAI: "length"}[model] if finish else ""
    path = {ANTHROPIC: "messages", OPENAI: "completions"}[model]
    url = provider(lambda r: streamed(model, word) if r.path.endswith(path) else error(first, 503, "x")).url
    more = {"fallbacks": [{**given(model, url), "stream": True}]}
    tracer = observed.tracer_provider.get_tracer("application")
    with tracer.start_as_current_span("request") as span:
        chunks = await litellm.acompletion(**given(first, url, stream=True, **more))
        assert "llm.error.recovered" not in span.attributes
        async for _ in chunks:
            pass
    assert observed.outcomes() == ({"error": 2} if finish else {"ok": 1, "error": 1})
    assert span.attributes.get("llm.error.recovered") is (None if finish else True)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_stream_of_a_router_marks_the_span_around_the_attempts(observed, provider, asynchronous):
    url = provider(lambda r: streamed(ANTHROPIC) if r.path.endswith("messages") else error(OPENAI, 503, "x")).url
    ask = router(url, num_retries=0)

    async def chunks() -> list[Any]:
        return [c async for c in await ask.acompletion(model="first", messages=ASK, stream=True)]

    tracer = observed.tracer_provider.get_tracer("application")
    with tracer.start_as_current_span("request") as span:
        asyncio.run(chunks()) if asynchronous else list(ask.completion(model="first", messages=ASK, stream=True))
    assert observed.outcomes() == {"ok": 1, "error": 1}
    assert span.attributes.get("llm.error.recovered") is True


@pytest.mark.parametrize("finish", ["end_turn", "refusal"])
def test_a_call_after_a_call_that_failed_recovers_nothing(observed, provider, finish):
    tracer = observed.tracer_provider.get_tracer("application")
    url = provider([error(ANTHROPIC, 400, "invalid_request_error"), Reply(json=whole(ANTHROPIC, finish=finish))]).url
    with tracer.start_as_current_span("request"):
        raising(plain, ANTHROPIC, url)
        plain(ANTHROPIC, url)
    around = {span.name: span for span in observed.spans()}["request"]
    assert "llm.error.recovered" not in around.attributes


# --- Bedrock ---


def bedrock(url: str, **more: Any) -> Any:
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "aws_region_name": "us-east-1"}
    return litellm.completion(model=BEDROCK, messages=ASK, aws_bedrock_runtime_endpoint=url, timeout=30, **keys, **more)


BEDROCKS = {
    "end_turn": None,
    "malformed_tool_use": "TOOL_PROTOCOL/malformed_call",
    "guardrail_intervened": "OUTPUT_BLOCKED/guardrail",
}


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("finish", BEDROCKS)
def test_bedrock_tells_why_it_stopped(observed, provider, finish, streams):
    frames = [
        ("messageStart", {"role": "assistant"}, "event"),
        ("contentBlockDelta", {"delta": {"text": "hi"}, "contentBlockIndex": 0}, "event"),
        ("messageStop", {"stopReason": finish}, "event"),
    ]
    reply = Reply(eventstream=frames, chunked=True) if streams else Reply(json=whole(BEDROCK, finish=finish))
    result = bedrock(provider([reply]).url, stream=streams)
    if streams:
        list(result)
    expected = BEDROCKS[finish]
    errors = {expected: 1} if expected else {}
    assert found(observed) == ({"error": 1} if expected else {"ok": 1}, errors, {}, 1)
    assert observed.points("llm_calls_total")[0][0]["gen_ai.provider.name"] == "aws.bedrock"


def test_the_provider_of_an_sdk_call_to_an_unknown_host_is_litellms(observed, provider):
    url = provider([Reply(json=DATA)]).url
    litellm.embedding(model="mistral/m", input=["a"], api_base=f"{url}/v1", api_key="k")
    assert observed.points("llm_calls_total")[0][0]["gen_ai.provider.name"] == "mistral_ai"
