"""huggingface_hub's inference clients over a real socket: what they return and raise, in streams and out of them."""

import gc
import json
import weakref

import pytest

from llm_errors.testing.provider import Reply

hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")

HELLO = [{"role": "user", "content": "hi"}]
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


Client, AsyncClient = hub.InferenceClient, hub.AsyncInferenceClient


def make(url, asynchronous, timeout=5):
    return (AsyncClient if asynchronous else Client)(base_url=url, timeout=timeout, token="hf_k")


def make_endpoint(url, asynchronous):
    return (AsyncClient if asynchronous else Client)(model=url, timeout=5, token="hf_k")


@pytest.fixture(autouse=True)
def no_shared_session():
    """The sync clients share one session, whose connections would stay open."""
    yield
    hub.close_session()
    gc.collect()


def chat(client, **more):
    return (
        client.chat_completion(messages=HELLO, model="m", **more)
        if not client.model
        else client.chat_completion(messages=HELLO, **more)
    )


async def _parts(stream):
    return [part async for part in await stream]


def stream(client):
    made = chat(client, stream=True)
    return _parts(made) if isinstance(client, AsyncClient) else made


def generate(client):
    return client.text_generation("hi", details=True)


def generate_stream(client):
    made = client.text_generation("hi", stream=True)
    return _parts(made) if isinstance(client, AsyncClient) else made


def choice(finish="stop", content="hi", **message):
    return {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}


def whole(finish="stop", content="hi", **message):
    used = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return Reply(json={"id": "c", "created": 1, "model": "m", "system_fingerprint": "f", "usage": used,
                       "choices": [choice(finish, content, **message)]})  # fmt: skip


def delta(content, finish=None):
    part = {"index": 0, "delta": {"role": "assistant", "content": content}, "finish_reason": finish}
    return {"id": "c", "created": 1, "model": "m", "system_fingerprint": "f", "choices": [part]}


def token(said, **more):
    return {"index": 1, "token": {"id": 1, "logprob": 0.1, "special": False, "text": said}, "generated_text": None,
            "details": None, **more}  # fmt: skip


def lines(*events, done=True):
    return [x for e in events for x in (f"data: {json.dumps(e)}", "")] + (["data: [DONE]", ""] if done else [])


DETAILS = {"finish_reason": "eos_token", "generated_tokens": 2, "prefill": [], "tokens": []}
LAST = token(".", generated_text="hi.", details={"finish_reason": "length", "generated_tokens": 2, "input_length": 1})
TOOL = {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}", "description": None}}


@each_way
def test_an_answer_is_one_good_call_with_its_facts(play, asynchronous):
    seen = play(make, lambda c: chat(c, extra_body={"model": "m"}), whole(), asynchronous)
    assert seen.verdict == "ok"
    assert seen.labels["gen_ai.provider.name"] == "hugging_face"
    assert seen.labels["gen_ai.request.model"] == "m"
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2


