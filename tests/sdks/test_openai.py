"""The openai SDK against everything that OpenAI, Azure and the servers that speak its wire format do wrong."""

import json

import pytest

openai = pytest.importorskip("openai")

from llm_errors.testing.provider import Reply  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:deprecated:DeprecationWarning")
MAJOR = int(openai.__version__.split(".")[0])
MESSAGES = [{"role": "user", "content": "hi"}]
WAV = ("a.wav", b"RIFF0000WAVE", "audio/wav")
HTML = "<html><body>Sign in</body></html>"
PAGE = {"content-type": "text/html"}


def make(url, asynchronous, cls="OpenAI", **options):
    client = getattr(openai, ("Async" if asynchronous else "") + cls)
    defaults = {} if "azure_endpoint" in options else {"base_url": url + "/v1"}
    return client(api_key="k", max_retries=0, timeout=120.0, **{**defaults, **options})


CALLS = {
    "chat": lambda c, **k: c.chat.completions.create(model="m", messages=MESSAGES, **k),
    "text": lambda c, **k: c.completions.create(model="m", prompt="hi", **k),
    "responses": lambda c, **k: c.responses.create(model="m", input="hi", **k),
    "embeddings": lambda c: c.embeddings.create(model="m", input="hi"),
    "images": lambda c: c.images.generate(model="m", prompt="hi"),
    "edit": lambda c: c.images.edit(model="m", prompt="hi", image=("a.png", b"x", "image/png")),
    "speech": lambda c: c.audio.speech.create(model="m", input="hi", voice="alloy"),
    "transcription": lambda c: c.audio.transcriptions.create(model="m", file=WAV),
    "transcription_text": lambda c: c.audio.transcriptions.create(model="m", file=WAV, response_format="text"),
    "translation": lambda c: c.audio.translations.create(model="m", file=WAV),
    "moderation": lambda c: c.moderations.create(model="m", input="hi"),
    "post_dict": lambda c: c.post("/chat/completions", body={"model": "m", "messages": MESSAGES}, cast_to=object),
}
OPERATIONS = {
    "text": "text_completion",
    "embeddings": "embeddings",
    "images": "generate_content",
    "edit": "generate_content",
    "speech": "speech",
    "transcription": "transcription",
    "transcription_text": "transcription",
    "translation": "transcription",
    "moderation": "moderation",
}


def error(status=None, headers=None, **fields):
    """An error object; without a status inside HTTP 200."""
    return Reply(status or 200, headers=headers or {}, json={"error": fields})


def choice(finish="stop", content="hi", **message):
    return {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}


def chat(*choices, **more):
    return Reply(
        json={"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": list(choices), **more}
    )


