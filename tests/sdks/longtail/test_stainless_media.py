"""SDKs of the Stainless family for speech and video: cartesia answers with audio, runwayml with tasks that are polled."""

import itertools
import json

import pytest

from llm_errors import classify
from llm_errors.testing.provider import Reply

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
VOICE = {"mode": "id", "id": "v"}
WAV = {"container": "wav", "encoding": "pcm_s16le", "sample_rate": 8000}
RAW = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000}
AUDIO = Reply(text="RIFF....", headers={"content-type": "audio/wav"})


def cartesia(url, asynchronous, retries=0):
    sdk = pytest.importorskip("cartesia")
    cls = sdk.AsyncCartesia if asynchronous else sdk.Cartesia
    return cls(base_url=url, api_key="k", max_retries=retries, timeout=5.0)


def speak(client):
    return client.tts.generate(model_id="sonic", transcript="hi", voice=VOICE, output_format=WAV)


def events(client):
    return client.tts.generate_sse(model_id="sonic", transcript="hi", voice=VOICE, output_format=RAW)


def hear(client):
    return client.stt.transcribe(file=("a.wav", b"RIFF"), model="ink")


def change(client):
    return client.voice_changer.generate(
        clip=("a.wav", b"RIFF"),
        voice_id="v",
        output_format_container="raw",
        output_format_sample_rate=8000,
        output_format_encoding="pcm_s16le",
    )


CHUNK = {"type": "chunk", "data": "AAAA", "done": False, "status_code": 206, "step_time": 1.0}
STAMPS = {
    "type": "timestamps",
    "done": False,
    "status_code": 206,
    "word_timestamps": {"words": [], "start": [], "end": []},
}
DONE = {"type": "done", "done": True, "status_code": 200}


def failed(code, status, done=True):
    return {"type": "error", "done": done, "status_code": status, "error_code": code, "title": "t", "message": "m",
            "request_id": "r"}  # fmt: skip


def sse(*pieces, **more):
    return Reply(sse=[line for piece in pieces for line in ("data: " + json.dumps(piece), "")], **more)


def error(status, code, **more):
    return Reply(status, json={"error_code": code, "title": "t", "message": "m", "request_id": "r"}, **more)


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "operation"),
    [
        (speak, AUDIO, "speech"),
        (change, AUDIO, "speech"),
        (events, sse(CHUNK, STAMPS, DONE), "speech"),
        (hear, Reply(json={"type": "transcript", "text": "hi", "request_id": "r"}), "transcription"),
    ],
)
def test_an_answer_of_cartesia_is_one_good_call(play, call, reply, operation, asynchronous):
    seen = play(cartesia, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", operation)
    assert seen.labels["gen_ai.provider.name"] == "cartesia"
    assert seen.labels.get("gen_ai.request.model") == {hear: "ink", change: None}.get(call, "sonic")


@each_way
@pytest.mark.parametrize("call", [speak, events, hear, change])
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (error(400, "invalid_parameter"), "BAD_REQUEST/invalid_parameter"),
        (error(401, None), "AUTH/invalid_key"),
        (error(402, "quota_exceeded"), "CALL_BUDGET/insufficient_quota"),
        (error(402, "plan_upgrade_required"), "CALL_BUDGET/billing"),
        (error(404, "model_not_found"), "NOT_FOUND/model"),
        (error(404, "voice_not_found"), "NOT_FOUND/resource"),
        (error(429, "concurrency_limited", headers={"retry-after": "7"}), "RATE_LIMITED/concurrency"),
        (Reply(429, text="Too many requests: slow down"), "RATE_LIMITED/requests"),
        (error(500, None), "SERVER/internal"),
        (Reply(503, text="<html>"), "SERVER/unavailable"),
        (Reply(action="reset"), "TRANSPORT/disconnected"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ],
)
def test_what_cartesia_raises(play, call, reply, verdict, asynchronous):
    seen = play(cartesia, call, reply, asynchronous)
    assert (seen.verdict, seen.channel) == (verdict, "thrown"), (seen.raised, seen.attributes)


