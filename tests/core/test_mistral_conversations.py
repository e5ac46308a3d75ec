"""Conversations of mistralai, whole and as events, as the wire's JSON."""

import pytest

from llm_errors import classify
from llm_errors.extract.data import DataReader
from llm_errors.extract.results import CONVERSATIONS
from tests.core.verdicts import streamed, verdict

SAID = {"type": "message.output", "content": "Hi", "model": "m"}
CALL = {"type": "function.call", "name": "f", "arguments": "{}"}
THOUGHT = {"type": "thinking", "thinking": []}


def whole(*outputs, **more):
    return {"object": "conversation.response", "conversation_id": "c", "outputs": list(outputs), **more}


WHOLE = [
    ("a message", whole(SAID), None),
    ("parts", whole({**SAID, "content": [THOUGHT, {"type": "text", "text": "Hi"}]}), None),
    ("a call", whole(CALL), None),
    ("a call whose arguments are an object", whole({**CALL, "arguments": {"a": 1}}), None),
    ("a call without arguments", whole({**CALL, "arguments": ""}), None),
    ("a tool that the server ran", whole({"type": "tool.execution", "name": "web_search", "arguments": "{"}), None),
    ("an agent that hands over", whole({"type": "agent.handoff"}), None),
    ("broken arguments", whole(CALL, {**CALL, "arguments": "{"}), "TOOL_PROTOCOL/invalid_arguments"),
    ("an empty message", whole({**SAID, "content": ""}), "UNKNOWN/empty_response"),
    ("only thoughts", whole({**SAID, "content": [THOUGHT]}), "UNKNOWN/empty_response"),
    ("nothing", whole(), "UNKNOWN/empty_response"),
    ("an error beside it", whole(error={"code": "1300", "message": "m"}), "RATE_LIMITED/requests"),
    ("an error in its place", {"object": "error", "code": "3505", "message": "m"}, "SERVER/overloaded"),
    ("a page", "<html>", "UNKNOWN/unexpected_body"),
]


@pytest.mark.parametrize(("body", "wanted"), [w[1:] for w in WHOLE], ids=[w[0] for w in WHOLE])
def test_a_whole_answer(body, wanted):
    assert verdict(CONVERSATIONS.whole(body)) == wanted


def test_the_facts_of_an_answer():
    read = CONVERSATIONS.whole(whole(CALL, SAID, usage={"prompt_tokens": 1, "completion_tokens": 2}))
    assert (read.model, read.id, read.input_tokens, read.output_tokens) == ("m", "c", 1, 2)


def test_a_saved_answer_finds_its_reader():
    assert classify(whole(SAID)) is None
    assert classify(whole()).reason == "empty_response"


STARTED = {"type": "conversation.response.started", "conversation_id": "c"}
DELTA = {"type": "message.output.delta", "content": "Hi", "model": "m"}
DONE = {"type": "conversation.response.done", "usage": {"prompt_tokens": 1, "completion_tokens": 2}}


def failed(code):
    return {"type": "conversation.response.error", "code": code, "message": "it broke"}


STREAMS = [
    ("natural", [STARTED, DELTA, DELTA, DONE], None),
    ("a call", [STARTED, {"type": "function.call.delta", "arguments": "{"}, DONE], None),
    ("only thoughts", [STARTED, {**DELTA, "content": THOUGHT}, DONE], "UNKNOWN/empty_response"),
    ("thoughts, then text", [STARTED, {**DELTA, "content": THOUGHT}, DELTA, DONE], None),
    ("no content", [STARTED, DONE], "UNKNOWN/empty_response"),
    ("cut in the middle", [STARTED, DELTA], "TRANSPORT/stream_cut"),
    ("no event", [], "UNKNOWN/empty_response"),
    ("an error with a status", [STARTED, DELTA, failed(500)], "SERVER/internal"),
    ("an error with a code", [STARTED, failed(3505)], "SERVER/overloaded"),
]


@pytest.mark.parametrize(("events", "wanted"), [s[1:] for s in STREAMS], ids=[s[0] for s in STREAMS])
def test_a_stream(events, wanted):
    assert verdict(streamed(CONVERSATIONS, events)) == wanted


def test_the_facts_of_a_stream():
    read = streamed(CONVERSATIONS, [STARTED, DELTA, DONE])
    assert (read.model, read.id, read.input_tokens, read.output_tokens) == ("m", "c", 1, 2)


def test_an_error_event_among_results_is_a_failure():
    told = {"type": "error", "error": {"code": "rate_limit_exceeded", "message": "m"}}
    assert verdict(streamed(DataReader("data"), [{"type": "image.partial"}, told])) == "RATE_LIMITED/requests"
