"""orq-ai-sdk, of the Speakeasy family: a router in front of many providers, deployments of prompts, and agents."""

import gc
import json

import pytest

from llm_errors.instrument import drainer
from llm_errors.testing.provider import Reply

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
HELLO = [{"role": "user", "content": "hi"}]
ASKED = {"role": "user", "parts": [{"kind": "text", "text": "hi"}]}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


class Closing:
    """A client of the family, which is closed by leaving its context."""

    def __init__(self, client, retries):
        self.client, self.retries = client, retries

    def close(self):
        self.client.__exit__(None, None, None)

    async def aclose(self):
        await self.client.__aexit__(None, None, None)


def maker(waits=None):
    def make(url, asynchronous):
        sdk = pytest.importorskip("orq_ai_sdk")
        config = sdk.utils.RetryConfig("backoff", sdk.utils.BackoffStrategy(1, 1, 1, waits), True) if waits else None
        return Closing(sdk.Orq(api_key="k", server_url=url, timeout_ms=5000, retry_config=config), waits)

    return make


def asked(path, asynchronous, **given):
    """A call of a resource's method, or of its twin for asyncio."""

    def go(closing):
        *resources, method = path.split(".")
        found = closing.client
        for name in resources:
            found = getattr(found, name)
        return getattr(found, method + ("_async" if asynchronous else ""))(**given)

    return go


CALLS = {
    "chat": ("router.chat.completions.create", {"model": "m", "messages": HELLO}),
    "chat-stream": ("router.chat.completions.create", {"model": "m", "messages": HELLO, "stream": True}),
    "completion": ("router.completions.create", {"model": "m", "prompt": "hi"}),
    "responses": ("responses.create", {"model": "m", "input": "hi"}),
    "embeddings": ("router.embeddings.create", {"model": "m", "input": "hi"}),
    "rerank": ("router.rerank.create", {"model": "m", "query": "hi", "documents": ["hi"]}),
    "moderations": ("router.moderations.create", {"model": "m", "input": "hi"}),
    "images": ("router.images.generations.create", {"model": "m", "prompt": "hi"}),
    "speech": ("router.audio.speech.create", {"model": "m", "input": "hi", "voice": "v"}),
    "ocr": ("router.ocr", {"model": "m", "document": {"type": "document_url", "document_url": "https://x/y.pdf"}}),
    "deployment": ("deployments.invoke", {"key": "m"}),
    "deployment-stream": ("deployments.stream", {"key": "m"}),
    "agent": ("agents.responses.create", {"agent_key": "m", "message": ASKED}),
    "agent-stream": ("agents.responses.create", {"agent_key": "m", "message": ASKED, "stream": True}),
    "task": ("agents.invoke", {"key": "m", "message": ASKED}),
    "task-stream": ("agents.stream", {"key": "m", "message": ASKED}),
}


def call(name, asynchronous):
    path, given = CALLS[name]
    return asked(path, asynchronous, **given)


def sse(*events, done=True, **more):
    lines = [line for one in events for line in ("data: " + json.dumps(one), "")]
    return Reply(sse=[*lines, "data: [DONE]", ""] if done else lines, **more)


def chat(finish="stop", content="hi"):
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}
    return Reply(
        json={"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}
    )


def delta(content="hi", finish=None):
    choice = {"index": 0, "finish_reason": finish, "delta": {"role": "assistant", "content": content}}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def deployed(finish="stop", content="hi", is_final=True):
    message = {"type": "content", "role": "assistant", "content": content}
    return {"id": "d", "created": "2026-01-01T00:00:00Z", "object": "chat", "model": "m", "provider": "openai",
            "is_final": is_final, "telemetry": {"trace_id": "t", "span_id": "s"},
            "choices": [{"index": 0, "message": message, "finish_reason": finish}]}  # fmt: skip


def answered(finish="stop"):
    said = {"messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]}
    return Reply(
        json={"_id": "r", "task_id": "t", "output": [said], "created_at": "x", "model": "m", "finish_reason": finish}
    )


def event(kind, **data):
    return {"type": kind, "timestamp": "2026-01-01T00:00:00Z", "data": data}


PART = event("part.delta", partId="p", delta={"kind": "text", "text": "hi"})
STARTED = event("response.started", responseId="r", taskId="t", model="m", workflowRunId="w")
DONE = event("response.done", finishReason="stop")


def inactive(finish="stop"):
    return event("event.agents.inactive", last_message="hi", finish_reason=finish, workflowRunId="w")


def task(state="submitted"):
    return Reply(json={"id": "t", "contextId": "c", "kind": "task", "status": {"state": state}})


SAID = {"type": "message", "id": "x", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "hi", "annotations": []}]}  # fmt: skip
GOOD = {
    "chat": (chat(), "chat"),
    "chat-stream": (sse(delta(), delta("", "stop")), "chat"),
    "completion": (Reply(json={"id": "c", "object": "text_completion", "model": "m",
                               "choices": [{"index": 0, "text": "hi", "finish_reason": "stop"}]}), "text_completion"),
    "embeddings": (Reply(json={"object": "list", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1},
                               "data": [{"object": "embedding", "index": 0, "embedding": [0.1]}]}), "embeddings"),
    "rerank": (Reply(json={"object": "list", "results": [{"object": "rerank", "index": 0, "relevance_score": 0.5}]}), "rerank"),
    "images": (Reply(json={"created": 1, "data": [{"url": "https://x"}]}), "generate_content"),
    "speech": (Reply(text="RIFF", headers={"content-type": "audio/mpeg"}), "speech"),
    "deployment": (Reply(json=deployed()), "chat"),
    "deployment-stream": (sse({**deployed(None, "h", False)}, deployed()), "chat"),
    "agent": (answered(), "invoke_agent"),
    "agent-stream": (sse(STARTED, PART, DONE), "invoke_agent"),
    "task": (task(), "invoke_agent"),
    "task-stream": (sse(inactive()), "invoke_agent"),
}  # fmt: skip


