"""dspy's own HTTP engine over a provider on a loopback port: each attempt is one call, judged by what was received."""

import asyncio
import gc
import json
from contextlib import suppress
from typing import Any

import pytest

from llm_errors import classify
from llm_errors.extract.tgi import LinesChunks
from llm_errors.testing.provider import Reply
from tests.completeness.judging import judge
from tests.completeness.table import VOCABULARIES
from tests.frameworks.litellm_provider import (
    ANTHROPIC,
    GEMINI,
    IN_BAND,
    OPENAI,
    VENDOR,
    error,
    events,
    lines,
    streamed,
    whole,
)

dspy = pytest.importorskip("dspy")
pytest.importorskip("dspy.lm15")

MODELS = (OPENAI, ANTHROPIC, GEMINI)


def model(name: str, url: str, **more: Any) -> Any:
    base = {OPENAI: f"{url}/v1", ANTHROPIC: f"{url}/v1", GEMINI: f"{url}/v1beta"}[name]
    more = {"num_retries": 0, "cache": False, "max_tokens": 100, "api_key": "k", **more}
    return dspy.LM(name, api_base=base, engine="lm15", **more)


def plain(name: str, url: str, **more: Any) -> Any:
    return model(name, url, **more)("hello")


def awaited(name: str, url: str, **more: Any) -> Any:
    return asyncio.run(model(name, url, **more).acall("hello"))


EVERY = (plain, awaited)


def found(telemetry: Any) -> tuple[dict[str, int], dict[str, int], int]:
    """Calls by outcome, errors by class and reason, and spans."""
    return telemetry.outcomes(), {"/".join(key): n for key, n in telemetry.reasons().items()}, len(telemetry.spans())


@pytest.mark.parametrize("call", EVERY)
@pytest.mark.parametrize("name", MODELS)
def test_a_call_is_one_call_with_one_span(observed, provider, name, call):
    call(name, provider([Reply(json=whole(name))]).url)
    assert found(observed) == ({"ok": 1}, {}, 1)
    labels = observed.points("llm_calls_total")[0][0]
    assert (labels["gen_ai.provider.name"], labels["gen_ai.request.model"]) == (VENDOR[name], "m")


LIMIT = {OPENAI: "rate_limit_exceeded", ANTHROPIC: "rate_limit_error", GEMINI: "RESOURCE_EXHAUSTED"}


@pytest.mark.parametrize("call", EVERY)
@pytest.mark.parametrize("name", MODELS)
def test_an_error_of_the_provider_is_counted_once(observed, provider, name, call):
    with pytest.raises(Exception):
        call(name, provider([error(name, 429, LIMIT[name])]).url)
    assert found(observed) == ({"error": 1}, {"RATE_LIMITED/requests": 1}, 1)


@pytest.mark.parametrize("call", EVERY)
@pytest.mark.parametrize(("name", "finish"), IN_BAND)
def test_the_finish_reason_is_that_of_the_provider(observed, provider, name, finish, call):
    with suppress(Exception):  # it refuses what has no content
        call(name, provider([Reply(json=whole(name, finish=finish))]).url)
    assert found(observed) == ({"error": 1}, {IN_BAND[name, finish]: 1}, 1)


@pytest.mark.parametrize("call", EVERY)
def test_a_page_in_place_of_an_answer(observed, provider, call):
    with pytest.raises(Exception):
        call(OPENAI, provider([Reply(text="<html>sorry</html>")]).url)
    assert found(observed) == ({"error": 1}, {"UNKNOWN/unexpected_body": 1}, 1)


@pytest.mark.parametrize("call", EVERY)
def test_a_spent_account_is_no_busy_minute(observed, provider, call):
    with pytest.raises(Exception):
        call(OPENAI, provider([error(OPENAI, 429, "insufficient_quota")]).url)
    assert found(observed) == ({"error": 1}, {"CALL_BUDGET/insufficient_quota": 1}, 1)


@pytest.mark.parametrize("call", EVERY)
def test_a_network_error(observed, call):
    with pytest.raises(Exception):
        call(OPENAI, "http://127.0.0.1:9")
    assert found(observed) == ({"error": 1}, {"TRANSPORT/connection_refused": 1}, 1)


@pytest.mark.parametrize("call", EVERY)
def test_each_attempt_of_dspy_s_retry_is_a_call(observed, provider, call):
    busy = Reply(503, json={"error": {"message": "m"}}, headers={"retry-after": "0"})
    call(OPENAI, provider([busy, Reply(json=whole(OPENAI))]).url, num_retries=1)
    assert found(observed) == ({"ok": 1, "error": 1}, {"SERVER/unavailable": 1}, 2)


@pytest.mark.parametrize("call", EVERY)
def test_a_call_without_a_key_is_refused_before_it_is_sent(observed, provider, call):
    server = provider([Reply(json=whole(OPENAI))])
    with pytest.raises(Exception):
        call(OPENAI, server.url, api_key=None)
    assert found(observed) == ({"error": 1}, {"AUTH/missing_key": 1}, 1)
    labels = observed.points("llm_calls_total")[0][0]
    assert (labels["gen_ai.provider.name"], labels["gen_ai.request.model"]) == ("openai", "m")
    assert not server.requests


