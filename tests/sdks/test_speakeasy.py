"""mistralai and openrouter over a real socket: what their methods return and raise, in streams and out of them."""

import importlib
import json
from importlib.metadata import version

import pytest

from llm_errors.testing.provider import Reply

HELLO = [{"role": "user", "content": "hi"}]
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


class Closing:
    """A client of the family, which is closed by leaving its context."""

    def __init__(self, client):
        self.chat = client.chat
        self.close, self.aclose = (
            (lambda: client.__exit__(None, None, None)),
            (lambda: client.__aexit__(None, None, None)),
        )


def mistral(url, asynchronous):
    pytest.importorskip("mistralai", reason="mistralai is not installed")
    module = importlib.import_module("mistralai" if version("mistralai").startswith("1.") else "mistralai.client")
    return Closing(module.Mistral(api_key="k", server_url=url, timeout_ms=2000))


def openrouter(url, asynchronous):
    module = pytest.importorskip("openrouter", reason="openrouter is not installed")
    return Closing(module.OpenRouter(api_key="k", server_url=url, timeout_ms=2000))


def asked(method, **more):
    """One call of a resource's method, or of its twin for asyncio."""

    def call(asynchronous):
        suffix = "_async" if asynchronous else ""

        def go(client):
            name = method if hasattr(client.chat, method) else "send"
            given = {"stream": True} if name == "send" and method == "stream" else {}
            return getattr(client.chat, name + suffix)(model="m", messages=HELLO, **given, **more)

        return go

    return call


complete, stream = asked("complete"), asked("stream")
SDKS = {"mistral": mistral, "openrouter": openrouter}
each_sdk = pytest.mark.parametrize("sdk", SDKS)
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


def chat(finish="stop", content="hi", **message):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}
    return Reply(json={**whole, "system_fingerprint": None})


def chunks(*deltas, done=True):
    lines = []
    for delta, finish in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        lines += [f"data: {json.dumps(chunk)}", ""]
    return [*lines, *(["data: [DONE]", ""] if done else [])]


HI, STOP = ({"role": "assistant", "content": "hi"}, None), ({"content": ""}, "stop")


@each_way
@each_sdk
def test_an_answer_is_one_good_call_with_its_facts(play, sdk, asynchronous):
    seen = play(SDKS[sdk], complete(asynchronous), chat(), asynchronous)
    assert seen.verdict == "ok"
    assert seen.attributes["gen_ai.request.model"] == "m"
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2


@each_way
@each_sdk
def test_a_stream_is_one_good_call(play, sdk, asynchronous):
    assert play(SDKS[sdk], stream(asynchronous), Reply(sse=chunks(HI, STOP)), asynchronous).verdict == "ok"


@each_way
@pytest.mark.parametrize(
    ("sdk", "reply", "verdict"),
    [
        ("mistral", chat("length"), "TRUNCATED/max_tokens"),
        ("mistral", chat("model_length"), "TRUNCATED/context_window"),
        ("mistral", chat("error"), "SERVER/other"),
        ("mistral", chat("stop", ""), "UNKNOWN/empty_response"),
        ("openrouter", chat("length"), "TRUNCATED/max_tokens"),
        ("openrouter", chat("content_filter"), "OUTPUT_BLOCKED/content_filter"),
    ],
)
def test_a_failure_inside_a_good_response(play, sdk, reply, verdict, asynchronous):
    assert play(SDKS[sdk], complete(asynchronous), reply, asynchronous).verdict == verdict


