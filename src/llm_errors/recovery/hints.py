"""Finds the wait that a provider asked for: in the headers, else in an attribute, the body, or the text of the message.

If a source contains no valid wait, the next source is read. Zero is valid and means an immediate retry. This module needs the
standard library only.
"""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, Final

from llm_errors.extract import causes, exceptions, retry_after
from llm_errors.extract.fields import TEXT_LIMIT, field

_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_UNIT = r"(?:h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?|ms|milliseconds?)(?![a-z])"
_NUMBER = r"(?<![\w.+-])\d{1,9}(?:\.\d{1,12})?"
_DURATION = rf"{_NUMBER}\s?{_UNIT}(?:(?:,?\s)?(?:and\s)?\d{{1,9}}(?:\.\d{{1,12}})?\s?{_UNIT}){{0,3}}"
_BARE = rf"{_NUMBER}(?=[\"'\s]{{0,2}}(?:$|[,;)\]}}](?!\d)|\.(?!\d)))"
_FILLER = (
    r"(?:[\s:=\"'_-]|after|again|another|approximately|at|about|delay|for|in|least|please|requests?|the|this|your)"
)
_HINT: Final = re.compile(
    rf"\b(?:retry|try|wait|resets?|available){_FILLER}{{0,24}}?(?P<wait>{_DURATION}|{_BARE})", re.IGNORECASE
)
_PART: Final = re.compile(rf"(\d+(?:\.\d+)?)\s?({_UNIT})?", re.IGNORECASE)
_NUMERAL: Final = re.compile(r"\d{1,12}(?:\.\d{1,12})?")


def wait_asked_for(failure: Any, *, cap: float) -> float | None:
    """The wait in seconds, at most `cap`, or None if the provider did not ask for one.

    A source is read in all chained exceptions before the next source is read.
    """
    links = causes.chain(failure) if isinstance(failure, BaseException) else [failure]
    for source in _SOURCES:
        for link in links:
            seconds = source(link)
            if seconds is not None:
                return min(seconds, cap)
    return None


def in_text(text: str) -> float | None:
    """The first valid wait in a text, in seconds, for example from "try again in 1m30s".

    A number with a sign is not a wait, nor is a number that is separated from its unit by other words.
    """
    for match in _HINT.finditer(text[:TEXT_LIMIT]):
        seconds = retry_after.bounded(sum(_parts(match["wait"])), retry_after.ABSURD)
        if seconds is not None:
            return seconds
    return None


def _parts(duration: str) -> Iterator[float]:
    for number, unit in _PART.findall(duration):
        lowered = unit.lower()
        yield float(number) * _SECONDS["ms" if lowered.startswith(("ms", "milli")) else lowered[:1] or "s"]


def _response_headers(link: Any) -> float | None:
    response = field(link, "response")
    found = retry_after.from_headers(field(response, "headers"), limit=retry_after.ABSURD)
    return (
        found
        if found is not None
        else retry_after.from_headers(
            field(field(response, "ResponseMetadata"), "HTTPHeaders"), limit=retry_after.ABSURD
        )
    )


def _error_headers(link: Any) -> float | None:
    return retry_after.from_headers(field(link, "headers"), limit=retry_after.ABSURD)


def _attribute(link: Any) -> float | None:
    value = field(link, "retry_after")
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, str) and _NUMERAL.fullmatch(value.strip()):
        value = float(value)
    return retry_after.bounded(value, retry_after.ABSURD)


def _body(link: Any) -> float | None:
    """The wait that the SDK's reader finds. It also reads headers and attributes, which the sources before have checked."""
    if isinstance(link, BaseException):
        return exceptions.read(link).retry_after
    return retry_after.bounded(field(field(link, "error"), "retry_after"))


def _message(link: Any) -> float | None:
    message = field(link, "message")
    for text in (message if isinstance(message, str) else "", plain_text(link)):
        seconds = in_text(text)
        if seconds is not None:
            return seconds
    return None


def plain_text(failure: Any) -> str:
    """The text of an exception, up to a limit. It is empty if `failure` is no exception, or if its `__str__` raises."""
    if not isinstance(failure, BaseException):
        return ""
    try:
        return str(failure)[:TEXT_LIMIT]
    except Exception:  # noqa: BLE001 - `__str__` of a foreign exception may raise anything
        return ""


_SOURCES: Final[tuple[Callable[[Any], float | None], ...]] = (
    _response_headers,
    _error_headers,
    _attribute,
    _body,
    _message,
)
