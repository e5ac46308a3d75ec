"""SDKs of the Fern family: chats of reka and sarvam, speech and transcripts of elevenlabs, deepgram, hume and sarvam, videos
that twelvelabs reads, and prompts and workflows of vellum."""

import json

import pytest

from llm_errors import providers
from llm_errors.instrument import drainer
from llm_errors.instrument.adapters.fern_apis import APIS
from llm_errors.testing.provider import Reply

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
ONCE = {"max_retries": 0}
HELLO = [{"role": "user", "content": "hi"}]
VIDEO = {"type": "url", "url": "https://x/y.mp4"}


class Opened:
    """A client whose connections are closed; some of these clients have no method for it."""

    def __init__(self, client, http):
        self.client, self.close = client, getattr(http, "close", None)
        if hasattr(http, "aclose"):
            self.aclose = http.aclose


def maker(sdk):
    httpx = pytest.importorskip("httpx")
    package, name, keyed = {
        "reka": ("reka.client", "Reka", {"api_key": "k"}),
        "sarvam": ("sarvamai", "SarvamAI", {"api_subscription_key": "k"}),
        "elevenlabs": ("elevenlabs.client", "ElevenLabs", {"api_key": "k"}),
        "deepgram": ("deepgram", "DeepgramClient", {"api_key": "k"}),
        "hume": ("hume", "HumeClient", {"api_key": "k"}),
        "twelvelabs": ("twelvelabs", "TwelveLabs", {"api_key": "k"}),
        "vellum": ("vellum", "Vellum", {"api_key": "k"}),
    }[sdk]
    module = pytest.importorskip(package)

    def make(url, asynchronous):
        http = (httpx.AsyncClient if asynchronous else httpx.Client)(timeout=5)
        where = {"base_url": url}
        if sdk == "sarvam":
            kind = pytest.importorskip("sarvamai.environment").SarvamAIEnvironment
            where = {"environment": kind(base=url, creative=url, production=url)}
        if sdk == "deepgram":
            kind = pytest.importorskip("deepgram.environment").DeepgramClientEnvironment
            where = {"environment": kind(base=url, production=url, agent=url, agent_rest=url)}
        if sdk == "vellum":
            kind = pytest.importorskip("vellum.client").VellumEnvironment
            where = {"environment": kind(default=url, predict=url, documents=url)}
        return Opened(
            getattr(module, ("Async" if asynchronous else "") + name)(**where, **keyed, httpx_client=http), http
        )

    return make


def reka_chat(o, **more):
    return o.client.chat.create(model="m", messages=HELLO, **more)


def reka_stream(o):
    return o.client.chat.create_stream(model="m", messages=HELLO)


def sarvam_chat(o, **more):
    return o.client.chat.completions(model="m", messages=HELLO, **more)


def sarvam_stream(o):
    return sarvam_chat(o, stream=True)


def sarvam_speech(o, **more):
    return o.client.text_to_speech.convert(text="hi", language_code="hi-IN", model="m", **more)


def sarvam_audio(o):
    return o.client.text_to_speech.convert_stream(text="hi", language_code="hi-IN", model="m")


def sarvam_hears(o, **more):
    return o.client.speech_to_text.transcribe(file=("a.wav", b"RIFF"), model="m", **more)


def eleven_audio(o):
    return o.client.text_to_speech.convert("v", text="hi", model_id="m")


def eleven_stamps(o):
    return o.client.text_to_speech.stream_with_timestamps("v", text="hi", model_id="m")


def eleven_hears(o, **more):
    return o.client.speech_to_text.convert(model_id="m", file=("a.wav", b"RIFF"), **more)


def deepgram_hears(o, **more):
    return o.client.listen.v1.media.transcribe_url(url="https://x/y.wav", model="m", **more)


def deepgram_audio(o):
    return o.client.speak.v1.audio.generate(text="hi", model="m")


def hume_speech(o, **more):
    return o.client.tts.synthesize_json(utterances=[], **more)


def hume_audio(o):
    return o.client.tts.synthesize_file(utterances=[])


def hume_pieces(o):
    return o.client.tts.synthesize_json_streaming(utterances=[])


def twelve_reads(o, **more):
    return o.client.analyze(video=VIDEO, prompt="hi", model_name="m", **more)


def twelve_streams(o):
    return o.client.analyze_stream(video=VIDEO, prompt="hi", model_name="m")


def vellum_prompt(o, **more):
    return o.client.execute_prompt(inputs=[], prompt_deployment_name="m", **more)


