"""openai's websockets over real sockets: one call per response, and one for a session that gives none."""

import asyncio
import gc
import subprocess
import sys
from contextlib import aclosing, suppress
from importlib import import_module

import pytest

pytest.importorskip("websockets.asyncio.server", reason="only newer releases of websockets have an asyncio server")
pytest.importorskip("openai")

import openai
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, InvalidStatus

from llm_errors import classify
from tests.sdks.sockets import Abort, Await, Close, Refuse

HAS_RESPONSES = hasattr(import_module("openai.resources.responses.responses"), "ResponsesConnection")
HAS_REALTIME = hasattr(openai.OpenAI, "realtime")
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
needs_realtime = pytest.mark.skipif(not HAS_REALTIME, reason="only a newer major of the SDK has realtime")
needs_responses = pytest.mark.skipif(not HAS_RESPONSES, reason="only a newer major of the SDK has responses.connect")

pytestmark = [
    needs_realtime,
    pytest.mark.filterwarnings(r"ignore:connect\(\) must be used:DeprecationWarning"),  # of the SDK's use of websockets
]

CREATE = {"type": "response.create"}
SESSION = {"type": "session.created", "event_id": "e0", "session": {"type": "realtime", "id": "s"}}


def created(name="r1"):
    return {
        "type": "response.created",
        "event_id": "e",
        "response": {"id": name, "status": "in_progress", "output": []},
    }


def audio(name="r1", said="UklGRg=="):
    return {"type": "response.output_audio.delta", "event_id": "e", "response_id": name, "item_id": "i",
            "output_index": 0, "content_index": 0, "delta": said}  # fmt: skip


