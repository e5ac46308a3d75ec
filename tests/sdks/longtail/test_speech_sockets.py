"""Websockets of the speech SDKs over real sockets: one call per turn or utterance, and one for a session that gives none."""

import asyncio
import gc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("websockets.asyncio.server", reason="only newer releases of websockets have an asyncio server")
pytest.importorskip("cartesia")
pytest.importorskip("deepgram")
pytest.importorskip("hume")
pytest.importorskip("sarvamai")

from websockets.exceptions import ConnectionClosedError

from llm_errors import classify, providers
from llm_errors.instrument import drainer
from llm_errors.instrument.adapters.spoken_apis import SOCKETS
from tests.sdks.sockets import PATIENCE, Abort, Await, Close, Refuse

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def client_of(sdk, url, asynchronous):
    if sdk == "cartesia":
        module = pytest.importorskip("cartesia")
        kind = module.AsyncCartesia if asynchronous else module.Cartesia
        return kind(api_key="k", base_url=url, websocket_base_url=url.replace("http", "ws"))
    package, name, keyed = {
        "sarvam": ("sarvamai", "SarvamAI", {"api_subscription_key": "k"}),
        "deepgram": ("deepgram", "DeepgramClient", {"api_key": "k"}),
        "hume": ("hume", "HumeClient", {"api_key": "k"}),
    }[sdk]
    module = pytest.importorskip(package)
    environment = pytest.importorskip(f"{package}.environment")
    address = url.replace("http", "ws")
    kind, where = {
        "sarvam": ("SarvamAIEnvironment", {"base": url, "creative": url, "production": address}),
        "deepgram": (
            "DeepgramClientEnvironment",
            {"base": url, "production": address, "agent": address, "agent_rest": url},
        ),
        "hume": ("HumeClientEnvironment", {"base": url, "evi": address, "tts": address, "stream": address}),
    }[sdk]
    made = getattr(module, ("Async" if asynchronous else "") + name)
    return made(environment=getattr(environment, kind)(**where), **keyed)


@dataclass(frozen=True)
class Api:
    """One API: how it is opened, what asks for an answer, and what the server sends: its greeting, and an answer."""

    sdk: str
    operation: str
    open: Callable[[Any], Any]
    ask: Callable[[Any], Any] | None
    answer: tuple[Any, ...]
    greeting: tuple[Any, ...] = ()
    endless: bool = False
    """Whether an answer is complete without its end marker."""
    model: str | None = "m"
    error: Any = None
    calls_back: bool = True
    """Whether the connection can pass its messages to callbacks."""


def generation(context, text="hi", **more):
    """A request for speech."""
    voice = {"mode": "id", "id": "v"}
    form = {"container": "raw", "encoding": "pcm_f32le", "sample_rate": 44100}
    return {"context_id": context, "model_id": "m", "transcript": text, "voice": voice, "output_format": form, **more}


def chunk(context, **more):
    return {"type": "chunk", "context_id": context, "data": "AAAA", "done": False, "status_code": 206,
            "step_time": 1.0, **more}  # fmt: skip


def heard(text="hi", **more):
    return {"type": "Results", "channel_index": [0, 1], "duration": 1.0, "start": 0.0, "is_final": True,
            "channel": {"alternatives": [{"transcript": text, "confidence": 1.0, "words": []}]},
            "metadata": {"request_id": "r", "model_info": {"name": "n", "version": "v", "arch": "a"}, "model_uuid": "u"},
            **more}  # fmt: skip


METADATA = {"type": "Metadata", "transaction_key": "k", "request_id": "r", "sha256": "s", "created": "c",
            "duration": 1.0, "channels": 1}  # fmt: skip


def turn(event):
    return {"type": "TurnInfo", "request_id": "r", "sequence_id": 1, "event": event, "turn_index": 0, "words": [],
            "audio_window_start": 0.0, "audio_window_end": 1.0, "transcript": "hi", "end_of_turn_confidence": 0.5}  # fmt: skip