def response(status="completed", text="hi", **more):
    parts = [{"type": "output_text", "text": text, "annotations": []}] if text is not None else []
    message = {"id": "m", "type": "message", "role": "assistant", "status": status, "content": parts}
    output = [message] if text is not None else []
    return {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": status, "output": output, **more}


def call_of(arguments, identifier="t"):
    function = {"name": "f", "arguments": arguments}
    return {"tool_calls": [{"id": identifier, "type": "function", "function": function}]}


WHOLE = [
    # call, reply, verdict
    ("chat", chat(choice()), "ok"),
    ("post_dict", chat(choice()), "ok"),
    ("post_dict", chat(choice("length")), "TRUNCATED/max_tokens"),
    ("chat", chat(choice("eos")), "ok"),
    ("chat", chat(choice("tool_calls", None, **call_of("{}"))), "ok"),
    ("chat", chat(choice("tool_calls", None, **call_of('{"a": '))), "TOOL_PROTOCOL/invalid_arguments"),
    ("chat", chat(choice("length", None, **call_of('{"a": '))), "TRUNCATED/max_tokens"),
    ("chat", chat(choice("stop", None, refusal="no")), "OUTPUT_BLOCKED/refusal"),
    ("chat", chat(choice("stop", None)), "UNKNOWN/empty_response"),
    ("chat", chat(choice("stop", "")), "UNKNOWN/empty_response"),
    ("chat", chat(), "UNKNOWN/empty_response"),
    ("chat", chat(choice("brand_new")), "UNKNOWN/unrecognised_finish_reason"),
    ("chat", chat(choice(), choice("content_filter", "")), "OUTPUT_BLOCKED/content_filter"),
    ("chat", chat(choice("content_filter", ""), prompt_filter_results=[
        {"prompt_index": 0, "content_filter_results": {"hate": {"filtered": True, "severity": "high"}}}]),
     "PROMPT_BLOCKED/content_filter"),
    ("chat", chat(choice("insufficient_system_resource")), "SERVER/overloaded"),
    ("chat", chat(choice("error", "half")), "SERVER/other"),
    ("chat", chat({**choice("error", "half"), "error": {"code": 429, "message": "busy"}}), "RATE_LIMITED/upstream"),
    ("chat", chat(choice("MALFORMED_FUNCTION_CALL", None)), "TOOL_PROTOCOL/malformed_call"),
    ("chat", chat(choice("model_length")), "TRUNCATED/context_window"),
    ("chat", error(code=502, message="bad"), "SERVER/upstream"),
    ("chat", error(code="insufficient_quota", message="spent"), "CALL_BUDGET/insufficient_quota"),
    ("chat", Reply(json={"error": "model not loaded"}), "UNKNOWN/unexpected_body"),
    ("chat", Reply(json={"detail": "Not Found"}), "UNKNOWN/unexpected_body"),
    ("chat", Reply(json={"object": "error", "message": "too long", "type": "BadRequestError", "code": 400}),
     "BAD_REQUEST/invalid_parameter"),
    ("chat", Reply(json=[]), "UNKNOWN/unexpected_body"),
    ("chat", Reply(json=None, headers={"content-type": "application/json"}), "UNKNOWN/unexpected_body"),
    ("chat", Reply(text="{broken", headers={"content-type": "application/json"}), "UNKNOWN/unexpected_body"),
    ("chat", Reply(text=HTML, headers=PAGE), "UNKNOWN/unexpected_body"),
    ("chat", Reply(502, text=HTML, headers=PAGE), "SERVER/gateway"),
    ("chat", Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ("chat", Reply(action="reset"), "TRANSPORT/disconnected"),
    ("chat", Reply(404, text=HTML, headers=PAGE), "NOT_FOUND/other"),
    ("text", Reply(json={"choices": [{"index": 0, "text": "hi", "finish_reason": "stop", "logprobs": None}]}), "ok"),
    ("text", Reply(json={"choices": [{"index": 0, "text": "hi", "finish_reason": "length"}]}), "TRUNCATED/max_tokens"),
    ("responses", Reply(json=response()), "ok"),
    ("responses", Reply(json=response("incomplete", incomplete_details={"reason": "max_output_tokens"})),
     "TRUNCATED/max_tokens"),
    ("responses", Reply(json=response("incomplete", incomplete_details={"reason": "content_filter"})),
     "OUTPUT_BLOCKED/content_filter"),
    ("responses", Reply(json=response("failed", None, error={"code": "server_error", "message": "m"})),
     "SERVER/internal"),
    ("responses", Reply(json=response("failed", None, error={"code": "rate_limit_exceeded", "message": "m"})),
     "RATE_LIMITED/requests"),
    ("responses", Reply(json=response("completed", None)), "UNKNOWN/empty_response"),
    ("responses", Reply(json=response("cancelled", None)), "ok"),
    ("responses", Reply(json=response("queued", None)), "ok"),
    ("responses", Reply(json={**response(), "output": [{"id": "m", "type": "message", "role": "assistant",
        "status": "completed", "content": [{"type": "refusal", "refusal": "no"}]}]}), "OUTPUT_BLOCKED/refusal"),
    ("responses", error(code=503, message="m"), "SERVER/upstream"),
    ("embeddings", Reply(json={"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0,
        "embedding": [0.1]}], "usage": {"prompt_tokens": 1, "total_tokens": 1}}), "ok"),
    ("embeddings", Reply(json={"object": "list", "model": "m", "data": []}), "UNKNOWN/empty_response"),
    ("embeddings", error(code="rate_limit_exceeded", message="m"), "RATE_LIMITED/requests"),
    ("embeddings", Reply(401, json={"error": {"code": "invalid_api_key"}}), "AUTH/invalid_key"),
    ("images", Reply(json={"created": 1, "data": [{"url": "http://x/y"}]}), "ok"),
    ("images", Reply(json={"created": 1, "data": []}), "UNKNOWN/empty_response"),
    ("images", error(400, code="moderation_blocked", message="m"), "PROMPT_BLOCKED/moderation"),
    ("images", error(400, code="content_policy_violation", message="m"), "PROMPT_BLOCKED/moderation"),
    ("edit", error(400, code="invalid_image_format", message="m"), "BAD_REQUEST/invalid_media"),
    ("speech", Reply(text="RIFF", headers={"content-type": "audio/wav"}), "ok"),
    ("speech", Reply(503), "SERVER/unavailable"),
    ("transcription", Reply(json={"text": "hello"}), "ok"),
    ("transcription", error(400, code="audio_too_short", message="m"), "BAD_REQUEST/invalid_media"),
    ("transcription", error(code=500, message="m"), "SERVER/upstream"),
    ("transcription_text", Reply(text="hello"), "ok"),
    ("transcription_text", Reply(text=HTML, headers=PAGE), "UNKNOWN/unexpected_body"),
    ("translation", Reply(413), "BAD_REQUEST/request_too_large"),
    ("moderation", Reply(json={"id": "m", "model": "m", "results": [{"flagged": True}]}), "ok"),
    ("moderation", Reply(429), "RATE_LIMITED/requests"),
]  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("name", "reply", "verdict"), WHOLE, ids=[f"{i}-{w[0]}" for i, w in enumerate(WHOLE)])
def test_whole_answers(play, name, reply, verdict, asynchronous):
    seen = play(make, CALLS[name], reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)
    assert seen.labels["gen_ai.operation.name"] == OPERATIONS.get(name, "chat")
    assert seen.labels["gen_ai.request.model"] == "m"


