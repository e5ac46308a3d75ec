"""The drop-in for praisonaiagents' classifier, against its documented statuses, classes and 400 refinements."""

import dataclasses
import socket
import warnings
from typing import Any

import pytest

from llm_errors.recovery import praison
from tests.recovery.failures import CallError, Response, named, with_code, with_status

OVERLOADED = (
    "ConflictError InternalServerError APIConnectionError APITimeoutError OverloadedError"
    " ServiceUnavailableError TimeoutError ConnectionError ConnectError ConnectTimeout ReadTimeout"
)
CALL: dict[str, Any] = {"provider": "openai", "model": "m"}

# What both say, in its own terms: error_category, is_retryable, compress, rotate, fall back.
SAME = [
    (with_status(401), ("auth", False, False, True, False)),
    (with_status(403), ("auth", False, False, True, False)),
    (with_status(404), ("model_error", False, False, False, False)),
    (with_status(422), ("model_error", False, False, False, False)),
    (with_status(400), ("model_error", False, False, False, False)),
    (with_status(402), ("permanent", False, False, False, False)),
    *((with_status(s), ("overloaded", True, False, False, True)) for s in (408, 500, 502, 503, 504, 529)),
    (with_status(413), ("context_overflow", True, True, False, False)),
    (with_status(429), ("rate_limit", True, False, False, False)),
    (CallError(http_status=429), ("rate_limit", True, False, False, False)),
    (CallError(code=429), ("rate_limit", True, False, False, False)),
    (CallError(response=Response(429)), ("rate_limit", True, False, False, False)),
    (named("RateLimitError"), ("rate_limit", True, False, False, False)),
    (named("AuthenticationError"), ("auth", False, False, True, False)),
    (named("PermissionDeniedError"), ("auth", False, False, True, False)),
    (named("BadRequestError"), ("model_error", False, False, False, False)),
    (named("NotFoundError"), ("model_error", False, False, False, False)),
    (named("UnprocessableEntityError"), ("model_error", False, False, False, False)),
    *((named(name), ("overloaded", True, False, False, True)) for name in OVERLOADED.split()),
    (named("ContextWindowExceededError"), ("context_overflow", True, True, False, False)),
    (named("BudgetExceededError"), ("permanent", False, False, False, False)),
    (with_status(400, "maximum context length is 9"), ("context_overflow", True, True, False, False)),
    (with_status(400, "Invalid API key"), ("auth", False, False, True, False)),
    (with_status(422, "maximum context length is 9"), ("model_error", False, False, False, False)),
]

# Where we differ on purpose: the failure, its category, ours, and why.
DIFFERENT = [
    (
        CallError("anything"),
        ("permanent", False),
        ("unknown", False),
        "what nobody has named is not declared permanent",
    ),
    (
        with_code(429, "insufficient_quota"),
        ("rate_limit", True),
        ("permanent", False),
        "a dead account does not recover",
    ),
    (
        named("ContentPolicyViolationError"),
        ("model_error", False),
        ("permanent", False),
        "a block is the policy's verdict, not a wrong request",
    ),
    (with_status(409), ("permanent", False), ("overloaded", True), "a conflict passes"),
    (named("ReadError", base=CallError), ("permanent", False), ("unknown", False), "an unknown name proves nothing"),
    (OSError("x"), ("permanent", False), ("unknown", False), "a file error is no network error"),
    (
        socket.gaierror("x"),
        ("permanent", False),
        ("overloaded", True),
        "a name that does not resolve now may do so later",
    ),
    (CallError("you sent 500 tokens"), ("overloaded", True), ("unknown", False), "a number in a text is no status"),
    (CallError("id 4290"), ("rate_limit", True), ("unknown", False), "a number in a text is no status"),
    (
        with_status(400, "missing authorization field"),
        ("auth", False),
        ("model_error", False),
        "not an anchored phrase",
    ),
    (
        with_status(400, "API key not valid."),
        ("model_error", False),
        ("auth", False),
        "Gemini's wording for a wrong key",
    ),
    (with_code(400, "context_length_exceeded"), ("model_error", False), ("context_overflow", True), "the code says it"),
]


@pytest.mark.parametrize(("failure", "expected"), SAME)
def test_documented_statuses_classes_and_refinements(failure: Exception, expected: tuple[Any, ...]) -> None:
    advice = praison.classify_llm_error(failure, **CALL)
    assert dataclasses.astuple(advice)[:5] == expected


@pytest.mark.parametrize(("failure", "theirs", "ours", "why"), DIFFERENT)
def test_differences_on_purpose(failure: Exception, theirs: tuple[str, bool], ours: tuple[str, bool], why: str) -> None:
    advice = praison.classify_llm_error(failure, **CALL)
    assert (advice.error_category, advice.is_retryable) == ours, why


def test_retry_depth_counts_from_zero() -> None:
    depths = [praison.classify_llm_error(with_status(503), **CALL, retry_depth=d).is_retryable for d in range(4)]
    assert depths == [True, True, True, False]


def test_sizes_are_used_and_zero_means_unknown() -> None:
    over = praison.classify_llm_error(with_status(400), **CALL, prompt_tokens=10, context_length=9)
    unknown = praison.classify_llm_error(with_status(400), **CALL, prompt_tokens=10)
    assert (over.error_category, unknown.error_category) == ("context_overflow", "model_error")


class TestBesideTheRealPackage:
    """The same tables, asked of the package itself, so that a change of its behaviour is noticed."""

    @pytest.fixture
    def theirs(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        monkeypatch.setattr(warnings, "warn", warnings.warn)  # praisonaiagents replaces it for the whole process
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pytest.importorskip("praisonaiagents.llm.error_classifier")

    def test_the_fields_are_the_same(self, theirs: Any) -> None:
        def fields(cls: Any) -> list[str]:
            return [f.name for f in dataclasses.fields(cls)]

        assert fields(praison.LLMErrorClassification) == fields(theirs.LLMErrorClassification)

    @pytest.mark.parametrize(("failure", "expected"), SAME)
    def test_it_agrees(self, theirs: Any, failure: Exception, expected: tuple[Any, ...]) -> None:
        assert dataclasses.astuple(theirs.classify_llm_error(failure, **CALL))[:5] == expected

    @pytest.mark.parametrize(("failure", "expected", "ours", "why"), DIFFERENT)
    def test_it_differs(
        self, theirs: Any, failure: Exception, expected: tuple[str, bool], ours: tuple[str, bool], why: str
    ) -> None:
        advice = theirs.classify_llm_error(failure, **CALL)
        assert (advice.error_category, advice.is_retryable) == expected
