"""Answers of prompts, workflows and agents that run on the servers of orq.ai and Vellum, as plain data."""

import pytest

from llm_errors.extract.orq import AGENT, DEPLOYMENT
from llm_errors.extract.vellum import GENERATED, PROMPT, WORKFLOW
from tests.core.verdicts import of_chunks, told


def deployment(finish=None, is_final=True, **message):
    choice = {"index": 0, "message": {"type": "content", "role": "assistant", **message}, "finish_reason": finish}
    used = {"prompt_tokens": 3, "completion_tokens": 2}
    return {"id": "d", "model": "m", "is_final": is_final, "choices": [choice], "usage": used}


def answered(finish="stop", *parts, **more):
    return {
        "_id": "r",
        "model": "m",
        "output": [{"role": "agent", "parts": list(parts)}],
        "finish_reason": finish,
        **more,
    }


TEXT = {"kind": "text", "text": "hi"}


def task(state, *parts):
    return {"id": "t", "kind": "task", "status": {"state": state, "message": {"parts": list(parts)}}}


def prompt(state="FULFILLED", *outputs, finish=None, **more):
    meta = {"finish_reason": finish, "model_name": "m", "usage": {"input_token_count": 3, "output_token_count": 2}}
    return {"execution_id": "e", "state": state, "outputs": list(outputs), "meta": meta, **more}


SAID = {"type": "STRING", "value": "hi"}


def rejected(code):
    return {"execution_id": "e", "state": "REJECTED", "error": {"code": code, "message": "m"}}


def generated(**more):
    return {"results": [more]}


@pytest.mark.parametrize(
    ("reader", "whole", "verdict"),
    [
        (DEPLOYMENT, deployment("stop", content="hi"), "ok"),
        (DEPLOYMENT, deployment(content="hi"), "ok"),
        (DEPLOYMENT, deployment(type="image", url="https://x"), "ok"),
        (DEPLOYMENT, deployment(type="tool_calls", tool_calls=[{"function": {"name": "f", "arguments": "{}"}}]), "ok"),
        (DEPLOYMENT, deployment("length", content="hi"), "TRUNCATED/max_tokens"),
        (DEPLOYMENT, deployment(content=""), "UNKNOWN/empty_response"),
        (DEPLOYMENT, {"message": "m", "code": 401}, "AUTH/invalid_key"),
        (DEPLOYMENT, None, "ok"),
        (AGENT, answered("stop", TEXT), "ok"),
        (AGENT, answered(None), "ok"),
        (AGENT, answered("function_call", pending_tool_calls=[{"function": {"name": "f"}}]), "ok"),
        (AGENT, answered("stop"), "UNKNOWN/empty_response"),
        (AGENT, answered("max_iterations", TEXT), "CALL_BUDGET/max_turns"),
        (AGENT, answered("max_time", TEXT), "TRUNCATED/other"),
        (AGENT, {"error": {"code": "rate_limit_exceeded", "message": "m"}}, "RATE_LIMITED/requests"),
        (AGENT, task("submitted"), "ok"),
        (AGENT, task("completed", TEXT), "ok"),
        (AGENT, task("failed", TEXT, {"kind": "error", "error": "m"}), "SERVER/model_error"),
        (AGENT, task("rejected"), "SERVER/model_error"),
        (AGENT, task("lost"), "UNKNOWN/unrecognised_finish_reason"),
        (PROMPT, prompt("FULFILLED", SAID), "ok"),
        (PROMPT, prompt("FULFILLED", SAID, finish="UNKNOWN"), "ok"),
        (PROMPT, prompt("FULFILLED", SAID, finish="LENGTH"), "TRUNCATED/max_tokens"),
        (PROMPT, prompt("FULFILLED", {"type": "STRING", "value": ""}), "UNKNOWN/empty_response"),
        (
            PROMPT,
            prompt("FULFILLED", {"type": "ERROR", "value": {"code": "PROVIDER_ERROR", "message": "m"}}),
            "SERVER/upstream",
        ),
        (PROMPT, rejected("PROVIDER_QUOTA_EXCEEDED"), "CALL_BUDGET/insufficient_quota"),
        (PROMPT, rejected("PROVIDER_CREDENTIALS_UNAVAILABLE"), "AUTH/missing_key"),
        (PROMPT, rejected("NODE_CANCELLED"), "ok"),
        (PROMPT, {"detail": "no"}, "UNKNOWN/unexpected_body"),
        (WORKFLOW, {"execution_id": "e", "data": prompt("FULFILLED", SAID)}, "ok"),
        (WORKFLOW, {"execution_id": "e", "data": rejected("LLM_PROVIDER")}, "SERVER/upstream"),
        (WORKFLOW, {"execution_id": "e", "data": rejected("NODE_EXECUTION_COUNT_LIMIT_REACHED")}, "CALL_BUDGET/max_turns"),
        (GENERATED, generated(data={"completions": [{"id": "g", "text": "hi", "finish_reason": "STOP"}]}), "ok"),
        (GENERATED, generated(data={"completions": [{"text": "hi", "finish_reason": "LENGTH"}]}), "TRUNCATED/max_tokens"),
        (GENERATED, generated(data={"completions": []}), "UNKNOWN/empty_response"),
        (GENERATED, generated(error={"message": "m"}), "SERVER/upstream"),
        (GENERATED, {"detail": "no"}, "UNKNOWN/unexpected_body"),
    ],
)  # fmt: skip
def test_whole_answers(reader, whole, verdict):
    assert told(reader.whole(whole)) == verdict


