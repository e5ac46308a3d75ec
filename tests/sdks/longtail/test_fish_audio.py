"""fish-audio-sdk: speech and transcripts. Its client reads the whole audio before it hands out the first piece."""

import pytest

from llm_errors.testing.provider import Reply

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
AUDIO = Reply(text="RIFF....", headers={"content-type": "audio/mpeg"})
HEARD = Reply(json={"text": "hi", "duration": 1.0, "segments": []})


def client_of(url, asynchronous):
    sdk = pytest.importorskip("fishaudio")
    return (sdk.AsyncFishAudio if asynchronous else sdk.FishAudio)(api_key="k", base_url=url, timeout=5.0)


def speak(client):
    return client.tts.convert(text="hi", model="s1")


def stream(client):
    return client.tts.stream(text="hi", model="s1")


def hear(client):
    return client.asr.transcribe(audio=b"RIFF")


CALLS = {
    "speech": (speak, AUDIO, "speech"),
    "pieces": (stream, AUDIO, "speech"),
    "transcript": (hear, HEARD, "transcription"),
}


@each_way
@pytest.mark.parametrize("name", CALLS)
def test_an_answer_is_one_good_call(play, name, asynchronous):
    call, reply, operation = CALLS[name]
    seen = play(client_of, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", operation), (seen.raised, seen.attributes)
    assert seen.labels["gen_ai.provider.name"] == "fish_audio"
    assert seen.labels.get("gen_ai.request.model") == (None if name == "transcript" else "s1")
    assert seen.attributes["server.address"] == "127.0.0.1"


@each_way
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(400, json={"message": "m", "status": 400}), "BAD_REQUEST/invalid_parameter"),
        (Reply(401, json={"message": "m", "status": 401}), "AUTH/invalid_key"),
        (Reply(402, json={"message": "m", "status": 402}), "CALL_BUDGET/billing"),
        (Reply(403, json={"message": "m", "status": 403}), "AUTH/permission_denied"),
        (Reply(422, json=[{"loc": ["body"], "msg": "m", "type": "missing"}]), "UNKNOWN/foreign_exception"),
        (Reply(429, json={"message": "m", "status": 429}), "RATE_LIMITED/requests"),
        (Reply(503, text="<html>"), "SERVER/unavailable"),
        (Reply(action="cut_mid_stream", text="RIFF"), "TRANSPORT/disconnected"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (Reply(action="reset"), "TRANSPORT/disconnected"),
    ],
    ids=range(10),
)
def test_a_failure_that_the_sdk_raises(play, name, reply, verdict, asynchronous):
    seen = play(client_of, CALLS[name][0], reply, asynchronous)
    assert (seen.verdict, seen.channel) == (verdict, "thrown"), (seen.raised, seen.attributes)


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (speak, Reply(text="", headers={"content-type": "audio/mpeg"}), "UNKNOWN/empty_response"),
        (speak, Reply(text="<html>", headers={"content-type": "text/html"}), "UNKNOWN/unexpected_body"),
        (stream, Reply(json={"error": {"code": "quota_exceeded"}}), "CALL_BUDGET/insufficient_quota"),
    ],
)
def test_a_failure_inside_an_answer(play, call, reply, verdict, asynchronous):
    seen = play(client_of, call, reply, asynchronous)
    assert (seen.verdict, seen.channel, seen.raised) == (verdict, "in_band", None), seen.attributes


def test_voices_are_no_model_calls(observed, provider):
    with client_of(provider([Reply(json={"total": 0, "items": []})]).url, False) as client:
        client.voices.list()
    assert observed.outcomes() == {}