def said(name, **more):
    return {"type": name, **more}


SPEECH = {"speech_id": "s", "audio_duration_ms": 1, "input_character_count": 1, "billable_character_count": 1,
          "controls_applied": {}}  # fmt: skip


def deepgram_says(text="hi"):
    from deepgram.speak.v1.types import SpeakV1Text

    return SpeakV1Text(type="Speak", text=text)


def deepgram_speaks(text="hi"):
    from deepgram.speak.v2.types import SpeakV2Speak

    return SpeakV2Speak(text=text)


def deepgram_asks(connection):
    from deepgram.agent.v1.types import AgentV1InjectUserMessage

    return connection.send_inject_user_message(AgentV1InjectUserMessage(type="InjectUserMessage", content="hi"))


def hume_asks(connection):
    from hume.empathic_voice.types import UserInput

    return connection.send_publish(UserInput(text="hi"))


def hume_speaks(connection):
    from hume.tts.types import PublishTts

    return connection.send_publish(PublishTts(text="hi", flush=True))


def snippet(last):
    return {"type": "audio", "audio": "AAAA", "audio_format": "mp3", "chunk_index": 0, "generation_id": "g",
            "is_last_chunk": last, "request_id": "r", "snippet_id": "s", "text": "hi"}  # fmt: skip


def sarvam_clones(connection):
    from sarvamai.types import VoiceCloningSendText, VoiceCloningSendTextData

    return connection.convert(VoiceCloningSendText(data=VoiceCloningSendTextData(text="hi")))


ASSISTANT = {"type": "assistant_message", "message": {"role": "assistant", "content": "hi"}, "models": {},
             "from_text": False, "is_quick_response": False, "id": "i"}  # fmt: skip
SARVAM_AUDIO = {"type": "audio", "data": {"content_type": "audio/mp3", "audio": "AAAA"}}
SARVAM_FINAL = {"type": "event", "data": {"event_type": "final"}}
SARVAM_HEARD = {"type": "data", "data": {"request_id": "r", "transcript": "hi",
                "metrics": {"audio_duration": 1.0, "processing_latency": 1.0}}}  # fmt: skip


