"""The taxonomy is complete, closed, and what the contract says."""

import pytest

from llm_errors.taxonomy import ACCOUNT_BUDGET_REASONS, FINAL_REASONS, HANDLING, REASONS, Availability, ErrorClass, View

C, V, A = ErrorClass, View, Availability
TABLE = {
    C.TRANSPORT: (V.RELIABILITY, A.BAD, True),
    C.TIMEOUT: (V.RELIABILITY, A.BAD, True),
    C.RATE_LIMITED: (V.RELIABILITY, A.BAD, True),
    C.SERVER: (V.RELIABILITY, A.BAD, True),
    C.BAD_REQUEST: (V.CORRECTNESS, A.GOOD, False),
    C.AUTH: (V.CORRECTNESS, A.GOOD, False),
    C.NOT_FOUND: (V.CORRECTNESS, A.GOOD, False),
    C.CALL_BUDGET: (V.CORRECTNESS, A.GOOD, False),
    C.PROMPT_BLOCKED: (V.POLICY, A.LEFT_OUT, False),
    C.OUTPUT_BLOCKED: (V.POLICY, A.LEFT_OUT, False),
    C.TRUNCATED: (V.POLICY, A.GOOD, False),
    C.TOOL_PROTOCOL: (V.CORRECTNESS, A.GOOD, True),
    C.UNKNOWN: (V.REVIEW, A.GOOD, False),
}


def test_every_class_has_exactly_one_handling_rule():
    assert list(HANDLING) == list(ErrorClass)
    assert all(rule.error_class is error_class for error_class, rule in HANDLING.items())


@pytest.mark.parametrize("error_class", ErrorClass)
def test_view_availability_and_retry_of_each_class(error_class):
    rule = HANDLING[error_class]
    assert (rule.view, rule.availability, rule.retryable) == TABLE[error_class]
    assert rule.advice
    assert rule.audience
    assert rule.severity in ("page", "ticket", "info")


def test_only_dead_credentials_and_names_and_outages_page():
    assert {c for c in C if HANDLING[c].severity == "page"} == {
        C.TRANSPORT, C.TIMEOUT, C.RATE_LIMITED, C.SERVER, C.AUTH, C.NOT_FOUND, C.CALL_BUDGET,
    }  # fmt: skip


@pytest.mark.parametrize("error_class", ErrorClass)
def test_reasons_are_a_closed_list_that_ends_in_other(error_class):
    reasons = REASONS[error_class]
    assert len(set(reasons)) == len(reasons)
    assert "other" in reasons


def test_final_reasons_narrow_retryable_classes_only():
    for error_class, reason in FINAL_REASONS:
        assert reason in REASONS[error_class]
        assert HANDLING[error_class].retryable


def test_account_budget_reasons_are_reasons():
    assert set(ACCOUNT_BUDGET_REASONS) < set(REASONS[C.CALL_BUDGET])


def test_a_class_prints_as_its_label_value():
    assert f"{C.AUTH}" == str(C.AUTH) == "AUTH"
