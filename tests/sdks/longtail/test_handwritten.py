"""SDKs of one vendor each, over a real socket: what their clients return and raise, in streams and out of them."""

import json
import tracemalloc

import pytest

from llm_errors.testing.provider import Reply

HELLO = [{"role": "user", "content": "hi"}]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


class Opened:
    """A client that the conftest's player can close, whatever its own `close` is called."""

    def __init__(self, client, close=None, aclose=None):
        self.client, self.close = client, close or (lambda: None)
        if aclose is not None:
            self.aclose = aclose


async def nothing():
    """Closes a client that needs no closing."""


def azure(url, asynchronous, **more):
    pytest.importorskip("azure.ai.inference")
    from azure.core.credentials import AzureKeyCredential

    if asynchronous:
        from azure.ai.inference.aio import ChatCompletionsClient

        client = ChatCompletionsClient(url, AzureKeyCredential("k"), **more)
        return Opened(client, aclose=client.close)
    from azure.ai.inference import ChatCompletionsClient

    client = ChatCompletionsClient(url, AzureKeyCredential("k"), **more)
    return Opened(client, client.close)


def azure_once(url, asynchronous):
    return azure(url, asynchronous, retry_total=0)


def azure_chat(opened, **more):
    return opened.client.complete(messages=HELLO, model="l", **more)


def azure_stream(opened):
    return azure_chat(opened, stream=True)


def ai21(url, asynchronous, **more):
    sdk = pytest.importorskip("ai21")
    client = (sdk.AsyncAI21Client if asynchronous else sdk.AI21Client)(api_key="k", api_host=url, **more)
    return Opened(client, aclose=nothing if asynchronous else None)


def ai21_chat(opened, **more):
    message = pytest.importorskip("ai21.models.chat").UserMessage(content="hi")
    return opened.client.chat.completions.create(**{"model": "l", "messages": [message], **more})


def ai21_stream(opened):
    return ai21_chat(opened, stream=True)


def completion(finish="stop", content="hi", **more):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}
    used = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return Reply(json={"id": "c", "created": 1, "model": "l", "choices": [choice], "usage": used, **more})


def delta(content=None, finish=None):
    part = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": part, "finish_reason": finish}
    return {"id": "c", "created": 1, "model": "l", "choices": [choice]}


def sse(*chunks, done=True, **more):
    lines = [line for chunk in chunks for line in ("data: " + json.dumps(chunk), "")]
    return Reply(sse=[*lines, "data: [DONE]", ""] if done else lines, **more)


def error(status, code, message="m", **more):
    return Reply(status, json={"error": {"code": code, "message": message}}, **more)


BUSY = Reply(429, json={"error": {"code": "RateLimitReached", "message": "m"}}, headers={"retry-after": "0.01"})
CHATS = {"azure": (azure_once, azure_chat, azure_stream), "ai21": (ai21, ai21_chat, ai21_stream)}
PROVIDERS = {"azure": "azure.ai.inference", "ai21": "ai21"}
UNREAD = {
    "PROMPT_BLOCKED/content_filter": "BAD_REQUEST/other",
    "BAD_REQUEST/request_too_large": "BAD_REQUEST/other",
    "NOT_FOUND/model": "NOT_FOUND/other",
}
"""ai21's async client does not read the body of an error in place of a stream: only its status is known."""
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
each_chat = pytest.mark.parametrize("sdk", CHATS)


@each_way
@each_chat
def test_an_answer_is_one_good_call_with_its_facts(play, sdk, asynchronous):
    make, call, _ = CHATS[sdk]
    seen = play(make, call, completion(), asynchronous)
    assert seen.verdict == "ok"
    assert (seen.labels["gen_ai.provider.name"], seen.labels["gen_ai.request.model"]) == (PROVIDERS[sdk], "l")
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2
    assert seen.attributes["server.address"] == "127.0.0.1"


@each_way
@each_chat
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (completion("length"), "TRUNCATED/max_tokens"),
        (completion("content_filter", ""), "OUTPUT_BLOCKED/content_filter"),
        (completion("stop", ""), "UNKNOWN/empty_response"),
    ],
)
def test_a_failure_inside_an_answer(play, sdk, reply, verdict, asynchronous):
    make, call, _ = CHATS[sdk]
    seen = play(make, call, reply, asynchronous)
    assert (seen.verdict, seen.raised, seen.channel) == (verdict, None, "in_band")


