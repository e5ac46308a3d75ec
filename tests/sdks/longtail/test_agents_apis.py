"""letta: agents that a server runs, whose answers tell why their loop stopped. Whole, streamed, and in the background."""

import itertools
import json

import pytest

from llm_errors import classify
from llm_errors.testing.provider import Reply

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
HELLO = [{"role": "user", "content": "hi"}]
SAID = {"message_type": "assistant_message", "id": "m", "date": "2026-01-01T00:00:00Z", "content": "hi"}
USED = {"message_type": "usage_statistics", "prompt_tokens": 3, "completion_tokens": 2}
IDS = map("letta-run-{}".format, itertools.count())


def letta(url, asynchronous, retries=0):
    sdk = pytest.importorskip("letta_client")
    cls = sdk.AsyncLetta if asynchronous else sdk.Letta
    return cls(base_url=url, api_key="k", max_retries=retries, timeout=5.0)


def ask(client):
    return client.agents.messages.create("agent-1", messages=HELLO)


def ask_with_model(client):
    return client.agents.messages.create("agent-1", messages=HELLO, override_model="openai/gpt-5")


def stream(client):
    return client.agents.messages.create("agent-1", messages=HELLO, streaming=True)


def converse(client):
    return client.conversations.messages.create("conv-1", messages=HELLO)


def begin(client):
    return client.agents.messages.create_async("agent-1", messages=HELLO)


def stop(reason="end_turn"):
    return {"message_type": "stop_reason", "stop_reason": reason}


def answer(reason="end_turn"):
    return Reply(json={"messages": [SAID], "stop_reason": stop(reason), "usage": USED})


def sse(*pieces, done=True, **more):
    lines = [line for piece in pieces for line in ("data: " + json.dumps(piece), "")]
    return Reply(sse=[*lines, "data: [DONE]", ""] if done else lines, **more)


def failed(kind):
    return {"message_type": "error_message", "error_type": kind, "message": "m", "run_id": "r"}


@each_way
@pytest.mark.parametrize(
    ("call", "reply"),
    [(ask, answer()), (stream, sse(SAID, stop(), USED)), (converse, sse(SAID, stop(), USED))],
)
def test_an_answer_of_an_agent_is_one_good_call_with_its_facts(play, call, reply, asynchronous):
    seen = play(letta, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", "invoke_agent")
    assert seen.labels["gen_ai.provider.name"] == "letta"
    assert "gen_ai.request.model" not in seen.labels
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2
    assert seen.attributes["gen_ai.response.finish_reasons"] == ("end_turn",)


@each_way
def test_the_model_is_the_one_that_the_request_names(play, asynchronous):
    assert play(letta, ask_with_model, answer(), asynchronous).labels["gen_ai.request.model"] == "openai/gpt-5"


@each_way
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("reason", "verdict"),
    [
        ("requires_approval", "ok"),
        ("tool_rule", "ok"),
        ("cancelled", "ok"),
        ("error", "SERVER/other"),
        ("llm_api_error", "SERVER/upstream"),
        ("invalid_llm_response", "SERVER/model_error"),
        ("invalid_tool_call", "TOOL_PROTOCOL/malformed_call"),
        ("no_tool_call", "TOOL_PROTOCOL/malformed_call"),
        ("max_steps", "CALL_BUDGET/max_turns"),
        ("max_tokens_exceeded", "TRUNCATED/max_tokens"),
        ("insufficient_credits", "CALL_BUDGET/billing"),
        ("context_window_overflow_in_system_prompt", "BAD_REQUEST/context_overflow"),
        ("odd", "UNKNOWN/unrecognised_finish_reason"),
    ],
)
def test_why_the_loop_of_an_agent_stopped(play, reason, verdict, streamed, asynchronous):
    reply = sse(SAID, stop(reason), USED) if streamed else answer(reason)
    seen = play(letta, stream if streamed else ask, reply, asynchronous)
    assert seen.verdict == verdict
    assert seen.channel == (None if verdict == "ok" else "in_band")


@each_way
@pytest.mark.parametrize("call", [ask, stream, converse])
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(401, json={"detail": "Unauthorized"}), "AUTH/invalid_key"),
        (Reply(402, json={"error": "Out of credits"}), "CALL_BUDGET/billing"),
        (Reply(404, json={"detail": "Agent not found"}), "NOT_FOUND/other"),
        (Reply(422, json={"detail": [{"loc": ["body"], "msg": "m", "type": "missing"}]}), "BAD_REQUEST/invalid_parameter"),
        (Reply(429, json={"detail": "m"}, headers={"retry-after": "7"}), "RATE_LIMITED/requests"),
        (Reply(400, json={"error": {"type": "llm_bad_request", "message": "m"}}), "BAD_REQUEST/invalid_parameter"),
        (Reply(402, json={"error": {"type": "llm_insufficient_credits", "message": "m"}}), "CALL_BUDGET/billing"),
        (Reply(403, json={"error": {"type": "bedrock_permission_denied", "message": "m"}}), "AUTH/permission_denied"),
        (Reply(502, json={"error": {"type": "mcp_connection_error", "message": "m"}}), "SERVER/upstream"),
        (Reply(504, json={"error": {"type": "llm_timeout", "message": "m"}}), "TIMEOUT/provider"),
        (Reply(503, text="<html>"), "SERVER/unavailable"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (Reply(action="reset"), "TRANSPORT/disconnected"),
    ],
)  # fmt: skip
def test_what_letta_raises(play, call, reply, verdict, asynchronous):
    seen = play(letta, call, reply, asynchronous)
    assert (seen.verdict, seen.channel) == (verdict, "thrown"), (seen.raised, seen.attributes)


