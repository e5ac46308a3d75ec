"""Messages, whole and as events."""

import pytest

from llm_errors import classify
from llm_errors.extract.results import MESSAGES
from tests.core.verdicts import streamed, verdict

TEXT = {"type": "text", "text": "Hi"}


def message(stop="end_turn", *content):
    return {"id": "m", "type": "message", "model": "c", "content": list(content), "stop_reason": stop}


WHOLE = [
    ("natural", message("end_turn", TEXT), None),
    ("tool use", message("tool_use", {"type": "tool_use", "input": {}}), None),
    ("paused with nothing yet", message("pause_turn"), None),
    ("token limit", message("max_tokens", TEXT), "TRUNCATED/max_tokens"),
    ("window", message("model_context_window_exceeded", TEXT), "TRUNCATED/context_window"),
    ("refused", message("refusal"), "OUTPUT_BLOCKED/refusal"),
    ("nothing", message("end_turn"), "UNKNOWN/empty_response"),
    ("only a thought", message("end_turn", {"type": "thinking", "thinking": "hm"}), "UNKNOWN/empty_response"),
    ("unknown stop reason", message("x1", TEXT), "UNKNOWN/unrecognised_finish_reason"),
    ("a long prompt, said in mid-stream", {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9"}}, "BAD_REQUEST/context_overflow"),
    ("an error in its place", {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, "SERVER/overloaded"),
    ("content of a wrong type", {"type": "message", "content": "x"}, "UNKNOWN/unexpected_body"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), [w[1:] for w in WHOLE], ids=[w[0] for w in WHOLE])
def test_a_whole_answer(body, wanted):
    found = classify(body, provider="anthropic")
    assert (found and f"{found.error_class}/{found.reason}") == wanted


START = {"type": "message_start", "message": {"id": "m", "model": "c", "usage": {"input_tokens": 4}}}
BLOCK = {"type": "content_block_start", "content_block": {"type": "text", "text": ""}}
DELTA = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hi"}}
STOP = {"type": "message_stop"}


def end(reason):
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 6}}


STREAMS = [
    ("natural", [START, BLOCK, DELTA, DELTA, end("end_turn"), STOP], None),
    ("tool use", [START, {"type": "content_block_start", "content_block": {"type": "tool_use"}}, end("tool_use"), STOP], None),
    ("the stop reason is enough of an end", [START, BLOCK, DELTA, end("end_turn")], None),
    ("refused after text", [START, BLOCK, DELTA, end("refusal"), STOP], "OUTPUT_BLOCKED/refusal"),
    ("token limit", [START, BLOCK, DELTA, end("max_tokens"), STOP], "TRUNCATED/max_tokens"),
    ("nothing", [START, BLOCK, end("end_turn"), STOP], "UNKNOWN/empty_response"),
    ("no events", [], "UNKNOWN/empty_response"),
    ("cut", [START, BLOCK, DELTA], "TRANSPORT/stream_cut"),
    ("an error event let through", [START, {"type": "error", "error": {"type": "rate_limit_error"}}], "RATE_LIMITED/requests"),
    ("an error chunk without a type", [{"error": {"type": "api_error"}}], "SERVER/internal"),
    ("a ping", [START, {"type": "ping"}, BLOCK, DELTA, end("end_turn"), STOP], None),
]  # fmt: skip


@pytest.mark.parametrize(("chunks", "wanted"), [s[1:] for s in STREAMS], ids=[s[0] for s in STREAMS])
def test_a_stream(chunks, wanted):
    assert verdict(streamed(MESSAGES, chunks)) == wanted


def test_the_content_free_facts_of_a_stream():
    facts = streamed(MESSAGES, [START, BLOCK, DELTA, end("end_turn"), STOP])
    assert (facts.model, facts.id, facts.finish_reasons) == ("c", "m", ("end_turn",))
    assert (facts.input_tokens, facts.output_tokens) == (4, 6)
    assert streamed(MESSAGES, [START]).finish_reasons == ("error",)
    assert streamed(MESSAGES, []).finish_reasons == ()
