"""What `plan` says, statement by statement."""

import asyncio
import dataclasses
from typing import Any

import pytest

from llm_errors import HANDLING, Classification, ErrorClass, classify
from llm_errors.recovery import CATEGORIES, KINDS, plan
from llm_errors.recovery import plan as make_plan
from llm_errors.taxonomy import REASONS
from tests.recovery.failures import CallError, Response, named, with_code, with_status


def no_jitter() -> float:
    return 0.5


# --- which category a failure is of --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attributes",
    [
        {"status_code": 429},
        {"http_status": 429},
        {"status": 429},
        {"code": 429},
        {"response": Response(429)},
        {"status_code": 429, "http_status": 401},
        {"http_status": 429, "status": 401},
        {"status": 429, "code": 401},
        {"code": 429, "response": Response(401)},
        {"status_code": None, "code": 429},
        {"status_code": "401", "status": 429},
        {"status_code": True, "status": 429},
        {"status_code": 0, "status": 429},
        {"code": "some_code", "response": Response(429)},
    ],
)
def test_a_status_is_taken_from_the_first_of_its_five_sources(attributes: dict[str, Any]) -> None:
    assert plan(CallError(**attributes), provider="openai", model="m", attempt=1).category == "rate_limit"


STATUSES = {
    "auth": (401, 403),
    "model_error": (400, 404, 422),
    "overloaded": (408, 409, 500, 502, 503, 504, 529),
    "context_overflow": (413,),
    "rate_limit": (429,),
    "permanent": (402,),
    "unknown": (418, 499),
}


@pytest.mark.parametrize(("category", "status"), [(c, s) for c, group in STATUSES.items() for s in group])
def test_category_by_status(category: str, status: int) -> None:
    assert plan(with_status(status), provider="p", model="m", attempt=1).category == category


NAMES = {
    "rate_limit": "RateLimitError",
    "auth": "AuthenticationError PermissionDeniedError",
    "model_error": "BadRequestError NotFoundError UnprocessableEntityError",
    "overloaded": "ConflictError InternalServerError APIConnectionError APITimeoutError OverloadedError"
    " ServiceUnavailableError TimeoutError ConnectionError ConnectError ConnectTimeout ReadTimeout",
    "context_overflow": "ContextWindowExceededError",
    "permanent": "BudgetExceededError ContentPolicyViolationError LlmCallsLimitExceededError MaxTurnsExceeded"
    " UsageLimitExceeded GraphRecursionError ModelCallLimitExceededError",
}


@pytest.mark.parametrize(("category", "name"), [(c, n) for c, names in NAMES.items() for n in names.split()])
def test_category_by_class_name_without_the_sdk(category: str, name: str) -> None:
    assert plan(named(name), provider="p", model="m", attempt=1).category == category


@pytest.mark.parametrize(("category", "name"), [(c, n) for c, names in NAMES.items() for n in names.split()])
def test_a_class_name_counts_along_the_mro(category: str, name: str) -> None:
    base = type(named(name))
    assert plan(named("MyOwnError", base=base), provider="p", model="m", attempt=1).category == category


@pytest.mark.parametrize(
    ("failure", "category"),
    [
        (with_code(400, "context_length_exceeded"), "context_overflow"),
        (with_code(400, "invalid_api_key"), "auth"),
        (with_code(400, "unknown_parameter", "no field maximum_context_length"), "model_error"),
        (with_code(400, "unknown_parameter", "The field 'invalid api key' is not known"), "model_error"),
        (with_status(400, "This model's maximum context length is 4096 tokens."), "context_overflow"),
        (with_status(400, "Incorrect API key provided."), "auth"),
        (with_status(400, "API key not valid. Please pass a valid key."), "auth"),
        (with_status(400, "some field is wrong"), "model_error"),
        (with_status(400), "model_error"),
        (with_status(422, "This model's maximum context length is 4096 tokens."), "model_error"),
        (with_status(418, "This model's maximum context length is 4096 tokens."), "unknown"),
    ],
)
def test_only_a_400_is_refined_by_code_first_and_anchored_text_last(failure: CallError, category: str) -> None:
    assert plan(failure, provider="openai", model="m", attempt=1).category == category


