"""SDKs of the Stainless family with answers of their own, and one that calls through a copy of openai."""

import json

import pytest

from llm_errors import classify
from llm_errors.testing.provider import Reply

HELLO = [{"role": "user", "content": "hi"}]
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def make(url, asynchronous, retries=0):
    sdk = pytest.importorskip("llama_api_client")
    cls = sdk.AsyncLlamaAPIClient if asynchronous else sdk.LlamaAPIClient
    return cls(base_url=url, api_key="k", max_retries=retries, timeout=5.0)


def chat(client, **more):
    return client.chat.completions.create(model="l", messages=HELLO, **more)


def stream(client):
    return chat(client, stream=True)


def answer(stop="stop", content="hi", **message):
    body = {"type": "text", "text": content}
    message = {"role": "assistant", "content": body, "stop_reason": stop, **message}
    counts = [{"metric": "num_prompt_tokens", "value": 3.0}, {"metric": "num_completion_tokens", "value": 2.0}]
    return {"id": "a", "completion_message": message, "metrics": counts}


def events(*pieces):
    return Reply(sse=[line for piece in pieces for line in ("data: " + json.dumps({"event": piece}), "")])


def piece(text="", kind="progress", **more):
    return {"event_type": kind, "delta": {"type": "text", "text": text}, **more}


CALL = {"type": "tool_call", "id": "c", "function": {"name": "look", "arguments": "{}"}}
END = piece("", "complete", stop_reason="stop")


@each_way
def test_a_message_of_llama_is_a_good_answer_with_its_facts(play, asynchronous):
    seen = play(make, chat, Reply(json=answer()), asynchronous)
    assert seen.verdict == "ok"
    assert (seen.labels["gen_ai.provider.name"], seen.labels["gen_ai.request.model"]) == ("meta", "l")
    assert seen.attributes["gen_ai.usage.input_tokens"] == 3
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2
    assert seen.attributes["gen_ai.response.finish_reasons"] == ("stop",)


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (chat, Reply(json=answer("tool_calls", "", tool_calls=[{"id": "c", "function": CALL["function"]}])), "ok"),
        (chat, Reply(json=answer("length")), "TRUNCATED/max_tokens"),
        (chat, Reply(json=answer(content="")), "UNKNOWN/empty_response"),
        (chat, Reply(json=answer("odd")), "UNKNOWN/unrecognised_finish_reason"),
        (chat, Reply(json={"error": {"code": "server_error", "message": "m"}}), "SERVER/internal"),
        (stream, events(piece("", "start"), piece("hi"), END), "ok"),
        (stream, events(piece("", "start"), {"event_type": "progress", "delta": CALL}, END), "ok"),
        (stream, events(piece("hi"), piece("", "complete", stop_reason="length")), "TRUNCATED/max_tokens"),
        (stream, events(piece("hi")), "TRANSPORT/stream_cut"),
        (stream, events(piece("", "start"), END), "UNKNOWN/empty_response"),
    ],
)
def test_how_a_message_of_llama_ended(play, call, reply, verdict, asynchronous):
    assert play(make, call, reply, asynchronous).verdict == verdict


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(401, json={"title": "Unauthorized", "detail": "m", "status": 401}), "AUTH/invalid_key"),
        (Reply(429, json={"title": "Rate limit", "detail": "m", "status": 429}), "RATE_LIMITED/requests"),
        (Reply(503, text="<html>"), "SERVER/unavailable"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ],
)
def test_what_llama_raises(play, call, reply, verdict, asynchronous):
    assert play(make, call, reply, asynchronous).verdict == verdict


@each_way
def test_an_error_event_of_llama_in_mid_stream(play, asynchronous):
    lines = ["data: " + json.dumps({"event": piece("hi")}), "", "event: error", 'data: {"title":"e","status":503}', ""]
    seen = play(make, stream, Reply(sse=lines), asynchronous)
    assert (seen.verdict, seen.partial_output) == ("SERVER/upstream", True)


@each_way
def test_a_stream_of_llama_that_the_server_cuts(play, asynchronous):
    reply = Reply(sse=["data: " + json.dumps({"event": piece("hi")}), ""], action="cut_mid_stream")
    seen = play(make, stream, reply, asynchronous)
    assert (seen.verdict, seen.retryable) == ("TRANSPORT/disconnected", False)


def test_classify_reads_a_message_of_llama_as_a_plain_dict():
    assert classify(answer("length")).error_class == "TRUNCATED"
    assert classify(answer()) is None


# --- llama-stack-client: openai's answers under other paths, and llama's under its own ---


def make_stack(url, asynchronous):
    sdk = pytest.importorskip("llama_stack_client")
    cls = sdk.AsyncLlamaStackClient if asynchronous else sdk.LlamaStackClient
    return cls(base_url=url, api_key="k", max_retries=0, timeout=5.0)


def openai_like(client, **more):
    return client.chat.completions.create(model="l", messages=HELLO, **more)


