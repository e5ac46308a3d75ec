"""Reads the wait that a provider asks for: from headers, from the body, or from an attribute.

The result is 0 to 3600 seconds, or None. A longer wait becomes None: if it were cut, the caller would retry too early.
"""

import math
import re
from typing import TYPE_CHECKING, Any

from llm_errors.extract.fields import field

if TYPE_CHECKING:
    from datetime import datetime

LIMIT = 3600.0
ABSURD = 1e8
"""Three years in seconds. A larger number is not a wait, but a time stamp or an error."""
_DECIMAL = re.compile(r"\d{1,12}(?:\.\d{0,12})?")
_DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s")


def from_headers(headers: Any, now: "datetime | None" = None, limit: float = LIMIT) -> float | None:
    """The wait from `retry-after-ms`, or from `retry-after` in seconds or as an HTTP date. A past date means 0."""
    if headers is None:
        return None
    milliseconds = _decimal(_header(headers, "retry-after-ms"))
    if milliseconds is not None:
        return bounded(milliseconds / 1000, limit)
    value = _header(headers, "retry-after")
    seconds = _decimal(value)
    return bounded(seconds, limit) if seconds is not None else _from_date(value, now, limit)


def from_duration(value: Any) -> float | None:
    """The wait from a protobuf duration such as "12.5s", as in Google's `RetryInfo.retryDelay`."""
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    return bounded(float(match[1])) if match else None


def bounded(seconds: Any, limit: float = LIMIT) -> float | None:
    """The number, if it is a wait of at most `limit` seconds; otherwise None."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if isinstance(seconds, float) and not math.isfinite(seconds):
        return None
    return float(seconds) if 0 <= seconds <= limit else None


def _header(headers: Any, name: str) -> str:
    """The value of a header, even if the mapping is case-sensitive. Empty if it is missing."""
    value = field(headers, name)
    if value is None:
        try:
            value = next((v for k, v in list(headers.items())[:256] if str(k).lower() == name), None)
        except Exception:  # noqa: BLE001 - headers may be any object
            return ""
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""


def _decimal(value: str) -> float | None:
    return float(value) if _DECIMAL.fullmatch(value) else None


def _from_date(value: str, now: "datetime | None", limit: float) -> float | None:
    if not value or len(value) > 64:
        return None
    # These imports load `socket` and `locale`, which most processes do not need here.
    from datetime import datetime, timezone
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(value)
        when = when if when.tzinfo else when.replace(tzinfo=timezone.utc)
        seconds = (when - (now or datetime.now(timezone.utc))).total_seconds()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return bounded(max(seconds, 0.0), limit)
