"""elevenlabs' websockets over real sockets: speech, transcripts and conversations."""

import asyncio
import base64
import logging

import pytest

pytest.importorskip("websockets.asyncio.server", reason="only newer releases of websockets have an asyncio server")
pytest.importorskip("elevenlabs")

from elevenlabs import client as eleven
from websockets.exceptions import InvalidStatus

from tests.sdks.sockets import PATIENCE, Abort, Await, Close, Refuse

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
CLOSES = [
    (Abort(), ("TRANSPORT", "disconnected")),
    (Close(1008, "policy violation"), ("AUTH", "permission_denied")),
    (Close(1008, "Unauthorized"), ("AUTH", "invalid_key")),
    (Close(1011, "internal error"), ("SERVER", "internal")),
]
each_close = pytest.mark.parametrize(("ends", "reason"), CLOSES, ids=["1006", "1008", "1008-key", "1011"])
REFUSALS = [
    (Refuse(401), ("AUTH", "invalid_key")),
    (Refuse(403), ("AUTH", "permission_denied")),
    (Refuse(429), ("RATE_LIMITED", "requests")),
]
each_refusal = pytest.mark.parametrize(("refusal", "reason"), REFUSALS, ids=["401", "403", "429"])


# --- speech ---

SPOKEN = {"audio": base64.b64encode(b"audio").decode(), "isFinal": None}


def speech(server, text=("hi. ",)):
    client = eleven.ElevenLabs(api_key="k", base_url=server.url)
    spoken = client.text_to_speech
    spoken._ws_base_url = server.url.replace("http", "ws")  # the SDK always speaks TLS
    return spoken.convert_realtime("v", text=iter(text), model_id="m")


def test_speech_is_one_good_call(serve, observed):
    server = serve(Await(3), SPOKEN, SPOKEN, {"audio": None, "isFinal": True}, Close(1000))
    assert list(speech(server)) == [b"audio", b"audio"]
    assert observed.outcomes() == {"ok": 1}
    assert observed.counts("llm_calls_total", "gen_ai.request.model") == {"m": 1}


def test_speech_without_audio_is_an_empty_answer(serve, observed):
    assert list(speech(serve(Await(3), Close(1000)))) == []
    assert observed.reasons() == {("UNKNOWN", "empty_response"): 1}


@each_close
@pytest.mark.parametrize("before", [[], [SPOKEN]], ids=["before the audio", "during"])
def test_a_close_fails_the_speech_by_what_it_says(before, ends, reason, serve, observed):
    with pytest.raises(Exception, match=""):
        list(speech(serve(Await(3), *before, ends)))
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("quota_exceeded", ("CALL_BUDGET", "insufficient_quota")),
        ("invalid_api_key", ("AUTH", "invalid_key")),
        ("input_timeout_exceeded", ("AUTH", "permission_denied")),
    ],
)
def test_a_message_before_the_close_has_the_code(code, reason, serve, observed):
    wrong = {"message": "no", "error": code, "code": 1008}
    with pytest.raises(Exception, match="1008"):
        list(speech(serve(Await(3), wrong, Close(1008, "no"))))
    assert observed.reasons() == {reason: 1}


@each_refusal
def test_a_refused_handshake_fails_the_speech(refusal, reason, serve, observed):
    with pytest.raises(InvalidStatus):
        list(speech(serve(refusal)))
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}


def test_speech_that_its_caller_drops_is_cancelled(serve, observed):
    spoken = speech(serve(Await(3), SPOKEN, SPOKEN))
    assert next(spoken) == b"audio"
    spoken.close()
    assert observed.outcomes() == {"cancelled": 1}


# --- transcripts ---

STARTED = {"message_type": "session_started", "session_id": "s"}
PARTIAL, COMMITTED = (
    {"message_type": "partial_transcript", "text": "h"},
    {"message_type": "committed_transcript", "text": "hi"},
)


async def transcribe(server, until=None, commits=1):
    """Ask for transcripts, and wait until so many messages or the close have come."""
    from elevenlabs.realtime.scribe import AudioFormat

    seen, enough = [], asyncio.Event()
    client = eleven.AsyncElevenLabs(api_key="k", base_url=server.url).speech_to_text.realtime
    client.base_url = server.url.replace("http", "ws")
    options = {"model_id": "m", "audio_format": AudioFormat.PCM_16000, "sample_rate": 16000}
    connection = await client.connect(options)

    def note(message):
        seen.append(message)
        if len(seen) == until:
            enough.set()

    for kind in ("session_started", "partial_transcript", "committed_transcript", "error"):
        connection.on(kind, note)
    connection.on("close", lambda: enough.set())
    for _ in range(commits):
        await connection.commit()
    await asyncio.wait_for(enough.wait(), PATIENCE)
    await connection.close()
    return seen


async def test_a_transcript_is_one_good_call(serve, observed):
    await transcribe(serve(STARTED, Await(), PARTIAL, COMMITTED), until=3)
    assert observed.outcomes() == {"ok": 1}
    span = observed.span()
    assert span.name == "transcription m"
    assert span.attributes["server.address"] == "127.0.0.1"


