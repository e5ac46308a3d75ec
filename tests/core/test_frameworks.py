"""Exceptions of agent frameworks, decided by their class and, where one class means several things, by their words."""

import pytest

from llm_errors import classify


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
