"""Gemini's Live API over a real socket: one call per turn, and one for a session that gives none."""

import asyncio
import gc
from contextlib import suppress
from importlib import import_module

import pytest

pytest.importorskip("websockets.asyncio.server", reason="only newer releases of websockets have an asyncio server")
pytest.importorskip("google.genai")

from google import genai
from websockets.exceptions import ConnectionClosed, InvalidStatus

from llm_errors import classify
from tests.sdks.sockets import Abort, Await, Close, Refuse

APIError = import_module("google.genai.errors").APIError
READY = (Await(), {"setupComplete": {}})
CLOSED = (APIError, ConnectionClosed)
"""What the SDK raises over a close: its own error, in older releases that of websockets."""


def content(**fields):
    return {"serverContent": fields}


def says(said="hi"):
    return content(modelTurn={"parts": [{"text": said}]})


SOUND = content(modelTurn={"parts": [{"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}]})
COMPLETE = {**content(turnComplete=True), "usageMetadata": {"promptTokenCount": 3, "responseTokenCount": 2}}
TOOL = {"toolCall": {"functionCalls": [{"id": "1", "name": "look", "args": {"at": "x"}}]}}


def client_of(server, **options):
    """A client for a server that speaks no TLS: the SDK would ask every server for it."""
    client = genai.Client(api_key="k", http_options={"base_url": server.url}, **options)
    client._api_client._websocket_base_url = lambda *given: server.url.replace("http", "ws")
    client._api_client._websocket_ssl_ctx = {}
    return client


def connect(server, **options):
    client = client_of(server, **options)
    return client.aio.live.connect(model="gemini-live", config={"response_modalities": ["AUDIO"]})


async def talk(server, turns=1, asks=True, **options):
    """Ask for turns, and receive each. The result is what was raised."""
    try:
        async with connect(server, **options) as session:
            for _ in range(turns):
                if asks:
                    await session.send_client_content(turns={"role": "user", "parts": [{"text": "hi"}]})
                async for _ in session.receive():
                    pass
    except Exception as exc:
        return exc
    return None


async def test_a_turn_is_one_good_call_with_its_facts(serve, observed):
    assert await talk(serve(*READY, Await(), SOUND, SOUND, COMPLETE)) is None
    assert observed.outcomes() == {"ok": 1}
    assert observed.errors() == {}
    span = observed.span()
    assert span.name == "generate_content gemini-live"
    assert span.attributes["gen_ai.provider.name"] == "gcp.gemini"
    assert span.attributes["gen_ai.usage.input_tokens"] == 3
    assert span.attributes["gen_ai.usage.output_tokens"] == 2
    assert span.attributes["server.address"] == "127.0.0.1"


async def test_every_turn_of_a_session_is_a_call(serve, observed):
    await talk(serve(*READY, Await(), says(), COMPLETE, Await(), says(), COMPLETE), turns=2)
    assert observed.outcomes() == {"ok": 2}


async def test_a_turn_that_the_voice_of_the_user_began_is_a_call(serve, observed):
    await talk(serve(*READY, says(), COMPLETE), asks=False)
    assert observed.outcomes() == {"ok": 1}


async def test_a_tool_call_is_a_good_answer_and_what_follows_its_result_another_call(serve, observed):
    server = serve(*READY, Await(), TOOL, Await(), says(), COMPLETE)
    async with connect(server) as session:
        await session.send_client_content(turns={"role": "user", "parts": [{"text": "hi"}]})
        async for message in session.receive():
            if message.tool_call:
                assert observed.outcomes() == {"ok": 1}
                await session.send_tool_response(function_responses={"id": "1", "name": "look", "response": {"r": 1}})
    assert observed.outcomes() == {"ok": 2}


async def test_a_turn_that_the_user_interrupts_is_no_failure(serve, observed):
    await talk(serve(*READY, Await(), SOUND, content(interrupted=True), content(turnComplete=True)))
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ("MALFORMED_FUNCTION_CALL", ("TOOL_PROTOCOL", "malformed_call")),
        ("PROHIBITED_INPUT_CONTENT", ("PROMPT_BLOCKED", "prohibited_content")),
        ("GENERATED_CONTENT_SAFETY", ("OUTPUT_BLOCKED", "safety")),
        ("A_NEW_REASON", ("UNKNOWN", "unrecognised_finish_reason")),
    ],
)
@pytest.mark.filterwarnings("ignore:.*A_NEW_REASON")
async def test_a_turn_that_ends_for_a_bad_reason_is_a_failure_in_band(ending, reason, serve, observed):
    if "turn_complete_reason" not in genai.types.LiveServerContent.model_fields:
        pytest.skip("only a newer major of the SDK reads the reason")
    raised = await talk(serve(*READY, Await(), content(turnComplete=True, turnCompleteReason=ending)))
    assert raised is None
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "in_band"


async def test_a_turn_without_anything_in_it_is_an_empty_answer(serve, observed):
    await talk(serve(*READY, Await(), content(turnComplete=True)))
    assert observed.reasons() == {("UNKNOWN", "empty_response"): 1}


async def test_a_turn_in_which_the_model_waits_for_more_is_no_failure(serve, observed):
    if "turn_complete_reason" not in genai.types.LiveServerContent.model_fields:
        pytest.skip("only a newer major of the SDK reads the reason")
    await talk(serve(*READY, Await(), content(turnComplete=True, turnCompleteReason="NEED_MORE_INPUT")))
    assert observed.outcomes() == {"ok": 1}


KEY = "API key not valid. Please pass a valid API key."
MODEL = "models/gemini-live is not found for API version v1beta, or is not supported for bidiGenerateContent."
CLOSES = [
    (Abort(), ("TRANSPORT", "disconnected")),
    (Close(1007, KEY), ("AUTH", "invalid_key")),
    (Close(1007, "API key expired. Please renew the API key."), ("AUTH", "invalid_key")),
    (Close(1007, "Request contains an invalid argument."), ("BAD_REQUEST", "invalid_parameter")),
    (Close(1008, MODEL), ("NOT_FOUND", "model")),
    (Close(1008, "policy violation"), ("AUTH", "permission_denied")),
    (Close(1008, "Operation is not implemented, or supported, or enabled."), ("BAD_REQUEST", "unsupported")),
    (Close(1011, "You exceeded your current quota, please check your plan and billing"), ("RATE_LIMITED", "requests")),
    (Close(1011, "The service is currently unavailable."), ("SERVER", "unavailable")),
    (Close(1011, "Deadline expired before operation could complete."), ("SERVER", "deadline_exceeded")),
    (Close(1011, "Internal error occurred."), ("SERVER", "internal")),
]


MOMENTS = [
    *((ends, reason, "setup") for ends, reason in CLOSES),
    *((ends, reason, moment) for ends, reason in (CLOSES[0], CLOSES[5], CLOSES[10]) for moment in ("asked", "during")),
]


@pytest.mark.parametrize(("ends", "reason", "moment"), MOMENTS)
async def test_a_close_fails_the_turn_that_waits_or_runs_by_what_it_says(ends, reason, moment, serve, observed):
    script = {"setup": (Await(), ends), "asked": (*READY, Await(), ends), "during": (*READY, Await(), says(), ends)}
    raised = await talk(serve(*script[moment]))
    assert isinstance(raised, CLOSED)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    attributes = observed.span().attributes
    assert attributes["llm.error.channel"] == "thrown"
    assert attributes["llm.error.partial_output"] is (moment == "during")
    assert attributes["llm.error.retryable"] is (
        reason[0] in ("TRANSPORT", "SERVER", "RATE_LIMITED") and moment != "during"
    )
    verdict = classify(raised, provider="gcp.gemini")
    assert (verdict.error_class.value, verdict.reason) == reason


async def test_a_regular_close_during_a_turn_cuts_it_off(serve, observed):
    await talk(serve(*READY, Await(), says(), Close(1000)))
    assert observed.reasons() == {("TRANSPORT", "stream_cut"): 1}


async def test_a_regular_close_between_turns_is_no_failure(serve, observed):
    raised = await talk(
        serve(*READY, Await(), says(), COMPLETE, Await(), {"goAway": {"timeLeft": "0s"}}, Close(1000)), 1
    )
    assert raised is None
    assert observed.outcomes() == {"ok": 1}


async def test_another_close_between_turns_is_a_failure_of_the_session_and_told_once(serve, observed):
    server = serve(*READY, Await(), says(), COMPLETE, Close(1011, "Internal error occurred."))
    async with connect(server) as session:
        await session.send_client_content(turns={"role": "user", "parts": [{"text": "hi"}]})
        async for _ in session.receive():
            pass
        for _ in range(2):
            with pytest.raises(CLOSED):
                await session._receive()
    assert observed.outcomes() == {"ok": 1, "error": 1}
    assert observed.reasons() == {("SERVER", "internal"): 1}


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (Refuse(401), ("AUTH", "invalid_key")),
        (
            Refuse(403, {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "no"}}),
            ("AUTH", "permission_denied"),
        ),
        (Refuse(404), ("NOT_FOUND", "other")),
        (
            Refuse(429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "no"}}),
            ("RATE_LIMITED", "requests"),
        ),
    ],
)
async def test_a_refused_handshake_is_one_failed_call(refusal, reason, serve, observed):
    raised = await talk(serve(refusal))
    assert isinstance(raised, InvalidStatus)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}