def message(said="hi"):
    return {"id": "i", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_audio", "transcript": said}]}  # fmt: skip


def function_call(arguments):
    return {"id": "i", "type": "function_call", "name": "look", "call_id": "c", "arguments": arguments}


def done(name="r1", status="completed", output=None, **more):
    response = {
        "id": name,
        "object": "realtime.response",
        "status": status,
        "output": [message()] if output is None else output,
        "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
        **more,
    }
    return {"type": "response.done", "event_id": "e", "response": response}


def error(code=None, kind="invalid_request_error", said="no", **more):
    return {"type": "error", "event_id": "e", "error": {"type": kind, "code": code, "message": said, **more}}


def failed(status, reason=None, told=None):
    details = {"type": status, "reason": reason, "error": told}
    return done(status=status, output=[], status_details={k: v for k, v in details.items() if v is not None})


ANSWER = (created(), audio(), audio(), done())


def at(server):
    """The options of a client for a server that speaks no TLS."""
    return {"base_url": server.url, "websocket_base_url": server.url.replace("http", "ws")}


def connect(client, model="gpt-realtime"):
    return client.realtime.connect(model=model)


ENDS = {"response.done", "response.completed", "response.failed", "response.incomplete", "error"}


class Seen(list):
    """The types of the events that the application received, and what it raised."""

    raised = None

    def enough(self, until):
        """Whether so many responses have ended."""
        return sum(kind in ENDS for kind in self) >= until


def events(connection, how):
    if how == "iterate":
        return iter(connection)
    return iter(connection.recv if how == "recv" else lambda: connection.parse_event(connection.recv_bytes()), None)


async def events_async(connection, how):
    if how == "iterate":
        async for event in connection:
            yield event
        return
    while True:
        if how == "recv":
            yield await connection.recv()
        else:
            yield connection.parse_event(await connection.recv_bytes())


def converse(client, seen, asks, until, how, open_with, ask):
    with client, open_with(client) as connection:
        for _ in range(asks):
            connection.send(ask)
        for event in events(connection, how) if until else ():
            seen.append(event.type)
            if seen.enough(until):
                return


async def converse_async(client, seen, asks, until, how, open_with, ask):
    async with client, open_with(client) as connection:
        for _ in range(asks):
            await connection.send(ask)
        if not until:
            return
        async with aclosing(events_async(connection, how)) as received:
            async for event in received:
                seen.append(event.type)
                if seen.enough(until):
                    return


async def talk(server, asynchronous, asks=1, until=None, how="iterate", open_with=connect, ask=CREATE):
    """Ask for responses, and receive until so many responses have ended, or the server closes."""
    seen = Seen()
    plan = (seen, asks, asks if until is None else until, how, open_with, ask)
    try:
        if asynchronous:
            await converse_async(openai.AsyncOpenAI(api_key="k", **at(server)), *plan)
        else:
            converse(openai.OpenAI(api_key="k", **at(server)), *plan)
    except Exception as exc:
        seen.raised = exc
    return seen


@each_way
@pytest.mark.parametrize("how", ["iterate", "recv", "recv_bytes"])
async def test_a_response_is_one_good_call_however_it_is_received(asynchronous, how, serve, observed):
    seen = await talk(serve(SESSION, Await(), *ANSWER), asynchronous, how=how)
    assert seen.raised is None
    assert seen[-1] == "response.done"
    assert observed.outcomes() == {"ok": 1}
    assert observed.errors() == {}
    span = observed.span()
    assert span.name == "chat gpt-realtime"
    assert span.attributes["gen_ai.provider.name"] == "openai"
    assert span.attributes["gen_ai.request.model"] == "gpt-realtime"
    assert span.attributes["gen_ai.response.id"] == "r1"
    assert span.attributes["gen_ai.usage.output_tokens"] == 2
    assert span.attributes["gen_ai.response.finish_reasons"] == ("completed",)
    assert span.attributes["server.address"] == "127.0.0.1"


async def test_a_request_that_the_sdk_cannot_send_is_a_failed_call_of_its_own(serve, observed):
    server = serve(SESSION, Await(), *ANSWER)
    async with openai.AsyncOpenAI(api_key="k", **at(server)) as client, connect(client) as connection:
        with pytest.raises(TypeError):
            await connection.send({"type": "response.create", "response": {"metadata": {"a": object()}}})
        assert observed.outcomes() == {"error": 1}
        await connection.send(CREATE)
        async for event in connection:
            if event.type == "response.done":
                break
    assert observed.outcomes() == {"error": 1, "ok": 1}


@each_way
async def test_every_response_of_a_session_is_a_call(asynchronous, serve, observed):
    again = (created("r2"), audio("r2"), done("r2"))
    await talk(serve(SESSION, Await(2), *ANSWER, *again), asynchronous, asks=2)
    assert observed.outcomes() == {"ok": 2}
    assert {s.attributes["gen_ai.response.id"] for s in observed.spans()} == {"r1", "r2"}


async def test_a_response_that_the_voice_of_the_user_began_is_a_call(serve, observed):
    await talk(serve(SESSION, *ANSWER), True, asks=0, until=1)
    assert observed.outcomes() == {"ok": 1}


async def test_responses_that_run_at_the_same_time_are_told_apart(serve, observed):
    script = (created("r1"), created("r2"), audio("r1"), audio("r2"), failed("failed", told={"code": "server_error"}))
    script[-1]["response"]["id"] = "r2"
    await talk(serve(SESSION, Await(2), *script, done("r1")), True, asks=2)
    assert observed.outcomes() == {"ok": 1, "error": 1}
    by_id = {s.attributes["gen_ai.response.id"]: s.attributes.get("llm.error.class") for s in observed.spans()}
    assert by_id == {"r1": None, "r2": "SERVER"}


async def test_a_tool_call_is_a_good_answer(serve, observed):
    await talk(serve(Await(), created(), done(output=[function_call('{"at": 1}')])), True)
    assert observed.outcomes() == {"ok": 1}


@each_way
@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (failed("failed", told={"type": "server_error", "code": None, "message": "no"}), ("SERVER", "internal")),
        (failed("failed", told={"type": "insufficient_quota", "code": "insufficient_quota", "message": "no"}),
         ("CALL_BUDGET", "insufficient_quota")),
        (failed("failed", told={"type": "tokens", "code": "rate_limit_exceeded", "message": "Rate limit reached"}),
         ("RATE_LIMITED", "tokens")),
        (failed("failed"), ("SERVER", "other")),
        (failed("incomplete", "max_output_tokens"), ("TRUNCATED", "max_tokens")),
        (failed("incomplete", "content_filter"), ("OUTPUT_BLOCKED", "content_filter")),
        (done(output=[]), ("UNKNOWN", "empty_response")),
        (done(output=[message("")]), ("UNKNOWN", "empty_response")),
        (done(output=[function_call('{"at": ')]), ("TOOL_PROTOCOL", "invalid_arguments")),
        (failed("strange"), ("UNKNOWN", "unrecognised_finish_reason")),
    ],
)  # fmt: skip
async def test_a_response_that_ends_badly_is_a_failure_in_band(asynchronous, ending, reason, serve, observed):
    seen = await talk(serve(SESSION, Await(), created(), ending), asynchronous)
    assert seen.raised is None
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "in_band"
    verdict = classify(ending["response"])
    assert (verdict.error_class.value, verdict.reason) == reason