@each_way
@pytest.mark.parametrize("name", GOOD)
def test_an_answer_is_one_good_call(play, name, asynchronous):
    reply, operation = GOOD[name]
    seen = play(maker(), call(name, asynchronous), reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", operation), (seen.raised, seen.attributes)
    assert (seen.labels["gen_ai.provider.name"], seen.labels["gen_ai.request.model"]) == ("orq", "m")
    assert seen.attributes["server.address"] == "127.0.0.1"


@each_way
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(401, json={"error": {"message": "m", "type": "t", "code": None, "param": None}, "message": "m"}), "AUTH/invalid_key"),
        (Reply(402, json={"message": "Add credits", "code": "payment_required"}), "CALL_BUDGET/billing"),
        (Reply(429, json={"error": {"message": "m", "type": "t", "code": "rate_limit_exceeded", "param": None}}), "RATE_LIMITED/requests"),
        (Reply(503, text="<html>"), "SERVER/unavailable"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (Reply(action="reset"), "TRANSPORT/disconnected"),
    ],
    ids=range(6),
)  # fmt: skip
def test_a_failure_that_the_sdk_raises(play, name, reply, verdict, asynchronous):
    seen = play(maker(), call(name, asynchronous), reply, asynchronous)
    assert (seen.verdict, seen.channel) == (verdict, "thrown"), (seen.raised, seen.attributes)


@each_way
@pytest.mark.parametrize(
    ("name", "reply", "verdict"),
    [
        ("chat", chat("length"), "TRUNCATED/max_tokens"),
        ("chat", chat("content_filter"), "OUTPUT_BLOCKED/content_filter"),
        ("chat", chat("stop", ""), "UNKNOWN/empty_response"),
        ("chat-stream", sse(delta(), delta("", "length")), "TRUNCATED/max_tokens"),
        ("chat-stream", sse(delta(), done=False), "TRANSPORT/stream_cut"),
        ("embeddings", Reply(json={"object": "list", "model": "m", "data": [], "usage": {"prompt_tokens": 1, "total_tokens": 1}}),
         "UNKNOWN/empty_response"),
        ("deployment", Reply(json=deployed("length")), "TRUNCATED/max_tokens"),
        ("deployment-stream", sse(deployed(None, "h", False), deployed("length")), "TRUNCATED/max_tokens"),
        ("deployment-stream", sse(deployed(None, "h", False), done=False), "TRANSPORT/stream_cut"),
        ("agent", answered("max_iterations"), "CALL_BUDGET/max_turns"),
        ("agent", answered("max_time"), "TRUNCATED/other"),
        ("agent-stream", sse(STARTED, PART, event("response.failed", error="m", code=503)), "SERVER/upstream"),
        ("agent-stream", sse(STARTED, PART, done=False), "TRANSPORT/stream_cut"),
        ("task", task("failed"), "SERVER/model_error"),
        ("task-stream", sse(inactive("max_iterations")), "CALL_BUDGET/max_turns"),
        ("task-stream", sse(event("event.agents.errored", error="m", code=429, workflowRunId="w")), "RATE_LIMITED/upstream"),
        ("task-stream", sse(event("agents.timeout", message="m")), "TIMEOUT/provider"),
    ],
)  # fmt: skip
def test_a_failure_inside_an_answer(play, name, reply, verdict, asynchronous):
    seen = play(maker(), call(name, asynchronous), reply, asynchronous)
    assert (seen.verdict, seen.channel, seen.raised) == (verdict, "in_band", None), seen.attributes


BEGINNINGS = {
    "chat-stream": lambda action: sse(delta(), done=False, action=action),
    "deployment-stream": lambda action: sse(deployed(None, "h", False), done=False, action=action),
    "agent-stream": lambda action: sse(STARTED, PART, done=False, action=action),
}


@each_way
@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_stream_that_the_server_cuts(play, name, asynchronous):
    seen = play(maker(), call(name, asynchronous), BEGINNINGS[name]("cut_mid_stream"), asynchronous)
    assert (seen.verdict, seen.retryable) == ("TRANSPORT/disconnected", False), (seen.raised, seen.attributes)


@pytest.mark.parametrize("name", BEGINNINGS)
@pytest.mark.parametrize("leave", ["close", "drop"])
def test_a_stream_that_the_application_leaves_is_cancelled(observed, provider, name, leave):
    closing = maker()(provider([BEGINNINGS[name]("hang_mid_stream")]).url, False)
    parts = call(name, False)(closing)
    next(parts)
    if leave == "close":
        parts.response.close()
        parts.close()
    del parts
    gc.collect()
    closing.close()
    drainer.finish()
    assert observed.outcomes() == {"cancelled": 1}


@each_way
@pytest.mark.parametrize("name", ["chat", "agent"])
def test_hidden_retries_are_counted(play, name, asynchronous):
    busy = Reply(503, text="busy")
    seen = play(maker(60_000), call(name, asynchronous), [busy, busy, GOOD[name][0]], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"SERVER": 2}), seen.raised


@each_way
def test_a_deployment_that_accepts_a_call_without_an_answer(play, asynchronous):
    assert play(maker(), call("deployment", asynchronous), Reply(204, text=""), asynchronous).verdict == "ok"


def test_lists_are_no_model_calls(observed, provider):
    closing = maker()(provider([Reply(json={"object": "list", "data": [], "has_more": False})]).url, False)
    closing.client.deployments.list()
    closing.close()
    assert observed.outcomes() == {}