def vellum_stream(o):
    return o.client.execute_prompt_stream(inputs=[], prompt_deployment_name="m")


def _adhoc(o):
    kind = pytest.importorskip("vellum").PromptParameters
    return {
        "ml_model": "m",
        "input_values": [],
        "input_variables": [],
        "blocks": [],
        "parameters": kind(custom_parameters={}),
    }


def vellum_adhoc(o, **more):
    return o.client.ad_hoc.adhoc_execute_prompt(**_adhoc(o), **more)


def vellum_adhoc_stream(o):
    return o.client.ad_hoc.adhoc_execute_prompt_stream(**_adhoc(o))


def vellum_workflow(o, **more):
    return o.client.execute_workflow(inputs=[], workflow_deployment_name="m", **more)


def vellum_workflow_stream(o):
    return o.client.execute_workflow_stream(inputs=[], workflow_deployment_name="m")


def vellum_generate(o, **more):
    return o.client.generate(requests=[], deployment_name="m", **more)


def choices(finish="stop", content="hi", **more):
    message = {"role": "assistant", "content": content}
    used = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return {"id": "c", "created": 1, "model": "m", "object": "chat.completion", "usage": used,
            "choices": [{"index": 0, "finish_reason": finish, "message": message}], **more}  # fmt: skip


def delta(content=None, finish=None):
    part = {"role": "assistant", "content": content}
    return {"id": "c", "created": 1, "model": "m", "object": "chat.completion.chunk",
            "choices": [{"index": 0, "finish_reason": finish, "delta": part}]}  # fmt: skip


def said(finish="stop", content="hi"):
    message = {"role": "assistant", "content": content}
    return {"id": "c", "model": "m", "usage": {"input_tokens": 3, "output_tokens": 2},
            "responses": [{"finish_reason": finish, "message": message}]}  # fmt: skip


def piece(content="hi", finish=None):
    chunk = {"role": "assistant", "content": content}
    return {"id": "c", "model": "m", "usage": {"input_tokens": 3, "output_tokens": 2},
            "responses": [{"finish_reason": finish, "chunk": chunk}]}  # fmt: skip


def sse(*pieces, done=False, **more):
    lines = [line for one in pieces for line in ("data: " + json.dumps(one), "")]
    return Reply(sse=[*lines, "data: [DONE]", ""] if done else lines, **more)


AUDIO = Reply(text="RIFF....", headers={"content-type": "audio/mpeg"})
STAMP = {"audio_base64": "AAAA", "alignment": None, "normalized_alignment": None}
HEARD = Reply(json={"language_code": "en", "language_probability": 1.0, "text": "hi", "words": []})
LISTENED = Reply(
    json={"metadata": {"request_id": "r"}, "results": {"channels": [{"alternatives": [{"transcript": "hi"}]}]}}
)
SNIPPET = {"type": "audio", "audio": "AAAA", "audio_format": "mp3", "chunk_index": 0, "generation_id": "g",
           "is_last_chunk": True, "request_id": "r", "snippet_id": "s", "text": "hi"}  # fmt: skip
GENERATION = {"audio": "AAAA", "duration": 1.0, "file_size": 4, "generation_id": "g", "snippets": [],
              "encoding": {"format": "mp3", "sample_rate": 48000}}  # fmt: skip
READ = {"id": "c", "data": "hi", "finish_reason": "stop", "usage": {"output_tokens": 2}}
START, TEXT = (
    {"event_type": "stream_start", "metadata": {"generation_id": "g"}},
    {"event_type": "text_generation", "text": "hi"},
)


def ran(state="FULFILLED", finish="STOP", text="hi", **more):
    meta = {"finish_reason": finish, "model_name": "m"}
    outputs = [{"type": "STRING", "value": text}]
    return {"execution_id": "e", "state": state, "outputs": outputs, "meta": meta, **more}


def refused(code="PROVIDER_ERROR"):
    return {"execution_id": "e", "state": "REJECTED", "error": {"code": code, "message": "m"}}


def flow(state="FULFILLED", **more):
    return {"id": "w", "state": state, "ts": "2026-01-01T00:00:00Z", **more}


PIECE = {"execution_id": "e", "state": "STREAMING", "output_index": 0, "output": {"type": "STRING", "value": "hi"}}
WORKED = {"id": "o", "name": "n", "type": "STRING", "value": "hi"}


def worked(data):
    return {"type": "WORKFLOW", "execution_id": "e", "data": data}


def end(finish="stop"):
    return {"event_type": "stream_end", "finish_reason": finish, "metadata": {"usage": {"output_tokens": 2}}}