@pytest.mark.parametrize(
    ("failure", "category", "reason"),
    [
        (with_code(429, "insufficient_quota"), "permanent", "insufficient_quota"),
        (with_code(400, "content_filter"), "permanent", "content_filter"),
        (with_code(400, "tool_use_failed"), "model_error", "malformed_call"),
        (with_code(404, "insufficient_quota"), "permanent", "insufficient_quota"),
        (named("RateLimitError", status_code=503), "overloaded", "unavailable"),
        (named("ContextWindowExceededError", status_code=400), "context_overflow", "context_overflow"),
        (named("BudgetExceededError", status_code=422), "permanent", "spend_limit"),
        (named("ContentPolicyViolationError", status_code=400), "permanent", "content_filter"),
        (named("RateLimitError", status_code=418), "rate_limit", "other"),
    ],
)
def test_more_specific_evidence_outranks_the_tables(failure: Exception, category: str, reason: str) -> None:
    advice = plan(failure, provider="openai", model="m", attempt=1)
    assert (advice.category, advice.reason) == (category, reason)


def test_a_foreign_exception_wrapped_as_a_connection_error_is_unknown() -> None:
    wrapper = named("APIConnectionError")
    wrapper.__cause__ = CallError("a limit of the application's own")
    assert plan(wrapper, provider="openai", model="m", attempt=1).category == "unknown"


def test_a_known_name_behind_an_unknown_wrapper_counts() -> None:
    wrapper = CallError("the framework failed")
    wrapper.__cause__ = named("RateLimitError")
    assert plan(wrapper, provider="openai", model="m", attempt=1).category == "rate_limit"


def test_a_prompt_larger_than_the_limit_explains_a_bare_400() -> None:
    advice = plan(with_status(400), provider="p", model="m", attempt=1, prompt_tokens=5000, context_length=4096)
    assert (advice.category, advice.reason) == ("context_overflow", "context_overflow")


def test_a_prompt_within_the_limit_explains_nothing() -> None:
    advice = plan(with_status(400), provider="p", model="m", attempt=1, prompt_tokens=500, context_length=4096)
    assert advice.category == "model_error"


@pytest.mark.parametrize("error_class", list(ErrorClass))
def test_every_class_and_reason_has_a_category_a_kind_and_a_message(error_class: ErrorClass) -> None:
    for reason in REASONS[error_class]:
        verdict = Classification(error_class, reason, "thrown", "code", "test.row")
        advice = plan(verdict, provider="p", model="m", attempt=1)
        assert advice.category in CATEGORIES
        assert advice.kind in KINDS
        assert advice.user_message.endswith(".")
        assert (advice.error_class, advice.reason) == (error_class, reason)


@pytest.mark.parametrize("error_class", [ErrorClass.PROMPT_BLOCKED, ErrorClass.OUTPUT_BLOCKED, ErrorClass.CALL_BUDGET])
def test_blocks_dead_accounts_and_run_limits_are_permanent(error_class: ErrorClass) -> None:
    for reason in REASONS[error_class]:
        verdict = Classification(error_class, reason, "thrown", "code", "test.row")
        advice = plan(verdict, provider="p", model="m", attempt=1)
        assert (advice.category, advice.is_retryable) == ("permanent", False)


KIND_BY_FAILURE = [
    (with_status(429), "rate_limit"),
    (with_status(503), "overloaded"),
    (with_status(408), "idle_timeout"),
    (named("ReadTimeout"), "idle_timeout"),
    (with_status(401), "auth"),
    (with_status(403), "auth"),
    (with_code(401, "invalid_api_key"), "auth_permanent"),
    (with_code(401, "expired_api_key"), "auth"),
    (with_status(404), "model_not_found"),
    (with_status(422), "format_error"),
    (with_status(413), "context_overflow"),
    (with_status(402), "billing"),
    (with_code(429, "insufficient_quota"), "billing"),
    ({"choices": [{"finish_reason": "stop", "message": {"content": ""}}]}, "empty_response"),
    (named("MaxTurnsExceeded"), "unknown"),
    (CallError("anything"), "unknown"),
]


@pytest.mark.parametrize(("failure", "kind"), KIND_BY_FAILURE)
def test_kind(failure: Any, kind: str) -> None:
    assert plan(failure, provider="openai", model="m", attempt=1).kind == kind


def test_every_kind_is_reached() -> None:
    assert {kind for _, kind in KIND_BY_FAILURE} == set(KINDS)


