"""The anthropic SDK and its clients for the clouds."""

import json
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    anthropic = pytest.importorskip("anthropic")

from llm_errors.testing.provider import Reply

MESSAGES = [{"role": "user", "content": "hi"}]
BASE = {"model": "m", "max_tokens": 5, "messages": MESSAGES}
PAGE = {"content-type": "text/html"}
AWS = {"aws_access_key": "x", "aws_secret_key": "x", "aws_region": "us-east-1"}
CLIENTS = {
    "Anthropic": ({"api_key": "k"}, "anthropic"),
    "AnthropicBedrock": (AWS, "aws.bedrock"),
    "AnthropicBedrockMantle": (AWS, "aws.bedrock"),
    "AnthropicAWS": ({**AWS, "workspace_id": "w"}, "aws.bedrock"),
    "AnthropicVertex": ({"access_token": "t", "project_id": "p", "region": "us-east5"}, "gcp.vertex_ai"),
    "AnthropicGoogleCloud": (
        {"project": "p", "location": "us-east5", "workspace_id": "w", "skip_auth": True},
        "gcp.vertex_ai",
    ),
    "AnthropicFoundry": ({"api_key": "k"}, "azure.ai.inference"),
}


def maker(name="Anthropic"):
    def make(url, asynchronous):
        cls = getattr(anthropic, ("Async" if asynchronous else "") + name)
        return cls(base_url=url, max_retries=0, timeout=120.0, **CLIENTS[name][0])

    return make


CALLS = {
    "messages": lambda c, **k: c.messages.create(**BASE, **k),
    "beta": lambda c, **k: c.beta.messages.create(**BASE, **k),
}


def message(stop="end_turn", *content, **more):
    content = content or ({"type": "text", "text": "hi"},)
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": stop, "stop_sequence": None,
        "content": [c for c in content if c], "usage": {"input_tokens": 1, "output_tokens": 2}, **more,
    }  # fmt: skip


def error(status, kind, text="m", **more):
    return Reply(status, json={"type": "error", "error": {"type": kind, "message": text, **more}})


