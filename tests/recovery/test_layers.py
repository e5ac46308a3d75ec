"""Noticing a second retry layer."""

import logging
from types import SimpleNamespace as Space
from typing import Any

import pytest

from llm_errors.recovery.layers import (
    SecondRetryLayerWarning,
    log_second_layer,
    retried_below,
    sdk_retries,
    warn_of_second_layer,
)
from tests.recovery.failures import CallError


def genai(attempts: int | None) -> Any:
    return Space(_api_client=Space(_http_options=Space(retry_options=Space(attempts=attempts))))


def botocore(retries: Any) -> Any:
    return Space(meta=Space(config=Space(retries=retries)))


@pytest.mark.parametrize(
    ("client", "retries"),
    [
        (Space(max_retries=2), 2),
        (Space(max_retries=0), 0),
        (genai(5), 4),
        (genai(1), 0),
        (genai(None), 0),
        (botocore({"total_max_attempts": 3}), 2),
        (botocore({"max_attempts": 0}), 0),
        (botocore({"mode": "standard"}), 4),
        (botocore(None), 4),
        (object(), 0),
    ],
)
def test_retries_that_a_client_makes_by_itself(client: Any, retries: int) -> None:
    assert sdk_retries(client) == retries


def test_a_client_that_retries_is_warned_about() -> None:
    with pytest.warns(SecondRetryLayerWarning, match="makes 2 retries"):
        warn_of_second_layer(Space(max_retries=0), Space(max_retries=2))


def test_one_layer_is_no_reason_to_warn() -> None:
    warn_of_second_layer(Space(max_retries=0))


@pytest.mark.parametrize(
    ("request_headers", "count"),
    [({"x-stainless-retry-count": "2"}, 2), ({"x-stainless-retry-count": "0"}, 0), ({}, 0), (None, 0)],
)
def test_the_request_tells_of_retries_below(request_headers: Any, count: int) -> None:
    assert retried_below(CallError(request=Space(headers=request_headers))) == count
    assert retried_below(CallError(response=Space(request=Space(headers=request_headers)))) == count


def test_an_answer_tells_of_none() -> None:
    assert retried_below({"error": {"code": 429}}) == 0


def test_a_second_layer_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    failure = CallError(request=Space(headers={"x-stainless-retry-count": "2"}))
    with caplog.at_level(logging.WARNING, logger="llm_errors"):
        assert log_second_layer(failure)
        assert not log_second_layer(CallError())
    assert [r.getMessage() for r in caplog.records] == [
        "the SDK had retried 2 times by itself below the retry layer of llm_errors; one layer is enough"
    ]
