"""Tasks of dashscope on websockets, over real sockets: speech and transcripts."""

import logging

import pytest

pytest.importorskip("websockets.asyncio.server", reason="only newer releases of websockets have an asyncio server")
pytest.importorskip("dashscope", reason="dashscope is not installed")

from dashscope.audio.asr import Recognition
from dashscope.audio.tts import SpeechSynthesizer

from tests.sdks.sockets import Abort, Await, Close, Refuse


@pytest.fixture(autouse=True)
def quiet():
    """The SDK logs every close as an error."""
    logging.getLogger("dashscope").setLevel(logging.CRITICAL)


def event(name, output=None, **more):
    payload = {"output": output} if output is not None else {}
    return {"header": {"event": name, "task_id": "t", **more}, "payload": payload}


STARTED, FINISHED = event("task-started"), event("task-finished")
SENTENCE = event("result-generated", {"sentence": {"begin_time": 0, "end_time": 1, "text": "hi"}})


def failure(code):
    return event("task-failed", error_code=code, error_message="no")


def speak(server):
    address = server.url.replace("http", "ws")
    return SpeechSynthesizer.call(model="m", text="hi", api_key="k", base_address=address)


def hear(server, tmp_path):
    audio = tmp_path / "a.wav"
    audio.write_bytes(b"RIFF")
    address = server.url.replace("http", "ws")
    recognition = Recognition(
        model="m", format="wav", sample_rate=16000, callback=None, base_address=address, api_key="k"
    )
    return recognition.call(str(audio))


def test_speech_is_one_good_call(serve, observed):
    assert speak(serve(Await(), STARTED, SENTENCE, b"audio", FINISHED)).get_audio_data() == b"audio"
    assert observed.outcomes() == {"ok": 1}
    span = observed.span()
    assert span.name == "speech m"
    assert span.attributes["gen_ai.provider.name"] == "alibaba_cloud"
    assert span.attributes["server.address"] == "127.0.0.1"


def test_a_transcript_is_one_good_call(serve, tmp_path, observed):
    hear(serve(Await(), STARTED, SENTENCE, FINISHED), tmp_path)
    assert observed.outcomes() == {"ok": 1}
    assert observed.span().name == "transcription m"


def test_a_transcript_of_silence_is_a_good_call(serve, tmp_path, observed):
    hear(serve(Await(), STARTED, event("task-finished", {})), tmp_path)
    assert observed.outcomes() == {"ok": 1}


def test_speech_without_audio_is_an_empty_answer(serve, observed):
    speak(serve(Await(), STARTED, FINISHED))
    assert observed.reasons() == {("UNKNOWN", "empty_response"): 1}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("InvalidApiKey", ("AUTH", "invalid_key")),
        ("Throttling.RateQuota", ("RATE_LIMITED", "requests")),
        ("InternalError", ("SERVER", "internal")),
    ],
)
@pytest.mark.parametrize("before", [[], [STARTED], [STARTED, b"audio"]], ids=["first", "started", "during"])
def test_a_failed_task_is_a_failure_by_its_code(before, code, reason, serve, observed):
    speak(serve(Await(), *before, failure(code)))
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        (Abort(), ("TRANSPORT", "disconnected")),
        (Close(1008, "policy"), ("AUTH", "permission_denied")),
        (Close(1011, "internal"), ("SERVER", "internal")),
    ],
    ids=["1006", "1008", "1011"],
)
@pytest.mark.parametrize("before", [[], [STARTED], [STARTED, b"audio"]], ids=["first", "started", "during"])
def test_a_close_that_the_sdk_returns_is_a_failure_by_its_code(before, ends, reason, serve, observed):
    speak(serve(Await(), *before, ends))
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}


@pytest.mark.parametrize(
    ("status", "reason"),
    [(401, ("AUTH", "invalid_key")), (403, ("AUTH", "permission_denied")), (429, ("RATE_LIMITED", "requests"))],
)
def test_a_refused_handshake_is_a_failure_by_its_status(status, reason, serve, observed):
    speak(serve(Refuse(status)))
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}


def test_a_server_that_is_not_there_is_one_failed_call(serve, observed):
    server = serve()
    server.close()
    server.close = lambda: None
    speak(server)
    assert observed.reasons() == {("TRANSPORT", "other"): 1}


def test_a_transcript_that_fails_is_one_failed_call(serve, tmp_path, observed):
    hear(serve(Await(), STARTED, SENTENCE, failure("InvalidApiKey")), tmp_path)
    assert observed.reasons() == {("AUTH", "invalid_key"): 1}
    assert observed.outcomes() == {"error": 1}
