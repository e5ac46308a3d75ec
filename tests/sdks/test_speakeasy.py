"""mistralai and openrouter over a real socket: what their methods return and raise, in streams and out of them."""

import importlib
import importlib.util
import json
import operator
from importlib.metadata import version

import pytest

from llm_errors import classify
from llm_errors.testing.provider import Reply

HELLO = [{"role": "user", "content": "hi"}]
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


class Closing:
    """A client of the family, which is closed by leaving its context."""

    def __init__(self, client):
        self.client, self.chat = client, client.chat
        self.close, self.aclose = (
            (lambda: client.__exit__(None, None, None)),
            (lambda: client.__aexit__(None, None, None)),
        )


def mistral(url, asynchronous):
    pytest.importorskip("mistralai", reason="mistralai is not installed")
    module = importlib.import_module("mistralai" if version("mistralai").startswith("1.") else "mistralai.client")
    return Closing(module.Mistral(api_key="k", server_url=url, timeout_ms=2000))


def openrouter(url, asynchronous):
    module = pytest.importorskip("openrouter", reason="openrouter is not installed")
    return Closing(module.OpenRouter(api_key="k", server_url=url, timeout_ms=2000))


def asked(method, **more):
    """One call of a resource's method, or of its twin for asyncio."""

    def call(asynchronous):
        suffix = "_async" if asynchronous else ""

        def go(client):
            name = method if hasattr(client.chat, method) else "send"
            given = {"stream": True} if name == "send" and method == "stream" else {}
            return getattr(client.chat, name + suffix)(model="m", messages=HELLO, **given, **more)

        return go

    return call


complete, stream = asked("complete"), asked("stream")
SDKS = {"mistral": mistral, "openrouter": openrouter}
each_sdk = pytest.mark.parametrize("sdk", SDKS)
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


def chat(finish="stop", content="hi", **message):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}
    return Reply(json={**whole, "system_fingerprint": None})


def chunks(*deltas, done=True):
    lines = []
    for delta, finish in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        lines += [f"data: {json.dumps(chunk)}", ""]
    return [*lines, *(["data: [DONE]", ""] if done else [])]


HI, STOP = ({"role": "assistant", "content": "hi"}, None), ({"content": ""}, "stop")


@each_way
@each_sdk
def test_an_answer_is_one_good_call_with_its_facts(play, sdk, asynchronous):
    seen = play(SDKS[sdk], complete(asynchronous), chat(), asynchronous)
    assert seen.verdict == "ok"
    assert seen.attributes["gen_ai.request.model"] == "m"
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2


@each_way
@each_sdk
def test_a_stream_is_one_good_call(play, sdk, asynchronous):
    assert play(SDKS[sdk], stream(asynchronous), Reply(sse=chunks(HI, STOP)), asynchronous).verdict == "ok"


@each_way
@pytest.mark.parametrize(
    ("sdk", "reply", "verdict"),
    [
        ("mistral", chat("length"), "TRUNCATED/max_tokens"),
        ("mistral", chat("model_length"), "TRUNCATED/context_window"),
        ("mistral", chat("error"), "SERVER/other"),
        ("mistral", chat("stop", ""), "UNKNOWN/empty_response"),
        ("openrouter", chat("length"), "TRUNCATED/max_tokens"),
        ("openrouter", chat("content_filter"), "OUTPUT_BLOCKED/content_filter"),
    ],
)
def test_a_failure_inside_a_good_response(play, sdk, reply, verdict, asynchronous):
    assert play(SDKS[sdk], complete(asynchronous), reply, asynchronous).verdict == verdict