APIS = {
    "deepgram-listen": Api(
        "deepgram",
        "transcription",
        lambda c: c.listen.v1.connect(model="m"),
        lambda connection: connection.send_media(b"RIFF"),
        (heard(), METADATA),
        endless=True,
        error=said("Error", variant="SchemaError", description="no"),
    ),
    "deepgram-turns": Api(
        "deepgram",
        "transcription",
        lambda c: c.listen.v2.connect(model="m"),
        lambda connection: connection.send_media(b"RIFF"),
        (turn("StartOfTurn"), turn("Update"), turn("EndOfTurn")),
        greeting=(said("Connected", request_id="r", sequence_id=0),),
        error=said("Error", sequence_id=2, code="INTERNAL_SERVER_ERROR", description="no"),
    ),
    "deepgram-speak": Api(
        "deepgram",
        "speech",
        lambda c: c.speak.v1.connect(model="m"),
        lambda connection: connection.send_text(deepgram_says()),
        (b"audio", b"audio", said("Flushed", sequence_id=1)),
        greeting=(said("Metadata", request_id="r", model_name="m", model_version="v", model_uuid="u"),),
        endless=True,
        error=said("Error", code="INTERNAL_SERVER_ERROR", description="no"),
    ),
    "deepgram-speeches": Api(
        "deepgram",
        "speech",
        lambda c: c.speak.v2.connect(model="m"),
        lambda connection: connection.send_speak(deepgram_speaks()),
        (said("SpeechStarted", speech_id="s"), b"audio", said("SpeechMetadata", **SPEECH)),
        greeting=(said("Connected", request_id="r"),),
        error=said("Error", code="NET-0000", description="Internal server error"),
    ),
    "deepgram-agent": Api(
        "deepgram",
        "chat",
        lambda c: c.agent.v1.connect(),
        deepgram_asks,
        (said("AgentThinking", content="hm"), b"audio", b"audio", said("AgentAudioDone")),
        greeting=(said("Welcome", request_id="r"), said("SettingsApplied")),
        model=None,
        error=said("Error", code="FAILED_TO_THINK", description="no"),
    ),
    "hume-chat": Api(
        "hume",
        "chat",
        lambda c: c.empathic_voice.chat.connect(),
        hume_asks,
        (ASSISTANT, said("audio_output", data="AAAA", id="i", index=0), said("assistant_end")),
        greeting=(said("chat_metadata", chat_group_id="g", chat_id="c", request_id="r"),),
        model=None,
        error=said("error", code="E0701", slug="internal_error", message="no"),
    ),
    "hume-speech": Api(
        "hume",
        "speech",
        lambda c: c.tts.stream_input.connect(no_binary=True),
        hume_speaks,
        (snippet(False), snippet(True)),
        model=None,
        error=said("error", code="internal_error", message="no"),
    ),
    "sarvam-speech": Api(
        "sarvam",
        "speech",
        lambda c: c.text_to_speech_streaming.connect(model="m", send_completion_event="true"),
        lambda connection: connection.convert("hi"),
        (SARVAM_AUDIO, SARVAM_AUDIO, SARVAM_FINAL),
        endless=True,
        error=said("error", data={"message": "no", "code": 500}),
    ),
    "sarvam-clone": Api(
        "sarvam",
        "speech",
        lambda c: c.voice_cloning_streaming.connect(),
        sarvam_clones,
        (SARVAM_AUDIO, SARVAM_FINAL),
        model=None,
        error=said("error", data={"message": "no", "code": 500}),
    ),
    "sarvam-hears": Api(
        "sarvam",
        "transcription",
        lambda c: c.speech_to_text_streaming.connect(model="m", language_code="hi-IN"),
        lambda connection: connection.transcribe(audio="AAAA"),
        (SARVAM_HEARD,),
        error=said("error", data={"error": "no", "code": "internal_server_error"}),
    ),
    "sarvam-translates": Api(
        "sarvam",
        "transcription",
        lambda c: c.speech_to_text_translate_streaming.connect(model="m"),
        lambda connection: connection.translate(audio="AAAA"),
        (SARVAM_HEARD,),
        error=said("error", data={"error": "no", "code": "internal_server_error"}),
    ),
    "sarvam-realtime": Api(
        "sarvam",
        "transcription",
        lambda c: c.speech_to_text_realtime_streaming.connect(model="m", language_code="hi-IN"),
        None,
        (
            {"event": "vad.speech_start", "utterance_idx": 0},
            {"event": "transcript.partial", "utterance_idx": 0, "text": "h"},
            {"event": "transcript.final", "utterance_idx": 0, "text": "hi"},
        ),
        greeting=({"event": "session.begin", "request_id": "r", "session_id": "s", "model": "m"},),
        error={"event": "error", "code": "internal_error", "is_fatal": True, "message": "no", "status_code": 500},
    ),
}
CARTESIA = {
    "cartesia-speech": Api(
        "cartesia",
        "speech",
        lambda c: c.tts.websocket_connect(),
        lambda connection: connection.send(generation("c")),
        (chunk("c"), chunk("c"), said("done", done=True, status_code=200, context_id="c")),
        error=said("error", done=True, status_code=500, context_id="c", error_code="internal", message="no"),
        calls_back=False,
    ),
    "cartesia-turns": Api(
        "cartesia",
        "transcription",
        lambda c: c.stt.auto_finalize.websocket(encoding="pcm_s16le", model="m", sample_rate=16000),
        lambda connection: connection.send_raw(b"RIFF"),
        (said("turn.start"), said("turn.update", transcript="h"), said("turn.end", transcript="hi")),
        greeting=(said("connected", request_id="r"),),
        error=said("error", title="t", message="no", status_code=500),
        calls_back=False,
    ),
    "cartesia-hears": Api(
        "cartesia",
        "transcription",
        lambda c: c.stt.manual_finalize.websocket(encoding="pcm_s16le", model="m", sample_rate=16000),
        lambda connection: connection.send("finalize"),
        (said("transcript", is_final=True, text="hi", request_id="r"), said("flush_done", request_id="r")),
        endless=True,
        error=said("error", title="t", message="no", status_code=500),
        calls_back=False,
    ),
}
OF_FERN = len(APIS)
APIS |= CARTESIA


