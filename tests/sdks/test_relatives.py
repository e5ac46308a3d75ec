"""The SDKs that speak openai's dialect through a generated client of their own: one family, each with quirks in streams."""

import importlib
import json

import pytest

from llm_errors import providers
from llm_errors.testing.provider import Reply

MESSAGES = [{"role": "user", "content": "hi"}]
OTHER_SHAPES = ("llama-api", "llama-stack", "zeroentropy", "cartesia", "runwayml", "letta", "parallel")
"""SDKs of the family whose answers are not openai's."""
SDKS = {
    row.name: (row.package, row.clients[0].name, row.provider)
    for row in providers.SDKS
    if (row.family == "stainless" and row.clients[0].provider == row.provider) or row.family == "stainless_copies"
    if row.name not in OTHER_SHAPES
}
"""SDKs of one client class, which alone tells the provider, and copies of the family: package, class, provider."""
WAYS = [(sdk, way) for sdk in SDKS for way in (False, True) if not (way and sdk in ("zai", "zhipuai"))]
"""Each SDK, sync and async, if it has an async client."""
each_way = pytest.mark.parametrize(
    ("sdk", "asynchronous"), WAYS, ids=[f"{s}-{'async' if w else 'sync'}" for s, w in WAYS]
)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def maker(sdk, max_retries=0):
    module, name, _ = SDKS[sdk]
    package = pytest.importorskip(module)

    def make(url, asynchronous):
        more = {"warm_tcp_connection": False} if sdk == "cerebras" else {}
        cls = getattr(package, ("Async" if asynchronous else "") + name)
        return cls(base_url=url, api_key="k", max_retries=max_retries, timeout=120.0, **more)

    return make


def call(sdk, stream=False):
    arguments = {"model": "m", "messages": MESSAGES, **({"stream": True} if stream else {})}
    return lambda c: c.chat.chat(**arguments) if sdk == "writer" else c.chat.completions.create(**arguments)


def chat(finish="stop", content="hi", **message):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return Reply(json={"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


WHOLE = [
    (chat(), "ok"),
    (chat("length"), "TRUNCATED/max_tokens"),
    (chat("stop", None), "UNKNOWN/empty_response"),
    (Reply(400, json={"error": {"code": "tool_use_failed", "type": "invalid_request_error", "message": "m",
                                "failed_generation": "x"}}), "TOOL_PROTOCOL/malformed_call"),
    (Reply(400, json={"error": {"code": "json_validate_failed", "message": "m"}}), "TOOL_PROTOCOL/schema_mismatch"),
    (Reply(401, json={"error": {"code": "invalid_api_key", "message": "m"}}), "AUTH/invalid_key"),
    (Reply(404, json={"error": {"code": "model_not_found", "message": "m"}}), "NOT_FOUND/model"),
    (Reply(413, json={"error": {"code": "rate_limit_exceeded", "type": "tokens", "message": "m"}}),
     "RATE_LIMITED/request_too_large_for_rate"),
    (Reply(422, json={"message": "m", "type": "wrong_api_format"}), "BAD_REQUEST/invalid_parameter"),
    (Reply(429, json={"message": "m", "type": "too_many_tokens_error", "code": "token_quota_exceeded"}),
     "RATE_LIMITED/tokens"),
    (Reply(429, json={"message": "m", "type": "too_many_requests_error", "code": "queue_exceeded"}),
     "SERVER/overloaded"),
    (Reply(503, text="<html>", headers={"content-type": "text/html"}), "SERVER/unavailable"),
    (Reply(text="<html>", headers={"content-type": "text/html"}), "UNKNOWN/unexpected_body"),
    (Reply(json={"error": {"code": 502, "message": "m"}}), "SERVER/upstream"),
    (Reply(action="reset"), "TRANSPORT/disconnected"),
    (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
]  # fmt: skip


@each_way
@pytest.mark.parametrize(("reply", "verdict"), WHOLE, ids=range(len(WHOLE)))
def test_whole_answers(play, sdk, reply, verdict, asynchronous):
    seen = play(maker(sdk), call(sdk), reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)
    assert seen.labels["gen_ai.provider.name"] == SDKS[sdk][2]


def sse(*chunks, done=True):
    lines = [line for c in chunks for line in (*(c if isinstance(c, list) else ["data: " + json.dumps(c)]), "")]
    return [*lines, "data: [DONE]", ""] if done else lines


def delta(content=None, finish=None, **more):
    part = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": part, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


BROKEN = {"error": {"message": "m", "type": "server_error", "code": "server_error"}}
STREAMS = {
    "healthy": (Reply(sse=sse(delta("x"), delta(finish="stop"))), "ok"),
    "no terminator": (Reply(sse=sse(delta("x"), delta(finish="stop"), done=False)), "ok"),
    "no finish": (Reply(sse=sse(delta("x"), done=False)), "TRANSPORT/stream_cut"),
    "no finish, but the mark": (Reply(sse=sse(delta("x"))), "ok"),
    "length": (Reply(sse=sse(delta("x"), delta(finish="length"))), "TRUNCATED/max_tokens"),
    "cut": (Reply(sse=sse(delta("x"), done=False), action="cut_mid_stream"), "TRANSPORT/disconnected"),
    "data error": (Reply(sse=sse(delta("x"), BROKEN)), "SERVER/internal"),
    "first data error": (Reply(sse=sse(BROKEN)), "SERVER/internal"),
    "finish error": (Reply(sse=sse({**delta("", "error"), "error": {"code": 502, "message": "m"}})), "SERVER/upstream"),
    "json instead": (Reply(json=BROKEN), "SERVER/internal"),
}


@each_way
@pytest.mark.parametrize("kind", STREAMS)
def test_streams(play, sdk, kind, asynchronous):
    reply, verdict = STREAMS[kind]
    seen = play(maker(sdk), call(sdk, stream=True), reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


NAMED = ["event: error", "data: " + json.dumps(BROKEN)]
DROPPED = {"together": "TRANSPORT/stream_cut"}
"""What this SDK does not pass on cannot be seen; that the stream has no end can."""


@pytest.mark.parametrize("sdk", SDKS)
def test_an_error_event_in_mid_stream(play, sdk):
    seen = play(maker(sdk), call(sdk, stream=True), Reply(sse=sse(delta("x"), NAMED, done=False)))
    assert seen.verdict == DROPPED.get(sdk, "SERVER/internal"), (seen.attributes, seen.raised)
    assert seen.retryable is False


def test_groq_tells_of_a_failure_beside_the_choices(play):
    reply = Reply(sse=sse(delta("x"), delta(finish="stop", x_groq={"id": "r", "error": "over capacity"})))
    seen = play(maker("groq"), call("groq", stream=True), reply)
    assert seen.labels["llm.call.outcome"] == "error"


@each_way
def test_hidden_retries_are_counted(play, sdk, asynchronous):
    headers = {"retry-after-ms": "1", "retry-after": "0.001"}
    script = [Reply(503, headers=headers), Reply(429, headers=headers), chat()]
    seen = play(maker(sdk, max_retries=2), call(sdk), script, asynchronous)
    assert seen.verdict == "ok"
    assert seen.retries == {"SERVER": 1, "RATE_LIMITED": 1}
    assert seen.attributes["llm.retry.count"] == 2


def test_every_row_has_its_module():
    for module, name, _ in SDKS.values():
        pytest.importorskip(module)
        assert hasattr(importlib.import_module(module), name)