@each_way
@pytest.mark.parametrize(
    ("sdk", "reply", "verdict"),
    [
        ("mistral", Reply(401, json={"message": "Unauthorized", "request_id": "r"}), "AUTH/invalid_key"),
        ("mistral", Reply(429, json={"message": "Requests rate limit exceeded", "type": "rate_limited", "code": "1300"}),
         "RATE_LIMITED/requests"),
        ("mistral", Reply(429, json={"message": "Service tier capacity exceeded for this model.", "code": "3505"}),
         "SERVER/overloaded"),
        ("mistral", Reply(422, json={"detail": [{"loc": ["body", "x"], "msg": "Extra inputs", "type": "extra"}]}),
         "BAD_REQUEST/invalid_parameter"),
        ("mistral", Reply(503, text="<html>", headers={"content-type": "text/html"}), "SERVER/unavailable"),
        ("mistral", Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        ("openrouter", Reply(402, json={"error": {"code": 402, "message": "Insufficient credits"}}), "CALL_BUDGET/billing"),
        ("openrouter", Reply(429, json={"error": {"code": 429, "message": "Rate limit exceeded"}}), "RATE_LIMITED/requests"),
        ("openrouter", Reply(404, json={"error": {"code": 404, "message": "No endpoints found for m."}}), "NOT_FOUND/model"),
        ("openrouter", Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ],
)  # fmt: skip
def test_a_failure_that_the_sdk_raises(play, sdk, reply, verdict, asynchronous):
    assert play(SDKS[sdk], complete(asynchronous), reply, asynchronous).verdict == verdict


@each_way
@each_sdk
def test_a_stream_that_the_server_cuts(play, sdk, asynchronous):
    seen = play(
        SDKS[sdk], stream(asynchronous), Reply(sse=chunks(HI, done=False), action="cut_mid_stream"), asynchronous
    )
    assert seen.verdict == "TRANSPORT/disconnected"
    assert seen.retryable is False


@each_way
@each_sdk
def test_a_stream_that_ends_without_its_end(play, sdk, asynchronous):
    assert (
        play(SDKS[sdk], stream(asynchronous), Reply(sse=chunks(HI, done=False), chunked=True), asynchronous).verdict
        == "TRANSPORT/stream_cut"
    )


@each_way
@each_sdk
def test_an_error_in_mid_stream(play, sdk, asynchronous):
    error = {
        "object": "error",
        "message": "upstream died",
        "code": 502,
        "error": {"code": 502, "message": "upstream died"},
    }
    lines = [*chunks(HI, done=False), f"data: {json.dumps(error)}", ""]
    seen = play(SDKS[sdk], stream(asynchronous), Reply(sse=lines, chunked=True), asynchronous)
    assert seen.outcome == "error"
    assert seen.retryable is False


@each_way
@each_sdk
@pytest.mark.parametrize(
    ("event", "verdict"),
    [
        ({"error": {"code": "server_error", "type": "server_error", "message": "m"}}, "SERVER/internal"),
        ({"error": {"code": 429, "message": "m"}}, "RATE_LIMITED/"),
        ({"odd": 1}, "UNKNOWN/unexpected_body"),
    ],
)
def test_an_event_that_is_no_chunk_is_what_it_says_and_not_a_broken_schema(play, sdk, event, verdict, asynchronous):
    lines = [*chunks(HI, done=False), f"data: {json.dumps(event)}", ""]
    seen = play(SDKS[sdk], stream(asynchronous), Reply(sse=lines, chunked=True), asynchronous)
    assert seen.verdict.startswith(verdict)


@each_way
@each_sdk
def test_attempts_that_the_sdk_s_own_retry_hides_are_counted(play, sdk, asynchronous):
    pytest.importorskip({"mistral": "mistralai"}.get(sdk, sdk), reason=f"{sdk} is not installed")
    home = (
        "mistralai.client"
        if sdk == "mistral" and not version("mistralai").startswith("1.")
        else {"mistral": "mistralai"}.get(sdk, sdk)
    )
    retries = importlib.import_module(f"{home}.utils.retries")
    every_time = retries.RetryConfig("backoff", retries.BackoffStrategy(1, 2, 1, 60_000), True)
    call = asked("complete", retries=every_time)(asynchronous)
    seen = play(SDKS[sdk], call, [Reply(503, json={"message": "busy"}), chat()], asynchronous)
    assert seen.verdict == "ok"
    assert seen.retries == {"SERVER": 1}


@each_sdk
def test_a_stream_that_the_application_leaves_is_cancelled(observed, provider, sdk):
    client = SDKS[sdk](provider([Reply(sse=chunks(HI, HI), action="hang_mid_stream")]).url, False)
    left = stream(False)(client)
    next(iter(left))
    left.__exit__(None, None, None)
    assert observed.outcomes() == {"cancelled": 1}


def _is_offered(sdk, module):
    """Whether the installed release has a module of resources: those that it lacks cannot be called."""
    homes = {"mistral": ("mistralai", "mistralai.client")}.get(sdk, (sdk,))
    return any(_is_module(f"{home}.{module}") for home in homes)


def _is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a parent is absent, or no package: `mistralai.client` of mistralai 1 is a module
        return False


def sse(*events, **more):
    return Reply(sse=[x for e in events for x in (f"event: {e['type']}", f"data: {json.dumps(e)}", "")], **more)


def conversed(*outputs, **more):
    return {"object": "conversation.response", "conversation_id": "c", "outputs": list(outputs), "usage": USAGE, **more}


SAID = {"type": "message.output", "object": "entry", "role": "assistant", "content": "hi", "model": "m"}
CALLED = {"type": "function.call", "object": "entry", "tool_call_id": "t", "name": "f", "arguments": "{}"}
STARTED = {"type": "conversation.response.started", "conversation_id": "c"}
DELTA = {"type": "message.output.delta", "id": "o", "content": "hi", "role": "assistant", "model": "m"}
DONE = {"type": "conversation.response.done", "usage": USAGE}
ASKED, APPENDED = {"model": "m", "inputs": "hi"}, {"conversation_id": "c", "inputs": "hi"}
RESTARTED = {**APPENDED, "from_entry_id": "e"}
TALKED = sse(STARTED, DELTA, DONE)
AUDIO = {"file": {"file_name": "a.wav", "content": b"RIFF"}}
TOOL = {"id": "t123456789", "type": "function", "function": {"name": "f", "arguments": "{}"}}
HEARD = {"model": "m", "text": "hi", "language": "en", "segments": [], "usage": USAGE}
LISTED = {"id": "e", "object": "list", "model": "m", "usage": USAGE}
VECTORS = Reply(json={**LISTED, "data": [{"object": "embedding", "embedding": [0.1], "index": 0}]})
JUDGED = Reply(json={**LISTED, "results": [{"categories": {}, "category_scores": {}}]})
SORTED = Reply(json={**LISTED, "results": [{"topic": {"scores": {"a": 0.9}}}]})
RESPONDED = {
    "id": "r", "object": "response", "created_at": 1, "completed_at": 2, "model": "m", "status": "completed", "error": None,
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "incomplete_details": None, "instructions": None,
    "metadata": None, "temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0,
    "output": [{"id": "o", "type": "message", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "hi", "annotations": [], "logprobs": []}]}],
}  # fmt: skip
RESPONSE_STREAM = sse(
    {"type": "response.output_text.delta", "sequence_number": 1, "item_id": "o", "output_index": 0, "content_index": 0,
     "delta": "hi", "logprobs": []},
    {"type": "response.completed", "sequence_number": 2, "response": RESPONDED},
)  # fmt: skip
PICTURE = {"b64_json": "aGk=", "media_type": "image/png"}
PAGES = {"model": "m", "usage_info": {"pages_processed": 1, "doc_size_bytes": 1},
         "pages": [{"index": 0, "markdown": "hi", "images": [], "dimensions": None}]}  # fmt: skip
