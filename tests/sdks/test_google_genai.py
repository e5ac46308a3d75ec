"""google-genai's models, chats, embeddings and images, for both of Google's services."""

import json

import pytest

genai = pytest.importorskip("google.genai")

from llm_errors.testing.provider import Reply  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore:The generate_images method",
    "ignore::DeprecationWarning",
    "ignore::UserWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


class Client:
    """One client for both worlds, closed as both want it."""

    def __init__(self, url, asynchronous, vertex=False, **more):
        options = {"base_url": url, "timeout": 120_000, **more}
        mode = {"vertexai": True} if vertex else {}
        self._client = genai.Client(api_key="k", http_options=options, **mode)
        client = self._client.aio if asynchronous else self._client
        self.models, self.chats = client.models, client.chats
        if asynchronous:
            self.aclose = client.aclose

    def close(self):
        self._client.close()


def generate(client):
    return client.models.generate_content(model="m", contents="hi")


def chat(client):
    return client.chats.create(model="m").send_message("hi")


def embed(client):
    return client.models.embed_content(model="m", contents="hi")


def images(client):
    return client.models.generate_images(model="m", prompt="hi")


def answer(finish="STOP", text="hi", **more):
    parts = [] if text is None else [{"text": text}]
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "m", **more}


def error(status, name, *details):
    return Reply(status, json={"error": {"code": status, "status": name, "message": "m", "details": list(details)}})


