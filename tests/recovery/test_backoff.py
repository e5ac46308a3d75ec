"""How long to wait: what the provider says, and without it."""

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_errors.recovery import base_delay, delay, plan
from llm_errors.recovery.hints import in_text, wait_asked_for
from tests.recovery.failures import CallError, Response, with_status


def wait(failure: Any, **more: Any) -> float:
    return plan(
        failure, **{"provider": "openai", "model": "m", "attempt": 1, "random": lambda: 0.5, **more}
    ).backoff_seconds


# --- without a hint ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "seconds"),
    [
        ("openai", 60),
        ("OpenAI", 60),
        ("anthropic", 20),
        ("azure", 45),
        ("azure.ai.openai", 45),
        ("azure_openai", 45),
        ("gcp.gemini", 30),
        ("", 30),
    ],
)
def test_base_delay_of_a_rate_limit(provider: str, seconds: float) -> None:
    assert wait(with_status(429), provider=provider) == seconds


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 529])
def test_base_delay_of_an_unavailable_provider(status: int) -> None:
    assert wait(with_status(status)) == 15


@pytest.mark.parametrize("category", ["context_overflow", "auth", "model_error", "permanent", "unknown"])
def test_waiting_cures_nothing_else(category: str) -> None:
    assert base_delay(category, "openai") == 0


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 10), (2, 20), (3, 40), (4, 80), (0, 10), (-5, 10)])
def test_the_delay_doubles_with_every_attempt(attempt: int, seconds: float) -> None:
    assert delay(attempt, 10, random=lambda: 0.5) == seconds


@pytest.mark.parametrize(("random", "seconds"), [(0.0, 5), (0.5, 10), (1.0, 15)])
def test_the_jitter_is_half_of_the_delay_both_ways(random: float, seconds: float) -> None:
    assert delay(1, 10, random=lambda: random) == seconds


@given(st.integers(-10, 10_000), st.floats(0, 1e6), st.floats(0, 1000), st.floats(0, 1))
def test_the_jitter_never_lifts_a_wait_above_the_cap_as_it_does_in_praisonaiagents(
    attempt: int, base: float, cap: float, random: float
) -> None:
    assert 0 <= delay(attempt, base, cap=cap, random=lambda: random) <= cap


def test_the_cap_is_300_seconds_by_default() -> None:
    assert delay(20, 60, random=lambda: 1.0) == 300
    assert wait(with_status(429), attempt=3, random=lambda: 1.0) == 300
    assert wait(with_status(429), attempt=3, cap=100.0, random=lambda: 1.0) == 100


@pytest.mark.parametrize(("random", "seconds"), [(0.0, 150), (0.5, 225), (1.0, 300)])
def test_at_the_cap_the_wait_is_uniform_between_half_of_it_and_all_of_it(random: float, seconds: float) -> None:
    assert delay(20, 60, random=lambda: random) == seconds
    assert wait(with_status(429), attempt=3, random=lambda: random) == pytest.approx(120 + 180 * random), (
        "the third attempt's 240 s reach the cap with their jitter"
    )


@given(st.integers(1, 30), st.floats(0.1, 0.9))
def test_clients_that_failed_together_do_not_come_back_together(attempt: int, random: float) -> None:
    assert delay(attempt, 60, random=lambda: random) < delay(attempt, 60, random=lambda: random + 0.05)


# --- where a hint comes from ---------------------------------------------------------------------------------------


def with_headers(headers: Any, /, **more: Any) -> CallError:
    return with_status(429, response=Response(429, headers), **more)


IN_TEN_SECONDS = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=10), usegmt=True)
LONG_AGO = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"Retry-After": "7"}, 7),
        ({"RETRY-AFTER": "7"}, 7),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after": LONG_AGO}, 0),
        ({"retry-after": "86400"}, 300),
    ],
)
def test_a_header_is_obeyed_exactly(headers: dict[str, str], seconds: float) -> None:
    assert wait(with_headers(headers)) == seconds


def test_an_http_date_is_a_wait() -> None:
    assert wait(with_headers({"retry-after": IN_TEN_SECONDS})) <= 10


def test_zero_is_kept_where_praisonaiagents_ignores_it() -> None:
    assert wait(with_headers({"retry-after": "0"}), attempt=3) == 0


def test_the_base_delay_is_not_added_to_what_the_provider_asks_for_as_in_praisonaiagents() -> None:
    assert wait(with_headers({"retry-after": "1"}), attempt=3) == 1


@pytest.mark.parametrize(
    "garbage", ["nan", "inf", "-inf", "1e999", "-1", "", "soon", "1770000000", "Wed, 99 Foo 10000"]
)
def test_an_invalid_hint_falls_through_to_the_next_source(garbage: str) -> None:
    assert wait(with_headers({"retry-after": garbage}, retry_after=9)) == 9