# --- what may be retried -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error_class", list(ErrorClass))
def test_retryable_is_what_the_handling_rule_says(error_class: ErrorClass) -> None:
    retryable = HANDLING[error_class].retryable
    verdict = Classification(error_class, "other", "thrown", "code", "test.row", retryable=retryable)
    assert plan(verdict, provider="p", model="m", attempt=1).is_retryable is retryable


@pytest.mark.parametrize(("attempt", "retryable"), [(1, True), (2, True), (3, True), (4, False), (9, False)])
def test_three_retries_by_default(attempt: int, retryable: bool) -> None:
    assert plan(with_status(503), provider="p", model="m", attempt=attempt).is_retryable is retryable


@pytest.mark.parametrize("status", [413, 429, 503])
def test_a_depth_of_zero_disables_retries(status: int) -> None:
    assert not plan(with_status(status), provider="p", model="m", attempt=1, max_retries=0).is_retryable


def test_another_depth() -> None:
    assert plan(with_status(503), provider="p", model="m", attempt=5, max_retries=5).is_retryable
    assert not plan(with_status(503), provider="p", model="m", attempt=6, max_retries=5).is_retryable


@pytest.mark.parametrize("status", [413, 429, 503])
def test_nothing_is_retried_after_partial_output(status: int) -> None:
    advice = plan(with_status(status), provider="p", model="m", attempt=1, partial_output=True)
    assert (advice.is_retryable, advice.backoff_seconds) == (False, 0.0)


@pytest.mark.parametrize("failure", [named("RateLimitError"), with_status(413), {"error": {"code": 502}}])
def test_partial_output_also_counts_where_only_the_name_or_an_answer_is_known(failure: Any) -> None:
    assert not plan(failure, provider="p", model="m", attempt=1, partial_output=True).is_retryable


def test_partial_output_counts_for_a_classification_too() -> None:
    verdict = classify(with_status(503))
    assert verdict is not None
    assert plan(verdict, provider="p", model="m", attempt=1).is_retryable
    assert not plan(verdict, provider="p", model="m", attempt=1, partial_output=True).is_retryable


def test_unknown_is_not_retried_where_praisonaiagents_would_retry() -> None:
    advice = plan(CallError("anything"), provider="p", model="m", attempt=1)
    assert (advice.category, advice.is_retryable, advice.backoff_seconds) == ("unknown", False, 0.0)


def test_context_overflow_is_retryable_once_together_with_compression() -> None:
    failure = with_code(400, "context_length_exceeded")
    first = plan(failure, provider="openai", model="m", attempt=1)
    second = plan(failure, provider="openai", model="m", attempt=2)
    assert (first.is_retryable, first.should_compress_context) == (True, True)
    assert (second.is_retryable, second.should_compress_context) == (False, False)


def test_an_overflow_after_other_failures_may_still_be_compressed_once() -> None:
    failure = with_code(400, "context_length_exceeded")
    fresh = plan(failure, provider="openai", model="m", attempt=2, repaired=False)
    done = plan(failure, provider="openai", model="m", attempt=1, repaired=True)
    assert (fresh.is_retryable, fresh.should_compress_context) == (True, True)
    assert (done.is_retryable, done.should_compress_context) == (False, False)


def test_a_broken_tool_call_is_asked_again_once() -> None:
    failure = with_code(400, "tool_use_failed")
    assert plan(failure, provider="x_ai", model="m", attempt=1).is_retryable
    assert not plan(failure, provider="x_ai", model="m", attempt=2).is_retryable


@pytest.mark.parametrize(
    ("prompt", "limit", "target"),
    [(None, 1000, 700), (5000, 1000, 700), (800, 1000, 560), (800, None, 560), (None, None, None), (0, 0, None)],
)
def test_the_prompt_is_compressed_to_70_percent(prompt: int | None, limit: int | None, target: int | None) -> None:
    failure = with_code(400, "context_length_exceeded")
    advice = plan(failure, provider="p", model="m", attempt=1, prompt_tokens=prompt, context_length=limit)
    assert advice.compress_to_tokens == target


def test_only_an_overflow_has_a_compression_target() -> None:
    advice = plan(with_status(503), provider="p", model="m", attempt=1, prompt_tokens=9, context_length=10)
    assert (advice.should_compress_context, advice.compress_to_tokens) == (False, None)