@pytest.mark.parametrize("call", EVERY)
def test_what_dspy_raises_has_the_class_that_is_counted(observed, provider, call):
    with pytest.raises(Exception) as raised:
        call(OPENAI, provider([error(OPENAI, 429, "insufficient_quota")]).url)
    assert type(raised.value).__name__ == "LMBillingError"
    assert classify(raised.value).reason == "insufficient_quota"


def test_an_answer_from_the_cache_is_no_call(observed, provider):
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=True)
    asked = model(OPENAI, provider([Reply(json=whole(OPENAI))]).url, cache=True)
    asked("hello from the cache")
    asked("hello from the cache")
    assert observed.outcomes() == {"ok": 1}


async def test_a_cancelled_task_is_a_cancelled_call(observed, provider):
    server = provider([Reply(action="hang")])
    task = asyncio.create_task(model(OPENAI, server.url).acall("hello"))
    await asyncio.to_thread(server.hanging.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    server.release.set()
    assert observed.outcomes() == {"cancelled": 1}


# --- streams of the engine itself ---


def engine(url: str, name: str, asynchronous: bool) -> tuple[Any, Any]:
    """The engine, and a request."""
    from dspy import lm15

    vendor = {OPENAI: "openai-chat", ANTHROPIC: "anthropic", GEMINI: "gemini"}[name]
    base = f"{url}/v1beta" if name == GEMINI else f"{url}/v1"
    config = lm15.RouterConfig(api_keys={vendor: "k"}, base_urls={vendor: base})
    router = (lm15.AsyncLMRouter if asynchronous else lm15.LMRouter)(config)
    request = lm15.Request(model="m", messages=(lm15.Message.user("hello"),), config=lm15.Config(max_tokens=100))
    return router.lm(f"{vendor}:m"), request


def stream(name: str, url: str) -> Any:
    one, request = engine(url, name, False)
    return list(one.stream(request))


def stream_async(name: str, url: str) -> Any:
    async def chunks() -> list[Any]:
        one, request = engine(url, name, True)
        return [event async for event in one.stream(request)]

    return asyncio.run(chunks())


STREAMED = (stream, stream_async)


@pytest.mark.parametrize("call", STREAMED)
@pytest.mark.parametrize("name", MODELS)
def test_a_stream_is_one_call(observed, provider, name, call):
    call(name, provider([streamed(name)]).url)
    assert found(observed) == ({"ok": 1}, {}, 1)
    assert observed.span().attributes["gen_ai.request.stream"] is True


@pytest.mark.parametrize("call", STREAMED)
@pytest.mark.parametrize(("name", "finish"), IN_BAND)
def test_the_finish_reason_of_a_stream_is_that_of_the_provider(observed, provider, name, finish, call):
    call(name, provider([streamed(name, finish)]).url)
    assert found(observed) == ({"error": 1}, {IN_BAND[name, finish]: 1}, 1)


@pytest.mark.parametrize("call", STREAMED)
@pytest.mark.parametrize("name", MODELS)
def test_a_stream_that_the_provider_refuses(observed, provider, name, call):
    with pytest.raises(Exception):
        call(name, provider([error(name, 429, LIMIT[name])]).url)
    assert found(observed) == ({"error": 1}, {"RATE_LIMITED/requests": 1}, 1)


@pytest.mark.parametrize("call", STREAMED)
def test_a_stream_that_is_cut(observed, provider, call):
    reply = Reply(sse=lines(OPENAI, events(OPENAI, end=False), end=False), action="cut_mid_stream")
    with pytest.raises(Exception):
        call(OPENAI, provider([reply]).url)
    assert (observed.outcomes(), observed.errors(), len(observed.spans())) == ({"error": 1}, {"TRANSPORT": 1}, 1)


@pytest.mark.parametrize("call", STREAMED)
def test_an_error_inside_a_stream(observed, provider, call):
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    reply = Reply(sse=lines(ANTHROPIC, [*events(ANTHROPIC, end=False), overloaded]), chunked=True)
    call(ANTHROPIC, provider([reply]).url)
    assert found(observed) == ({"error": 1}, {"SERVER/overloaded": 1}, 1)


def test_a_stream_that_is_left_is_cancelled(observed, provider):
    one, request = engine(provider([streamed(OPENAI)]).url, OPENAI, False)
    chunks = one.stream(request)
    next(chunks)
    chunks.close()
    assert found(observed) == ({"cancelled": 1}, {}, 1)


def test_nothing_of_an_answer_is_kept_after_its_call(observed, provider):
    one, request = engine(provider([streamed(OPENAI)]).url, OPENAI, False)
    list(one.stream(request))
    gc.collect()
    assert not [kept for kept in gc.get_objects() if type(kept) is LinesChunks]


def test_what_was_said_is_never_exported(observed, provider):
    with pytest.raises(Exception):
        plain(OPENAI, provider([error(OPENAI, 400, "invalid_value", "Bad key sk-abcdefghijklmnopqrstuvwx")]).url)
    (log,) = observed.logs()
    assert "abcdefghijkl" not in json.dumps(dict(log.attributes)) + str(log.body)


def test_every_exception_of_dspy_is_decided_by_a_rule():
    (row,) = (row for row in VOCABULARIES if row.distribution == "dspy")
    assert not judge(row).undecided
