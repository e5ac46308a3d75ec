"""Interactions, whole and as events, as the wire's JSON of both generations of releases."""

import pytest

from llm_errors.extract.results import INTERACTIONS
from tests.core.verdicts import streamed, verdict

HI = {"type": "text", "text": "Hi"}
STEP = {"type": "model_output", "content": [HI]}
THOUGHT = {"type": "thought", "summary": "hm"}


def interaction(status="completed", *steps, **more):
    return {"id": "i", "model": "g", "status": status, "steps": list(steps), **more}


WHOLE = [
    ("completed", interaction("completed", STEP), None),
    ("words as they are", interaction("completed", {"type": "model_output", "content": "Hi"}), None),
    ("an older release's output", {"id": "i", "status": "completed", "outputs": [HI]}, None),
    ("a call", interaction("requires_action", {"type": "function_call"}), None),
    ("a job that runs", interaction("in_progress"), None),
    ("cancelled by the caller", interaction("cancelled"), None),
    ("an old error beside a job that runs", interaction("in_progress", error={"code": 8}), None),
    ("nothing", interaction(), "UNKNOWN/empty_response"),
    ("only a thought", interaction("completed", THOUGHT), "UNKNOWN/empty_response"),
    ("an empty text", interaction("completed", {"type": "text", "text": ""}), "UNKNOWN/empty_response"),
    ("cut off", interaction("incomplete", STEP), "TRUNCATED/max_tokens"),
    ("a spent budget", interaction("budget_exceeded"), "CALL_BUDGET/token_limit"),
    ("failed", interaction("failed"), "SERVER/other"),
    ("failed with a code", interaction("failed", error={"code": "invalid_request"}), "BAD_REQUEST/invalid_parameter"),
    ("failed with a number", interaction("failed", error={"code": 8, "message": "m"}), "RATE_LIMITED/requests"),
    ("failed with words", interaction("failed", error="no"), "SERVER/other"),
    ("a step failed", interaction("failed", STEP, {"type": "tool", "error": {"code": 14}}), "SERVER/unavailable"),
    ("a new status", interaction("brand_new"), "UNKNOWN/unrecognised_finish_reason"),
    ("an error in its place", {"status": "x", "error": {"code": 404, "status": "NOT_FOUND"}}, "NOT_FOUND/model"),
    ("no status", {"id": "i"}, "UNKNOWN/unexpected_body"),
    ("a page", "<html>", "UNKNOWN/unexpected_body"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), [w[1:] for w in WHOLE], ids=[w[0] for w in WHOLE])
def test_a_whole_answer(body, wanted):
    assert verdict(INTERACTIONS.whole(body)) == wanted


def event(kind, **more):
    return {"event_type": kind, **more}


CREATED = event("interaction.created", interaction={"id": "i", "model": "g"})
DELTA = event("step.delta", delta=HI)
THINKING = event("step.delta", delta=THOUGHT)


def completed(*steps, status="completed"):
    return event("interaction.completed", interaction=interaction(status, *steps))


def status(value):
    return event("interaction.status_update", status=value)


STREAMS = [
    ("natural", [CREATED, DELTA, DELTA, completed()], None),
    ("an older release's", [event("content.delta", delta=HI), event("interaction.complete", interaction={"status": "completed"})], None),
    ("content in the last event alone", [CREATED, completed(STEP)], None),
    ("an event of no interest", [CREATED, event("step.start"), DELTA, completed()], None),
    ("ended by its status", [CREATED, DELTA, status("in_progress"), status("completed")], None),
    ("ended without an interaction", [DELTA, event("interaction.completed")], None),
    ("cancelled by the caller", [CREATED, event("interaction.cancelled")], None),
    ("a further hop", [CREATED, completed(status="requires_action"), CREATED, DELTA, completed()], None),
    ("only thoughts", [CREATED, THINKING, completed()], "UNKNOWN/empty_response"),
    ("cut off", [CREATED, DELTA, completed(status="incomplete")], "TRUNCATED/max_tokens"),
    ("failed by its status", [CREATED, status("failed")], "SERVER/other"),
    ("an error event", [CREATED, DELTA, event("error", error={"code": 8, "message": "m"})], "RATE_LIMITED/requests"),
    ("an error without a type", [{"error": {"code": 503, "status": "UNAVAILABLE"}}], "SERVER/unavailable"),
    ("something without a type", [{"odd": 1}, DELTA, completed()], None),
    ("the first error counts", [event("error", error={"code": 8}), event("error", error={"code": 14})], "RATE_LIMITED/requests"),
    ("cut in the middle", [CREATED, DELTA], "TRANSPORT/stream_cut"),
    ("nothing", [], "UNKNOWN/empty_response"),
]  # fmt: skip


@pytest.mark.parametrize(("events", "wanted"), [s[1:] for s in STREAMS], ids=[s[0] for s in STREAMS])
def test_a_stream(events, wanted):
    assert verdict(streamed(INTERACTIONS, events)) == wanted


def test_the_content_free_facts():
    used = interaction("completed", STEP, usage={"total_input_tokens": 8, "total_output_tokens": 2})
    for facts in (
        INTERACTIONS.whole(used),
        streamed(INTERACTIONS, [CREATED, event("interaction.completed", interaction=used)]),
    ):
        assert (facts.model, facts.id, facts.finish_reasons) == ("g", "i", ("completed",))
        assert (facts.input_tokens, facts.output_tokens) == (8, 2)


def test_a_status_that_never_came_is_an_error():
    assert streamed(INTERACTIONS, [CREATED, DELTA]).finish_reasons == ("error",)
    assert streamed(INTERACTIONS, []).finish_reasons == ()
