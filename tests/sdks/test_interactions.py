"""google-genai's Interactions, on both of the stacks that its releases carry."""

import json

import pytest

genai = pytest.importorskip("google.genai")

from llm_errors.testing.provider import Reply  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
OLD = genai.__version__.startswith("1.")
PARTS, CREATED, COMPLETED, DELTA = (
    ("outputs", "interaction.start", "interaction.complete", "content.delta")
    if OLD
    else ("steps", "interaction.created", "interaction.completed", "step.delta")
)
PAGE = {"content-type": "text/html"}
SOON = {"retry-after-ms": "1", "retry-after": "0.001"}


class Client:
    """One client for both worlds, closed as both want it."""

    def __init__(self, url, asynchronous, attempts=1):
        options = {"attempts": attempts if not OLD else attempts - 1, "initial_delay": 0.001, "max_delay": 0.002}
        self._client = genai.Client(
            api_key="k", http_options={"base_url": url, "timeout": 120_000, "retry_options": options}
        )
        client = self._client.aio if asynchronous else self._client
        self.interactions = client.interactions
        if asynchronous:
            self.aclose = client.aclose

    def close(self):
        self._client.close()


def create(client, **more):
    return client.interactions.create(model="m", input="hi", **more)


def interaction(status="completed", text="hi", **more):
    part = {"type": "text", "text": text}
    parts = [] if text is None else [part if OLD else {"type": "model_output", "content": [part]}]
    return {
        "id": "i", "object": "interaction", "model": "m", "status": status, "created": "2026-01-01T00:00:00Z",
        "updated": "2026-01-01T00:00:00Z", PARTS: parts, **more,
    }  # fmt: skip


def error(status, name, **more):
    return Reply(status, json={"error": {"code": status, "status": name, "message": "m", **more}}, headers=SOON)


WHOLE = [
    (Reply(json=interaction()), "ok"),
    (Reply(json=interaction("in_progress", None)), "ok"),
    (Reply(json=interaction("requires_action", None)), "ok"),
    (Reply(json=interaction("cancelled", None)), "ok"),
    (Reply(json=interaction("budget_exceeded")), "CALL_BUDGET/token_limit"),
    (Reply(json=interaction("incomplete")), "TRUNCATED/max_tokens"),
    (Reply(json=interaction("failed", None)), "SERVER/other"),
    (Reply(json=interaction("brand_new")), "UNKNOWN/unrecognised_finish_reason"),
    (Reply(json=interaction("completed", None)), "UNKNOWN/empty_response"),
    (Reply(json={"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}}), "SERVER/unavailable"),
    (Reply(text="<html>", headers=PAGE), "UNKNOWN/unexpected_body"),
    (error(400, "INVALID_ARGUMENT"), "BAD_REQUEST/invalid_parameter"),
    (error(400, "INVALID_ARGUMENT", details=[{"@type": "x/ErrorInfo", "reason": "API_KEY_INVALID"}]),
     "AUTH/invalid_key"),
    (error(404, "NOT_FOUND"), "NOT_FOUND/model"),
    (error(429, "RESOURCE_EXHAUSTED"), "RATE_LIMITED/requests"),
    (Reply(429, json={"error": {"code": "quota", "message": "m"}}), "RATE_LIMITED/requests"),
    (Reply(502, text="<html>", headers=PAGE), "SERVER/gateway"),
    (Reply(action="reset"), "TRANSPORT/disconnected"),
]  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("reply", "verdict"), WHOLE, ids=range(len(WHOLE)))
def test_whole_answers(play, reply, verdict, asynchronous):
    seen = play(Client, create, reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)
    assert seen.labels["gen_ai.request.model"] == "m"
    assert seen.labels["gen_ai.provider.name"] == "gcp.gemini"


def sse(*events):
    return [line for e in events for line in (f"event: {e['event_type']}", "data: " + json.dumps(e), "")]


START = {"event_type": CREATED, "interaction": interaction("in_progress", None)}
TEXT = {"event_type": DELTA, "index": 0, "delta": {"type": "text", "text": "hi"}}


def end(status):
    return {"event_type": COMPLETED, "interaction": interaction(status, None)}


STREAMS = [
    (Reply(sse=sse(START, TEXT, end("completed"))), "ok"),
    (Reply(sse=sse(START, end("completed"))), "UNKNOWN/empty_response"),
    (Reply(sse=sse(START, TEXT, end("incomplete"))), "TRUNCATED/max_tokens"),
    (Reply(sse=sse(START, TEXT, end("budget_exceeded"))), "CALL_BUDGET/token_limit"),
    (Reply(sse=sse(START, TEXT, {"event_type": "error", "error": {"code": "resource_exhausted", "message": "m"}})),
     "RATE_LIMITED/requests"),
    (Reply(sse=sse(START, TEXT), chunked=True), "TRANSPORT/stream_cut"),
    (Reply(sse=sse(START, TEXT), action="cut_mid_stream"), "TRANSPORT/disconnected"),
    (error(429, "RESOURCE_EXHAUSTED"), "RATE_LIMITED/requests"),
]  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("reply", "verdict"), STREAMS, ids=range(len(STREAMS)))
def test_streams(play, reply, verdict, asynchronous):
    seen = play(Client, lambda c: create(c, stream=True), reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


@pytest.mark.parametrize(("reply", "verdict"), STREAMS[:7], ids=range(7))
def test_a_raw_response_is_judged_when_it_is_parsed(play, reply, verdict):
    def call(client):
        raw = client.interactions.with_raw_response
        return raw.create(model="m", input="hi", stream=True).parse()

    assert play(Client, call, reply).verdict == verdict


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_hidden_retries_are_counted(play, asynchronous):
    script = [error(503, "UNAVAILABLE"), error(429, "RESOURCE_EXHAUSTED"), Reply(json=interaction())]
    seen = play(lambda url, a: Client(url, a, attempts=3), create, script, asynchronous)
    assert seen.verdict == "ok"
    assert seen.retries == {"SERVER": 1, "RATE_LIMITED": 1}


def test_get_and_cancel_are_no_model_calls(observed, provider):
    client = Client(provider([Reply(json=interaction())]).url, False)
    client.interactions.get("i")
    client.interactions.cancel("i")
    client.close()
    assert observed.outcomes() == {}