# --- what to change ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "rotate"),
    [
        (with_status(401), True),
        (with_status(403), True),
        (with_code(403, "unsupported_country_region_territory"), False),
        (with_status(429), False),
        (with_status(402), False),
    ],
)
def test_a_credential_is_rotated_where_another_one_could_help(failure: CallError, rotate: bool) -> None:
    assert plan(failure, provider="openai", model="m", attempt=1).should_rotate_credential is rotate


@pytest.mark.parametrize(
    ("failure", "fall_back"),
    [
        (with_status(503), True),
        (named("ReadTimeout"), True),
        (with_status(429), False),
        (with_code(429, "tokens_per_day"), True),
        (with_status(404), False),
        (with_status(401), False),
    ],
)
def test_another_model_is_tried_where_this_one_is_in_trouble(failure: CallError, fall_back: bool) -> None:
    assert plan(failure, provider="openai", model="m", attempt=1).should_fallback_model is fall_back


@pytest.mark.parametrize(
    ("attempt", "more", "wanted"),
    [
        (4, {}, True),
        (5, {}, False),
        (100, {}, False),
        (5, {"fallbacks": 2}, True),
        (6, {"fallbacks": 2}, False),
        (1, {"fallbacks": 0}, False),
        (1, {"max_retries": 0}, True),
        (2, {"max_retries": 0}, False),
    ],
)
def test_advice_ends_with_the_retries_and_the_models_to_fall_back_to(attempt: int, more: Any, wanted: bool) -> None:
    assert plan(with_status(503), provider="p", model="m", attempt=attempt, **more).should_fallback_model is wanted


@pytest.mark.parametrize("failure", [with_status(503), with_status(401), with_status(413), with_status(429)])
def test_after_a_hundred_attempts_nothing_is_advised(failure: CallError) -> None:
    advice = plan(failure, provider="openai", model="m", attempt=100, repaired=False)
    assert not advice.is_retryable
    assert not advice.should_fallback_model
    assert not advice.should_rotate_credential
    assert not advice.should_compress_context


def test_a_busy_budget_with_an_explicit_wait_is_a_rate_limit() -> None:
    advice = plan(with_status(402, retry_after=5), provider="p", model="m", attempt=1)
    assert (advice.category, advice.is_retryable, advice.backoff_seconds) == ("rate_limit", True, 5.0)


def test_the_user_message_reveals_nothing() -> None:
    secret = "sk-live-abcdef123456 acme-gateway gpt-9"
    for status in (400, 401, 402, 404, 413, 429, 500):
        advice = plan(with_status(status, secret), provider="acme", model="gpt-9", attempt=1)
        assert not {"acme", "gpt", "sk-live", str(status)} & set(advice.user_message.lower().replace("-", " ").split())


# --- what it is given ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "nothing",
    [None, {"choices": [{"finish_reason": "stop", "message": {"content": "hi"}}]}, asyncio.CancelledError()],
)
def test_no_failure_means_no_action(nothing: Any) -> None:
    advice = plan(nothing, provider="openai", model="m", attempt=1)
    assert (advice.error_class, advice.category, advice.is_retryable) == (None, "unknown", False)


def test_a_dictionary_is_read_like_an_answer() -> None:
    advice = plan({"error": {"code": 429, "message": "busy"}}, provider="openai", model="m", attempt=1)
    assert advice.category == "rate_limit"


@pytest.mark.parametrize(
    ("given", "kind"), [("gemini", "auth_permanent"), ("google", "auth_permanent"), ("vertex_ai", "auth_permanent")]
)
def test_providers_are_known_under_their_usual_names(given: str, kind: str) -> None:
    body = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}
    assert plan(CallError(status_code=400, body=body), provider=given, model="m", attempt=1).kind == kind


def test_a_hostile_exception_does_not_disturb_the_advice() -> None:
    class HostileError(Exception):
        @property
        def response(self) -> Any:
            raise RuntimeError

        def __str__(self) -> str:
            raise RuntimeError

    hostile = HostileError()
    hostile.status_code = 400  # type: ignore[attr-defined]
    assert plan(hostile, provider="p", model="m", attempt=1).category == "model_error"


def test_a_plan_says_what_it_is_about_and_cannot_be_changed() -> None:
    advice = make_plan(with_status(503), provider="p", model="m", attempt=2, random=no_jitter)
    assert (advice.provider, advice.model, advice.attempt) == ("p", "m", 2)
    assert advice.classification is not None
    with pytest.raises(dataclasses.FrozenInstanceError):
        advice.attempt = 3  # type: ignore[misc]
