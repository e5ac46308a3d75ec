"""gigachat: its two chat APIs, embeddings and threads; a token that it renews; retries that are off unless they are asked for."""

import gc
import json

import pytest

from llm_errors.instrument import drainer
from llm_errors.testing.provider import Reply

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
USED = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def maker(retries=0, **more):
    def make(url, asynchronous):
        sdk = pytest.importorskip("gigachat")
        cls = sdk.client.GigaChatAsyncClient if asynchronous else sdk.client.GigaChatSyncClient
        given = {"access_token": "k", "max_retries": retries, "retry_backoff_factor": 0.0, **more}
        return cls(base_url=f"{url}/v1", timeout=5.0, **given)

    return make


def old(client):
    return (client.chat if hasattr(client, "chat") else client.achat)(ASKED)


def new(client):
    return (client.chat if hasattr(client, "chat") else client.achat).create(ASKED)


def old_stream(client):
    return (client.stream if hasattr(client, "stream") else client.astream)(ASKED)


def new_stream(client):
    return (client.chat if hasattr(client, "chat") else client.achat).stream(ASKED)


def embed(client):
    return (client.embeddings if hasattr(client, "embeddings") else client.aembeddings)(["hi"])


def thread(client):
    threads = client.threads if hasattr(client, "threads") else client.a_threads
    return threads.run_messages(["hi"], model="m")


def thread_stream(client):
    threads = client.threads if hasattr(client, "threads") else client.a_threads
    return threads.run_messages_stream(["hi"], model="m")


def chat(finish="stop", content="hi", **message):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return Reply(json={"object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USED})


def delta(content="hi", finish=None, **more):
    choice = {
        "index": 0,
        "delta": {"role": "assistant", "content": content},
        **({"finish_reason": finish} if finish else {}),
    }
    return {"object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **more}


def sse(*chunks, done=True, **more):
    lines = [line for one in chunks for line in ("data: " + json.dumps(one), "")]
    return Reply(sse=[*lines, "data: [DONE]", ""] if done else lines, **more)


def said(finish="stop", text="hi", **message):
    used = {"input_tokens": 3, "output_tokens": 2}
    message = {"role": "assistant", "content": [{"text": text}], **message}
    return {"model": "m", "message_id": "c", "messages": [message], "finish_reason": finish, "usage": used}


def events(*named, **more):
    return Reply(
        sse=[line for name, one in named for line in (f"event: {name}", "data: " + json.dumps(one), "")], **more
    )


PIECE = ("response.message.delta", {"messages": [{"role": "assistant", "content": [{"text": "hi"}]}]})


def done(finish="stop"):
    return ("response.message.done", {"finish_reason": finish, "usage": {"input_tokens": 3, "output_tokens": 2}})


def ran(finish="stop", content="hi"):
    message = {"role": "assistant", "content": content}
    return Reply(json={"object": "thread", "model": "m", "thread_id": "t", "message_id": "c", "created": 1, "usage": USED,
                       "message": message, "finish_reason": finish})  # fmt: skip


def part(content="hi", finish=None):
    return delta(content, finish, thread_id="t", message_id="c", usage=USED)


VECTORS = Reply(json={"object": "list", "model": "Embeddings",
                      "data": [{"object": "embedding", "index": 0, "embedding": [0.1], "usage": {"prompt_tokens": 1}}]})  # fmt: skip
GOOD = {
    "old": (old, chat(), "chat"),
    "old-stream": (old_stream, sse(delta(), delta("", "stop", usage=USED)), "chat"),
    "new": (new, Reply(json=said()), "chat"),
    "new-stream": (new_stream, events(PIECE, done()), "chat"),
    "embeddings": (embed, VECTORS, "embeddings"),
    "thread": (thread, ran(), "chat"),
    "thread-stream": (thread_stream, sse(part(), part("", "stop")), "chat"),
}
STREAMS = [name for name in GOOD if name.endswith("-stream")]


@each_way
@pytest.mark.parametrize("name", GOOD)
def test_an_answer_is_one_good_call(play, name, asynchronous):
    call, reply, operation = GOOD[name]
    seen = play(maker(), call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", operation), (seen.raised, seen.attributes)
    assert seen.labels["gen_ai.provider.name"] == "gigachat"
    assert seen.labels["gen_ai.request.model"] == ("Embeddings" if name == "embeddings" else "m")
    assert seen.attributes["server.address"] == "127.0.0.1"


@each_way
def test_the_model_of_the_client_and_the_usage_of_both_apis(play, asynchronous):
    def ask(client):
        return (client.chat if hasattr(client, "chat") else client.achat).create("hi")

    seen = play(maker(model="of-client"), ask, Reply(json=said()), asynchronous)
    assert seen.labels["gen_ai.request.model"] == "of-client"
    assert (seen.attributes["gen_ai.usage.input_tokens"], seen.attributes["gen_ai.usage.output_tokens"]) == (3, 2)


@each_way
@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(400, json={"status": 400, "message": "Invalid params: m"}), "BAD_REQUEST/invalid_parameter"),
        (Reply(401, json={"status": 401, "message": "Token has expired"}), "AUTH/invalid_key"),
        (Reply(402, json={"status": 402, "message": "Payment Required"}), "CALL_BUDGET/billing"),
        (Reply(404, json={"status": 404, "message": "No such model"}), "NOT_FOUND/model"),
        (Reply(413, text=""), "BAD_REQUEST/request_too_large"),
        (Reply(429, json={"status": 429, "message": "Too many requests"}, headers={"retry-after": "7"}), "RATE_LIMITED/requests"),
        (Reply(500, json={"status": 500, "message": "Internal Server Error"}), "SERVER/internal"),
        (Reply(503, text="<html>"), "SERVER/unavailable"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (Reply(action="reset"), "TRANSPORT/disconnected"),
    ],
    ids=range(10),
)  # fmt: skip
def test_a_failure_that_the_sdk_raises(play, name, reply, verdict, asynchronous):
    seen = play(maker(), GOOD[name][0], reply, asynchronous)
    assert (seen.verdict, seen.channel) == (verdict, "thrown"), (seen.raised, seen.attributes)
    assert seen.retry_after == (7 if reply.status == 429 else None)


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (old, chat("length"), "TRUNCATED/max_tokens"),
        (old, chat("blacklist"), "PROMPT_BLOCKED/blocklist"),
        (old, chat("error"), "TOOL_PROTOCOL/invalid_arguments"),
        (old, chat("stop", ""), "UNKNOWN/empty_response"),
        (old, chat("function_call", "", function_call={"name": "f", "arguments": {}}), "ok"),
        (old_stream, sse(delta(), delta("", "length")), "TRUNCATED/max_tokens"),
        (old_stream, sse(delta(), delta("", "blacklist")), "PROMPT_BLOCKED/blocklist"),
        (old_stream, sse(delta(), done=False), "TRANSPORT/stream_cut"),
        (new, Reply(json=said("length")), "TRUNCATED/max_tokens"),
        (new, Reply(json=said("stop", "")), "UNKNOWN/empty_response"),
        (new, Reply(json=said(None, "", function_call={"name": "f", "arguments": {}})), "ok"),
        (new_stream, events(PIECE, done("length")), "TRUNCATED/max_tokens"),
        (new_stream, events(PIECE, done("error")), "TOOL_PROTOCOL/invalid_arguments"),
        (new_stream, events(PIECE), "TRANSPORT/stream_cut"),
        (embed, Reply(json={**VECTORS.json, "data": []}), "UNKNOWN/empty_response"),
        (thread, ran("length"), "TRUNCATED/max_tokens"),
        (thread_stream, sse(part(), part("", "length")), "TRUNCATED/max_tokens"),
    ],
)
def test_how_an_answer_ended(play, call, reply, verdict, asynchronous):
    seen = play(maker(), call, reply, asynchronous)
    assert (seen.verdict, seen.raised) == (verdict, None), seen.attributes