PAPER = {"type": "document_url", "document_url": "https://example.com/a.pdf"}
QUESTION = {
    "model": "m",
    "state": "s",
    "questions": {"q": {"type": "choice", "instructions": "i", "criteria": {"a": "b"}}},
}
CHOSEN = Reply(json={"id": "d", "model": "m", "answers": {"q": {"type": "choice", "choice": "a"}},
                     "usage": {"input_tokens": 1, "output_tokens": 1}})  # fmt: skip

CALLS = [
    ("mistral", "chat", "complete", {"model": "m", "messages": HELLO}, chat("tool_calls", "", tool_calls=[TOOL]), "chat"),
    ("mistral", "chat", "complete", {"model": "m", "messages": HELLO, "response_format": {"type": "json_object"}}, chat(content="{}"), "chat"),
    ("mistral", "agents", "complete", {"agent_id": "a", "messages": HELLO}, chat(), "chat"),
    ("mistral", "agents", "stream", {"agent_id": "a", "messages": HELLO}, Reply(sse=chunks(HI, STOP)), "chat"),
    ("mistral", "fim", "complete", {"model": "m", "prompt": "p"}, chat(), "text_completion"),
    ("mistral", "fim", "stream", {"model": "m", "prompt": "p"}, Reply(sse=chunks(HI, STOP)), "text_completion"),
    ("mistral", "embeddings", "create", {"model": "m", "inputs": ["a"]}, VECTORS, "embeddings"),
    ("mistral", "classifiers", "moderate", {"model": "m", "inputs": ["a"]}, JUDGED, "moderation"),
    ("mistral", "classifiers", "moderate_chat", {"model": "m", "inputs": HELLO}, JUDGED, "moderation"),
    ("mistral", "classifiers", "classify", {"model": "m", "inputs": ["a"]}, SORTED, "classification"),
    ("mistral", "ocr", "process", {"model": "m", "document": PAPER}, Reply(json=PAGES), "ocr"),
    ("mistral", "audio.transcriptions", "complete", {"model": "m", **AUDIO}, Reply(json=HEARD), "transcription"),
    ("mistral", "audio.transcriptions", "stream", {"model": "m", **AUDIO},
     sse({"type": "transcription.text.delta", "text": "hi"}, {"type": "transcription.done", **HEARD}), "transcription"),
    ("mistral", "audio.speech", "complete", {"model": "m", "input": "hi"}, Reply(json={"audio_data": "aGk="}), "speech"),
    ("mistral", "beta.conversations", "start", ASKED, Reply(json=conversed(SAID)), "chat"),
    ("mistral", "beta.conversations", "append", APPENDED, Reply(json=conversed(CALLED)), "chat"),
    ("mistral", "beta.conversations", "restart", RESTARTED, Reply(json=conversed(SAID)), "chat"),
    ("mistral", "beta.conversations", "start_stream", ASKED, TALKED, "chat"),
    ("mistral", "beta.conversations", "append_stream", APPENDED, TALKED, "chat"),
    ("mistral", "beta.conversations", "restart_stream", RESTARTED, TALKED, "chat"),
    ("mistral", "responses", "create", {"model": "m", "input": "hi"}, Reply(json=RESPONDED), "chat"),
    ("mistral", "responses", "create", {"model": "m", "input": "hi", "stream": True}, RESPONSE_STREAM, "chat"),
    ("openrouter", "chat", "send", {"model": "m", "messages": HELLO}, chat("tool_calls", None, tool_calls=[TOOL]), "chat"),
    ("openrouter", "chat", "send", {"model": "m", "messages": HELLO, "response_format": {"type": "json_object"}}, chat(content="{}"), "chat"),
    ("openrouter", "responses", "send", {"model": "m", "input": "hi"}, Reply(json=RESPONDED), "chat"),
    ("openrouter", "responses", "send", {"model": "m", "input": "hi", "stream": True}, RESPONSE_STREAM, "chat"),
    ("openrouter", "beta.responses", "send", {"model": "m", "input": "hi"}, Reply(json=RESPONDED), "chat"),
    ("openrouter", "embeddings", "generate", {"model": "m", "input": "a"}, VECTORS, "embeddings"),
    ("openrouter", "rerank", "rerank", {"model": "m", "query": "q", "documents": ["a"]},
     Reply(json={**LISTED, "results": [{"index": 0, "relevance_score": 0.9, "document": {"text": "a"}}]}), "rerank"),
    ("openrouter", "images", "generate", {"model": "m", "prompt": "p"}, Reply(json={"created": 1, "data": [PICTURE]}), "generate_content"),
    ("openrouter", "images", "generate", {"model": "m", "prompt": "p", "stream": True},
     sse({"type": "image_generation.completed", "created": 1, **PICTURE}), "generate_content"),
    ("openrouter", "video_generation", "generate", {"model": "m", "prompt": "p"},
     Reply(json={"id": "v", "polling_url": "u", "status": "pending"}, status=202), "generate_content"),
    ("openrouter", "stt", "create_transcription", {"model": "m", "input_audio": {"data": "aGk=", "format": "wav"}},
     Reply(json={"text": "hi"}), "transcription"),
    ("openrouter", "tts", "create_speech", {"model": "m", "input": "hi", "voice": "v"},
     Reply(text="RIFF", headers={"content-type": "audio/mpeg"}), "speech"),
    ("openrouter", "alpha.decisions", "create", QUESTION, CHOSEN, "classification"),
    ("openrouter", "system_one", "create", QUESTION, CHOSEN, "classification"),
]  # fmt: skip
"""Resource, method, arguments, answer and operation of every kind of model call."""
MODULES = {"beta.responses": "beta_responses", "system_one": "systemone"}