async def test_every_transcript_is_a_call(serve, observed):
    await transcribe(serve(STARTED, PARTIAL, COMMITTED, COMMITTED), until=4, commits=0)
    assert observed.outcomes() == {"ok": 2}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("auth_error", ("AUTH", "invalid_key")),
        ("quota_exceeded", ("CALL_BUDGET", "insufficient_quota")),
        ("rate_limited", ("RATE_LIMITED", "requests")),
        ("commit_throttled", ("RATE_LIMITED", "requests")),
        ("transcriber_error", ("SERVER", "model_error")),
        ("queue_overflow", ("SERVER", "overloaded")),
        ("input_error", ("BAD_REQUEST", "invalid_media")),
        ("chunk_size_exceeded", ("BAD_REQUEST", "request_too_large")),
        ("unaccepted_terms", ("AUTH", "permission_denied")),
    ],
)
async def test_an_error_event_is_a_failure_by_its_name(code, reason, serve, observed):
    await transcribe(serve(STARTED, Await(), {"message_type": code, "error": "no"}, Close(1008, "no")))
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "in_band"


@each_close
@pytest.mark.parametrize("before", [[], [STARTED], [STARTED, Await(), PARTIAL]], ids=["first", "before", "during"])
async def test_a_close_that_the_sdk_hides_is_a_failure(before, ends, reason, serve, observed):
    await transcribe(serve(*before, ends), commits=1 if Await() in before else 0)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}


@each_refusal
async def test_a_refused_handshake_fails_the_transcript(refusal, reason, serve, observed):
    with pytest.raises(InvalidStatus):
        await transcribe(serve(refusal))
    assert observed.reasons() == {reason: 1}


async def test_a_transcript_that_its_caller_closes_away_is_cancelled(serve, observed):
    await transcribe(serve(STARTED, Await(), PARTIAL), until=2)
    assert observed.outcomes() == {"cancelled": 1}


async def test_a_transcription_without_speech_is_one_good_call(serve, observed):
    await transcribe(serve(STARTED), until=1, commits=0)
    assert observed.outcomes() == {"ok": 1}


# --- conversations ---

GREETING = {
    "type": "conversation_initiation_metadata",
    "conversation_initiation_metadata_event": {"conversation_id": "c"},
}
SAID = {"type": "agent_response", "agent_response_event": {"agent_response": "hi"}}
HEARD = {"type": "user_transcript", "user_transcription_event": {"user_transcript": "hi"}}


async def converse(server, asynchronous, until=1):
    """Hold a conversation until the agent has said something so often, or until the server closes."""
    from elevenlabs.conversational_ai.conversation import AsyncConversation, Conversation

    logging.getLogger("elevenlabs").setLevel(logging.CRITICAL)
    said, enough = [], asyncio.Event()
    loop = asyncio.get_running_loop()

    def note(text):
        said.append(text)
        if len(said) == until:
            loop.call_soon_threadsafe(enough.set)

    async def note_async(text):
        note(text)

    kind, client, callback = (
        (AsyncConversation, eleven.AsyncElevenLabs, note_async)
        if asynchronous
        else (Conversation, eleven.ElevenLabs, note)
    )
    conversation = kind(
        client(api_key="k", base_url=server.url), "agent", requires_auth=False, callback_agent_response=callback
    )
    if asynchronous:
        await conversation.start_session()
        running = conversation._task
    else:
        conversation.start_session()
        running = asyncio.ensure_future(asyncio.to_thread(conversation.wait_for_session_end))
    waiting = asyncio.ensure_future(enough.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
    ended = conversation.end_session()
    if asynchronous:
        await ended
    await asyncio.gather(running, return_exceptions=True)
    waiting.cancel()
    conversation.client_tools.stop()


@each_way
async def test_an_answer_of_an_agent_is_one_good_call(asynchronous, serve, observed):
    await converse(serve(Await(), GREETING, SAID), asynchronous)
    assert observed.outcomes() == {"ok": 1}
    span = observed.span()
    assert span.name == "chat"
    assert span.attributes["gen_ai.provider.name"] == "elevenlabs"


@each_way
async def test_the_user_ends_an_answer_of_an_agent(asynchronous, serve, observed):
    await converse(serve(Await(), GREETING, SAID, HEARD, SAID), asynchronous, until=2)
    assert observed.outcomes() == {"ok": 2}


@each_way
@each_close
@pytest.mark.parametrize("before", [[], [Await()], [Await(), GREETING, SAID]], ids=["first", "before", "during"])
async def test_a_close_of_a_conversation_is_one_failure(asynchronous, before, ends, reason, serve, observed):
    await converse(serve(*before, ends), asynchronous, until=0)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}


@each_way
async def test_a_regular_close_after_an_answer_of_an_agent_is_no_failure(asynchronous, serve, observed):
    await converse(serve(Await(), GREETING, SAID, Close(1000)), asynchronous, until=0)
    assert observed.outcomes() == {"ok": 1}


@each_way
@each_refusal
async def test_a_refused_conversation_is_one_failure(asynchronous, refusal, reason, serve, observed):
    await converse(serve(refusal), asynchronous)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}


@each_way
async def test_an_error_event_of_a_conversation_is_a_failure_in_band(asynchronous, serve, observed):
    await converse(serve(Await(), GREETING, {"type": "error", "code": "quota_exceeded"}, Close(1008)), asynchronous)
    assert observed.reasons() == {("CALL_BUDGET", "insufficient_quota"): 1}
    assert observed.outcomes() == {"error": 1}