GOOD = {
    "reka": (reka_chat, Reply(json=said()), "chat"),
    "reka-stream": (reka_stream, sse(piece(), piece("", "stop")), "chat"),
    "sarvam": (sarvam_chat, Reply(json=choices()), "chat"),
    "sarvam-stream": (sarvam_stream, sse(delta("hi"), delta(None, "stop"), done=True), "chat"),
    "sarvam-speech": (sarvam_speech, Reply(json={"request_id": "r", "audios": ["AAAA"]}), "speech"),
    "sarvam-audio": (sarvam_audio, AUDIO, "speech"),
    "sarvam-hears": (sarvam_hears, Reply(json={"request_id": "r", "transcript": "hi"}), "transcription"),
    "elevenlabs-audio": (eleven_audio, AUDIO, "speech"),
    "elevenlabs-stamps": (eleven_stamps, Reply(ndjson=[STAMP, STAMP]), "speech"),
    "elevenlabs-hears": (eleven_hears, HEARD, "transcription"),
    "deepgram-hears": (deepgram_hears, LISTENED, "transcription"),
    "deepgram-audio": (deepgram_audio, AUDIO, "speech"),
    "hume": (hume_speech, Reply(json={"generations": [GENERATION], "request_id": "r"}), "speech"),
    "hume-audio": (hume_audio, AUDIO, "speech"),
    "hume-pieces": (hume_pieces, Reply(ndjson=[SNIPPET]), "speech"),
    "twelvelabs": (twelve_reads, Reply(json=READ), "generate_content"),
    "twelvelabs-stream": (twelve_streams, Reply(ndjson=[START, TEXT, end()]), "generate_content"),
    "vellum": (vellum_prompt, Reply(json=ran()), "chat"),
    "vellum-stream": (vellum_stream, Reply(ndjson=[PIECE, ran()]), "chat"),
    "vellum-adhoc": (vellum_adhoc, Reply(json=ran()), "chat"),
    "vellum-adhoc-stream": (vellum_adhoc_stream, Reply(ndjson=[PIECE, ran()]), "chat"),
    "vellum-workflow": (
        vellum_workflow,
        Reply(json={"execution_id": "e", "data": flow(outputs=[WORKED])}),
        "invoke_workflow",
    ),
    "vellum-workflow-stream": (
        vellum_workflow_stream,
        Reply(ndjson=[worked(flow("INITIATED")), worked(flow(outputs=[WORKED]))]),
        "invoke_workflow",
    ),
    "vellum-generate": (
        vellum_generate,
        Reply(
            json={
                "results": [
                    {
                        "data": {
                            "completions": [
                                {
                                    "id": "c",
                                    "text": "hi",
                                    "finish_reason": "STOP",
                                    "model_version_id": "v",
                                    "prompt_version_id": "p",
                                    "deployment_release_tag": "t",
                                    "model_name": "m",
                                }
                            ]
                        }
                    }
                ]
            }
        ),
        "text_completion",
    ),
}
STREAMS = [name for name in GOOD if name.rpartition("-")[2] in ("stream", "audio", "stamps", "pieces")]
WHOLE = [name for name in GOOD if name not in STREAMS]


def sdk_of(name):
    return name.partition("-")[0]


def once(name):
    """The call without hidden retries, which streams do not have."""
    call = GOOD[name][0]
    return call if name in STREAMS else lambda o: call(o, request_options=ONCE)


@each_way
@pytest.mark.parametrize("name", GOOD)
def test_an_answer_is_one_good_call(play, name, asynchronous):
    call, reply, operation = GOOD[name]
    seen = play(maker(sdk_of(name)), call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", operation), (seen.raised, seen.attributes)
    assert seen.labels["gen_ai.provider.name"] == sdk_of(name)
    assert seen.labels.get("gen_ai.request.model") == (None if sdk_of(name) == "hume" else "m")
    assert seen.attributes["server.address"] == "127.0.0.1"


@each_way
@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(401, json={"detail": {"status": "invalid_api_key", "message": "m"}}), "AUTH/invalid_key"),
        (Reply(402, json={"err_code": "ASR_PAYMENT_REQUIRED", "err_msg": "m"}), "CALL_BUDGET/billing"),
        (Reply(403, json={"error": {"code": "invalid_api_key_error", "message": "m"}}), "AUTH/invalid_key"),
        (Reply(422, json={"detail": [{"loc": ["body"], "msg": "m", "type": "missing"}]}), "BAD_REQUEST/invalid_parameter"),
        (Reply(429, json={"error": {"code": "insufficient_quota_error", "message": "m"}}), "CALL_BUDGET/insufficient_quota"),
        (Reply(429, json={"detail": {"status": "system_busy", "message": "m"}}), "SERVER/overloaded"),
        (Reply(500, json={"code": "internal_server_error", "message": "m"}), "SERVER/internal"),
        (Reply(503, text="<html>"), "SERVER/unavailable"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (Reply(action="reset"), "TRANSPORT/disconnected"),
    ],
    ids=range(10),
)  # fmt: skip
def test_a_failure_that_the_sdk_raises(play, name, reply, verdict, asynchronous):
    seen = play(maker(sdk_of(name)), once(name), reply, asynchronous)
    assert (seen.verdict, seen.channel) == (verdict, "thrown"), (seen.raised, seen.attributes)


