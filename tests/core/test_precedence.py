"""What outranks what: the order of evidence, and the settled questions of the taxonomy."""

import pytest

from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.rules._rule import Index, Rule, index

TIMEOUT = (("openai.APITimeoutError", "openai.APIConnectionError"),)
IN_BAND = {"channel": "in_band"}

CASES = [
    # a specific code over everything
    ({"codes": ("insufficient_quota",), "status": 429}, "CALL_BUDGET/insufficient_quota", "code"),
    ({"codes": ("rate_limit_exceeded",), "finish_reason": "error", **IN_BAND}, "RATE_LIMITED/requests", "code"),
    # a generic code below the status
    ({"codes": ("invalid_request_error",), "status": 404}, "NOT_FOUND/other", "status"),
    ({"codes": ("invalid_request_error",), "status": 429}, "RATE_LIMITED/requests", "status"),
    ({"codes": ("invalid_request_error",)}, "BAD_REQUEST/invalid_parameter", "code"),
    ({"codes": ("api_error",), "status": 503}, "SERVER/unavailable", "status"),
    # what the text of a moderated request says of money is no matter of money
    ({"status": 403, "facts": frozenset({"moderation"}), "message": "flagged; no credits were charged"}, "PROMPT_BLOCKED/moderation", "status"),
    # a finish reason over content and status
    ({"finish_reason": "length", "facts": frozenset({"invalid_arguments"}), **IN_BAND}, "TRUNCATED/max_tokens", "finish_reason"),
    ({"finish_reason": "stop", "facts": frozenset({"refusal"}), **IN_BAND}, "OUTPUT_BLOCKED/refusal", "content"),
    ({"finish_reason": "error", "status": 502, "embedded": True, **IN_BAND}, "SERVER/upstream", "status"),
    ({"finish_reason": "error", **IN_BAND}, "SERVER/other", "finish_reason"),
    # unknown finish reasons are failures, and say so
    ({"finish_reason": "weird", "facts": frozenset({"unnatural_finish"}), **IN_BAND}, "UNKNOWN/unrecognised_finish_reason", "finish_reason"),
    # the vendor's most specific code first
    ({"dialect": "google", "codes": ("API_KEY_INVALID", "INVALID_ARGUMENT"), "status": 400}, "AUTH/invalid_key", "code"),
    ({"dialect": "google", "codes": ("FAILED_PRECONDITION",), "status": 400}, "BAD_REQUEST/failed_precondition", "code"),
    ({"dialect": "anthropic", "codes": ("contract_spend_limit_reached", "rate_limit_error"), "status": 429}, "CALL_BUDGET/spend_limit", "code"),
    # root causes over wrappers
    ({"exceptions": TIMEOUT}, "TIMEOUT/other", "exception"),
    ({"exceptions": (*TIMEOUT, ("httpx.ConnectTimeout", "httpx.TimeoutException"), ("aiohttp.ClientConnectorError",))}, "TRANSPORT/other", "exception"),
    ({"exceptions": (*TIMEOUT, ("httpx.ReadTimeout", "httpx.TimeoutException"), ("builtins.TimeoutError",))}, "TIMEOUT/read", "exception"),
    ({"exceptions": (("openai.APIConnectionError",), ("app.TaskLimit",))}, "UNKNOWN/foreign_exception", "exception"),
    ({"exceptions": (("openai.APIError",),)}, "UNKNOWN/unrecognised_error", "exception"),
    ({"exceptions": (("app.Odd",),)}, "UNKNOWN/foreign_exception", "exception"),
    # statuses
    ({"status": 418, "exceptions": (("openai.APIStatusError",),)}, "UNKNOWN/unrecognised_error", "exception"),
    ({"status": 418}, "UNKNOWN/unrecognised_error", "exception"),
    ({"status": 504}, "SERVER/deadline_exceeded", "status"),
    ({"status": 599}, "SERVER/other", "status"),
    ({"status": 521}, "SERVER/gateway", "status"),
    ({"embedded": True, **IN_BAND}, "UNKNOWN/unexpected_body", "content"),
    (IN_BAND, "UNKNOWN/other", "content"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted", "kind"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_precedence(given, wanted, kind):
    verdict = decide(Evidence(**{"dialect": "openai", **given}))
    assert (f"{verdict.error_class}/{verdict.reason}", verdict.evidence) == (wanted, kind)


def test_partial_output_is_never_retryable():
    assert decide(Evidence(status=503)).retryable
    assert not decide(Evidence(status=503), partial_output=True).retryable
    assert not decide(Evidence(status=503, partial_output=True)).retryable


def test_a_wait_on_a_402_makes_it_retryable():
    assert not decide(Evidence(status=402)).retryable
    assert decide(Evidence(status=402, retry_after=30.0)).retryable


def test_a_final_reason_is_not_retryable():
    spent = Evidence(dialect="google", status=429, codes=("RESOURCE_EXHAUSTED",), facts=frozenset({"quota_per_day"}))
    assert (decide(spent).reason, decide(spent).retryable) == ("daily_quota", False)


def own_rules(**conditions) -> Index:
    return index([Rule("own.row", **conditions)])


def test_the_users_own_row_outranks_ours():
    own = own_rules(error_class=decide(Evidence(status=401)).error_class, reason="expired", status=frozenset({429}))
    assert decide(Evidence(dialect="openai", status=429, codes=("insufficient_quota",)), own=own).rule == "own.row"


def test_the_users_own_row_can_declare_a_call_healthy():
    own = own_rules(error_class=None, reason="", facts=frozenset({"no_end"}))
    assert decide(Evidence(channel="in_band", facts=frozenset({"no_end"})), own=own) is None


def test_ours_decide_where_the_users_own_do_not_hold():
    own = own_rules(error_class=None, reason="", providers=frozenset({"ollama"}), facts=frozenset({"no_end"}))
    assert decide(Evidence(channel="in_band", facts=frozenset({"no_end"})), own=own).reason == "stream_cut"


def test_a_row_may_ask_for_a_type_alone():
    own = own_rules(
        error_class=decide(Evidence(status=401)).error_class, reason="expired", types=frozenset({"odd_type"})
    )
    assert decide(Evidence(status=400, codes=("some_code", "odd_type")), own=own).rule == "own.row"


def test_the_raw_code_is_the_one_that_decided():
    evidence = Evidence(dialect="openai", status=429, codes=("odd\x07" + "x" * 99, "insufficient_quota"))
    assert decide(evidence).code == "insufficient_quota"
    assert decide(Evidence(dialect="openai", status=418, codes=("odd\x07" + "x" * 99,))).code == "odd" + "x" * 60
    assert decide(Evidence(dialect="google", block_reason="SAFETY")).code == "SAFETY"