@pytest.mark.parametrize(("reason", "outcome"), [("turn_detected", "ok"), ("client_cancelled", "cancelled")])
async def test_a_response_that_the_user_or_the_caller_ended_is_no_failure(reason, outcome, serve, observed):
    await talk(serve(Await(), created(), audio(), failed("cancelled", reason)), True)
    assert observed.outcomes() == {outcome: 1}
    assert observed.errors() == {}


@each_way
@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (error("invalid_api_key"), ("AUTH", "invalid_key")),
        (error("session_expired", said="Your session hit the maximum duration of 60 minutes."),
         ("BAD_REQUEST", "failed_precondition")),
        (error("conversation_already_has_active_response"), ("BAD_REQUEST", "failed_precondition")),
        (error("model_not_found"), ("NOT_FOUND", "model")),
        (error("rate_limit_exceeded", "tokens"), ("RATE_LIMITED", "tokens")),
        (error(None, "server_error"), ("SERVER", "internal")),
        (error(None, "invalid_request_error"), ("BAD_REQUEST", "invalid_parameter")),
    ],
)  # fmt: skip
async def test_an_error_event_is_a_failure_in_band_of_what_was_asked(asynchronous, event, reason, serve, observed):
    await talk(serve(SESSION, Await(), event), asynchronous)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "in_band"


async def test_an_error_about_the_audio_that_was_sent_is_a_failure_of_its_own(serve, observed):
    await talk(serve(SESSION, error("input_audio_buffer_commit_empty")), True, asks=0, until=1)
    assert observed.reasons() == {("BAD_REQUEST", "invalid_media"): 1}
    assert observed.outcomes() == {"error": 1}


async def test_an_error_event_of_another_message_leaves_the_response_alone(serve, observed):
    wrong = error("invalid_value", param="session.voice")
    await talk(serve(SESSION, Await(), wrong, *ANSWER), True, until=2)
    assert observed.outcomes() == {"error": 1, "ok": 1}
    assert observed.reasons() == {("BAD_REQUEST", "invalid_parameter"): 1}


async def test_an_error_event_is_of_the_message_that_it_names(serve, observed):
    other = error("invalid_value", event_id="another")
    await talk(serve(Await(), other, *ANSWER), True, until=2, ask={**CREATE, "event_id": "mine"})
    assert observed.outcomes() == {"error": 1, "ok": 1}