def test_the_facts_of_an_answer():
    assert DEPLOYMENT.whole(deployment("stop", content="hi"))[1:] == ("m", "d", ("stop",), 3, 2)
    assert PROMPT.whole(prompt("FULFILLED", SAID))[1:] == ("m", "e", ("stop",), 3, 2)
    assert AGENT.whole(task("completed")).finish_reasons == ("completed",)
    assert AGENT.whole(task("failed", {"kind": "error", "error": "m"})).suspicion.message == "m"


def event(kind, **data):
    return {"type": kind, "data": data}


STREAMING = prompt("STREAMING", output=SAID)
NODE = {"type": "NODE", "data": {"state": "REJECTED", "error": {"code": "LLM_PROVIDER"}}}


def workflow(data):
    return {"type": "WORKFLOW", "execution_id": "e", "data": data}


def written(text, finish=None):
    return {"delta": {"request_index": 0, "data": {"completion": {"id": "g", "text": text, "finish_reason": finish}}}}


@pytest.mark.parametrize(
    ("reader", "chunks", "verdict"),
    [
        (DEPLOYMENT, [deployment(is_final=False, content="h"), deployment(content="hi")], "ok"),
        (
            DEPLOYMENT,
            [deployment(is_final=False, content="h"), deployment("length", content="")],
            "TRUNCATED/max_tokens",
        ),
        (DEPLOYMENT, [deployment(is_final=False, content="h")], "TRANSPORT/stream_cut"),
        (DEPLOYMENT, [{"error": {"code": 503, "message": "m"}}], "SERVER/upstream"),
        (AGENT, [event("response.started"), event("part.delta"), event("response.done", finishReason="stop")], "ok"),
        (AGENT, [event("part.delta"), event("response.done", finish_reason="length")], "TRUNCATED/max_tokens"),
        (AGENT, [event("response.failed", error="m", code=float("nan"))], "UNKNOWN/unexpected_body"),
        (AGENT, [event("part.delta"), event("response.failed", error="m", code=429.0)], "RATE_LIMITED/upstream"),
        (AGENT, [event("part.delta")], "TRANSPORT/stream_cut"),
        (AGENT, [event("event.agents.thought"), event("event.agents.inactive", last_message="hi")], "ok"),
        (AGENT, [event("event.agents.inactive", finish_reason="max_iterations")], "CALL_BUDGET/max_turns"),
        (AGENT, [event("event.agents.errored", error="m", code=500)], "SERVER/upstream"),
        (AGENT, [event("agents.timeout", message="m")], "TIMEOUT/provider"),
        (AGENT, [{"error": {"code": "invalid_api_key"}}], "AUTH/invalid_key"),
        (PROMPT, [prompt("INITIATED"), STREAMING, prompt("FULFILLED", SAID)], "ok"),
        (PROMPT, [STREAMING, prompt("FULFILLED", finish="LENGTH")], "TRUNCATED/max_tokens"),
        (PROMPT, [STREAMING, rejected("REQUEST_TIMEOUT")], "TIMEOUT/provider"),
        (PROMPT, [STREAMING], "TRANSPORT/stream_cut"),
        (PROMPT, [{"error": {"code": 503, "message": "m"}}], "SERVER/upstream"),
        (WORKFLOW, [workflow(prompt("INITIATED")), NODE, workflow(prompt("FULFILLED", SAID))], "ok"),
        (WORKFLOW, [NODE, workflow(rejected("WORKFLOW_TIMEOUT"))], "TIMEOUT/provider"),
        (WORKFLOW, [NODE], "TRANSPORT/stream_cut"),
        (WORKFLOW, [{"error": {"code": 503, "message": "m"}}], "SERVER/upstream"),
        (GENERATED, [written("hi"), written("", "STOP")], "ok"),
        (GENERATED, [written("hi"), {"delta": {"error": {"message": "m"}}}], "SERVER/upstream"),
        (GENERATED, [written("hi")], "TRANSPORT/stream_cut"),
    ],
)
def test_streams(reader, chunks, verdict):
    assert told(of_chunks(reader, *chunks)) == verdict