def of(choice):
    """The APIs of one kind."""
    chosen = {name: api for name, api in APIS.items() if choice(api)}
    return pytest.mark.parametrize("api", chosen.values(), ids=chosen)


each_api = of(lambda api: True)
unasked = of(lambda api: (api.sdk, api.operation) != ("cartesia", "speech"))
closed_when_dropped = of(lambda api: len(api.answer) > 1 and (api.sdk, api.operation) != ("cartesia", "transcription"))
called_back = of(lambda api: api.calls_back)
in_parts = of(lambda api: len(api.answer) > 1)
asking = of(lambda api: api.ask and api.operation != "transcription")
ending = of(lambda api: api.ask and api.operation != "transcription" and api.answer[-1] != snippet(True))


class Seen(list):
    """The messages that the application received, and what it raised."""

    raised = None


async def talk(api, server, asynchronous, asks=1, until=None, how="iterate"):
    """Ask for answers, and receive so many messages, or until the server closes."""
    seen = Seen()
    client = client_of(api.sdk, server.url, asynchronous)
    try:
        if asynchronous:
            async with api.open(client) as connection:
                for _ in range(asks if api.ask else 0):
                    await api.ask(connection)
                await receive_async(connection, seen, until, how)
        else:
            with api.open(client) as connection:
                for _ in range(asks if api.ask else 0):
                    api.ask(connection)
                receive(connection, seen, until, how)
    except Exception as exc:
        seen.raised = exc
    return seen


def receive(connection, seen, until, how):
    if how == "listen":
        connection.on(event_type(connection).MESSAGE, seen.append)
        connection.start_listening()
        return
    messages = iter(connection) if how == "iterate" else iter(connection.recv, None)
    while until is None or len(seen) < until:
        try:
            seen.append(next(messages))
        except StopIteration:
            return


async def receive_async(connection, seen, until, how):
    if how == "listen":
        connection.on(event_type(connection).MESSAGE, seen.append)
        await connection.start_listening()
        return
    messages = connection.__aiter__()
    while until is None or len(seen) < until:
        try:
            seen.append(await (connection.recv() if how == "recv" else messages.__anext__()))
        except StopAsyncIteration:
            return


def event_type(connection):
    package = type(connection).__module__.partition(".")[0]
    return pytest.importorskip(f"{package}.core.events").EventType


def messages(script):
    return sum(isinstance(step, dict | bytes) for step in script)


def waits(api):
    return (Await(),) if api.ask else ()


async def test_every_socket_of_the_family_is_called_here():
    assert {row.name for row in providers.SDKS if row.family == "fern_sockets"} == set(SOCKETS)
    assert sum(map(len, SOCKETS.values())) == OF_FERN


@each_way
@each_api
@pytest.mark.parametrize("how", ["iterate", "recv"])
async def test_an_answer_is_one_good_call_however_it_is_received(api, asynchronous, how, serve, observed):
    script = (*api.greeting, *waits(api), *api.answer)
    seen = await talk(api, serve(*script), asynchronous, until=messages(script), how=how)
    assert seen.raised is None
    assert len(seen) == messages(script)
    assert observed.outcomes() == {"ok": 1}
    assert observed.errors() == {}
    attributes = observed.span().attributes
    assert attributes["gen_ai.operation.name"] == api.operation
    assert attributes["gen_ai.provider.name"] == api.sdk
    assert attributes.get("gen_ai.request.model") == api.model
    assert attributes["server.address"] == "127.0.0.1"