async def test_an_error_of_the_server_ends_the_running_response(serve, observed):
    await talk(serve(Await(), created(), audio(), error(None, "server_error")), True)
    assert observed.reasons() == {("SERVER", "internal"): 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.partial_output"] is True


async def test_a_cancellation_that_came_too_late_is_no_failure(serve, observed):
    await talk(serve(Await(), *ANSWER, error("response_cancel_not_active")), True, until=2)
    assert observed.outcomes() == {"ok": 1}


async def test_a_transcription_that_fails_is_a_failure_of_its_own(serve, observed):
    event = {"type": "conversation.item.input_audio_transcription.failed", "event_id": "e", "item_id": "i",
             "content_index": 0, "error": {"type": "server_error", "message": "no"}}  # fmt: skip
    await talk(serve(SESSION, event, *ANSWER), True, asks=0, until=1)
    assert observed.outcomes() == {"error": 1, "ok": 1}
    assert observed.reasons() == {("SERVER", "internal"): 1}


CLOSES = [
    (Abort(), ("TRANSPORT", "disconnected")),
    (Close(1008, "policy violation"), ("AUTH", "permission_denied")),
    (Close(1008, "Unauthorized"), ("AUTH", "invalid_key")),
    (Close(1008, "rate limit exceeded"), ("RATE_LIMITED", "requests")),
    (Close(1011, "internal error"), ("SERVER", "internal")),
    (Close(1011, "The server is overloaded"), ("SERVER", "overloaded")),
    (Close(1013), ("SERVER", "overloaded")),
    (Close(3000, "invalid_request_error.invalid_api_key"), ("AUTH", "invalid_key")),
    (Close(3000, "invalid_request_error.model_not_found"), ("NOT_FOUND", "model")),
    (Close(4999), ("TRANSPORT", "disconnected")),
]
MOMENTS = {
    "before the first event": [Await()],
    "before the response": [SESSION, Await()],
    "during the response": [SESSION, Await(), created(), audio()],
}


async def check_close(server, asynchronous, reason, partial, observed):
    seen = await talk(server, asynchronous)
    assert isinstance(seen.raised, ConnectionClosedError)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    attributes = observed.span().attributes
    assert attributes["llm.error.channel"] == "thrown"
    assert attributes["llm.error.partial_output"] is partial
    verdict = classify(seen.raised, provider="openai")
    assert (verdict.error_class.value, verdict.reason) == reason


@pytest.mark.parametrize(("ends", "reason"), CLOSES)
async def test_a_close_during_a_response_is_classified_by_what_it_says(ends, reason, serve, observed):
    await check_close(serve(*MOMENTS["during the response"], ends), True, reason, True, observed)


@each_way
@pytest.mark.parametrize(("ends", "reason"), [CLOSES[0], CLOSES[1], CLOSES[4]])
@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_close_at_any_moment_fails_the_response_that_waits_or_runs(
    asynchronous, ends, reason, moment, serve, observed
):
    script = MOMENTS[moment]
    await check_close(serve(*script, ends), asynchronous, reason, len(script) > 2, observed)


@each_way
async def test_a_session_that_the_server_closes_before_anything_was_asked_is_one_failed_call(
    asynchronous, serve, observed
):
    await talk(serve(Close(1011, "internal error")), asynchronous, asks=0, until=1)
    assert observed.reasons() == {("SERVER", "internal"): 1}
    assert observed.outcomes() == {"error": 1}


@each_way
async def test_a_regular_close_during_a_response_cuts_it_off(asynchronous, serve, observed):
    seen = await talk(serve(Await(), created(), audio(), Close(1000)), asynchronous)
    assert seen.raised is None
    assert observed.reasons() == {("TRANSPORT", "stream_cut"): 1}
    assert observed.outcomes() == {"error": 1}


@each_way
@pytest.mark.parametrize("code", [1000, 1001])
async def test_a_regular_close_between_responses_is_no_failure(asynchronous, code, serve, observed):
    await talk(serve(Await(), *ANSWER, Close(code)), asynchronous, until=2)
    assert observed.outcomes() == {"ok": 1}


async def test_another_close_between_responses_is_a_failure_of_the_session(serve, observed):
    await talk(serve(Await(), *ANSWER, Close(1011, "internal error")), True, until=2)
    assert observed.outcomes() == {"ok": 1, "error": 1}
    assert observed.reasons() == {("SERVER", "internal"): 1}


async def test_the_close_that_follows_an_error_event_is_not_told_again(serve, observed):
    wrong = error("session_expired", said="Your session hit the maximum duration of 60 minutes.")
    await talk(serve(Await(), *ANSWER, wrong, Close(1008, "policy")), True, until=3)
    assert observed.outcomes() == {"ok": 1, "error": 1}


@each_way
@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (Refuse(401, {"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}), ("AUTH", "invalid_key")),
        (Refuse(401), ("AUTH", "invalid_key")),
        (Refuse(403, {"error": {"message": "no", "code": "unsupported_country_region_territory"}}), ("AUTH", "region")),
        (Refuse(404, {"error": {"message": "no", "code": "model_not_found"}}), ("NOT_FOUND", "model")),
        (
            Refuse(429, {"error": {"message": "no", "code": "insufficient_quota"}}),
            ("CALL_BUDGET", "insufficient_quota"),
        ),
        (Refuse(429), ("RATE_LIMITED", "requests")),
        (Refuse(501), ("SERVER", "other")),
    ],
)
async def test_a_refused_handshake_is_one_failed_call_by_its_status_and_body(
    asynchronous, refusal, reason, serve, observed
):
    seen = await talk(serve(refusal), asynchronous)
    assert isinstance(seen.raised, InvalidStatus)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.status_code"] == refusal.status


async def test_a_refused_handshake_may_say_when_to_come_back(serve, observed):
    await talk(serve(Refuse(429, {"error": {"message": "no"}}, (("Retry-After", "7"),))), True)
    assert observed.span().attributes["llm.error.retry_after"] == 7


@each_way
async def test_a_server_that_is_not_there_is_one_failed_call(asynchronous, serve, observed):
    server = serve()
    server.close()
    server.close = lambda: None
    await talk(server, asynchronous)
    assert observed.reasons() == {("TRANSPORT", "connection_refused"): 1}
    assert observed.outcomes() == {"error": 1}


@each_way
async def test_a_session_that_its_owner_closes_after_its_responses_adds_nothing(asynchronous, serve, observed):
    await talk(serve(SESSION, Await(), *ANSWER), asynchronous)
    assert observed.outcomes() == {"ok": 1}


@each_way
async def test_a_session_without_a_response_that_its_owner_closes_is_one_good_call(asynchronous, serve, observed):
    await talk(serve(SESSION), asynchronous, asks=0)
    assert observed.outcomes() == {"ok": 1}
    assert observed.errors() == {}


@each_way
@pytest.mark.parametrize("events", [[], [created(), audio()]], ids=["asked", "during"])
async def test_a_response_that_its_caller_closes_away_is_cancelled(asynchronous, events, serve, observed):
    server = serve(SESSION, Await(), *events)
    if asynchronous:
        async with connect(openai.AsyncOpenAI(api_key="k", **at(server))) as connection:
            await connection.send(CREATE)
            for _ in range(1 + len(events)):
                await connection.recv()
            await connection.close()
            with pytest.raises(ConnectionClosed):
                await connection.recv()
    else:
        with connect(openai.OpenAI(api_key="k", **at(server))) as connection:
            connection.send(CREATE)
            for _ in range(1 + len(events)):
                connection.recv()
            connection.close()
            with pytest.raises(ConnectionClosed):
                connection.recv()
    assert observed.outcomes() == {"cancelled": 1}
    assert observed.errors() == {}


async def test_a_task_that_is_cancelled_while_it_receives_cancels_the_running_response(serve, observed):
    server, began = serve(Await(), created(), audio()), asyncio.Event()

    async def listen():
        async with connect(openai.AsyncOpenAI(api_key="k", **at(server))) as connection:
            await connection.send(CREATE)
            async for event in connection:
                if event.type != "response.created":
                    began.set()

    task = asyncio.create_task(listen())
    await began.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert observed.outcomes() == {"cancelled": 1}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_connection_that_is_dropped_ends_its_calls(serve, observed):
    from llm_errors.instrument import drainer

    connection = connect(openai.OpenAI(api_key="k", **at(serve(Await(), created(), audio())))).enter()
    socket = connection._connection
    connection.send(CREATE)
    connection.recv()
    del connection
    gc.collect()
    drainer.finish()
    assert observed.outcomes() == {"cancelled": 1}
    socket.close()


def test_a_process_that_exits_with_an_open_session_tells_of_it(serve):
    server = serve(Await(), created(), audio())
    script = f"""
import os, sys
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader
from llm_errors import LLMErrorsInstrumentor
provider = MeterProvider([PeriodicExportingMetricReader(ConsoleMetricExporter(), export_interval_millis=3_600_000)])
LLMErrorsInstrumentor().instrument(meter_provider=provider)
import openai
connection = openai.OpenAI(api_key="k", **{at(server)!r}).realtime.connect(model="m").enter()
connection.send({CREATE!r})
connection.recv()
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert '"llm.call.outcome": "cancelled"' in told.stdout, told.stderr


async def test_what_was_sent_before_the_connection_opened_is_asked_for_too(serve, observed):
    manager = connect(openai.AsyncOpenAI(api_key="k", **at(serve(Await(), *ANSWER))))
    if not hasattr(manager, "send"):
        pytest.skip("only a newer major of the SDK queues messages")
    manager.send(CREATE)
    async with manager as connection:
        async for event in connection:
            if event.type == "response.done":
                break
    assert observed.outcomes() == {"ok": 1}


async def test_only_the_latest_open_responses_of_a_session_are_remembered(serve, observed, monkeypatch):
    from llm_errors.instrument import sessions

    monkeypatch.setattr(sessions, "LIMIT", 3)
    many = [created(f"r{n}") for n in range(5)]
    await talk(serve(*many, done("r4")), True, asks=0, until=1)
    assert observed.outcomes() == {"cancelled": 4, "ok": 1}


async def test_nothing_is_observed_after_uninstrument(serve, telemetry, instrument):
    instrument().uninstrument()
    await talk(serve(SESSION, Await(), *ANSWER), True)
    assert telemetry.outcomes() == {}


async def test_the_older_address_of_realtime_is_the_same(serve, observed):
    client = openai.AsyncOpenAI(api_key="k", base_url="http://unused")
    if not hasattr(client.beta, "realtime"):
        pytest.skip("this major of the SDK has no beta.realtime")
    await talk(serve(SESSION, Await(), *ANSWER), True, open_with=lambda client: client.beta.realtime.connect(model="m"))
    assert observed.outcomes() == {"ok": 1}


async def test_azure_is_its_own_provider(serve, observed):
    server = serve(SESSION, Await(), *ANSWER)
    client = openai.AsyncAzureOpenAI(
        api_key="k", api_version="v", azure_endpoint=server.url, websocket_base_url=at(server)["websocket_base_url"]
    )
    async with connect(client, "my-deployment") as connection:
        await connection.send(CREATE)
        async for event in connection:
            if event.type == "response.done":
                break
    assert observed.counts("llm_calls_total", "gen_ai.provider.name", "gen_ai.request.model") == {
        ("azure.ai.openai", "my-deployment"): 1
    }


# --- the Responses API over a websocket ---

ASK = {"type": "response.create", "model": "gpt-5", "input": "hi"}


def response(status, output=(), **more):
    return {"id": "resp_1", "object": "response", "created_at": 0, "model": "gpt-5-2026", "status": status,
            "output": list(output), "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}, **more}  # fmt: skip


SAID = {"id": "i", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "hi", "annotations": []}]}  # fmt: skip


def event(kind, number=0, **more):
    return {"type": kind, "sequence_number": number, **more}


def text_delta(**more):
    return event("response.output_text.delta", 1, item_id="i", output_index=0, content_index=0, delta="hi", **more)


def answered(**lane):
    return (
        event("response.created", response=response("in_progress"), **lane),
        text_delta(**lane),
        event("response.completed", 2, response=response("completed", [SAID]), **lane),
    )


def responses(client):
    return client.responses.connect()


@needs_responses
@each_way
@pytest.mark.parametrize("how", ["iterate", "recv", "recv_bytes"])
async def test_a_response_of_the_responses_api_is_one_good_call(asynchronous, how, serve, observed):
    await talk(serve(Await(), *answered()), asynchronous, how=how, open_with=responses, ask=ASK)
    assert observed.outcomes() == {"ok": 1}
    span = observed.span()
    assert span.name == "chat gpt-5"
    assert span.attributes["gen_ai.response.model"] == "gpt-5-2026"
    assert span.attributes["gen_ai.usage.input_tokens"] == 3


@needs_responses
@each_way
@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([event("response.failed", response=response("failed", error={"code": "server_error", "message": "no"}))],
         ("SERVER", "internal")),
        ([event("response.incomplete", response=response("incomplete", incomplete_details={"reason": "max_output_tokens"}))],
         ("TRUNCATED", "max_tokens")),
        ([{"type": "error", "status": 400, "error": {"type": "invalid_request_error", "message": "no",
                                                     "code": "previous_response_not_found"}}],
         ("NOT_FOUND", "resource")),
        ([{"type": "error", "status": 429, "error": {"type": "tokens", "message": "no", "code": "rate_limit_exceeded"}}],
         ("RATE_LIMITED", "tokens")),
        ([{"type": "error", "status": 400, "error": {"type": "invalid_request_error", "message": "no",
                                                     "code": "websocket_connection_limit_reached"}}],
         ("BAD_REQUEST", "failed_precondition")),
    ],
)  # fmt: skip
async def test_a_response_of_the_responses_api_that_fails(asynchronous, events, reason, serve, observed):
    await talk(serve(Await(), *answered()[:1], *events), asynchronous, open_with=responses, ask=ASK)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "in_band"


@needs_responses
async def test_an_error_before_the_response_is_of_the_request(serve, observed):
    wrong = {
        "type": "error",
        "status": 401,
        "error": {"type": "invalid_request_error", "message": "no", "code": "invalid_api_key"},
    }
    await talk(serve(Await(), wrong), True, open_with=responses, ask=ASK)
    assert observed.reasons() == {("AUTH", "invalid_key"): 1}
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == {"gpt-5": 1}


@needs_responses
@each_way
async def test_a_close_during_a_response_of_the_responses_api(asynchronous, serve, observed):
    await talk(
        serve(Await(), *answered()[:2], Close(1011, "internal error")), asynchronous, open_with=responses, ask=ASK
    )
    assert observed.reasons() == {("SERVER", "internal"): 1}
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == {"gpt-5": 1}


@needs_responses
async def test_lanes_of_one_connection_are_told_apart(serve, observed):
    one, two = answered(stream_id="one"), answered(stream_id="two")
    wrong = {"type": "error", "status": 500, "error": {"type": "server_error", "message": "no"}, "stream_id": "two"}
    server = serve(Await(2), one[0], two[0], one[1], two[1], wrong, one[2])
    async with responses(openai.AsyncOpenAI(api_key="k", **at(server))) as connection:
        for lane in ("one", "two"):
            await connection.send({**ASK, "model": lane, "stream_id": lane})
        async for received in connection:
            if received.type == "response.completed":
                break
    assert observed.counts("llm_calls_total", "gen_ai.request.model", "llm.call.outcome") == {
        ("one", "ok"): 1,
        ("two", "error"): 1,
    }