WHOLE = [
    (Reply(json=message()), "ok"),
    (Reply(json=message("pause_turn")), "ok"),
    (Reply(json=message("tool_use", {"type": "tool_use", "id": "t", "name": "f", "input": {}})), "ok"),
    (Reply(json=message("max_tokens")), "TRUNCATED/max_tokens"),
    (Reply(json=message("model_context_window_exceeded")), "TRUNCATED/context_window"),
    (Reply(json=message("refusal", None)), "OUTPUT_BLOCKED/refusal"),
    (Reply(json=message("end_turn", None)), "UNKNOWN/empty_response"),
    (Reply(json=message("brand_new")), "UNKNOWN/unrecognised_finish_reason"),
    (error(200, "overloaded_error"), "SERVER/overloaded"),
    (error(400, "invalid_request_error"), "BAD_REQUEST/invalid_parameter"),
    (error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
     "BAD_REQUEST/context_overflow"),
    (error(400, "invalid_request_error", "Your credit balance is too low to access the API"), "CALL_BUDGET/billing"),
    (error(401, "authentication_error"), "AUTH/invalid_key"),
    (error(402, "billing_error"), "CALL_BUDGET/billing"),
    (error(403, "permission_error"), "AUTH/permission_denied"),
    (error(404, "not_found_error"), "NOT_FOUND/model"),
    (error(413, "request_too_large"), "BAD_REQUEST/request_too_large"),
    (error(429, "rate_limit_error"), "RATE_LIMITED/requests"),
    (error(429, "rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}),
     "CALL_BUDGET/spend_limit"),
    (error(500, "api_error"), "SERVER/internal"),
    (error(504, "timeout_error"), "SERVER/deadline_exceeded"),
    (error(529, "overloaded_error"), "SERVER/overloaded"),
    (Reply(529), "SERVER/overloaded"),
    (Reply(502, text="<html>", headers=PAGE), "SERVER/gateway"),
    (Reply(text="<html>", headers=PAGE), "UNKNOWN/unexpected_body"),
    (Reply(text="{broken", headers={"content-type": "application/json"}), "UNKNOWN/unexpected_body"),
    (Reply(action="reset"), "TRANSPORT/disconnected"),
]  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", ["messages", "beta"])
@pytest.mark.parametrize(("reply", "verdict"), WHOLE, ids=range(len(WHOLE)))
def test_whole_answers(play, name, reply, verdict, asynchronous):
    seen = play(maker(), CALLS[name], reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


def event(kind, **fields):
    return [f"event: {kind}", "data: " + json.dumps({"type": kind, **fields}), ""]


START = event("message_start", message=message(None, None))
TEXT = [
    *event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    *event("content_block_delta", index=0, delta={"type": "text_delta", "text": "hi"}),
    *event("content_block_stop", index=0),
]


def stop(reason):
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [*event("message_delta", delta=delta, usage={"output_tokens": 2}), *event("message_stop")]


OVERLOADED = {"type": "overloaded_error", "message": "m"}
STREAMS = [
    ([*START, *TEXT, *stop("end_turn")], "", "ok"),
    ([*START, *TEXT, *stop("max_tokens")], "", "TRUNCATED/max_tokens"),
    ([*START, *TEXT, *stop("refusal")], "", "OUTPUT_BLOCKED/refusal"),
    ([*START, *stop("end_turn")], "", "UNKNOWN/empty_response"),
    ([*START, *TEXT], "chunked", "TRANSPORT/stream_cut"),
    ([*START, *TEXT], "cut_mid_stream", "TRANSPORT/disconnected"),
    ([*START, *TEXT, *event("error", error=OVERLOADED)], "", "SERVER/overloaded"),
    (event("error", error={"type": "rate_limit_error", "message": "m"}), "", "RATE_LIMITED/requests"),
    (event("error", error={"type": "brand_new", "message": "m"}), "", "UNKNOWN/unexpected_body"),
    ([], "", "UNKNOWN/empty_response"),
]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("lines", "action", "verdict"), STREAMS, ids=range(len(STREAMS)))
def test_streams(play, lines, action, verdict, asynchronous):
    chunked, action = action == "chunked", "" if action == "chunked" else action
    reply = Reply(sse=lines, chunked=chunked, action=action)
    seen = play(maker(), lambda c: CALLS["messages"](c, stream=True), reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


@pytest.mark.parametrize(("lines", "action", "verdict"), STREAMS[:3], ids=range(3))
def test_the_stream_helper(play, lines, action, verdict):
    def call(client):
        with client.messages.stream(**BASE) as stream:
            stream.until_done()

    assert play(maker(), call, Reply(sse=lines)).verdict == verdict


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", CLIENTS)
def test_the_clients_of_the_clouds(play, name, asynchronous):
    if not hasattr(anthropic, name):
        pytest.skip(f"this major of anthropic has no {name}")
    seen = play(maker(name), CALLS["messages"], error(429, "rate_limit_error"), asynchronous)
    assert seen.verdict == "RATE_LIMITED/requests"
    assert seen.labels["gen_ai.provider.name"] == CLIENTS[name][1]
    assert seen.labels["gen_ai.request.model"] == "m"


AWS_FRAMES = [
    ("throttlingException", "RATE_LIMITED/requests"),
    ("serviceUnavailableException", "SERVER/unavailable"),
    ("internalServerException", "SERVER/internal"),
    ("modelStreamErrorException", "SERVER/model_error"),
    ("modelTimeoutException", "TIMEOUT/provider"),
]


@pytest.mark.parametrize(("kind", "verdict"), AWS_FRAMES)
def test_bedrock_streams_say_it_in_frames_of_aws(play, kind, verdict):
    reply = Reply(eventstream=[(kind, {"message": "m"}, "exception")])
    seen = play(maker("AnthropicBedrock"), lambda c: CALLS["messages"](c, stream=True), reply)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


def test_every_turn_of_a_tool_runner_is_a_call(observed, provider):
    @anthropic.beta_tool
    def ping() -> str:
        """Ping."""
        return "pong"

    tool_use = {"type": "tool_use", "id": "t", "name": "ping", "input": {}}
    server = provider([Reply(json=message("tool_use", tool_use)), Reply(json=message("max_tokens"))])
    with maker()(server.url, False) as client:
        client.beta.messages.tool_runner(**BASE, tools=[ping]).until_done()
    assert observed.outcomes() == {"ok": 1, "error": 1}
    assert observed.errors() == {"TRUNCATED": 1}


def test_counting_tokens_is_no_model_call(observed, provider):
    server = provider([Reply(json={"input_tokens": 3})])
    with maker()(server.url, False) as client:
        client.messages.count_tokens(model="m", messages=MESSAGES)
    assert observed.outcomes() == {}