@each_way
@called_back
async def test_an_answer_to_callbacks_is_one_good_call(api, asynchronous, serve, observed):
    script = (*api.greeting, *waits(api), *api.answer)
    seen = await talk(api, serve(*script, Close(1000)), asynchronous, how="listen")
    assert seen.raised is None
    assert len(seen) == messages(script)
    assert observed.outcomes() == {"ok": 1}


@each_way
@unasked
async def test_every_answer_of_a_session_is_a_call(api, asynchronous, serve, observed):
    script = (*api.greeting, *waits(api), *api.answer, *api.answer)
    await talk(api, serve(*script), asynchronous, until=messages(script))
    assert observed.outcomes() == {"ok": 2}


@each_way
@each_api
async def test_an_error_event_is_a_failure_in_band(api, asynchronous, serve, observed):
    script = (*api.greeting, *waits(api), api.error)
    await talk(api, serve(*script), asynchronous, until=messages(script))
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "in_band"


@in_parts
async def test_an_error_event_ends_the_running_answer_and_its_close_is_not_told_again(api, serve, observed):
    script = (*api.greeting, *waits(api), *api.answer[:-1], api.error, Close(1011, "internal error"))
    await talk(api, serve(*script), True)
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "in_band"


REFUSALS = [
    (Refuse(401), ("AUTH", "invalid_key")),
    (Refuse(403), ("AUTH", "permission_denied")),
    (Refuse(429), ("RATE_LIMITED", "requests")),
]


@each_way
@each_api
@pytest.mark.parametrize(("refusal", "reason"), REFUSALS, ids=["401", "403", "429"])
async def test_a_refused_handshake_is_one_failed_call_by_its_status(
    api, asynchronous, refusal, reason, serve, observed
):
    seen = await talk(api, serve(refusal), asynchronous)
    assert seen.raised is not None
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "thrown"


CLOSES = [
    (Abort(), ("TRANSPORT", "disconnected")),
    (Close(1008, "policy violation"), ("AUTH", "permission_denied")),
    (Close(1011, "internal error"), ("SERVER", "internal")),
]
MOMENTS = {
    "before the first message": lambda api: waits(api),
    "before the answer": lambda api: (*api.greeting, *waits(api)),
    "during the answer": lambda api: (*api.greeting, *waits(api), *api.answer[:-1]),
}


@each_way
@each_api
@pytest.mark.parametrize(("ends", "reason"), CLOSES, ids=["1006", "1008", "1011"])
@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_close_at_any_moment_is_one_failed_call(api, asynchronous, ends, reason, moment, serve, observed):
    seen = await talk(api, serve(*MOMENTS[moment](api), ends), asynchronous, how="recv")
    assert isinstance(seen.raised, ConnectionClosedError)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "thrown"
    verdict = classify(seen.raised, provider=api.sdk)
    assert (verdict.error_class.value, verdict.reason) == reason


@each_way
@called_back
async def test_a_close_that_the_sdk_hides_from_callbacks_is_counted(api, asynchronous, serve, observed):
    seen = await talk(api, serve(*MOMENTS["during the answer"](api), Close(1011)), asynchronous, how="listen")
    assert seen.raised is None
    assert observed.reasons() == {("SERVER", "internal"): 1}


@each_api
async def test_a_close_after_the_answer_is_a_failure_of_the_session(api, serve, observed):
    script = (*api.greeting, *waits(api), *api.answer, Close(1011, "internal error"))
    await talk(api, serve(*script), True)
    assert observed.outcomes() == {"ok": 1, "error": 1}
    assert observed.reasons() == {("SERVER", "internal"): 1}


@each_way
@each_api
async def test_a_regular_close_after_the_answer_is_no_failure(api, asynchronous, serve, observed):
    await talk(api, serve(*api.greeting, *waits(api), *api.answer, Close(1000)), asynchronous)
    assert observed.outcomes() == {"ok": 1}


