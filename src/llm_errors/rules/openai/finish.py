"""Rules for finish reasons of the openai dialect: of OpenAI, compatible servers, and Gemini behind a compatible server."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from llm_errors.rules import google
from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("openai")
_finish = _DIALECT.finish


def _in_both_cases(rows: Iterable[Rule]) -> Iterator[Rule]:
    """Copy Gemini's rules. Google writes the finish reasons in capitals, gateways write some of them in lower case."""
    for row in rows:
        names = frozenset(filter(str.isupper, row.finish))
        if names:
            yield replace(row, finish=names | frozenset(map(str.lower, names)))


_OWN: Final = (
    _finish("length", E.TRUNCATED, "max_tokens",
            "length max_tokens max_output_tokens MAX_TOKENS max_completion_tokens max_length incomplete"
            " out_of_tokens maximum_tokens STOP_REASON_LENGTH max_tokens_exceeded"),
    _finish("length.reasoning", E.TRUNCATED, "reasoning_tokens",
            "length max_tokens max_output_tokens MAX_TOKENS max_completion_tokens max_length incomplete"
            " out_of_tokens maximum_tokens STOP_REASON_LENGTH",
            facts=words("only_reasoning")),
    _finish("window", E.TRUNCATED, "context_window",
            "model_length model_context_window_exceeded context_length_exceeded context_window token_limit"
            " context"),
    # vLLM stops an answer that repeats itself. The others are limits of messages or of time, not of tokens.
    _finish("other", E.TRUNCATED, "other", "repetition max_messages time_limit max_time"),
    # An agent of Letta or orq.ai tells why its loop stopped.
    _finish("agent.steps", E.CALL_BUDGET, "max_turns", "max_steps max_iterations"),
    _finish("agent.credits", E.CALL_BUDGET, "billing", "insufficient_credits"),
    _finish("agent.prompt", E.BAD_REQUEST, "context_overflow", "context_window_overflow_in_system_prompt"),
    _finish("agent.upstream", E.SERVER, "upstream", "llm_api_error"),
    _finish("agent.answer", E.SERVER, "model_error", "invalid_llm_response"),
    # A run of an assistant stops at a limit that the application has set for it.
    _finish("budget", E.CALL_BUDGET, "token_limit", "max_prompt_tokens"),
    _finish("expired", E.TIMEOUT, "provider", "run_expired expired"),
    _finish("filter", E.OUTPUT_BLOCKED, "content_filter",
            "content_filter content_filtered content-filter sensitive"),
    _finish("filter.prompt", E.PROMPT_BLOCKED, "content_filter", "content_filter", facts=words("prompt_filtered")),
    # At GigaChat, the topic of the request is forbidden.
    _finish("blacklist", E.PROMPT_BLOCKED, "blocklist", "blacklist"),
    _finish("toxic", E.OUTPUT_BLOCKED, "safety", "ERROR_TOXIC"),
    _finish("refusal", E.OUTPUT_BLOCKED, "refusal", "refusal"),
    _finish("guardrail", E.OUTPUT_BLOCKED, "guardrail", "guardrail_intervened output_guardrail_triggered"),
    _finish("guardrail.input", E.PROMPT_BLOCKED, "guardrail", "input_guardrail_triggered"),
    _finish("guardrail.traced", E.PROMPT_BLOCKED, "guardrail", "guardrail_intervened", facts=words("input_stage")),
    _finish("malformed_call", E.TOOL_PROTOCOL, "malformed_call", "function_call_filter malformed_tool_use invalid_tool_call no_tool_call"),
    _finish("resource", E.SERVER, "overloaded", "insufficient_system_resource"),
    _finish("network", E.SERVER, "upstream", "network_error"),
    _finish("abort", E.SERVER, "other", "abort aborted cancelled canceled"),
    _finish("error", E.SERVER, "other", "error ERROR failed run_failed", generic=True),
)  # fmt: skip

ROWS: Final = (*_OWN, *_DIALECT.adopt(_in_both_cases(google.FINISH), _OWN))