@each_way
@each_chat
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (error(400, "content_filter"), "PROMPT_BLOCKED/content_filter"),
        (error(400, "tokens_limit_reached"), "BAD_REQUEST/request_too_large"),
        (Reply(401, json={"detail": "Invalid API key"}), "AUTH/invalid_key"),
        (error(404, "unknown_model"), "NOT_FOUND/model"),
        (error(422, "invalid_input"), "BAD_REQUEST/invalid_parameter"),
        (error(429, "RateLimitReached"), "RATE_LIMITED/requests"),
        (Reply(503, text="<html>"), "SERVER/unavailable"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (Reply(action="reset"), "TRANSPORT/disconnected"),
    ],
)
def test_a_failure_that_the_sdk_raises(play, sdk, streamed, reply, verdict, asynchronous):
    make, call, stream = CHATS[sdk]
    seen = play(make, stream if streamed else call, reply, asynchronous)
    if sdk == "ai21" and streamed and asynchronous:
        verdict = UNREAD.get(verdict, verdict)
    assert (seen.verdict, seen.channel) == (verdict, "thrown"), (seen.raised, seen.attributes)


@each_way
@each_chat
def test_a_server_that_is_not_there(play, sdk, asynchronous):
    make, call, _ = CHATS[sdk]
    seen = play(lambda _, way: make("http://127.0.0.1:1", way), call, completion(), asynchronous)
    assert seen.verdict == "TRANSPORT/connection_refused"


@each_way
@each_chat
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (sse(delta("hi"), delta(finish="stop")), "ok"),
        (sse(delta("hi"), delta(finish="length")), "TRUNCATED/max_tokens"),
        (sse(delta("hi"), done=False), "TRANSPORT/stream_cut"),
        (sse(delta("hi"), done=False, action="cut_mid_stream"), "TRANSPORT/disconnected"),
        (sse(delta("hi"), delta(finish="stop"), done=False), "ok"),
    ],
)
def test_how_a_stream_ended(play, sdk, reply, verdict, asynchronous):
    make, _, stream = CHATS[sdk]
    assert play(make, stream, reply, asynchronous).verdict == verdict


@each_way
@each_chat
def test_the_first_part_of_a_stream_makes_a_later_failure_final(play, sdk, asynchronous):
    make, _, stream = CHATS[sdk]
    seen = play(make, stream, sse(delta("hi"), done=False, action="cut_mid_stream"), asynchronous)
    assert (seen.partial_output, seen.retryable) == (True, False)


@each_chat
def test_a_stream_that_the_application_closes_or_drops_is_cancelled(left, provider, sdk):
    make, _, stream = CHATS[sdk]
    hanging = sse(delta("hi"), done=False, action="hang_mid_stream")
    assert left(lambda: stream(make(provider([hanging]).url, False))) == {"cancelled": 2}


@each_way
def test_an_error_in_mid_stream_of_azure_has_no_choices_and_is_dropped_but_the_missing_end_is_seen(play, asynchronous):
    reply = sse(delta("hi"), {"error": {"code": "server_error", "message": "m"}}, done=False)
    assert play(azure_once, azure_stream, reply, asynchronous).verdict == "TRANSPORT/stream_cut"


@each_way
def test_an_error_in_mid_stream_of_ai21_is_told_by_what_the_sdk_could_not_make_a_chunk_of(play, asynchronous):
    reply = sse(delta("hi"), {"error": {"code": "server_error", "message": "m"}}, done=False)
    seen = play(ai21, ai21_stream, reply, asynchronous)
    assert (seen.verdict, seen.partial_output, seen.channel) == ("SERVER/internal", True, "thrown")


@each_way
def test_an_error_of_ai21_inside_a_good_response_is_told_by_the_response(play, asynchronous):
    seen = play(ai21, ai21_chat, error(200, "insufficient_quota"), asynchronous)
    assert (seen.verdict, seen.channel) == ("CALL_BUDGET/insufficient_quota", "thrown")


@each_way
def test_the_wait_that_ai21_keeps_to_itself_is_read(play, asynchronous):
    reply = error(429, "too_many_requests", headers={"retry-after": "7"})
    seen = play(ai21, ai21_chat, reply, asynchronous)
    assert (seen.verdict, seen.retry_after) == ("RATE_LIMITED/requests", 7.0)


@each_way
def test_hidden_retries_of_azure_are_counted(play, asynchronous):
    seen = play(azure, azure_chat, [BUSY, BUSY, completion()], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"RATE_LIMITED": 2})