@each_way
@pytest.mark.filterwarnings("ignore:Use 'content:DeprecationWarning")  # how the SDK sends a recording
@pytest.mark.parametrize(
    ("maker", "call", "reply", "verdict"),
    [
        (make, stream, Reply(sse=lines(delta("hi"), delta("", "stop"))), "ok"),
        (make, chat, whole("tool_calls", None, tool_calls=[TOOL]), "ok"),
        (make, chat, whole("length"), "TRUNCATED/max_tokens"),
        (make, chat, whole("stop", ""), "UNKNOWN/empty_response"),
        (make, stream, Reply(sse=lines(delta("hi"), delta("", "length"))), "TRUNCATED/max_tokens"),
        (make, stream, Reply(sse=lines(delta("hi"), done=False), chunked=True), "TRANSPORT/stream_cut"),
        (make_endpoint, generate, Reply(json=[{"generated_text": "hi", "details": DETAILS}]), "ok"),
        (make_endpoint, generate, Reply(json=[{"generated_text": "hi", "details": {**DETAILS, "finish_reason": "length"}}]),
         "TRUNCATED/max_tokens"),
        (make_endpoint, generate_stream, Reply(sse=lines(token("hi"), LAST, done=False)), "TRUNCATED/max_tokens"),
        (make, lambda c: chat(c, response_format={"type": "json_object"}), whole(content="{}"), "ok"),
        (make_endpoint, lambda c: c.sentence_similarity("hi", other_sentences=["ho"]), Reply(json=[0.9]), "ok"),
        (make_endpoint, lambda c: c.summarization("hi"), Reply(json=[{"summary_text": "hi"}]), "ok"),
        (make_endpoint, lambda c: c.text_to_speech("hi"), Reply(text="RIFF...."), "ok"),
        (make_endpoint, lambda c: c.automatic_speech_recognition(b"RIFF...."), Reply(json={"text": "hi"}), "ok"),
        (make_endpoint, lambda c: c.text_classification("hi"), Reply(json=[[{"label": "x", "score": 0.9}]]), "ok"),
    ],
)  # fmt: skip
def test_what_an_answer_comes_to(play, maker, call, reply, verdict, asynchronous):
    assert play(maker, call, reply, asynchronous).verdict == verdict


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(401, json={"error": "Invalid credentials in Authorization header"}), "AUTH/invalid_key"),
        (Reply(404, json={"error": "Model not found"}), "NOT_FOUND/other"),
        (
            Reply(422, json={"error": "Input validation error", "error_type": "validation"}),
            "BAD_REQUEST/invalid_parameter",
        ),
        (Reply(429, json={"error": "Model is overloaded", "error_type": "overloaded"}), "SERVER/overloaded"),
        (
            Reply(402, json={"error": "You have exceeded your monthly included credits"}),
            "CALL_BUDGET/insufficient_quota",
        ),
        (Reply(503, json={"error": "Model m is currently loading", "estimated_time": 20.0}), "SERVER/model_not_ready"),
        (Reply(504, text="<html>"), "SERVER/deadline_exceeded"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ],
)
def test_a_failure_that_the_sdk_raises(play, call, reply, verdict, asynchronous):
    assert play(make, call, reply, asynchronous).verdict == verdict


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
def test_a_server_that_is_silent_for_too_long(play, call, asynchronous):
    assert (
        play(lambda url, way: make(url, way, 0.2), call, Reply(action="hang"), asynchronous).verdict == "TIMEOUT/read"
    )


@each_way
@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("overloaded", "SERVER/overloaded"),
        ("generation", "SERVER/model_error"),
        ("validation", "BAD_REQUEST/invalid_parameter"),
    ],
)
def test_an_error_line_in_mid_stream_is_what_its_type_says(play, kind, verdict, asynchronous):
    reply = Reply(sse=lines(delta("hi"), {"error": "it broke", "error_type": kind}, done=False))
    seen = play(make, stream, reply, asynchronous)
    assert (seen.verdict, seen.partial_output, seen.channel) == (verdict, True, "thrown")
    assert type(seen.raised).__module__ == "huggingface_hub.errors"


@each_way
def test_a_stream_that_the_server_cuts(play, asynchronous):
    seen = play(make, stream, Reply(sse=lines(delta("hi"), done=False), action="cut_mid_stream"), asynchronous)
    assert (seen.verdict, seen.partial_output) == ("TRANSPORT/disconnected", True)


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
def test_a_page_in_place_of_an_answer_is_no_good_call(play, call, asynchronous):
    assert play(make, call, Reply(text="<html>welcome</html>"), asynchronous).verdict == "UNKNOWN/unexpected_body"


def test_a_stream_that_the_application_leaves_is_cancelled(observed, provider):
    one = make(provider([Reply(sse=lines(delta("hi"), done=False), action="hang_mid_stream")]).url, False)
    left = stream(one)
    next(left)
    left.close()
    del left
    gc.collect()
    assert observed.outcomes() == {"cancelled": 1}
    one.close()


def test_a_client_is_not_kept_alive_by_its_stream(observed, provider):
    one = make(provider([Reply(sse=lines(delta("hi"), delta("", "stop")))]).url, False)
    parts, gone = stream(one), weakref.ref(one)
    one.close()
    del one
    gc.collect()
    assert gone() is None
    with pytest.raises(Exception, match="closed"):
        list(parts)
    assert sum(observed.outcomes().values()) == 1