def _offered(rows):
    return [row for row in rows if _is_offered(row[0], MODULES.get(row[1], row[1].rpartition(".")[2]))]


def asked_of(resource, method, given, asynchronous):
    def call(client):
        owner = operator.attrgetter(resource)(client.client)
        here = client.client.sdk_configuration.server_url  # some methods have an address of their own
        return getattr(owner, method + ("_async" if asynchronous else ""))(**given, server_url=here)

    return call


@each_way
@pytest.mark.parametrize(
    ("sdk", "resource", "method", "given", "reply", "operation"),
    _offered(CALLS),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_kind_of_call_counts_once_as_good(play, sdk, resource, method, given, reply, operation, asynchronous):
    seen = play(SDKS[sdk], asked_of(resource, method, given, asynchronous), reply, asynchronous)
    assert (seen.verdict, seen.raised) == ("ok", None)
    assert seen.labels["gen_ai.operation.name"] == operation
    assert seen.labels["gen_ai.provider.name"] == {"mistral": "mistral_ai"}.get(sdk, sdk)


def broke_off(code):
    return {"type": "conversation.response.error", "code": code, "message": "it broke"}


def missing(what, **more):
    return Reply(404, json={"object": "error", "message": f"{what} not found", "type": "not_found_error", **more})


BROKEN = [
    ("mistral", "beta.conversations", "append", APPENDED, missing("Item"), "NOT_FOUND/resource"),
    ("mistral", "beta.conversations", "append_stream", APPENDED, missing("Item"), "NOT_FOUND/resource"),
    ("mistral", "beta.conversations", "restart", RESTARTED, Reply(404, json={"detail": "Not Found"}), "NOT_FOUND/resource"),
    ("mistral", "beta.conversations", "append", APPENDED, missing("Model", code="1500"), "NOT_FOUND/model"),
    ("mistral", "beta.conversations", "start", ASKED, missing("Item"), "NOT_FOUND/model"),
    ("mistral", "agents", "complete", {"agent_id": "a", "messages": HELLO}, missing("Item"), "NOT_FOUND/resource"),
    ("mistral", "beta.conversations", "start", ASKED, Reply(json=conversed({**SAID, "content": ""})), "UNKNOWN/empty_response"),
    ("mistral", "beta.conversations", "start", ASKED, Reply(json=conversed({**CALLED, "arguments": "{"})), "TOOL_PROTOCOL/invalid_arguments"),
    ("mistral", "beta.conversations", "start", ASKED, Reply(401, json={"detail": "Unauthorized"}), "AUTH/invalid_key"),
    ("mistral", "beta.conversations", "start_stream", ASKED, sse(STARTED, DELTA, broke_off(500), chunked=True), "SERVER/internal"),
    ("mistral", "beta.conversations", "start_stream", ASKED, sse(STARTED, DELTA, broke_off(3505), chunked=True), "SERVER/overloaded"),
    ("mistral", "beta.conversations", "start_stream", ASKED, sse(STARTED, DELTA, chunked=True), "TRANSPORT/stream_cut"),
    ("mistral", "beta.conversations", "start_stream", ASKED, sse(STARTED, DONE, chunked=True), "UNKNOWN/empty_response"),
    ("openrouter", "images", "generate", {"model": "m", "prompt": "p", "stream": True},
     sse({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "m", "type": "t"}}), "RATE_LIMITED/requests"),
    ("openrouter", "tts", "create_speech", {"model": "m", "input": "hi", "voice": "v"},
     Reply(402, json={"error": {"code": 402, "message": "Insufficient credits"}}), "CALL_BUDGET/billing"),
]  # fmt: skip