def data(*chunks, done=True):
    lines = [line for c in chunks for line in (c if isinstance(c, str) else "data: " + json.dumps(c), "")]
    return [*lines, "data: [DONE]", ""] if done else lines


def delta(content=None, finish=None, **more):
    part = {} if content is None else {"content": content}
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [
        {"index": 0, "delta": {**part, **more}, "finish_reason": finish}]}  # fmt: skip


def event(kind, **fields):
    return [f"event: {kind}", "data: " + json.dumps({"type": kind, "sequence_number": 1, **fields}), ""]


STREAMS = [
    # call, reply, verdict, retryable where it is special
    ("chat", Reply(sse=data(delta("hi"), delta(finish="stop"))), "ok"),
    ("chat", Reply(sse=data(delta("hi"), delta(finish="stop"), done=False)), "ok"),
    ("chat", Reply(sse=data(delta("hi"), delta(finish="stop"), {"choices": [], "usage": {"prompt_tokens": 1}})), "ok"),
    ("chat", Reply(sse=data(delta("hi"), delta(finish=""), delta(finish="stop"))), "ok"),
    ("chat", Reply(sse=data(delta("hi"), done=False)), "TRANSPORT/stream_cut"),
    ("chat", Reply(sse=data(delta("hi"), done=False), chunked=True), "TRANSPORT/stream_cut"),
    ("chat", Reply(sse=data(delta("hi"), done=False), action="cut_mid_stream"), "TRANSPORT/disconnected"),
    ("chat", Reply(sse=data(delta("hi"), delta(finish="length"))), "TRUNCATED/max_tokens"),
    ("chat", Reply(sse=data(delta(refusal="no"), delta(finish="stop"))), "OUTPUT_BLOCKED/refusal"),
    ("chat", Reply(sse=data(delta("x"), delta(finish="content_filter"))), "OUTPUT_BLOCKED/content_filter"),
    ("chat", Reply(sse=data(delta(finish="stop"))), "UNKNOWN/empty_response"),
    ("chat", Reply(sse=data()), "UNKNOWN/empty_response"),
    ("chat", Reply(sse=data(delta("x"), {"error": {"code": "server_error", "message": "m"}})), "SERVER/internal"),
    ("chat", Reply(sse=data(delta("x"), {"error": {"code": 429, "message": "m"}})), "RATE_LIMITED/upstream"),
    ("chat", Reply(sse=data({"error": {"type": "overloaded_error", "message": "m"}})), "SERVER/overloaded"),
    ("chat", Reply(sse=["event: error", 'data: {"error": {"code": "rate_limit_exceeded", "message": "m"}}', ""]),
     "RATE_LIMITED/requests"),
    ("chat", Reply(sse=data(delta("x"), {"type": "error", "code": "server_error", "message": "m"})), "SERVER/internal"),
    ("chat", Reply(sse=data({**delta("", "error"), "error": {"code": 502, "message": "m"}})), "SERVER/upstream"),
    ("chat", Reply(sse=data(delta("x"), "data: {broken")), "UNKNOWN/unexpected_body"),
    ("chat", error(code=503, message="m"), "SERVER/upstream"),
    ("chat", Reply(text=HTML, headers=PAGE), "UNKNOWN/unexpected_body"),
    ("chat", error(429, code="insufficient_quota", message="m"), "CALL_BUDGET/insufficient_quota"),
    ("text", Reply(sse=data({"choices": [{"index": 0, "text": "a", "finish_reason": "stop"}]})), "ok"),
    ("text", Reply(sse=data({"choices": [{"index": 0, "text": "a", "finish_reason": None}]}, done=False)),
     "TRANSPORT/stream_cut"),
    ("responses", Reply(sse=[*event("response.output_text.delta", delta="x"),
        *event("response.completed", response=response())]), "ok"),
    ("responses", Reply(sse=[*event("response.output_text.delta", delta="x"),
        *event("response.incomplete", response=response("incomplete", incomplete_details={"reason": "max_output_tokens"}))]),
     "TRUNCATED/max_tokens"),
    ("responses", Reply(sse=event("response.failed", response=response("failed", None,
        error={"code": "rate_limit_exceeded", "message": "m"}))), "RATE_LIMITED/requests"),
    ("responses", Reply(sse=event("error", code="server_error", message="m", param=None)), "SERVER/internal"),
    ("responses", Reply(sse=event("response.output_text.delta", delta="x")), "TRANSPORT/stream_cut"),
    ("responses", Reply(sse=event("response.created", response=response("in_progress", None))),
     "UNKNOWN/empty_response"),
]  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("name", "reply", "verdict"), STREAMS, ids=[f"{i}-{s[0]}" for i, s in enumerate(STREAMS)])
def test_streams(play, name, reply, verdict, asynchronous):
    seen = play(make, lambda c: CALLS[name](c, stream=True), reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)
    if seen.outcome == "error" and seen.partial_output:
        assert seen.retryable is False


