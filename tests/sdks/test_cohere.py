"""cohere over a real socket: what the clients of both versions return and raise, in streams and out of them."""

import asyncio
import json

import pytest

from llm_errors import classify, providers
from llm_errors.instrument.adapters.cohere import Cohere
from llm_errors.testing.provider import Reply

cohere = pytest.importorskip("cohere", reason="cohere is not installed")
from cohere.v2.raw_client import RawV2Client  # noqa: E402 - not without cohere

HELLO = [{"role": "user", "content": "hi"}]
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


class Closing:
    """A client, which is closed by leaving its context. `once` allows no second attempt."""

    once = {"max_retries": 0}

    def __init__(self, client):
        self.client = client
        self.close = lambda: client.__exit__(None, None, None)
        if hasattr(client, "__aexit__"):
            self.aclose = lambda: client.__aexit__(None, None, None)


def make(url, asynchronous, timeout=5):
    kind = cohere.AsyncClientV2 if asynchronous else cohere.ClientV2
    return Closing(kind(api_key="k", base_url=url, timeout=timeout))


def make_v1(url, asynchronous):
    kind = cohere.AsyncClient if asynchronous else cohere.Client
    return Closing(kind(api_key="k", base_url=url, timeout=5))


def chat(closing, **more):
    return closing.client.chat(model="m", messages=HELLO, request_options=closing.once, **more)


def stream(closing):
    return closing.client.chat_stream(model="m", messages=HELLO)


def chat_v1(closing):
    return closing.client.chat(model="m", message="hi", request_options=closing.once)


def stream_v1(closing):
    return closing.client.chat_stream(model="m", message="hi")


def whole(finish="COMPLETE", said="hi", **message):
    content = [{"type": "text", "text": said}] if said else []
    used = {"tokens": {"input_tokens": 3, "output_tokens": 2}}
    return Reply(
        json={
            "id": "c",
            "finish_reason": finish,
            "message": {"role": "assistant", "content": content, **message},
            "usage": used,
        }
    )


def whole_v1(finish="COMPLETE", text="hi", **more):
    used = {"tokens": {"input_tokens": 3, "output_tokens": 2}}
    return Reply(
        json={"text": text, "generation_id": "g", "response_id": "c", "finish_reason": finish, "meta": used, **more}
    )


def events(*given):
    return [line for event in given for line in (f"event: {event['type']}", f"data: {json.dumps(event)}", "")]


START = {"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant"}}}
HI = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "hi"}}}}
CALL = {"type": "tool-call-start", "index": 0,
        "delta": {"message": {"tool_calls": {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}}}}  # fmt: skip


def end(finish="COMPLETE", **more):
    return {
        "type": "message-end",
        "delta": {"finish_reason": finish, "usage": {"tokens": {"output_tokens": 2}}, **more},
    }


def streamed(*given, **more):
    return Reply(sse=events(START, *given), **more)


HI_V1 = {"event_type": "text-generation", "text": "hi"}


def end_v1(finish="COMPLETE"):
    return {"event_type": "stream-end", "finish_reason": finish, "response": {"text": "hi", "response_id": "c"}}


def error(status, said="no", **more):
    return Reply(status, json={"message": said}, **more)


@each_way
@pytest.mark.parametrize(
    ("maker", "call", "reply"), [(make, chat, whole()), (make_v1, chat_v1, whole_v1())], ids=["v2", "v1"]
)
def test_an_answer_is_one_good_call_with_its_facts(play, maker, call, reply, asynchronous):
    seen = play(maker, call, reply, asynchronous)
    assert seen.verdict == "ok"
    assert seen.labels["gen_ai.provider.name"] == "cohere"
    assert seen.labels["gen_ai.request.model"] == "m"
    assert seen.attributes["gen_ai.response.id"] == "c"
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2
    assert seen.attributes["gen_ai.response.finish_reasons"] == ("COMPLETE",)


TOOL = {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}