def test_the_sources_in_their_order() -> None:
    sources: dict[str, Any] = {
        "response": Response(429, {"retry-after": "1"}),
        "headers": {"retry-after": "2"},
        "retry_after": 3,
        "body": {"error": {"code": 429, "retry_after": 4}},
    }
    waits = []
    while True:
        waits.append(wait(with_status(429, "Please try again in 5s.", **sources)))
        if not sources:
            break
        del sources[next(iter(sources))]
    assert waits == [1, 2, 3, 4, 5]


def test_a_response_without_the_header_does_not_hide_the_error_s_headers_as_in_praisonaiagents() -> None:
    assert wait(with_headers({"x-request-id": "1"}, headers={"retry-after": "4"})) == 4


@pytest.mark.parametrize(
    ("attribute", "seconds"), [(3, 3), (2.5, 2.5), ("4", 4), (timedelta(seconds=6), 6), (0, 0), (900, 300)]
)
def test_the_attribute(attribute: Any, seconds: float) -> None:
    assert wait(with_status(429, retry_after=attribute)) == seconds


@pytest.mark.parametrize("attribute", [True, float("nan"), float("inf"), -1, "soon", 10**400, object()])
def test_an_attribute_that_is_no_wait_is_none(attribute: Any) -> None:
    assert wait(with_status(429, retry_after=attribute)) == 60


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}]}}, 12.5),
        ({"error": "loading", "estimated_time": 20.0}, 20),
    ],
)
def test_a_hint_in_the_body(body: Any, seconds: float) -> None:
    assert wait(with_status(503, body=body)) == seconds


def test_a_hint_of_aws() -> None:
    response = {"ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "8"}}}
    assert wait_asked_for(CallError(response=response), cap=300) == 8


def test_a_hint_of_the_cause_counts() -> None:
    wrapper = CallError("wrapped")
    wrapper.__cause__ = with_headers({"retry-after": "6"})
    assert wait(wrapper) == 6


def test_a_hint_of_an_answer() -> None:
    assert wait({"error": {"code": 429, "message": "busy", "retry_after": 11}}) == 11
    assert wait({"error": {"code": 429}, "message": "retry after 12 seconds"}) == 12


def test_a_hint_that_only_the_classification_holds() -> None:
    advice = plan(with_headers({"retry-after": "13"}), provider="openai", model="m", attempt=1)
    assert wait(advice.classification) == 13


# --- hints in words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 20s.", 20),
        ("Please retry in 12.5s", 12.5),
        ("retry after 30 seconds", 30),
        ("Retry-After: 30", 30),
        ("retry_after=30, sorry", 30),
        ("retry after 2.", 2),
        ("'retryDelay': '34s'", 34),
        ('"retryDelay": "34s"', 34),
        ("Wait at least another 5 seconds", 5),
        ("The limit resets in 3 min", 180),
        ("Try again in 1m30s", 90),
        ("try again in 6m0s", 360),
        ("try again in 1 minute and 5 seconds", 65),
        ("try again in 0s", 0),
        ("try again in 1 hour", 3600),
    ],
)
def test_words_that_ask_for_a_wait(text: str, seconds: float) -> None:
    assert in_text(text) == seconds


def test_milliseconds_are_not_read_as_seconds_as_in_praisonaiagents() -> None:
    assert in_text("Please try again in 500ms.") == 0.5
    assert in_text("Please try again in 250 milliseconds.") == 0.25


@pytest.mark.parametrize("text", ["retry after -5 seconds", "wait -3600 seconds", "try again in -1s"])
def test_negative_numbers_are_ignored(text: str) -> None:
    assert in_text(text) is None


def test_a_later_valid_hint_is_found() -> None:
    assert in_text("retry after -5 seconds, or rather retry after 10 seconds") == 10
    assert in_text("retry after 999999999 seconds, or retry after 10 seconds") == 10


@pytest.mark.parametrize(
    "text",
    [
        "retry after 5 requests in 20 seconds",
        "wait 5 or more seconds",
        "100 requests per 60 seconds",
        "timed out after 600 seconds",
        "retry after nan seconds",
        "retry after 3e2 seconds",
        "wait for 1,000 seconds",
        "retry v1.2.3",
        "",
    ],
)
def test_a_number_with_words_between_it_and_its_unit_is_no_hint(text: str) -> None:
    assert in_text(text) is None


def test_the_text_of_the_exception_is_the_last_resort() -> None:
    assert wait(with_status(429, "Please try again in 7s.")) == 7
    assert wait(with_status(429, "ignored: try again in 8s", message="Please try again in 7s.")) == 7


def test_a_long_text_is_looked_at_over_a_bounded_prefix() -> None:
    assert in_text("wait " * 100_000 + "try again in 7s") is None