REASON = "type.googleapis.com/google.rpc.ErrorInfo"
QUOTA = "type.googleapis.com/google.rpc.QuotaFailure"
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}
PAGE = {"content-type": "text/html"}
WHOLE = [
    (generate, Reply(json=answer()), "ok"),
    (chat, Reply(json=answer()), "ok"),
    (chat, Reply(json=answer("MAX_TOKENS")), "TRUNCATED/max_tokens"),
    (generate, Reply(json=answer("SAFETY", None)), "OUTPUT_BLOCKED/safety"),
    (generate, Reply(json=answer("RECITATION", None)), "OUTPUT_BLOCKED/recitation"),
    (generate, Reply(json=answer("MALFORMED_FUNCTION_CALL", None)), "TOOL_PROTOCOL/malformed_call"),
    (generate, Reply(json=answer("BRAND_NEW")), "UNKNOWN/unrecognised_finish_reason"),
    (generate, Reply(json=answer("STOP", None)), "UNKNOWN/empty_response"),
    (generate, Reply(json=answer("FINISH_REASON_UNSPECIFIED")), "ok"),
    (generate, Reply(json={"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
     "PROMPT_BLOCKED/prohibited_content"),
    (generate, Reply(json={"promptFeedback": {"blockReason": "BRAND_NEW"}}), "PROMPT_BLOCKED/other"),
    (generate, Reply(json={}), "UNKNOWN/empty_response"),
    (generate, Reply(text="", headers={"content-type": "application/json"}), "UNKNOWN/empty_response"),
    (generate, Reply(text="<html>", headers=PAGE), "UNKNOWN/unexpected_body"),
    (generate, Reply(502, text="<html>", headers=PAGE), "SERVER/gateway"),
    (generate, Reply(503, json=[{"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}}]),
     "SERVER/unavailable"),
    (generate, error(400, "INVALID_ARGUMENT"), "BAD_REQUEST/invalid_parameter"),
    (generate, error(400, "INVALID_ARGUMENT", {"@type": REASON, "reason": "API_KEY_INVALID"}), "AUTH/invalid_key"),
    (generate, error(400, "FAILED_PRECONDITION"), "BAD_REQUEST/failed_precondition"),
    (generate, error(403, "PERMISSION_DENIED", {"@type": REASON, "reason": "SERVICE_DISABLED"}),
     "AUTH/permission_denied"),
    (generate, error(403, "PERMISSION_DENIED", {"@type": REASON, "reason": "BILLING_DISABLED"}), "CALL_BUDGET/billing"),
    (generate, error(404, "NOT_FOUND"), "NOT_FOUND/model"),
    (generate, error(429, "RESOURCE_EXHAUSTED", RETRY), "RATE_LIMITED/requests"),
    (generate, error(429, "RESOURCE_EXHAUSTED", {"@type": QUOTA, "violations": [{"quotaId": "RequestsPerDay"}]}),
     "RATE_LIMITED/daily_quota"),
    (generate, error(500, "INTERNAL"), "SERVER/internal"),
    (generate, error(504, "DEADLINE_EXCEEDED"), "SERVER/deadline_exceeded"),
    (generate, Reply(action="cut_mid_stream", text="{"), "TRANSPORT/disconnected"),
    (embed, Reply(json={"embeddings": [{"values": [0.1]}], "embedding": {"values": [0.1]}}), "ok"),
    (embed, Reply(json={}), "UNKNOWN/empty_response"),
    (embed, error(429, "RESOURCE_EXHAUSTED"), "RATE_LIMITED/requests"),
]  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("call", "reply", "verdict"), WHOLE, ids=range(len(WHOLE)))
def test_whole_answers(play, call, reply, verdict, asynchronous):
    seen = play(Client, call, reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)
    assert seen.labels["gen_ai.provider.name"] == "gcp.gemini"
    if reply.json and RETRY in (reply.json.get("error", {}).get("details", []) if isinstance(reply.json, dict) else []):
        assert seen.retry_after == 17.0


def sse(*chunks):
    return [line for c in chunks for line in ("data: " + json.dumps(c), "")]


STREAMS = [
    (sse(answer(None), answer("STOP", "")), "", "ok"),
    (sse(answer(None)), "", "TRANSPORT/stream_cut"),
    (sse(answer(None), answer("SAFETY", None)), "", "OUTPUT_BLOCKED/safety"),
    (sse(answer(None), {"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}}), "", "SERVER/unavailable"),
    (sse({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "m"}}), "", "RATE_LIMITED/requests"),
    (sse({"promptFeedback": {"blockReason": "SAFETY"}}), "", "PROMPT_BLOCKED/safety"),
    (sse(answer(None)), "cut_mid_stream", "TRANSPORT/disconnected"),
    ([], "", "UNKNOWN/empty_response"),
]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("lines", "action", "verdict"), STREAMS, ids=range(len(STREAMS)))
def test_streams(play, lines, action, verdict, asynchronous):
    def call(client):
        return client.models.generate_content_stream(model="m", contents="hi")

    seen = play(Client, call, Reply(sse=lines, action=action), asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_vertex_is_told_apart(play, asynchronous):
    seen = play(lambda url, a: Client(url, a, vertex=True), generate, error(429, "RESOURCE_EXHAUSTED"), asynchronous)
    assert seen.verdict == "RATE_LIMITED/requests"
    assert seen.labels["gen_ai.provider.name"] == "gcp.vertex_ai"


PREDICTIONS = [
    ({"predictions": [{"bytesBase64Encoded": "eA==", "mimeType": "image/png"}]}, "ok"),
    ({"predictions": [{"raiFilteredReason": "m"}]}, "OUTPUT_BLOCKED/image_safety"),
    ({}, "UNKNOWN/empty_response"),
]


@pytest.mark.parametrize(("body", "verdict"), PREDICTIONS, ids=range(len(PREDICTIONS)))
def test_images(play, body, verdict):
    seen = play(lambda url, a: Client(url, a, vertex=True), images, Reply(json=body))
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


def test_every_request_of_automatic_function_calling_is_a_call(observed, provider):
    def ping() -> str:
        """Ping."""
        return "pong"

    call = answer("STOP", None)
    call["candidates"][0]["content"]["parts"] = [{"functionCall": {"name": "ping", "args": {}}}]
    client = Client(provider([Reply(json=call), Reply(json=answer("MAX_TOKENS"))]).url, False)
    client.models.generate_content(model="m", contents="hi", config={"tools": [ping]})
    client.close()
    assert observed.outcomes() == {"ok": 1, "error": 1}
    assert observed.errors() == {"TRUNCATED": 1}


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_hidden_retries_are_counted(play, asynchronous):
    retry = {"attempts": 3, "initial_delay": 0.001, "max_delay": 0.002, "jitter": 0}
    script = [error(503, "UNAVAILABLE"), error(429, "RESOURCE_EXHAUSTED"), Reply(json=answer())]
    seen = play(lambda url, a: Client(url, a, retry_options=retry), generate, script, asynchronous)
    assert seen.verdict == "ok"
    assert seen.retries == {"SERVER": 1, "RATE_LIMITED": 1}


def test_counting_tokens_and_listing_are_no_model_calls(observed, provider):
    client = Client(provider([Reply(json={"totalTokens": 3})]).url, False)
    client.models.count_tokens(model="m", contents="hi")
    client.close()
    assert observed.outcomes() == {}