PARSED = {"id": "p", "pages": [{"index": 0, "markdown": "hi"}], "finish_reason": "COMPLETE"}
PAPER = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
RECENT = [
    (make, lambda c: c.client.parse(model="m", document=PAPER), Reply(json=PARSED), "ocr"),
] * hasattr(cohere.ClientV2, "parse") + [
    (make, lambda c: c.client.audio.transcriptions.create(model="m", language="en", file=("a.wav", b"RIFF")),
     Reply(json={"text": "hi"}), "transcription"),
] * hasattr(cohere.ClientV2, "audio")  # fmt: skip
"""Calls that older releases do not have."""


@each_way
@pytest.mark.parametrize(
    ("maker", "call", "reply", "operation"),
    [
        *RECENT,
        (make_v1, lambda c: c.client.rerank(model="m", query="q", documents=["a"]),
         Reply(json={"id": "r", "results": [{"index": 0, "relevance_score": 0.9}]}), "rerank"),
        (make_v1, lambda c: c.client.generate(model="m", prompt="hi"),
         Reply(json={"id": "g", "prompt": "hi", "generations": [{"id": "g", "text": "hi", "finish_reason": "COMPLETE"}]}),
         "text_completion"),
        (make_v1, lambda c: c.client.generate_stream(model="m", prompt="hi"),
         Reply(ndjson=[{"event_type": "text-generation", "text": "hi"},
                       {"event_type": "stream-end", "is_finished": True, "finish_reason": "COMPLETE",
                        "response": {"id": "g", "generations": []}}]), "text_completion"),
        (make_v1, lambda c: c.client.summarize(model="m", text="hi"), Reply(json={"id": "s", "summary": "hi"}),
         "text_completion"),
        (make, stream, streamed(HI, end()), "chat"),
        (make, stream, streamed(CALL, end("TOOL_CALL")), "chat"),
        (make, chat, whole("TOOL_CALL", "", tool_calls=[TOOL]), "chat"),
        (make, lambda c: chat(c, response_format={"type": "json_object"}), whole(said="{}"), "chat"),
        (make, lambda c: c.client.embed(model="m", texts=["a"], input_type="search_query", embedding_types=["float"]),
         Reply(json={"id": "e", "response_type": "embeddings_by_type", "texts": ["a"], "embeddings": {"float": [[0.1]]}}),
         "embeddings"),
        (make, lambda c: c.client.rerank(model="m", query="q", documents=["a"]),
         Reply(json={"id": "r", "results": [{"index": 0, "relevance_score": 0.9}]}), "rerank"),
        (make_v1, stream_v1, Reply(ndjson=[HI_V1, end_v1()]), "chat"),
        (make_v1, chat_v1, whole_v1("COMPLETE", "", tool_calls=[{"name": "f", "parameters": {}}]), "chat"),
        (make_v1, lambda c: c.client.embed(model="m", texts=["a"]),
         Reply(json={"id": "e", "response_type": "embeddings_floats", "texts": ["a"], "embeddings": [[0.1]]}), "embeddings"),
        (make_v1, lambda c: c.client.classify(model="m", inputs=["a"]),
         Reply(json={"id": "x", "classifications": [{"id": "1", "prediction": "p", "confidences": [], "labels": {},
                                                     "predictions": ["p"], "classification_type": "single-label"}]}),
         "classification"),
    ],
)  # fmt: skip
def test_every_kind_of_call_counts_once_as_good(play, maker, call, reply, operation, asynchronous):
    seen = play(maker, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", operation)


@each_way
@pytest.mark.parametrize(
    ("maker", "call", "reply", "verdict"),
    [
        *[(maker, call, Reply(json={**PARSED, "finish_reason": "MAX_TOKENS"}), "TRUNCATED/max_tokens")
          for maker, call, _, operation in RECENT if operation == "ocr"],
        (make, chat, whole("MAX_TOKENS"), "TRUNCATED/max_tokens"),
        (make, chat, whole("ERROR", "Par"), "SERVER/other"),
        (make, chat, whole("TIMEOUT"), "TIMEOUT/provider"),
        (make, chat, whole(said=""), "UNKNOWN/empty_response"),
        (make, chat, Reply(json={"error": {"message": "it broke"}}), "UNKNOWN/unexpected_body"),
        (make, stream, streamed(HI, end("MAX_TOKENS")), "TRUNCATED/max_tokens"),
        (make, stream, streamed(HI, end("ERROR", error="it broke")), "SERVER/other"),
        (make, stream, streamed(end()), "UNKNOWN/empty_response"),
        (make, stream, streamed(HI, chunked=True), "TRANSPORT/stream_cut"),
        (make_v1, chat_v1, whole_v1("ERROR_TOXIC"), "OUTPUT_BLOCKED/safety"),
        (make_v1, chat_v1, whole_v1("ERROR_LIMIT"), "TRUNCATED/context_window"),
        (make_v1, chat_v1, whole_v1("USER_CANCEL"), "ok"),
        (make_v1, stream_v1, Reply(ndjson=[HI_V1, end_v1("MAX_TOKENS")]), "TRUNCATED/max_tokens"),
        (make_v1, stream_v1, Reply(ndjson=[HI_V1]), "TRANSPORT/stream_cut"),
        (make_v1, stream_v1, Reply(text="<html>welcome</html>"), "UNKNOWN/unexpected_body"),
    ],
)  # fmt: skip
def test_a_failure_inside_a_good_response(play, maker, call, reply, verdict, asynchronous):
    seen = play(maker, call, reply, asynchronous)
    assert (seen.verdict, seen.raised) == (verdict, None)


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (error(400, "invalid request: 'x' is not a field"), "BAD_REQUEST/other"),
        (error(401, "invalid api token"), "AUTH/invalid_key"),
        (error(404, "model 'm' not found"), "NOT_FOUND/model"),
        (error(422, "invalid type"), "BAD_REQUEST/invalid_parameter"),
        (
            error(429, "You are using a Trial key, which is limited to 1000 API calls / month."),
            "CALL_BUDGET/insufficient_quota",
        ),
        (error(429, "too many requests"), "RATE_LIMITED/requests"),
        (error(498, "invalid token"), "AUTH/invalid_key"),
        (error(498, "blocked output: it is not allowed"), "OUTPUT_BLOCKED/content_filter"),
        (error(500), "SERVER/internal"),
        (Reply(502, text="<html>bad gateway</html>"), "SERVER/gateway"),
        (error(503), "SERVER/unavailable"),
        (error(504), "SERVER/deadline_exceeded"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ],
)
def test_a_failure_that_the_sdk_raises(play, call, reply, verdict, asynchronous):
    assert play(make, call, reply, asynchronous).verdict == verdict


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
def test_a_server_that_is_silent_for_too_long(play, call, asynchronous):
    seen = play(lambda url, way: make(url, way, 0.2), call, Reply(action="hang"), asynchronous)
    assert seen.verdict == "TIMEOUT/read"


