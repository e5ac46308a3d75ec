"""The Responses API, whole and as events."""

import pytest

from llm_errors import classify
from llm_errors.extract.results import RESPONSES
from tests.core.verdicts import streamed, verdict

TEXT = {"type": "message", "status": "completed", "content": [{"type": "output_text", "text": "Hi"}]}
EMPTY = {"type": "message", "content": [{"type": "output_text", "text": ""}]}
REFUSED = {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
THOUGHT = {"type": "reasoning", "summary": []}


def call(arguments):
    return {"type": "function_call", "name": "f", "arguments": arguments}


def response(status="completed", *output, **more):
    return {"id": "r", "model": "m", "object": "response", "status": status, "output": list(output), **more}


def incomplete(reason):
    return response("incomplete", incomplete_details={"reason": reason})


WHOLE = [
    ("completed", response("completed", TEXT), None),
    ("a tool call", response("completed", call('{"a": 1}')), None),
    ("a hosted tool", response("completed", {"type": "web_search_call"}), None),
    ("a background job", response("queued"), None),
    ("cancelled by the caller", response("cancelled"), None),
    ("replaced by the caller", incomplete("steered"), None),
    ("no status but output", {"id": "r", "output": [TEXT]}, None),
    ("token limit", incomplete("max_output_tokens"), "TRUNCATED/max_tokens"),
    ("incomplete without a reason", response("incomplete"), "TRUNCATED/max_tokens"),
    ("filtered", incomplete("content_filter"), "OUTPUT_BLOCKED/content_filter"),
    ("failed", response("failed", error={"code": "server_error", "message": "x"}), "SERVER/internal"),
    ("failed for its prompt", response("failed", error={"code": "bio_policy"}), "PROMPT_BLOCKED/prohibited_content"),
    ("failed without an error", response("failed"), "SERVER/other"),
    ("an unknown status", response("steered_away"), "UNKNOWN/unrecognised_finish_reason"),
    ("refused", response("completed", REFUSED), "OUTPUT_BLOCKED/refusal"),
    ("broken tool call", response("completed", call("{")), "TOOL_PROTOCOL/invalid_arguments"),
    ("nothing", response("completed"), "UNKNOWN/empty_response"),
    ("an empty message", response("completed", EMPTY), "UNKNOWN/empty_response"),
    ("only a thought", response("completed", THOUGHT), "UNKNOWN/empty_response"),
    ("an error in its place", {"error": {"code": 502}}, "SERVER/upstream"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), [w[1:] for w in WHOLE], ids=[w[0] for w in WHOLE])
def test_a_whole_answer(body, wanted):
    found = classify(body)
    assert (found and f"{found.error_class}/{found.reason}") == wanted


@pytest.mark.parametrize("body", [{"odd": 1}, "<html>", [1]], ids=repr)
def test_bodies_that_are_no_answer(body):
    assert verdict(RESPONSES.whole(body)) == "UNKNOWN/unexpected_body"


CREATED = {"type": "response.created", "response": response("in_progress")}
DELTA = {"type": "response.output_text.delta", "delta": "Hi"}


def done(kind="response.completed", **event):
    return {"type": kind, **event}


STREAMS = [
    ("completed", [CREATED, DELTA, done(response=response("completed", TEXT))], None),
    ("the terminal event repeats no output", [CREATED, DELTA, done(response=response("completed"))], None),
    ("only a tool call", [CREATED, {"type": "response.output_item.done", "item": call("{}")}, done(response=response("completed"))], None),
    ("an event of no interest", [CREATED, {"type": "response.in_progress"}, DELTA, done(response=response("completed"))], None),
    ("incomplete", [CREATED, DELTA, done("response.incomplete", response=incomplete("max_output_tokens"))], "TRUNCATED/max_tokens"),
    ("failed", [CREATED, done("response.failed", response=response("failed", error={"code": "rate_limit_exceeded"}))], "RATE_LIMITED/requests"),
    ("a flat error event", [CREATED, done("error", code="server_error", message="x", param=None)], "SERVER/internal"),
    ("a nested error event", [CREATED, done("error", error={"code": "insufficient_quota"})], "CALL_BUDGET/insufficient_quota"),
    ("cut", [CREATED, DELTA], "TRANSPORT/stream_cut"),
    ("cut inside a refusal", [CREATED, {"type": "response.refusal.delta"}], "OUTPUT_BLOCKED/refusal"),
    ("cut before any text", [CREATED], "UNKNOWN/empty_response"),
    ("nothing", [], "UNKNOWN/empty_response"),
]  # fmt: skip


@pytest.mark.parametrize(("chunks", "wanted"), [s[1:] for s in STREAMS], ids=[s[0] for s in STREAMS])
def test_a_stream(chunks, wanted):
    assert verdict(streamed(RESPONSES, chunks)) == wanted


def test_a_reason_that_never_came_is_an_error_once_generation_had_started():
    assert streamed(RESPONSES, [CREATED, DELTA]).finish_reasons == ("error",)
    assert streamed(RESPONSES, []).finish_reasons == ()