@each_way
@pytest.mark.parametrize(
    ("reply", "verdict", "partial"),
    [
        (sse(CHUNK, failed("concurrency_limited", 429)), "RATE_LIMITED/concurrency", True),
        (sse(failed(None, 400)), "BAD_REQUEST/invalid_parameter", False),
        (sse(CHUNK), "TRANSPORT/stream_cut", True),
        (sse(CHUNK, action="cut_mid_stream"), "TRANSPORT/disconnected", True),
        (sse(DONE), "UNKNOWN/empty_response", True),
        (sse(), "UNKNOWN/empty_response", False),
        (error(200, "quota_exceeded"), "CALL_BUDGET/insufficient_quota", False),
    ],
)
def test_how_streamed_speech_of_cartesia_failed(play, reply, verdict, partial, asynchronous):
    seen = play(cartesia, events, reply, asynchronous)
    assert (seen.verdict, seen.partial_output) == (verdict, partial), (seen.raised, seen.attributes)


@each_way
def test_an_error_object_instead_of_a_transcript_of_cartesia(play, asynchronous):
    seen = play(cartesia, hear, error(200, "quota_exceeded"), asynchronous)
    assert (seen.verdict, seen.channel) == ("CALL_BUDGET/insufficient_quota", "in_band")


@each_way
def test_hidden_retries_of_cartesia_are_counted(play, asynchronous):
    busy = error(429, "concurrency_limited", headers={"retry-after-ms": "1"})
    seen = play(lambda url, way: cartesia(url, way, 2), speak, [busy, busy, AUDIO], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"RATE_LIMITED": 2})


def test_streamed_speech_that_the_application_closes_or_drops_is_cancelled(left, provider):
    with cartesia(provider([sse(CHUNK, action="hang_mid_stream")]).url, False) as client:
        assert left(lambda: events(client)) == {"cancelled": 2}


def test_voices_of_cartesia_are_no_model_calls(observed, provider):
    with cartesia(provider([Reply(json={"id": "v", "name": "n"})]).url, False) as client:
        client.voices.get("v")
        client.access_token.create(grants={"tts": True})
    assert observed.outcomes() == {}


# --- runwayml ---


def runway(url, asynchronous, retries=0):
    sdk = pytest.importorskip("runwayml")
    cls = sdk.AsyncRunwayML if asynchronous else sdk.RunwayML
    return cls(base_url=url, api_key="k", max_retries=retries, timeout=5.0)


def film(client):
    return client.image_to_video.create(
        model="gen4_turbo", prompt_image="https://x/y.png", ratio="1280:720", duration=5
    )


def dub(client):
    return client.text_to_speech.create(
        model="eleven_multilingual_v2", prompt_text="hi", voice={"type": "runway-preset", "preset_id": "Maya"}
    )


IDS = map("runway-task-{}".format, itertools.count())
"""What was said of a task once is not said again in the same process."""


def created(task_id="t"):
    return Reply(json={"id": task_id, "estimatedCost": {"credits": 1}})


def task(status, task_id="t", **more):
    return Reply(
        json={"id": task_id, "createdAt": "2026-01-01T00:00:00Z", "status": status, "cost": {"credits": 0}, **more}
    )