@each_way
@in_parts
async def test_a_regular_close_during_an_answer_ends_it_only_where_it_has_no_end_of_its_own(
    api, asynchronous, serve, observed
):
    await talk(api, serve(*MOMENTS["during the answer"](api), Close(1000)), asynchronous)
    assert observed.outcomes() == ({"ok": 1} if api.endless else {"error": 1})
    assert observed.reasons() == ({} if api.endless else {("TRANSPORT", "stream_cut"): 1})


@each_way
@in_parts
async def test_an_answer_that_its_caller_closes_away_is_cancelled_unless_it_was_given(
    api, asynchronous, serve, observed
):
    script = MOMENTS["during the answer"](api)
    await talk(api, serve(*script), asynchronous, until=messages(script))
    assert observed.outcomes() == {"ok" if api.endless else "cancelled": 1}
    assert observed.errors() == {}


@each_way
@asking
async def test_a_request_that_its_caller_closes_away_is_cancelled(api, asynchronous, serve, observed):
    await talk(api, serve(*api.greeting), asynchronous, until=len(api.greeting))
    assert observed.outcomes() == {"cancelled": 1}


@each_way
@each_api
async def test_a_session_without_an_answer_that_its_owner_closes_is_one_good_call(api, asynchronous, serve, observed):
    await talk(api, serve(*api.greeting), asynchronous, asks=0, until=len(api.greeting))
    assert observed.outcomes() == {"ok": 1}
    assert observed.errors() == {}


@each_way
@ending
async def test_an_end_without_an_answer_is_an_empty_one(api, asynchronous, serve, observed):
    await talk(api, serve(*waits(api), api.answer[-1]), asynchronous, until=1)
    assert observed.reasons() == {("UNKNOWN", "empty_response"): 1}


@each_api
async def test_a_server_that_is_not_there_is_one_failed_call(api, serve, observed):
    server = serve()
    server.close()
    server.close = lambda: None
    await talk(api, server, True)
    assert observed.reasons() == {("TRANSPORT", "connection_refused"): 1}
    assert observed.outcomes() == {"error": 1}


@in_parts
async def test_a_task_that_is_cancelled_while_it_receives_ends_the_running_answer(api, serve, observed):
    script = MOMENTS["during the answer"](api)
    server, began = serve(*script), asyncio.Event()

    async def listen():
        count = 0
        async with api.open(client_of(api.sdk, server.url, True)) as connection:
            if api.ask:
                await api.ask(connection)
            async for _ in connection:
                count += 1
                if count == messages(script):
                    began.set()

    task = asyncio.create_task(listen())
    await asyncio.wait_for(began.wait(), PATIENCE)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert observed.outcomes() == {"ok" if api.endless else "cancelled": 1}


@closed_when_dropped
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_session_that_is_dropped_ends_its_calls(api, serve, observed):
    script = MOMENTS["during the answer"](api)
    manager = api.open(client_of(api.sdk, serve(*script).url, False))
    connection = manager.__enter__()
    if api.ask:
        api.ask(connection)
    receive(connection, Seen(), messages(script), "recv")
    socket = getattr(connection, "_websocket", None) or connection._connection
    del connection, manager
    gc.collect()
    drainer.finish()
    assert observed.outcomes() == {"ok" if api.endless else "cancelled": 1}
    socket.close()


@each_way
@each_api
async def test_nothing_is_observed_after_uninstrument(api, asynchronous, serve, telemetry, instrument):
    instrument().uninstrument()
    await talk(api, serve(*api.greeting, *waits(api), *api.answer, Close(1000)), asynchronous)
    assert telemetry.outcomes() == {}


# --- several answers at a time on one connection of cartesia ---

SPEECH_OF_CARTESIA = CARTESIA["cartesia-speech"]
DONE = {name: said("done", done=True, status_code=200, context_id=name) for name in ("a", "b")}


