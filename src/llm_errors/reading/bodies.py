"""Error objects in response bodies, whichever provider wrote them.

Codes, message, wait, and findings about the content.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_errors.reading import google_rpc, retry_after
from llm_errors.reading.fields import CODE_LIMIT, field, items, number, parsed, printable, text

_HTTP = range(300, 600)


@dataclass(frozen=True)
class ErrorBody:
    """What an error body says.

    `status` is an HTTP status that the body itself names; `codes` come most specific first.
    """

    codes: tuple[str, ...] = ()
    message: str = ""
    status: int | None = None
    retry_after: float | None = None
    facts: frozenset[str] = frozenset()
    dialect: str = ""
    """Whose error object it is, where its shape tells: it may come through another vendor's SDK."""


NOTHING = ErrorBody()


def read(body: Any) -> ErrorBody:
    """Read an error body of any shape: object, list of one, `{"error": ...}`, plain string, page, nothing."""
    body = parsed(body)
    if isinstance(body, list | tuple):
        body = next((entry for entry in body[:8] if isinstance(entry, Mapping)), None)
    if body is None or isinstance(body, str | bytes):
        return NOTHING
    error = parsed(field(body, "error", "Error"))
    if error is None and _message(body) == "":
        error = next((entry for entry in items(field(body, "errors"))[:8] if isinstance(entry, Mapping)), None)
    if isinstance(error, str):
        return _read_object(body, body, "" if _PAGE.match(error) else error)
    return _read_object(error if _is_object(error) else body, body, "")


def _is_object(value: Any) -> bool:
    return value is not None and not isinstance(value, str | bytes | int | float | list | tuple)


def _read_object(error: Any, outer: Any, said: str) -> ErrorBody:
    details, upstream = _details(error), _upstream(error)
    raw = [
        *(field(d, "reason") for d in details),
        field(field(error, "innererror"), "code"),
        field(error, "error_code"),
        field(field(error, "details"), "error_code"),
        field(error, "code", "Code", "__type"),
        field(error, "type"),
        *(field(e, "reason") for e in items(field(error, "errors"))[:4]),
        field(error, "status"),
        field(outer, "type") if outer is not error and field(outer, "type") != "error" else None,
        field(upstream, "code"),
        field(upstream, "type"),
    ]
    found = [c for c in map(_code, raw) if c]
    return ErrorBody(
        codes=tuple(dict.fromkeys(c for c in found if _http(c) is None)),
        message=said or _message(upstream) or _message(error) or _message(outer),
        status=next((s for s in map(_http, found) if s is not None), None),
        retry_after=_wait(error, outer, details),
        facts=frozenset(_facts(error, details)),
        dialect=_dialect(error),
    )


def error_of(answer: Any) -> Any:
    """The error in an answer of HTTP 200, by whichever name a vendor gives it; None if there is none."""
    error = field(answer, "error")
    if error is not None:
        return error
    told = field(answer, "base_resp")  # MiniMax's, with a number that is 0 when all went well
    code = number(field(told, "status_code"))
    return {"code": code, "message": text(field(told, "status_msg")), "base_resp": True} if code else None


def _dialect(error: Any) -> str:
    """A number as the code and a name of `google.rpc.Code` as the status: nobody else than Google writes errors so."""
    if number(field(error, "code")) is not None and text(field(error, "status"), 32) in google_rpc.NAMES:
        return "google"
    return "openai" if field(error, "base_resp") is True else ""


def _details(error: Any) -> list[Any]:
    found = field(error, "details")
    return [d for d in items(found)[:16] if isinstance(d, Mapping)]


def _code(value: Any) -> str:
    whole = number(value)
    return str(whole) if whole is not None else printable(text(value, CODE_LIMIT)).strip()


def _http(code: str) -> int | None:
    return int(code) if code.isdecimal() and len(code) == 3 and int(code) in _HTTP else None


def _message(error: Any) -> str:
    found = parsed(field(error, "message", "Message", "detail", "msg"))
    if isinstance(found, list):
        found = field(found[0], "msg") if found else None
    said = text(found) or text(field(found, "message")) or text(field(field(found, "error"), "message"))
    wrapped = _PRINTED.match(said)
    said = wrapped["said"] if wrapped else said
    return "" if _PAGE.match(said) else said


_PAGE = re.compile(r"\s*<[!?/a-zA-Z]")
"""A page is no message; a message that begins with a number in angle brackets is one (Qwen's do)."""
_PRINTED = re.compile(r"""\{'error': (?P<quote>['"])(?P<said>.*?)(?P=quote)(?:\}|, ['"])""", re.DOTALL)
"""LiteLLM's proxy prints a dict into the message field."""


def _upstream(error: Any) -> Any:
    """The error of the provider behind a router if it is about a bad request; of a busy one's account nothing is read."""
    if number(field(error, "code")) not in (400, 413, 422):
        return None
    raw = parsed(field(field(error, "metadata"), "raw"))
    nested = field(raw, "error") if _is_object(raw) else None
    return nested if _is_object(nested) else raw if _is_object(raw) else None


def _wait(error: Any, outer: Any, details: list[Any]) -> float | None:
    for d in details:
        wait = retry_after.from_duration(field(d, "retryDelay"))
        if wait is not None:
            return wait
    return retry_after.bounded(
        field(error, "retry_after", "estimated_time") or field(outer, "retry_after", "estimated_time")
    )


def _facts(error: Any, details: list[Any]) -> list[str]:
    found = _metadata_facts(field(error, "metadata"))
    if field(error, "base_resp") is True:
        found.append("base_resp")
    if text(field(field(error, "moderation_details"), "moderation_stage"), 16) == "output":
        found.append("output_stage")
    filtered = field(field(error, "innererror"), "content_filter_result", "content_filter_results")
    if field(field(filtered, "jailbreak"), "filtered", "detected") is True:
        found.append("jailbreak")
    names = [text(field(v, "quotaId")) for d in details for v in items(field(d, "violations"))[:8]]
    quota = " ".join((*names, *(text(field(field(d, "metadata"), "quota_limit")) for d in details)))
    if "PerDay" in quota:
        found.append("quota_per_day")
    if "Token" in quota:
        found.append("quota_tokens")
    if _exceeds_limit(_message(error)):
        found.append("exceeds_limit")
    if field(error, "message", "code", "type", "status") is not None:
        found.append("error_object")
    return found


def _metadata_facts(metadata: Any) -> list[str]:
    """What a router adds to an error."""
    found = []
    if items(field(metadata, "reasons")) or field(metadata, "flagged_input") is not None:
        found.append("moderation")
    if text(field(metadata, "provider_name")):
        found.append("upstream")
    return found


_AMOUNT = r"\D{0,20}?(?<![\w.-])(\d[\d,_]{0,12})(?![\w-])"
"""A number that stands alone: the digits in the name of a model are no limit."""
_ASKED = re.compile(r"\b(?:requested|needs?|asks? for|requires?)" + _AMOUNT)
_ALLOWED = re.compile(r"\b(?:limit|allows?|allowed|maximum|up to)" + _AMOUNT)


def _exceeds_limit(message: str) -> bool:
    """Whether a rate-limit message says that this one request asks for more than the whole limit.

    No wait can help then.
    """
    lowered = message.lower()
    asked, allowed = _ASKED.search(lowered), _ALLOWED.search(lowered)
    if asked is None or allowed is None:
        return False
    return _amount(asked[1]) > _amount(allowed[1])


def _amount(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))
