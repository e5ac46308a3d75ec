"""ollama over a real socket: what its clients return and raise, in streams and out of them."""

import asyncio
import gc

import pytest
from opentelemetry import trace

from llm_errors.testing.provider import Reply

ollama = pytest.importorskip("ollama", reason="ollama is not installed")

HELLO = [{"role": "user", "content": "hi"}]
AT = {"model": "l", "created_at": "2026-01-01T00:00:00Z"}
TOOL = {"function": {"name": "look", "arguments": {"at": "x"}}}
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


class Client(ollama.Client):
    close = getattr(ollama.Client, "close", lambda self: self._client.close())


class AsyncClient(ollama.AsyncClient):
    close = getattr(ollama.AsyncClient, "close", lambda self: self._client.aclose())


def make(url, asynchronous):
    return (AsyncClient if asynchronous else Client)(host=url, timeout=2)


def chat(client, **more):
    return client.chat(model="l", messages=HELLO, **more)


def stream(client):
    return chat(client, stream=True)


def generate(client):
    return client.generate(model="l", prompt="hi")


def generate_stream(client):
    return client.generate(model="l", prompt="hi", stream=True)


def line(content="", **end):
    return {**AT, "message": {"role": "assistant", "content": content}, "done": bool(end), **end}


END = {"done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 2}


def whole(content="hi", **end):
    return Reply(json=line(content, **{**END, **end}))


def error(status, said, **more):
    return Reply(status, json={"error": said}, **more)


@each_way
def test_an_answer_is_one_good_call_with_its_facts(play, asynchronous):
    seen = play(make, chat, whole(), asynchronous)
    assert seen.verdict == "ok"
    assert seen.labels["gen_ai.provider.name"] == "ollama"
    assert seen.labels["gen_ai.request.model"] == "l"
    assert seen.attributes["gen_ai.usage.input_tokens"] == 3
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2
    assert seen.attributes["gen_ai.response.finish_reasons"] == ("stop",)


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "operation"),
    [
        (stream, Reply(ndjson=[line("hi"), line("", **END)]), "chat"),
        (generate, Reply(json={**AT, "response": "hi", **END}), "text_completion"),
        (generate_stream, Reply(ndjson=[{**AT, "response": "hi", "done": False}, {**AT, "response": "", **END}]),
         "text_completion"),
        (lambda c: c.embed(model="l", input="hi"), Reply(json={"model": "l", "embeddings": [[0.1]]}), "embeddings"),
        (lambda c: c.embeddings(model="l", prompt="hi"), Reply(json={"embedding": [0.1]}), "embeddings"),
        (chat, Reply(json={**AT, "message": {"role": "assistant", "content": "", "tool_calls": [TOOL]}, **END}), "chat"),
        (lambda c: chat(c, format={"type": "object"}), whole("{}"), "chat"),
    ],
)  # fmt: skip
def test_every_kind_of_call_counts_once_as_good(play, call, reply, operation, asynchronous):
    seen = play(make, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", operation)


@each_way
@pytest.mark.parametrize("reason", ["load", "unload"])
def test_loading_a_model_has_no_text_and_is_good(play, reason, asynchronous):
    assert play(make, chat, whole("", done_reason=reason), asynchronous).verdict == "ok"


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (chat, whole(done_reason="length"), "TRUNCATED/max_tokens"),
        (chat, Reply(json={**AT, "message": {"role": "assistant", "content": "", "thinking": "so"}, **END,
                           "done_reason": "length"}), "TRUNCATED/reasoning_tokens"),
        (chat, whole(""), "UNKNOWN/empty_response"),
        (chat, whole(done_reason="odd"), "UNKNOWN/unrecognised_finish_reason"),
        (stream, Reply(ndjson=[line("hi"), line("", **{**END, "done_reason": "length"})]), "TRUNCATED/max_tokens"),
        (stream, Reply(ndjson=[line("", **END)]), "UNKNOWN/empty_response"),
        (stream, Reply(ndjson=[line("hi")]), "TRANSPORT/stream_cut"),
        (lambda c: c.embed(model="l", input="hi"), Reply(json={"model": "l", "embeddings": []}), "UNKNOWN/empty_response"),
    ],
)  # fmt: skip
def test_a_failure_inside_a_good_response(play, call, reply, verdict, asynchronous):
    seen = play(make, call, reply, asynchronous)
    assert (seen.verdict, seen.raised) == (verdict, None)


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("reply", "verdict", "message"),
    [
        (error(404, "model 'l' not found"), "NOT_FOUND/model", "model … not found"),
        (error(400, '"l" does not support tools'), "BAD_REQUEST/unsupported", None),
        (error(401, "unauthorized"), "AUTH/invalid_key", None),
        (error(500, "llama runner process has terminated"), "SERVER/model_error", None),
        (error(503, "server busy, please try again.  maximum pending requests exceeded"), "SERVER/overloaded", None),
        (Reply(502, text="<html>bad gateway</html>"), "SERVER/gateway", None),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected", None),
        (Reply(action="refuse"), "TRANSPORT/connection_refused", None),
    ],
)
def test_a_failure_that_the_sdk_raises(play, call, reply, verdict, message, asynchronous):
    if reply.action == "refuse":
        seen = play(lambda _, way: make("http://127.0.0.1:1", way), call, whole(), asynchronous)
    else:
        seen = play(make, call, reply, asynchronous)
    assert seen.verdict == verdict
    assert message is None or seen.message == message


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
def test_the_wait_that_a_busy_server_names_is_read_although_the_error_has_no_headers(play, call, asynchronous):
    seen = play(make, call, error(429, "too many requests", headers={"retry-after": "7"}), asynchronous)
    assert (seen.verdict, seen.retry_after) == ("RATE_LIMITED/requests", 7.0)


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
def test_a_server_that_is_silent_for_too_long(play, call, asynchronous):
    def hasty(url, way):
        return (AsyncClient if way else Client)(host=url, timeout=0.2)

    assert play(hasty, call, Reply(action="hang"), asynchronous).verdict == "TIMEOUT/read"


