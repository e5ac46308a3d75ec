"""How long to wait: whatever is sent, a finite number from 0 to 3600, or nothing."""

from datetime import datetime, timezone

import pytest

from llm_errors.extract.retry_after import bounded, from_duration, from_headers

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=timezone.utc)

HEADERS = [
    ({"retry-after": "12"}, 12.0),
    ({"retry-after": "0"}, 0.0),
    ({"retry-after": " 7 "}, 7.0),
    ({"retry-after": "3.5"}, 3.5),
    ({"Retry-After": "4"}, 4.0),
    ({"retry-after": 5}, 5.0),
    ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
    ({"retry-after-ms": "abc", "retry-after": "2"}, 2.0),
    ({"retry-after": "86400"}, None),
    ({"retry-after": "-1"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "inf"}, None),
    ({"retry-after": "1e999"}, None),
    ({"retry-after": ""}, None),
    ({"retry-after": "1770000000"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "9" * 400}, None),
    ({"retry-after": "Mon, 30 Nov 2026 12:00:05 GMT"}, 5.0),
    ({"retry-after": "Mon, 30 Nov 2026 12:00:05 -0000"}, 5.0),
    ({"retry-after": "Sun, 01 Nov 2015 12:00:00 GMT"}, 0.0),
    ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, None),
    ({"retry-after": "Fri, 31 Dec 10000 23:59:59 GMT"}, None),
    ({}, None),
    (None, None),
    (7, None),
]


@pytest.mark.parametrize(("headers", "seconds"), HEADERS, ids=repr)
def test_headers(headers, seconds):
    assert from_headers(headers, NOW) == seconds


def test_a_date_is_measured_from_now_by_default():
    assert from_headers({"retry-after": "Sun, 01 Nov 2015 12:00:00 GMT"}) == 0.0


class Hostile:
    def get(self, name):
        raise RuntimeError

    def items(self):
        raise RuntimeError


def test_hostile_headers_are_no_wait():
    assert from_headers(Hostile()) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("12.500750250s", 12.50075025),
        ("7s", 7.0),
        ("0s", 0.0),
        ("-1s", None),
        ("7", None),
        ("xs", None),
        (7, None),
        (None, None),
    ],
)
def test_protobuf_durations(value, seconds):
    assert from_duration(value) == seconds


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (3, 3.0),
        (2.5, 2.5),
        (0, 0.0),
        (9000, None),
        (3600, 3600.0),
        (-1, None),
        (True, None),
        ("3", None),
        (float("nan"), None),
        (1e9, None),
        (10**400, None),
    ],
)
def test_plain_numbers(value, seconds):
    assert bounded(value) == seconds