@each_way
@pytest.mark.parametrize(
    ("sdk", "resource", "method", "given", "reply", "verdict"),
    _offered(BROKEN),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failure_of_another_kind_of_call(play, sdk, resource, method, given, reply, verdict, asynchronous):
    seen = play(SDKS[sdk], asked_of(resource, method, given, asynchronous), reply, asynchronous)
    assert seen.verdict == verdict


@pytest.mark.skipif(not _is_offered("mistral", "conversations"), reason="mistralai is not installed")
def test_a_missing_conversation_is_no_missing_model_to_one_who_has_only_the_exception(play):
    gone = missing("Conversation conv_1")
    seen = play(SDKS["mistral"], asked_of("beta.conversations", "append", APPENDED, False), gone)
    found = classify(seen.raised)
    assert (found.error_class, found.reason) == ("NOT_FOUND", "resource")


@pytest.mark.skipif(not _is_offered("mistral", "conversations"), reason="mistralai is not installed")
def test_a_conversation_is_a_call_with_its_facts(play):
    seen = play(SDKS["mistral"], asked_of("beta.conversations", "append_stream", APPENDED, False), TALKED)
    assert seen.attributes["gen_ai.response.id"] == "c"
    assert seen.attributes["gen_ai.response.model"] == "m"
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2
    assert seen.attributes["gen_ai.request.stream"] is True