@each_way
def test_hidden_retries_of_ai21_are_counted(play, asynchronous, monkeypatch):
    base = pytest.importorskip("ai21.http_client.base_http_client")
    for module in ("ai21.http_client.http_client", "ai21.http_client.async_http_client"):
        sdk = pytest.importorskip(module)
        monkeypatch.setattr(sdk, "TIME_BETWEEN_RETRIES", 0)
        monkeypatch.setattr(sdk, "RETRY_BACK_OFF_FACTOR", 0)
    assert base.TIME_BETWEEN_RETRIES
    seen = play(lambda url, way: ai21(url, way, num_retries=3), ai21_chat, [BUSY, BUSY, completion()], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"RATE_LIMITED": 2})


@each_way
def test_what_ai21_refuses_before_a_request_is_counted_once(play, asynchronous):
    seen = play(ai21, lambda o: ai21_chat(o, model=""), completion(), asynchronous)
    assert (seen.verdict, seen.provider.requests) == ("BAD_REQUEST/invalid_parameter", [])


# --- voyageai ---


def voyage(url, asynchronous, retries=0):
    sdk = pytest.importorskip("voyageai")
    client = (sdk.AsyncClient if asynchronous else sdk.Client)(api_key="k", base_url=url, max_retries=retries)
    return Opened(client, aclose=nothing if asynchronous else None)


def embed(opened):
    return opened.client.embed(["hi"], "voyage-3")


def rank(opened):
    return opened.client.rerank("q", ["a"], "rerank-2")


VECTORS = Reply(json={"data": [{"embedding": [0.1], "index": 0}], "model": "voyage-3", "usage": {"total_tokens": 1}})
RANKS = Reply(json={"data": [{"index": 0, "relevance_score": 0.5}], "usage": {"total_tokens": 1}})
NO_VECTORS = Reply(json={"data": [], "usage": {"total_tokens": 1}})


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (embed, VECTORS, "ok"),
        (rank, RANKS, "ok"),
        (embed, NO_VECTORS, "UNKNOWN/empty_response"),
        (embed, Reply(400, json={"detail": "m"}), "BAD_REQUEST/other"),
        (embed, Reply(401, json={"detail": "Provided API key is invalid."}), "AUTH/invalid_key"),
        (embed, Reply(422, json={"detail": "m"}), "BAD_REQUEST/invalid_parameter"),
        (embed, Reply(429, json={"detail": "m"}), "RATE_LIMITED/requests"),
        (embed, Reply(429, json={"message": "of a gateway"}), "RATE_LIMITED/requests"),
        (embed, Reply(500, json={"detail": "m"}), "SERVER/internal"),
        (embed, Reply(503, text="<html>"), "SERVER/unavailable"),
        (embed, Reply(529, json={"detail": "m"}), "SERVER/overloaded"),
        (embed, Reply(text="<html>", headers={"content-type": "text/html"}), "UNKNOWN/unexpected_body"),
        (embed, error(200, "server_error"), "SERVER/internal"),
        (embed, Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ],
)
def test_voyageai(play, call, reply, verdict, asynchronous):
    seen = play(voyage, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.provider.name"]) == (verdict, "voyageai"), (seen.raised, seen.attributes)
    assert seen.labels["gen_ai.request.model"] in ("voyage-3", "rerank-2")


def test_a_good_answer_of_voyageai_is_not_copied(provider, instrument):
    """The peak of a call, in bytes, is that of the SDK alone: a copy would add the size of the body."""
    rows = [{"embedding": [0.123456789] * 1024, "index": index} for index in range(100)]
    answer = Reply(json={"data": rows, "model": "voyage-3", "usage": {"total_tokens": 1}})
    opened = voyage(provider([answer]).url, False)

    def peak():
        embed(opened)
        tracemalloc.start()
        try:
            embed(opened)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    alone = peak()
    instrument()
    assert peak() - alone < len(json.dumps(rows)) / 2


@each_way
def test_a_call_of_voyageai_without_a_key_is_refused_before_a_request(play, asynchronous, monkeypatch):
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    sdk = pytest.importorskip("voyageai")

    def make(url, way):
        return Opened((sdk.AsyncClient if way else sdk.Client)(base_url=url), aclose=nothing if way else None)

    assert play(make, embed, VECTORS, asynchronous).verdict == "AUTH/missing_key"


@each_way
def test_hidden_retries_of_voyageai_are_counted(play, asynchronous, monkeypatch):
    tenacity = pytest.importorskip("tenacity")
    for module in ("voyageai.client", "voyageai.client_async"):
        monkeypatch.setattr(pytest.importorskip(module), "wait_exponential_jitter", lambda **_: tenacity.wait_none())
    busy = Reply(429, json={"detail": "m"})
    seen = play(lambda url, way: voyage(url, way, 3), embed, [busy, Reply(503), VECTORS], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"RATE_LIMITED": 1, "SERVER": 1})