@each_way
def test_a_connection_that_is_refused(play, asynchronous):
    assert (
        play(lambda _, way: make("http://127.0.0.1:1", way), chat, whole(), asynchronous).verdict
        == "TRANSPORT/connection_refused"
    )


@each_way
@pytest.mark.parametrize(
    ("call", "reply"),
    [(chat, Reply(text="<html>welcome</html>")), (stream, Reply(text="<html>welcome</html>"))],
    ids=["whole", "stream"],
)
def test_a_page_in_place_of_an_answer_is_no_network_error(play, call, reply, asynchronous):
    assert play(make, call, reply, asynchronous).verdict == "UNKNOWN/unexpected_body"


def test_the_error_of_a_body_that_is_no_event_stream_is_a_network_error_only_by_its_class():
    module = pytest.importorskip("cohere.core.http_sse._exceptions", reason="only a newer major of the SDK has it")
    assert classify(module.SSEError("Expected ...")).error_class == "UNKNOWN"


@each_way
def test_a_stream_that_the_server_cuts(play, asynchronous):
    seen = play(make, stream, streamed(HI, action="cut_mid_stream"), asynchronous)
    assert (seen.verdict, seen.retryable, seen.partial_output) == ("TRANSPORT/disconnected", False, True)


@pytest.fixture
def impatient(monkeypatch):
    """The SDK waits for no second attempt."""
    http = pytest.importorskip("cohere.core.http_client")
    for name in ("INITIAL_RETRY_DELAY_SECONDS", "MAX_RETRY_DELAY_SECONDS"):
        monkeypatch.setattr(http, name, 0.001, raising=False)