MARKED = [
    # Some servers never send a finish reason: a stream that ends with `[DONE]` has ended as it should.
    ("chat", Reply(sse=data(delta("hi"))), "ok"),
    ("chat", Reply(sse=data(delta("hi"), delta(finish="")), chunked=True), "ok"),
    ("chat", Reply(sse=[*data(delta("hi"), done=False), "data:[DONE]", ""]), "ok"),
    ("chat", Reply(sse=[*data(delta("hi")), ": ping", ""]), "ok"),
    ("text", Reply(sse=data({"choices": [{"index": 0, "text": "a", "finish_reason": None}]})), "ok"),
    ("responses", Reply(sse=[*event("response.output_text.delta", delta="x"), "data: [DONE]", ""]), "ok"),
    # What a model wrote is no mark, and a mark makes nothing else healthy.
    ("chat", Reply(sse=data(delta("data: [DONE]"), delta("\ndata: [DONE]\n\n"), done=False)), "TRANSPORT/stream_cut"),
    ("chat", Reply(sse=data(delta(refusal="no"))), "OUTPUT_BLOCKED/refusal"),
    ("chat", Reply(sse=data()), "UNKNOWN/empty_response"),
]  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("name", "reply", "verdict"), MARKED, ids=[f"{i}-{s[0]}" for i, s in enumerate(MARKED)])
def test_the_mark_at_the_end_of_a_stream_is_a_terminal_event(play, name, reply, verdict, asynchronous):
    seen = play(make, lambda c: CALLS[name](c, stream=True), reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_azure_is_told_apart(play, asynchronous):
    def azure(url, is_async):
        return make(url, is_async, cls="AzureOpenAI", azure_endpoint=url, api_version="2024-10-21")

    seen = play(azure, CALLS["chat"], error(404, code="DeploymentNotFound", message="m"), asynchronous)
    assert seen.verdict == "NOT_FOUND/deployment"
    assert seen.labels["gen_ai.provider.name"] == "azure.ai.openai"
    assert seen.labels["gen_ai.request.model"] == "m"


def test_a_token_provider_of_azure_that_fails_is_the_credential_s_fault(play):
    azure_core = pytest.importorskip("azure.core.exceptions", reason="azure-core is not installed")

    def no_token():
        raise azure_core.ClientAuthenticationError(message="DefaultAzureCredential failed to retrieve a token")

    def azure(url, _):
        given = {"azure_endpoint": url, "api_version": "2024-10-21", "azure_ad_token_provider": no_token}
        return openai.AzureOpenAI(**given, max_retries=0)

    assert play(azure, CALLS["chat"], chat(choice())).verdict == "AUTH/invalid_key"


@pytest.mark.parametrize(("name", "reply", "verdict"), STREAMS[:7], ids=range(7))
def test_a_raw_stream_outlives_its_raw_response(play, name, reply, verdict):
    def call(client):
        raw = client.chat.completions.with_raw_response
        return raw.create(model="m", messages=MESSAGES, stream=True).parse()

    assert play(make, call, reply).verdict == verdict


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_hidden_retries_are_counted(play, asynchronous):
    soon = {"retry-after-ms": "1"}
    script = [Reply(503, headers=soon), error(429, soon, code="insufficient_quota", message="m"), chat(choice())]
    seen = play(lambda url, a: make(url, a).with_options(max_retries=2), CALLS["chat"], script, asynchronous)
    assert seen.verdict == "ok"
    assert seen.retries == {"SERVER": 1, "CALL_BUDGET": 1}