async def test_a_server_that_is_not_there_is_one_failed_call(serve, observed):
    server = serve()
    server.close()
    server.close = lambda: None
    assert isinstance(await talk(server), OSError)
    assert observed.reasons() == {("TRANSPORT", "connection_refused"): 1}


async def test_an_error_message_instead_of_an_answer_is_a_failure(serve, observed):
    wrong = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "no"}, "code": 429}
    raised = await talk(serve(*READY, Await(), wrong))
    if not isinstance(raised, APIError):
        pytest.skip("only a newer major of the SDK raises an error message")
    assert observed.reasons() == {("RATE_LIMITED", "requests"): 1}
    assert observed.outcomes() == {"error": 1}


async def test_a_session_that_its_owner_closes_after_its_turns_adds_nothing(serve, observed):
    await talk(serve(*READY, Await(), says(), COMPLETE))
    assert observed.outcomes() == {"ok": 1}


async def test_a_session_without_a_turn_is_one_good_call(serve, observed):
    async with connect(serve(*READY)):
        pass
    assert observed.outcomes() == {"ok": 1}


async def test_a_turn_that_its_caller_leaves_is_cancelled(serve, observed):
    async with connect(serve(*READY, Await(), says())) as session:
        await session.send_client_content(turns={"role": "user", "parts": [{"text": "hi"}]})
        async for _ in session.receive():
            break
    assert observed.outcomes() == {"cancelled": 1}