@each_way
@pytest.mark.parametrize("call", [old, new, old_stream], ids=["old", "new", "old-stream"])
def test_an_error_object_instead_of_an_answer(play, call, asynchronous):
    told = {"error": {"message": "m", "code": "insufficient_quota"}}
    seen = play(maker(), call, sse(told) if call is old_stream else Reply(json=told), asynchronous)
    assert seen.verdict == "CALL_BUDGET/insufficient_quota", (seen.raised, seen.attributes)


@each_way
def test_what_the_sdk_refuses_is_a_bad_request(play, asynchronous):
    def ask(payload):
        return lambda client: (client.chat if hasattr(client, "chat") else client.achat).create(payload)

    assert play(maker(), ask("hi"), Reply(), asynchronous).verdict == "BAD_REQUEST/invalid_parameter"


@each_way
def test_arguments_that_do_not_fit_are_a_bad_request(play, asynchronous):
    def ask(client):
        return (client.chat if hasattr(client, "chat") else client.achat)({"model": "m", "messages": 7})

    assert play(maker(), ask, Reply(), asynchronous).verdict.startswith("BAD_REQUEST/")


BEGINNINGS = {
    "old-stream": lambda action: sse(delta(), done=False, action=action),
    "new-stream": lambda action: events(PIECE, action=action),
    "thread-stream": lambda action: sse(part(), done=False, action=action),
}


@each_way
@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_stream_that_the_server_cuts(play, name, asynchronous):
    seen = play(maker(), GOOD[name][0], BEGINNINGS[name]("cut_mid_stream"), asynchronous)
    assert (seen.verdict, seen.retryable) == ("TRANSPORT/disconnected", False), (seen.raised, seen.attributes)


@pytest.mark.parametrize("name", BEGINNINGS)
@pytest.mark.parametrize("leave", ["close", "drop"])
def test_a_stream_that_the_application_leaves_is_cancelled(observed, provider, name, leave):
    client = maker()(provider([BEGINNINGS[name]("hang_mid_stream")]).url, False)
    parts = GOOD[name][0](client)
    next(parts)
    if leave == "close":
        parts.close()
    del parts
    gc.collect()
    client.close()
    drainer.finish()
    assert observed.outcomes() == {"cancelled": 1}


@each_way
@pytest.mark.parametrize("name", GOOD)
def test_hidden_retries_are_counted(play, name, asynchronous):
    call, reply, _ = GOOD[name]
    busy = Reply(429, json={"status": 429, "message": "m"}, headers={"retry-after": "0.001"})
    seen = play(maker(3), call, [busy, busy, reply], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"RATE_LIMITED": 2}), seen.raised


@each_way
def test_a_token_that_had_expired_is_a_hidden_retry(play, provider, asynchronous):
    token = Reply(json={"access_token": "k2", "expires_at": 4_000_000_000_000})
    auth = provider([token]).url
    more = {"credentials": "c", "auth_url": auth}
    seen = play(maker(**more), old, [Reply(401, json={"message": "Token has expired"}), chat()], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"AUTH": 1}), seen.raised


def test_models_and_token_counts_are_no_model_calls(observed, provider):
    client = maker()(provider([Reply(json={"object": "list", "data": []})]).url, False)
    client.get_models()
    client.close()
    assert observed.outcomes() == {}