@each_way
@pytest.mark.parametrize("name", WHOLE)
def test_hidden_retries_are_counted(play, name, asynchronous):
    call, reply, _ = GOOD[name]
    busy = Reply(429, json={"message": "m"}, headers={"retry-after-ms": "1"})
    seen = play(
        maker(sdk_of(name)), lambda o: call(o, request_options={"max_retries": 4}), [busy, busy, reply], asynchronous
    )
    assert (seen.verdict, seen.retries) == ("ok", {"RATE_LIMITED": 2})


@each_way
@pytest.mark.parametrize(
    ("sdk", "call", "reply", "verdict"),
    [
        ("reka", reka_chat, Reply(json=said("length")), "TRUNCATED/max_tokens"),
        ("reka", reka_chat, Reply(json=said("context")), "TRUNCATED/context_window"),
        ("reka", reka_chat, Reply(json=said("stop", "")), "UNKNOWN/empty_response"),
        ("reka", reka_stream, sse(piece(), piece("", "length")), "TRUNCATED/max_tokens"),
        ("reka", reka_stream, sse(piece()), "TRANSPORT/stream_cut"),
        ("sarvam", sarvam_chat, Reply(json=choices("length")), "TRUNCATED/max_tokens"),
        ("sarvam", sarvam_chat, Reply(json=choices("content_filter", "")), "OUTPUT_BLOCKED/content_filter"),
        ("sarvam", sarvam_stream, sse(delta("hi"), delta(None, "length"), done=True), "TRUNCATED/max_tokens"),
        ("sarvam", sarvam_stream, sse(delta("hi")), "TRANSPORT/stream_cut"),
        ("twelvelabs", twelve_reads, Reply(json={**READ, "finish_reason": "length"}), "TRUNCATED/max_tokens"),
        ("twelvelabs", twelve_reads, Reply(json={**READ, "data": ""}), "UNKNOWN/empty_response"),
        ("twelvelabs", twelve_streams, Reply(ndjson=[START, TEXT, end("length")]), "TRUNCATED/max_tokens"),
        ("twelvelabs", twelve_streams, Reply(ndjson=[START, TEXT]), "TRANSPORT/stream_cut"),
        ("vellum", vellum_prompt, Reply(json=ran(finish="LENGTH")), "TRUNCATED/max_tokens"),
        ("vellum", vellum_prompt, Reply(json=ran(text="")), "UNKNOWN/empty_response"),
        ("vellum", vellum_prompt, Reply(json=refused()), "SERVER/upstream"),
        ("vellum", vellum_adhoc, Reply(json=refused("PROVIDER_CREDENTIALS_UNAVAILABLE")), "AUTH/missing_key"),
        ("vellum", vellum_stream, Reply(ndjson=[PIECE, refused("REQUEST_TIMEOUT")]), "TIMEOUT/provider"),
        ("vellum", vellum_stream, Reply(ndjson=[PIECE]), "TRANSPORT/stream_cut"),
        ("vellum", vellum_workflow,
         Reply(json={"execution_id": "e", "data": flow("REJECTED", error={"code": "LLM_PROVIDER", "message": "m"})}),
         "SERVER/upstream"),
        ("vellum", vellum_workflow_stream,
         Reply(ndjson=[worked(flow("INITIATED")), worked(flow("REJECTED", error={"code": "WORKFLOW_TIMEOUT", "message": "m"}))]),
         "TIMEOUT/provider"),
        ("elevenlabs", eleven_audio, Reply(json={"error": {"code": "quota_exceeded"}}), "CALL_BUDGET/insufficient_quota"),
        ("elevenlabs", eleven_audio, Reply(text="<html>", headers={"content-type": "text/html"}), "UNKNOWN/unexpected_body"),
        ("elevenlabs", eleven_audio, Reply(text="", headers={"content-type": "audio/mpeg"}), "UNKNOWN/empty_response"),
        ("elevenlabs", eleven_stamps, Reply(ndjson=[]), "UNKNOWN/empty_response"),
        ("deepgram", deepgram_audio, Reply(text="", headers={"content-type": "audio/mpeg"}), "UNKNOWN/empty_response"),
        ("hume", hume_audio, Reply(text="", headers={"content-type": "audio/mpeg"}), "UNKNOWN/empty_response"),
        ("hume", hume_speech, Reply(json={"generations": [], "request_id": "r"}), "UNKNOWN/empty_response"),
        ("deepgram", deepgram_audio, Reply(json={"error": {"code": "quota_exceeded"}}), "CALL_BUDGET/insufficient_quota"),
        ("hume", hume_audio, Reply(json={"error": {"code": "quota_exceeded"}}), "CALL_BUDGET/insufficient_quota"),
    ],
)  # fmt: skip
def test_a_failure_inside_an_answer(play, sdk, call, reply, verdict, asynchronous):
    seen = play(maker(sdk), call, reply, asynchronous)
    assert (seen.verdict, seen.channel, seen.raised) == (verdict, "in_band", None), seen.attributes