@each_way
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (sse(SAID, failed("llm_timeout"), done=False), "TIMEOUT/provider"),
        (sse(SAID, failed("llm_rate_limit"), stop("llm_api_error")), "RATE_LIMITED/upstream"),
        (sse(SAID, failed("llm_authentication")), "AUTH/invalid_key"),
        (sse(SAID, failed("llm_error")), "SERVER/upstream"),
        (sse(SAID, stop("llm_api_error"), failed("llm_rate_limit")), "RATE_LIMITED/upstream"),
        (sse(SAID, stop("invalid_llm_response"), failed("llm_empty_response")), "SERVER/model_error"),
        (sse(SAID, stop("error"), failed("stream_incomplete")), "SERVER/internal"),
        (
            sse(stop("context_window_overflow_in_system_prompt"), failed("context_window_overflow_in_system_prompt")),
            "BAD_REQUEST/context_overflow",
        ),
        (sse(SAID, failed("internal_error")), "SERVER/internal"),
        (sse(SAID, done=False), "TRANSPORT/stream_cut"),
        (sse(SAID, done=False, action="cut_mid_stream"), "TRANSPORT/disconnected"),
        (sse(done=False), "UNKNOWN/empty_response"),
    ],
)
def test_how_a_stream_of_an_agent_failed(play, reply, verdict, asynchronous):
    seen = play(letta, stream, reply, asynchronous)
    assert (seen.verdict, seen.retryable) == (verdict, False), (seen.raised, seen.attributes)


@each_way
@pytest.mark.parametrize(
    ("reason", "kind", "verdict"),
    [
        ("llm_api_error", "llm_timeout", "TIMEOUT/provider"),
        ("llm_api_error", "llm_rate_limit", "RATE_LIMITED/upstream"),
        ("invalid_llm_response", "llm_empty_response", "SERVER/model_error"),
        ("error", "internal_error", "SERVER/internal"),
    ],
)
def test_an_error_event_after_the_stop_reason(play, reason, kind, verdict, asynchronous):
    lines = [*sse(SAID, stop(reason), done=False).sse, "event: error", "data: " + json.dumps(failed(kind)), ""]
    seen = play(letta, stream, Reply(sse=[*lines, "data: [DONE]", ""]), asynchronous)
    assert (seen.verdict, seen.partial_output) == (verdict, True), (seen.raised, seen.attributes)


@each_way
def test_hidden_retries_of_letta_are_counted(play, asynchronous):
    busy = Reply(429, json={"detail": "m"}, headers={"retry-after-ms": "1"})
    seen = play(lambda url, way: letta(url, way, 2), ask, [busy, Reply(503), answer()], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"RATE_LIMITED": 1, "SERVER": 1})


def test_a_stream_of_an_agent_that_the_application_closes_or_drops_is_cancelled(left, provider):
    with letta(provider([sse(SAID, done=False, action="hang_mid_stream")]).url, False) as client:
        assert left(lambda: stream(client)) == {"cancelled": 2}


def run(status, run_id, **more):
    return Reply(json={"id": run_id, "agent_id": "agent-1", "background": True, "status": status, **more})


@pytest.mark.parametrize(
    ("last", "error_class"),
    [({"stop_reason": "insufficient_credits"}, "CALL_BUDGET"), ({"stop_reason": "error"}, "SERVER"), ({}, "SERVER")],
)
def test_a_run_in_the_background_that_fails_is_counted_once(observed, provider, last, error_class):
    one = next(IDS)
    script = [run("created", one), run("running", one), *[run("failed", one, **last)] * 2]
    with letta(provider(script).url, False) as client:
        begun = begin(client)
        assert [client.runs.retrieve(begun.id).status for _ in range(3)] == ["running", "failed", "failed"]
    assert sum(point.value for _, point in observed.points("llm_calls_total")) == 1
    ((labels, point),) = observed.points("llm_errors_total")
    assert (labels["llm.error.class"], point.value) == (error_class, 1)


async def test_an_async_run_in_the_background_that_succeeds_adds_nothing(observed, provider):
    one = next(IDS)
    script = [run("created", one), run("completed", one, stop_reason="end_turn")]
    async with letta(provider(script).url, True) as client:
        await client.runs.retrieve((await begin(client)).id)
    assert observed.outcomes() == {"ok": 1}
    assert observed.points("llm_errors_total") == []


def test_blocks_and_messages_to_devices_are_no_model_calls(observed, provider):
    with letta(provider([Reply(json={"id": "b", "value": "v", "success": True})]).url, False) as client:
        client.blocks.create(label="l", value="v")
        client.environments.send_message("c", messages=[{"role": "user", "content": "hi"}])
        client.agents.messages.cancel("agent-1")
    assert observed.outcomes() == {}


def test_classify_reads_an_answer_of_an_agent_as_a_plain_dict():
    assert classify(answer("max_steps").json).reason == "max_turns"
    assert classify(answer().json) is None