@each_way
def test_an_error_line_in_mid_stream_is_a_failure_of_the_server(play, asynchronous):
    seen = play(make, stream, Reply(ndjson=[line("hi"), {"error": "generation broke off"}]), asynchronous)
    assert seen.verdict == "SERVER/other"
    assert (seen.partial_output, seen.retryable, seen.message) == (True, False, "generation broke off")
    assert (seen.channel, seen.status_code) == ("thrown", None)


@each_way
def test_a_stream_that_the_server_cuts(play, asynchronous):
    seen = play(make, stream, Reply(ndjson=[line("hi")], action="cut_mid_stream"), asynchronous)
    assert (seen.verdict, seen.partial_output) == ("TRANSPORT/disconnected", True)


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (chat, error(200, "something odd"), "UNKNOWN/unexpected_body"),
        (generate, error(200, "something odd"), "UNKNOWN/unexpected_body"),
        (chat, Reply(text="<html>welcome</html>"), "UNKNOWN/unexpected_body"),
        (stream, Reply(text="<html>welcome</html>"), "UNKNOWN/unexpected_body"),
    ],
)
def test_a_body_that_is_no_answer_is_not_taken_for_one(play, call, reply, verdict, asynchronous):
    assert play(make, call, reply, asynchronous).verdict == verdict


HANGING = Reply(ndjson=[line("hi")], action="hang_mid_stream")


@pytest.fixture
def client(observed, provider):
    """A client of a provider that plays a script; closed after the test."""
    opened = []

    def start(*script):
        opened.append((Client(host=(server := provider(script)).url), server))
        return opened[-1]

    yield start
    for one, _ in opened:
        one.close()


def test_a_stream_of_which_no_part_is_asked_for_is_no_call(observed, client):
    one, server = client(whole())
    unread = stream(one)
    del unread
    gc.collect()
    assert (observed.outcomes(), server.requests) == ({}, [])


async def test_an_async_stream_of_which_no_part_is_asked_for_is_no_call(observed, provider):
    server = provider([whole()])
    one = make(server.url, True)
    unread = await stream(one)
    await unread.aclose()
    await one.close()
    assert (observed.outcomes(), server.requests) == ({}, [])


def test_a_stream_that_the_application_leaves_is_cancelled(observed, client):
    left = stream(client(HANGING)[0])
    assert next(left).message.content == "hi"
    left.close()
    assert observed.outcomes() == {"cancelled": 1}


async def test_an_async_stream_that_the_application_leaves_is_cancelled(observed, provider):
    one = make(provider([HANGING]).url, True)
    left = await stream(one)
    assert (await left.__anext__()).message.content == "hi"
    await left.aclose()
    assert observed.outcomes() == {"cancelled": 1}
    await one.close()


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
    await one.close()


def test_a_stream_that_is_left_at_its_end_has_ended(observed, client):
    left = stream(client(Reply(ndjson=[line("hi"), line("", **END)], action="hang_mid_stream"))[0])
    assert next(left).message.content == "hi"
    assert next(left).done
    left.close()
    assert observed.outcomes() == {"ok": 1}


def test_functions_of_the_module_that_were_imported_before_are_observed_and_left_as_they_were(
    instrument, telemetry, provider, monkeypatch
):
    from ollama import chat as imported_before

    one = make(provider([whole()]).url, False)
    monkeypatch.setattr(imported_before.__self__, "_client", one._client)
    before = ollama.Client._request
    instrumentor = instrument()
    assert imported_before(model="l", messages=HELLO).message.content == "hi"
    instrumentor.uninstrument()
    assert telemetry.outcomes() == {"ok": 1}
    assert ollama.Client._request is before
    one.close()


def test_what_is_no_model_call_is_left_alone(observed, client):
    one, _ = client(Reply(json={"models": []}), Reply(json={"status": "success"}))
    one.list()
    one.pull("l")
    assert (observed.outcomes(), observed.spans()) == ({}, [])


def test_the_span_of_a_stream_is_not_current_between_two_parts(observed, client):
    parts = stream(client(Reply(ndjson=[line("hi"), line("", **END)]))[0])
    next(parts)
    assert not trace.get_current_span().get_span_context().is_valid
    list(parts)
    assert observed.span().attributes["gen_ai.request.stream"] is True