BEGINNINGS = {
    "reka-stream": sse(piece(), action="cut_mid_stream"),
    "sarvam-stream": sse(delta("hi"), action="cut_mid_stream"),
    "sarvam-audio": Reply(text="RIFF", action="cut_mid_stream"),
    "elevenlabs-audio": Reply(text="RIFF" * 1024, headers={"content-type": "audio/mpeg"}, action="cut_mid_stream"),
    "elevenlabs-stamps": Reply(ndjson=[STAMP], action="cut_mid_stream"),
    "deepgram-audio": Reply(text="RIFF", action="cut_mid_stream"),
    "hume-audio": Reply(text="RIFF", action="cut_mid_stream"),
    "hume-pieces": Reply(ndjson=[SNIPPET], action="cut_mid_stream"),
    "twelvelabs-stream": Reply(ndjson=[START, TEXT], action="cut_mid_stream"),
    "vellum-stream": Reply(ndjson=[PIECE], action="cut_mid_stream"),
    "vellum-adhoc-stream": Reply(ndjson=[PIECE], action="cut_mid_stream"),
    "vellum-workflow-stream": Reply(ndjson=[worked(flow("INITIATED"))], action="cut_mid_stream"),
}


@each_way
@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_stream_that_the_server_cuts(play, name, asynchronous):
    seen = play(maker(sdk_of(name)), GOOD[name][0], BEGINNINGS[name], asynchronous)
    assert (seen.verdict, seen.retryable) == ("TRANSPORT/disconnected", False), (seen.raised, seen.attributes)


@each_way
@pytest.mark.parametrize(
    ("sdk", "call"), [("hume", hume_speech), ("sarvam", sarvam_speech), ("twelvelabs", twelve_reads)]
)
def test_an_error_object_instead_of_an_answer(play, sdk, call, asynchronous):
    seen = play(maker(sdk), call, Reply(json={"error": {"code": "quota_exceeded", "message": "m"}}), asynchronous)
    assert seen.verdict == "CALL_BUDGET/insufficient_quota", (seen.raised, seen.attributes)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_the_application_leaves_is_cancelled(observed, provider, name):
    reply = BEGINNINGS[name]
    hanging = Reply(
        text=reply.text, sse=reply.sse, ndjson=reply.ndjson, headers=reply.headers, action="hang_mid_stream"
    )
    opened = maker(sdk_of(name))(provider([hanging]).url, False)
    parts = GOOD[name][0](opened)
    next(parts)
    parts.close()
    opened.close()
    drainer.finish()
    assert observed.outcomes() == {"cancelled": 1}


def test_lists_and_voices_are_no_model_calls(observed, provider):
    eleven = maker("elevenlabs")(provider([Reply(json={"voices": []})]).url, False)
    eleven.client.voices.get_all()
    eleven.close()
    twelve = maker("twelvelabs")(provider([Reply(json={"id": "i", "data": []})]).url, False)
    twelve.client.indexes.retrieve("i")
    twelve.close()
    assert observed.outcomes() == {}


def test_every_sdk_of_the_family_has_methods():
    assert {row.name for row in providers.SDKS if row.family in ("fern", "cohere")} == set(APIS)