def own(client):
    return client.inference.chat_completion(model_id="l", messages=HELLO)


def choices(finish="stop"):
    message = {"role": "assistant", "content": "hi"}
    return {"id": "c", "choices": [{"index": 0, "finish_reason": finish, "message": message}]}


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (openai_like, Reply(json=choices()), "ok"),
        (openai_like, Reply(json=choices("length")), "TRUNCATED/max_tokens"),
        (own, Reply(json=answer("end_of_turn")), "ok"),
        (own, Reply(json=answer("out_of_tokens")), "TRUNCATED/max_tokens"),
        (own, Reply(422, json={"error": {"detail": {"errors": []}}}), "BAD_REQUEST/invalid_parameter"),
        (lambda c: c.embeddings.create(model="e", input="hi"), Reply(json={"data": [{"embedding": [0.1], "index": 0}]}),
         "ok"),
    ],
)  # fmt: skip
def test_llama_stack(play, call, reply, verdict, asynchronous):
    seen = play(make_stack, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.provider.name"]) == (verdict, "llama_stack")


# --- zeroentropy: embeddings and ranks ---


def make_zero(url, asynchronous):
    sdk = pytest.importorskip("zeroentropy")
    cls = sdk.AsyncZeroEntropy if asynchronous else sdk.ZeroEntropy
    return cls(base_url=url, api_key="k", max_retries=0, timeout=5.0)


def rank(client):
    return client.models.rerank(model="z", query="q", documents=["a"])


def embed(client):
    return client.models.embed(model="z", input=["a"], input_type="query")


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict", "operation"),
    [
        (rank, Reply(json={"results": [{"index": 0, "relevance_score": 0.5}]}), "ok", "rerank"),
        (embed, Reply(json={"results": [{"embedding": [0.1]}]}), "ok", "embeddings"),
        (embed, Reply(json={"results": []}), "UNKNOWN/empty_response", "embeddings"),
        (embed, Reply(429, json={"detail": "m"}), "RATE_LIMITED/requests", "embeddings"),
        (rank, Reply(action="close_at_once"), "TRANSPORT/disconnected", "rerank"),
    ],
)
def test_zeroentropy(play, call, reply, verdict, operation, asynchronous):
    seen = play(make_zero, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == (verdict, operation)


def test_a_search_of_zeroentropy_is_no_model_call(observed, provider):
    with make_zero(provider([Reply(json={"results": []})]).url, False) as client:
        client.queries.top_documents(collection_name="c", query="q", k=1)
    assert observed.outcomes() == {}


def test_creating_a_job_of_perplexity_is_no_model_call(observed, provider):
    sdk = pytest.importorskip("perplexity")
    server = provider([Reply(json={"id": "j", "status": "CREATED", "created_at": 1, "model": "m"})])
    with sdk.Perplexity(base_url=server.url, api_key="k", max_retries=0) as client:
        client.async_.chat.completions.create(request={"model": "m", "messages": HELLO})
    assert observed.outcomes() == {}


# --- portkey: a gateway, through its own copy of openai ---


def make_portkey(url, asynchronous):
    sdk = pytest.importorskip("portkey_ai")
    client = (sdk.AsyncPortkey if asynchronous else sdk.Portkey)(api_key="k", base_url=url, provider="openai")
    client.openai_client = client.openai_client.with_options(max_retries=0)
    client.close = client.openai_client.close
    return client


def portkey_chat(client, **more):
    return client.chat.completions.create(model="l", messages=HELLO, **more)


def portkey_stream(client):
    return portkey_chat(client, stream=True)


HOOKS = {"hook_results": {"before_request_hooks": [{"verdict": False}], "after_request_hooks": []}}
BLOCKED = {"error": {"message": "m", "type": "hooks_failed", "code": None}, **HOOKS}
DELTA = {"id": "c", "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": None}]}


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (portkey_chat, Reply(json={**choices(), "model": "l", "object": "chat.completion", "created": 1}), "ok"),
        (portkey_chat, Reply(json={**choices("length"), "model": "l", "object": "o", "created": 1}),
         "TRUNCATED/max_tokens"),
        (portkey_chat, Reply(446, json=BLOCKED), "PROMPT_BLOCKED/guardrail"),
        (portkey_chat, Reply(401, json={"status": "failure", "message": "Invalid API Key"}), "AUTH/invalid_key"),
        (portkey_chat, Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (portkey_stream, Reply(sse=["data: " + json.dumps(DELTA), ""]), "TRANSPORT/stream_cut"),
        (portkey_stream, Reply(sse=["data: " + json.dumps(DELTA), ""], action="cut_mid_stream"),
         "TRANSPORT/disconnected"),
    ],
)  # fmt: skip
def test_portkey(play, call, reply, verdict, asynchronous):
    seen = play(make_portkey, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.provider.name"]) == (verdict, "portkey")
