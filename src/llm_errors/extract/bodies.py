"""Error objects in response bodies, whichever provider wrote them.

Codes, message, wait, and findings about the content.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_errors.extract import error_shapes, google_rpc, retry_after
from llm_errors.extract.error_shapes import facts_of
from llm_errors.extract.fields import CODE_LIMIT, field, is_object, items, number, parsed, printable, text

_HTTP = range(300, 600)
_DEPTH = 2
"""Errors inside errors that are opened: a gateway before a gateway before a provider."""
_ENVELOPES = ("error", "Error", "external_model_error")
NO_CODES = frozenset(("None", "null"))
"""What a gateway writes that prints its own empty fields (LiteLLM does)."""
_OUTER_TYPES = frozenset(("error", "message"))
"""Types of the whole body that say nothing: Anthropic's of an error, and that of its answers."""
_ONE_WORD = re.compile(r"[\w.:/-]+")


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


def read(body: Any, status: int | None = None, depth: int = 0) -> ErrorBody:
    """Read an error body of any shape: object, list of one, `{"error": ...}`, plain string, page, nothing.

    `status` is that of the response, if there was one. An error of a provider inside a gateway's is read too.
    """
    body = parsed(body)
    if isinstance(body, list | tuple):
        body = _first(body)
    if body is None or isinstance(body, str | bytes):
        return NOTHING
    error, outer = _opened(body)
    if isinstance(error, str):
        return _read_object(body, body, "" if _PAGE.match(error) else error, status, depth)
    return _read_object(error, outer, "", status, depth)


def _first(entries: Any) -> Any:
    return next((entry for entry in entries[:8] if isinstance(entry, Mapping)), None)


def _opened(body: Any) -> tuple[Any, Any]:
    """The innermost of error objects that hold each other and nothing else, and what encloses it."""
    error = _named(body)
    if error is None and message_of(body) == "":
        error = _first(items(field(body, "errors")))
    if isinstance(error, str):
        return error, body
    if not is_object(error):
        return body, body
    deeper = _named(error) if message_of(error) == "" else None
    return (deeper, error) if is_object(deeper) else (error, body)


def _named(body: Any) -> Any:
    error = parsed(field(body, *_ENVELOPES))
    return _first(error) if isinstance(error, list | tuple) else error


def _read_object(error: Any, outer: Any, said: str, status: int | None, depth: int) -> ErrorBody:
    details = _details(error)
    found = [c for c in map(_code, _codes(error, outer, details)) if c]
    own = next((s for s in map(_http, found) if s is not None), None) or _named_status(error, outer)
    nested = error_shapes.inner(error, said, own or status) if depth < _DEPTH else None
    inner = NOTHING if nested is None else read(nested, own or status, depth + 1)
    codes = [*map(_code, _error_types(error, outer)), *inner.codes, *found]
    return ErrorBody(
        codes=tuple(dict.fromkeys(c for c in codes if c and _http(c) is None)),
        message=inner.message or text(said) or message_of(error) or message_of(outer),
        status=own or inner.status,
        retry_after=_wait(error, outer, details),
        facts=facts_of(error, outer, details, message_of(error)) | inner.facts,
        dialect=inner.dialect or _dialect(error, outer, depth),
    )


def _error_types(error: Any, outer: Any) -> list[Any]:
    """OpenRouter's canonical name of an error, and what others call so: more specific than any number."""
    return [field(field(error, "metadata"), "error_type"), field(error, "error_type"), field(outer, "error_type")]


def _codes(error: Any, outer: Any, details: list[Any]) -> list[Any]:
    finish, reason = text(field(outer, "finishReason"), CODE_LIMIT), text(field(error, "reason"))
    around = "" if outer is error else text(field(outer, "type"), CODE_LIMIT)
    return [
        *(field(d, "reason") for d in details),
        field(field(error, "innererror"), "code"),
        field(error, "error_code", "errorCode"),
        field(field(error, "details"), "error_code"),
        field(error, "code", "Code", "__type"),
        finish if finish in error_shapes.GUARDRAILS else None,
        field(error, "type"),
        *(field(e, "reason") for e in items(field(error, "errors"))[:4]),
        reason if _ONE_WORD.fullmatch(reason) else None,
        field(error, "status"),
        around if around not in _OUTER_TYPES else None,
    ]


def _dialect(error: Any, outer: Any, depth: int) -> str:
    """A number as the code and a name of `google.rpc.Code` as the status: nobody else than Google writes errors so.

    Inside a gateway's error Anthropic's envelope names itself, and any other is of OpenAI's kind.
    """
    if number(field(error, "code")) is not None and text(field(error, "status"), 32) in google_rpc.NAMES:
        return "google"
    if depth and outer is not error:
        kind = text(field(outer, "type"), 16)
        return "anthropic" if kind == "error" else "openai" if field(outer, "error") is not None else ""
    return "openai" if field(error, "base_resp") is True else ""


def _details(error: Any) -> list[Any]:
    found = field(error, "details")
    return [d for d in items(found)[:16] if isinstance(d, Mapping)]


def _code(value: Any) -> str:
    whole = number(value)
    code = str(whole) if whole is not None else printable(text(value, CODE_LIMIT)).strip()
    return "" if code in NO_CODES else code


def _http(code: str) -> int | None:
    return int(code) if code.isdecimal() and len(code) == 3 and int(code) in _HTTP else None


def _named_status(error: Any, outer: Any) -> int | None:
    """The HTTP status where it stands beside a code of another kind, or around the error."""
    return next(
        (s for where in (error, outer) for n in error_shapes.STATUSES if (s := _http(_code(field(where, n))))), None
    )


def message_of(error: Any) -> str:
    """The text of an error object, taken out of what it may be wrapped into."""
    found = parsed(field(error, *error_shapes.TEXTS))
    if isinstance(found, list):
        found = field(found[0], "msg") if found else None
    said = text(found) or text(field(found, "message")) or text(field(field(found, "error"), "message"))
    printed = _PRINTED.match(said)
    said = printed["said"] if printed else said
    return "" if _PAGE.match(said) else said


_PAGE = re.compile(r"\s*<[!?/a-zA-Z]")
"""A page is no message; a message that begins with a number in angle brackets is one (Qwen's do)."""
_PRINTED = re.compile(r"""\{'error': (?P<quote>['"])(?P<said>.*?)(?P=quote)(?:\}|, ['"])""", re.DOTALL)
"""LiteLLM's proxy prints a dict into the message field."""


def _wait(error: Any, outer: Any, details: list[Any]) -> float | None:
    for d in details:
        wait = retry_after.from_duration(field(d, "retryDelay"))
        if wait is not None:
            return wait
    return retry_after.bounded(
        field(error, "retry_after", "estimated_time") or field(outer, "retry_after", "estimated_time")
    )