async def speak(server, asynchronous, requests, until):
    """Send requests, and receive so many messages."""
    client = client_of("cartesia", server.url, asynchronous)
    if asynchronous:
        async with client.tts.websocket_connect() as connection:
            for request in requests:
                await connection.send(request)
            for _ in range(until):
                await connection.recv()
        return
    with client.tts.websocket_connect() as connection:
        for request in requests:
            connection.send(request)
        for _ in range(until):
            connection.recv()


@each_way
async def test_contexts_of_cartesia_are_told_apart(asynchronous, serve, observed):
    wrong = {**SPEECH_OF_CARTESIA.error, "context_id": "b"}
    server = serve(Await(2), chunk("a"), chunk("b"), wrong, chunk("a"), DONE["a"])
    await speak(server, asynchronous, [generation("a"), generation("b")], 5)
    assert observed.outcomes() == {"ok": 1, "error": 1}
    assert observed.reasons() == {("SERVER", "internal"): 1}


@each_way
async def test_texts_of_one_context_are_one_request(asynchronous, serve, observed):
    texts = [generation("a", "hi", **{"continue": True}), generation("a", "there"), generation("a", "")]
    await speak(serve(Await(3), chunk("a"), DONE["a"]), asynchronous, texts, 2)
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("before", [[], [chunk("a")]], ids=["asked", "during"])
async def test_a_context_that_the_application_cancels_is_cancelled(before, serve, observed):
    server = serve(Await(), *before, Await(), chunk("a"), DONE["a"])
    async with client_of("cartesia", server.url, True).tts.websocket_connect() as connection:
        await connection.send(generation("a"))
        for _ in before:
            await connection.recv()
        await connection.send({"cancel": True, "context_id": "a"})
        await connection.recv()
        await connection.recv()
    assert observed.outcomes() == {"cancelled": 1}


async def test_the_server_may_choose_the_name_of_a_context(serve, observed):
    request = generation("a")
    del request["context_id"]
    await speak(serve(Await(), chunk("a"), DONE["a"]), True, [request], 2)
    assert observed.outcomes() == {"ok": 1}


async def test_an_error_without_a_context_is_of_the_only_one_that_was_asked_for(serve, observed):
    wrong = said("error", done=True, status_code=402, error_code="quota_exceeded", message="no")
    await speak(serve(Await(), wrong), True, [generation("a")], 1)
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.class"] == "CALL_BUDGET"


async def test_a_context_that_a_task_of_the_sdk_reads_is_one_good_call(serve, observed):
    server = serve(Await(), chunk("a"), DONE["a"], Close(1011))
    form = generation("a")["output_format"]
    async with client_of("cartesia", server.url, True).tts.websocket_connect() as connection:
        context = connection.context("a", model_id="m", voice={"mode": "id", "id": "v"}, output_format=form)
        await context.push("hi", continue_=False)
        assert [event.type async for event in context.receive()] == ["chunk", "done"]
        await connection._processing_task
    assert observed.outcomes() == {"ok": 1, "error": 1}
    assert observed.counts("llm_calls_total", "gen_ai.request.model") == {"m": 1, None: 1}


async def test_a_manager_that_is_entered_twice_is_one_session(serve, observed):
    manager = client_of("cartesia", serve().url, False).tts.websocket_connect()
    with manager as connection:
        assert manager.enter() is connection
    assert observed.outcomes() == {"ok": 1}


@each_way
async def test_a_connection_that_cartesia_opens_again_is_a_session_of_its_own(asynchronous, serve, observed):
    api = CARTESIA["cartesia-turns"]
    server = serve(*api.answer, Abort())
    manager = client_of("cartesia", server.url, asynchronous).stt.auto_finalize.websocket(
        encoding="pcm_s16le",
        model="m",
        sample_rate=16000,
        initial_delay=0.001,
        on_reconnecting=lambda event: {"abort": True} if server.connections > 1 else None,
    )
    with suppress(Exception):
        if asynchronous:
            async with manager as connection:
                async for _ in connection:
                    pass
        else:
            with manager as connection:
                for _ in connection:
                    pass
    assert observed.outcomes() == {"ok": 2, "error": 2}