def patient(closing):
    closing.once = None
    return chat(closing)


@each_way
def test_attempts_that_the_sdk_s_own_retry_hides_are_counted(play, impatient, asynchronous):
    seen = play(make, patient, [error(503), error(429), whole()], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"SERVER": 1, "RATE_LIMITED": 1})
    assert len(seen.provider.requests) == 3


@each_way
def test_a_call_whose_retries_all_fail_counts_once(play, impatient, asynchronous):
    seen = play(make, patient, error(503), asynchronous)
    assert (seen.verdict, seen.retries) == ("SERVER/unavailable", {"SERVER": 2})
    assert len(seen.provider.requests) == 3


@each_way
def test_a_failed_stream_has_no_retry(play, impatient, asynchronous):
    seen = play(make, stream, error(503), asynchronous)
    assert (seen.verdict, seen.retries) == ("SERVER/unavailable", {})


@pytest.fixture
def client(observed, provider):
    """A client of a provider that plays a script; closed after the test."""
    opened = []

    def start(*script):
        opened.append((make((server := provider(script)).url, False), server))
        return opened[-1]

    yield start
    for one, _ in opened:
        one.close()


HANGING = streamed(HI, action="hang_mid_stream")


def test_a_stream_of_which_no_part_is_asked_for_is_no_call(observed, client):
    one, server = client(whole())
    stream(one).close()
    assert (observed.outcomes(), server.requests) == ({}, [])


def test_a_stream_that_the_application_leaves_is_cancelled(observed, client):
    left = stream(client(HANGING)[0])
    next(left)
    left.close()
    assert observed.outcomes() == {"cancelled": 1}


async def test_an_async_stream_that_the_application_leaves_is_cancelled(observed, provider):
    one = make(provider([HANGING]).url, True)
    left = stream(one)
    await left.__anext__()
    await left.aclose()
    assert observed.outcomes() == {"cancelled": 1}
    await one.aclose()


async def test_a_task_that_is_cancelled_in_its_request_is_cancelled(observed, provider):
    server = provider([Reply(action="hang")])
    one = make(server.url, True)
    task = asyncio.ensure_future(chat(one))
    while not server.requests:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert observed.outcomes() == {"cancelled": 1}
    await one.aclose()


def test_a_raw_stream_is_one_call_and_its_context_manager_stays_one(observed, client):
    with client(streamed(HI, end()))[0].client.with_raw_response.chat_stream(model="m", messages=HELLO) as response:
        assert [part.type for part in response.data] == ["message-start", "content-delta", "message-end"]
    assert observed.outcomes() == {"ok": 1}


def test_each_request_of_a_batch_of_embeddings_is_a_call_although_threads_send_them(observed, provider):
    batch = Reply(json={"id": "e", "response_type": "embeddings_floats", "texts": ["a"], "embeddings": [[0.1]]})
    one = make_v1(provider([batch]).url, False)
    one.client.embed(model="m", texts=["a"] * 97)
    assert observed.outcomes() == {"ok": 2}
    one.close()


def test_what_is_no_model_call_is_left_alone(observed, client):
    client(Reply(json={"tokens": [1], "token_strings": ["a"]}))[0].client.tokenize(text="a", model="m", offline=False)
    assert (observed.outcomes(), observed.spans()) == ({}, [])


@pytest.mark.parametrize(
    ("kind", "name"),
    [("BedrockClientV2", "aws.bedrock"), ("SagemakerClientV2", "aws.sagemaker"), ("ClientV2", "cohere")],
)
def test_the_service_of_a_cloud_that_a_client_sends_its_requests_to_is_the_provider(kind, name):
    pytest.importorskip("boto3", reason="boto3 is not installed")
    given = {"api_key": "k"} if kind == "ClientV2" else {"aws_region": "us-east-1"}
    one = getattr(cohere, kind)(**given)
    adapter = Cohere(providers.sdk("cohere"))
    (target,) = [t for t in adapter.targets() if (t.owner, t.attribute) == ("RawV2Client", "rerank")]
    client = RawV2Client(client_wrapper=one._client_wrapper)
    assert adapter.describe(target, client, (), {"model": "m"}).provider == name
    Closing(one).close()