@each_way
@pytest.mark.parametrize(("call", "operation"), [(film, "generate_content"), (dub, "speech")])
def test_a_task_of_runway_is_one_good_call_when_it_begins(play, call, operation, asynchronous):
    seen = play(runway, call, created(), asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", operation)
    assert seen.labels["gen_ai.provider.name"] == "runwayml"
    assert seen.labels["gen_ai.request.model"] in ("gen4_turbo", "eleven_multilingual_v2")
    assert seen.attributes["gen_ai.response.id"] == "t"


@each_way
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(400, json={"error": "Validation of body failed", "issues": []}), "BAD_REQUEST/other"),
        (Reply(401, json={"error": "Unauthorized"}), "AUTH/invalid_key"),
        (Reply(429, json={"error": "Too many requests"}), "RATE_LIMITED/requests"),
        (Reply(502, text="<html>"), "SERVER/gateway"),
        (Reply(json={"error": "You do not have enough credits"}), "UNKNOWN/unexpected_body"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ],
)
def test_a_task_of_runway_that_is_not_accepted(play, reply, verdict, asynchronous):
    assert play(runway, film, reply, asynchronous).verdict == verdict


@each_way
def test_hidden_retries_of_runway_are_counted(play, asynchronous):
    busy = Reply(503, headers={"retry-after-ms": "1"})
    seen = play(lambda url, way: runway(url, way, 2), film, [busy, busy, created()], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"SERVER": 2})


FAILURES = [
    ("SAFETY.INPUT.TEXT", "PROMPT_BLOCKED", "safety"),
    ("SAFETY.OUTPUT.VIDEO", "OUTPUT_BLOCKED", "safety"),
    ("INPUT_PREPROCESSING.SAFETY.TEXT", "PROMPT_BLOCKED", "safety"),
    ("INTERNAL.BAD_OUTPUT.CODE01", "SERVER", "model_error"),
    ("INTERNAL", "SERVER", "internal"),
    ("ASSET.INVALID", "BAD_REQUEST", "invalid_media"),
    (None, "SERVER", "model_error"),
]


@pytest.mark.parametrize(("code", "error_class", "reason"), FAILURES)
def test_a_task_of_runway_that_fails_is_counted_once_when_it_is_asked_for(
    observed, provider, code, error_class, reason
):
    one = next(IDS)
    more = {} if code is None else {"failureCode": code}
    script = [created(one), task("RUNNING", one, progress=0.5), *[task("FAILED", one, failure="m", **more)] * 2]
    with runway(provider(script).url, False) as client:
        begun = film(client)
        states = [client.tasks.retrieve(begun.id).status for _ in range(3)]
    assert states == ["RUNNING", "FAILED", "FAILED"]
    assert sum(point.value for _, point in observed.points("llm_calls_total")) == 1
    ((labels, point),) = observed.points("llm_errors_total")
    assert (labels["llm.error.class"], labels["llm.error.reason"], point.value) == (error_class, reason, 1)
    assert labels["gen_ai.request.model"] == "gen4_turbo"


async def test_an_async_task_of_runway_that_fails(observed, provider):
    one = next(IDS)
    script = [created(one), task("FAILED", one, failure="m", failureCode="INTERNAL")]
    async with runway(provider(script).url, True) as client:
        await client.tasks.retrieve((await film(client)).id)
    ((labels, _),) = observed.points("llm_errors_total")
    assert labels["llm.error.class"] == "SERVER"


def test_tasks_of_runway_that_succeed_or_are_cancelled_add_nothing(observed, provider):
    script = [created(), task("SUCCEEDED", output=["u"]), task("CANCELLED")]
    with runway(provider(script).url, False) as client:
        begun = film(client)
        for _ in range(2):
            client.tasks.retrieve(begun.id)
    assert observed.outcomes() == {"ok": 1}
    assert observed.points("llm_errors_total") == []


def test_an_upload_of_runway_is_no_model_call(observed, provider):
    with runway(provider([Reply(json={"id": "v", "status": "PROCESSING"})]).url, False) as client:
        client.voices.preview(model="eleven_ttv_v3", prompt="a deep voice that is calm and slow")
    assert observed.outcomes() == {}


def test_classify_reads_a_task_as_a_plain_dict():
    found = classify({"id": "t", "status": "FAILED", "failure": "m", "failureCode": "SAFETY.INPUT.TEXT"})
    assert (found.error_class, found.reason) == ("PROMPT_BLOCKED", "safety")