@each_way
@pytest.mark.parametrize(
    ("sdk", "reply", "verdict"),
    [
        ("mistral", Reply(401, json={"message": "Unauthorized", "request_id": "r"}), "AUTH/invalid_key"),
        ("mistral", Reply(429, json={"message": "Requests rate limit exceeded", "type": "rate_limited", "code": "1300"}),
         "RATE_LIMITED/requests"),
        ("mistral", Reply(429, json={"message": "Service tier capacity exceeded for this model.", "code": "3505"}),
         "SERVER/overloaded"),
        ("mistral", Reply(422, json={"detail": [{"loc": ["body", "x"], "msg": "Extra inputs", "type": "extra"}]}),
         "BAD_REQUEST/invalid_parameter"),
        ("mistral", Reply(503, text="<html>", headers={"content-type": "text/html"}), "SERVER/unavailable"),
        ("mistral", Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        ("openrouter", Reply(402, json={"error": {"code": 402, "message": "Insufficient credits"}}), "CALL_BUDGET/billing"),
        ("openrouter", Reply(429, json={"error": {"code": 429, "message": "Rate limit exceeded"}}), "RATE_LIMITED/requests"),
        ("openrouter", Reply(404, json={"error": {"code": 404, "message": "No endpoints found for m."}}), "NOT_FOUND/model"),
        ("openrouter", Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ],
)  # fmt: skip
def test_a_failure_that_the_sdk_raises(play, sdk, reply, verdict, asynchronous):
    assert play(SDKS[sdk], complete(asynchronous), reply, asynchronous).verdict == verdict


@each_way
@each_sdk
def test_a_stream_that_the_server_cuts(play, sdk, asynchronous):
    seen = play(
        SDKS[sdk], stream(asynchronous), Reply(sse=chunks(HI, done=False), action="cut_mid_stream"), asynchronous
    )
    assert seen.verdict == "TRANSPORT/disconnected"
    assert seen.retryable is False


@each_way
@each_sdk
def test_a_stream_that_ends_without_its_end(play, sdk, asynchronous):
    assert (
        play(SDKS[sdk], stream(asynchronous), Reply(sse=chunks(HI, done=False), chunked=True), asynchronous).verdict
        == "TRANSPORT/stream_cut"
    )


@each_way
@each_sdk
def test_an_error_in_mid_stream(play, sdk, asynchronous):
    error = {
        "object": "error",
        "message": "upstream died",
        "code": 502,
        "error": {"code": 502, "message": "upstream died"},
    }
    lines = [*chunks(HI, done=False), f"data: {json.dumps(error)}", ""]
    seen = play(SDKS[sdk], stream(asynchronous), Reply(sse=lines, chunked=True), asynchronous)
    assert seen.outcome == "error"
    assert seen.retryable is False


@each_way
@each_sdk
@pytest.mark.parametrize(
    ("event", "verdict"),
    [
        ({"error": {"code": "server_error", "type": "server_error", "message": "m"}}, "SERVER/internal"),
        ({"error": {"code": 429, "message": "m"}}, "RATE_LIMITED/"),
        ({"odd": 1}, "UNKNOWN/unexpected_body"),
    ],
)
def test_an_event_that_is_no_chunk_is_what_it_says_and_not_a_broken_schema(play, sdk, event, verdict, asynchronous):
    lines = [*chunks(HI, done=False), f"data: {json.dumps(event)}", ""]
    seen = play(SDKS[sdk], stream(asynchronous), Reply(sse=lines, chunked=True), asynchronous)
    assert seen.verdict.startswith(verdict)


@each_way
@each_sdk
def test_attempts_that_the_sdk_s_own_retry_hides_are_counted(play, sdk, asynchronous):
    pytest.importorskip({"mistral": "mistralai"}.get(sdk, sdk), reason=f"{sdk} is not installed")
    home = (
        "mistralai.client"
        if sdk == "mistral" and not version("mistralai").startswith("1.")
        else {"mistral": "mistralai"}.get(sdk, sdk)
    )
    retries = importlib.import_module(f"{home}.utils.retries")
    every_time = retries.RetryConfig("backoff", retries.BackoffStrategy(1, 2, 1, 60_000), True)
    call = asked("complete", retries=every_time)(asynchronous)
    seen = play(SDKS[sdk], call, [Reply(503, json={"message": "busy"}), chat()], asynchronous)
    assert seen.verdict == "ok"
    assert seen.retries == {"SERVER": 1}


@each_sdk
def test_a_stream_that_the_application_leaves_is_cancelled(observed, provider, sdk):
    client = SDKS[sdk](provider([Reply(sse=chunks(HI, HI), action="hang_mid_stream")]).url, False)
    left = stream(False)(client)
    next(iter(left))
    left.__exit__(None, None, None)
    assert observed.outcomes() == {"cancelled": 1}


def test_embeddings_and_moderations_are_calls_of_their_own_operation(observed, provider):
    whole = {"id": "e", "object": "list", "model": "m", "usage": USAGE}
    replies = [
        Reply(json={**whole, "data": [{"object": "embedding", "embedding": [0.1], "index": 0}]}),
        Reply(json={**whole, "results": [{"categories": {}, "category_scores": {}}]}),
    ]
    pytest.importorskip("mistralai", reason="mistralai is not installed")
    module = importlib.import_module("mistralai" if version("mistralai").startswith("1.") else "mistralai.client")
    client = module.Mistral(api_key="k", server_url=provider(replies).url)
    client.embeddings.create(model="m", inputs=["a"])
    client.classifiers.moderate(model="m", inputs=["a"])
    assert observed.counts("llm_calls_total", "gen_ai.operation.name") == {"embeddings": 1, "moderation": 1}
    assert observed.counts("llm_calls_total", "gen_ai.provider.name") == {"mistral_ai": 2}