async def test_a_close_by_the_caller_while_another_task_receives_is_cancelled(serve, observed):
    async with connect(serve(*READY, Await(), says())) as session:
        heard = asyncio.Event()

        async def listen():
            async for _ in session.receive():
                heard.set()

        task = asyncio.create_task(listen())
        await session.send_client_content(turns={"role": "user", "parts": [{"text": "hi"}]})
        await heard.wait()
        await session.close()
        with suppress(*CLOSED):
            await task
    assert observed.outcomes() == {"cancelled": 1}
    assert observed.errors() == {}


def test_a_session_that_is_dropped_with_its_loop_ends_its_turn(serve, observed):
    from llm_errors.instrument import drainer

    async def leave():
        manager = connect(serve(*READY, Await(), says()))
        session = await manager.__aenter__()
        await session.send_client_content(turns={"role": "user", "parts": [{"text": "hi"}]})
        await session._receive()

    with suppress(Exception):
        asyncio.run(leave())
    gc.collect()
    drainer.finish()
    assert observed.outcomes() == {"cancelled": 1}


async def test_a_session_of_vertex_ai_has_its_own_provider(serve, observed):
    await talk(serve(*READY, Await(), says(), COMPLETE), vertexai=True)
    assert observed.counts("llm_calls_total", "gen_ai.provider.name") == {"gcp.vertex_ai": 1}


@pytest.mark.filterwarnings("ignore:Realtime music generation is experimental")
async def test_a_session_that_makes_music_is_one_call(serve, observed):
    server = serve(*READY, Close(1011, "Internal error occurred."))
    client = client_of(server)
    if not hasattr(client.aio.live, "music"):
        pytest.skip("only a newer major of the SDK makes music")
    async with client.aio.live.music.connect(model="models/lyria") as session:
        with pytest.raises(CLOSED):
            await session._receive()
    assert observed.reasons() == {("SERVER", "internal"): 1}
    assert observed.counts("llm_calls_total", "gen_ai.request.model", "llm.call.outcome") == {("lyria", "error"): 1}


async def test_nothing_is_observed_after_uninstrument(serve, telemetry, instrument):
    instrument().uninstrument()
    await talk(serve(*READY, Await(), says(), COMPLETE))
    assert telemetry.outcomes() == {}
