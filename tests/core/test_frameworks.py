"""Exceptions of agent frameworks, decided by their class and, where one class means several things, by their words."""

import time
from typing import Any

import pytest

from llm_errors import classify
from llm_errors.classify import decide
from llm_errors.extract.claude_agent import MessagesOfQuery, begins, is_interrupted


def raised(name: str, text: str = "", base: type[Exception] = RuntimeError, module: str = "framework") -> Exception:
    return type(name, (base,), {"__module__": module})(text)


@pytest.mark.parametrize(
    ("name", "text", "verdict"),
    [
        ("MaxTurnsExceeded", "Max turns (2) exceeded", ("CALL_BUDGET", "max_turns")),
        ("InputGuardrailTripwireTriggered", "", ("PROMPT_BLOCKED", "guardrail")),
        ("ToolOutputGuardrailTripwireTriggered", "", ("PROMPT_BLOCKED", "guardrail")),
        ("OutputGuardrailTripwireTriggered", "", ("OUTPUT_BLOCKED", "guardrail")),
        ("ToolInputGuardrailTripwireTriggered", "", ("OUTPUT_BLOCKED", "guardrail")),
        ("ModelBehaviorError", "Invalid JSON when parsing", ("TOOL_PROTOCOL", "schema_mismatch")),
        ("ModelBehaviorError", "Tool x not found in agent y", ("TOOL_PROTOCOL", "unexpected_call")),
        ("UsageLimitExceeded", "would exceed the request_limit of 5", ("CALL_BUDGET", "max_llm_calls")),
        ("UsageLimitExceeded", "would exceed the tool_calls_limit of 5", ("CALL_BUDGET", "other")),
        ("UsageLimitExceeded", "Exceeded the total_tokens_limit of 5", ("CALL_BUDGET", "token_limit")),
        ("UnexpectedModelBehavior", "Exceeded maximum output retries (1)", ("TOOL_PROTOCOL", "schema_mismatch")),
        ("GraphRecursionError", "Recursion limit of 5 reached", ("CALL_BUDGET", "max_turns")),
        ("ModelCallLimitExceededError", "", ("CALL_BUDGET", "max_llm_calls")),
        ("ToolCallLimitExceededError", "", ("CALL_BUDGET", "other")),
        ("OutputParserException", "Invalid json output", ("TOOL_PROTOCOL", "schema_mismatch")),
    ],
)
def test_an_exception_of_a_framework_is_decided(name, text, verdict):
    found = classify(raised(name, text))
    assert found is not None
    assert (found.error_class.value, found.reason) == verdict
    assert found.message == ""


def test_a_subclass_says_more_than_its_base():
    base = type("UnexpectedModelBehavior", (RuntimeError,), {"__module__": "pydantic_ai"})
    cut, filtered = raised("OutputTokenLimitExceeded", base=base), raised("ContentFilterError", base=base)
    assert [classify(e).error_class.value for e in (cut, filtered)] == ["TRUNCATED", "OUTPUT_BLOCKED"]


# --- the messages of claude-agent-sdk ---


def result(subtype: str = "success", **more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": subtype, "num_turns": 1, "is_error": subtype != "success", **more}


def said(error: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"model": "claude", "content": []}, "error": error, **more}


def rejected(**more: Any) -> dict[str, Any]:
    return {"rate_limit_info": {"status": "rejected", **more}}


def of(*messages: Any) -> Any:
    chunks = MessagesOfQuery().chunks()
    for message in messages:
        chunks.chunk(message)
    return chunks.end()


def verdict(answer: Any) -> str:
    found = None if answer.suspicion is None else decide(answer.suspicion)
    return "healthy" if found is None else f"{found.error_class.value}/{found.reason}"


BODY = 'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}'


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([said(), result()], "healthy"),
        ([said(), result(stop_reason="end_turn")], "healthy"),
        ([said(), result(stop_reason="max_tokens")], "TRUNCATED/max_tokens"),
        ([said()], "TRANSPORT/stream_cut"),
        ([result("error_max_turns")], "CALL_BUDGET/max_turns"),
        ([result("error_max_budget_usd")], "CALL_BUDGET/other"),
        ([result("error_max_structured_output_retries")], "TOOL_PROTOCOL/schema_mismatch"),
        ([said("rate_limit"), result(is_error=True)], "RATE_LIMITED/requests"),
        ([said("rate_limit"), said(), result()], "healthy"),
        ([rejected(), result(is_error=True)], "RATE_LIMITED/requests"),
        ([{"rate_limit_info": {"status": "allowed"}}, result()], "healthy"),
        ([said("rate_limit", parent_tool_use_id="t"), result(is_error=True)], "UNKNOWN/unexpected_body"),
        ([{"type": "user", "message": {"content": "hi"}}, result()], "healthy"),
        ([result(is_error=True, api_error_status=529)], "SERVER/overloaded"),
        ([result(is_error=True, result=BODY)], "BAD_REQUEST/context_overflow"),
        ([result("error_during_execution", errors=[BODY])], "BAD_REQUEST/context_overflow"),
    ],
)
def test_the_messages_of_a_query_tell_its_class(messages, expected):
    assert verdict(of(*messages)) == expected


def test_the_wait_until_a_limit_resets_is_told_if_it_is_short():
    now = time.time()
    waits = [of(rejected(resetsAt=int(now + s)), result(is_error=True)).suspicion.retry_after for s in (600, 7200, -5)]
    assert 500 < waits[0] <= 600
    assert waits[1:] == [None, 0.0]


def test_the_model_is_that_of_an_answer_and_not_of_an_error():
    synthetic = said("rate_limit")
    synthetic["message"]["model"] = "<synthetic>"
    assert of(said(), synthetic, result()).model == "claude"


def test_an_interrupted_query_is_told_apart():
    assert is_interrupted({"terminal_reason": "aborted_tools"})
    assert not is_interrupted(result())


@pytest.mark.parametrize(
    ("message", "belongs"),
    [
        (said(), True),
        (result(), True),
        ({"subtype": "init", "data": {}}, True),
        ({"event": {"type": "message_start"}}, True),
        ({"subtype": "hook_started"}, False),
        ({"subtype": "task_updated", "patch": {}}, False),
        (rejected(), False),
    ],
)
def test_a_message_after_a_result_that_belongs_to_the_next_query(message, belongs):
    assert begins(message) is belongs


def test_classify_reads_a_result_message_and_the_exception_that_carries_one():
    error = raised("ResultError", "exit code 1", module="claude_agent_sdk._errors")
    error.data = result("error_max_turns")
    assert [classify(f).reason for f in (result("error_max_turns"), error)] == ["max_turns", "max_turns"]
    assert [classify(f).channel for f in (result("error_max_turns"), error)] == ["in_band", "thrown"]
    error.data = result()
    assert classify(error).error_class.value == "UNKNOWN"
