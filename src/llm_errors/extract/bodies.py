"""Reads error objects in response bodies of any provider: codes, message, the time to wait, and facts about the content."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_errors.extract import error_shapes, retry_after
from llm_errors.extract.error_shapes import facts_of
from llm_errors.extract.fields import CODE_LIMIT, field, is_object, items, number, parsed, printable, text

_HTTP = range(300, 600)
_DEPTH = 2
"""How many errors inside an error are read. The error of a gateway may contain the error of another gateway, which contains the
error of the provider.
"""
_ENVELOPES = ("error", "Error", "external_model_error", "fault")
NO_CODES = frozenset(("None", "null"))
"""Texts that LiteLLM prints for empty fields. They are not codes."""
_OUTER_TYPES = frozenset(("error", "message"))
"""Values of `type` in the object around an error that are no codes: Anthropic sends `error` with every error, and `message`
with every answer."""
_ONE_WORD = re.compile(r"[\w.:/-]+")


@dataclass(frozen=True)
class ErrorBody:
    """The content of an error body.

    `status` is an HTTP status that the body names. `codes` are ordered, most specific first.
    """

    codes: tuple[str, ...] = ()
    message: str = ""
    status: int | None = None
    retry_after: float | None = None
    facts: frozenset[str] = frozenset()
    dialect: str = ""
    """The dialect that the shape of the error shows; else empty. The SDK may be of another dialect, if it calls a gateway."""


NOTHING = ErrorBody()


def read(body: Any, status: int | None = None, depth: int = 0) -> ErrorBody:
    """Read an error body: an object, a list (its first object), or `{"error": ...}` with an object or a text.

    A plain text, a page and no body give `NOTHING`.

    `status` is the status of the response, if known. The error of a provider inside the error of a gateway is read too;
    `depth` counts the errors around the one that is read.
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
    """The error object in the body, and the object around it.

    `error` and `detail` are always opened. `errors`, and an error inside the error, are opened only if the object around them
    has no message.
    """
    error = _named(body)
    if error is None and is_object(detail := field(body, "detail")):
        error = detail
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
    """The field `error_type`, in which OpenRouter and other servers name an error.

    The name precedes the other codes, because it is more specific than, for example, a number in `code`.
    """
    return [field(field(error, "metadata"), "error_type"), field(error, "error_type"), field(outer, "error_type")]


def _codes(error: Any, outer: Any, details: list[Any]) -> list[Any]:
    finish, reason = text(field(outer, "finishReason"), CODE_LIMIT), text(field(error, "reason"))
    around = "" if outer is error else text(field(outer, "type"), CODE_LIMIT)
    return [
        *(field(d, "reason") for d in details),
        field(field(error, "innererror"), "code"),
        field(error, "error_code", "errorCode", "err_code", "category"),
        field(field(error, "detail"), "errorcode"),
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
    """The dialect that the shape of an error shows, or an empty text.

    Only Google writes a number as the code and a name of `google.rpc.Code` as the status. An error inside the
    error of a gateway is Anthropic's if the object around it has the type `error`, and of the openai dialect if that object has
    the field `error` only.
    """
    if number(field(error, "code")) is not None and text(field(error, "status"), 32) in error_shapes.RPC_CODES:
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
    """The HTTP status in a separate field of the error, or of the object around the error."""
    return next(
        (s for where in (error, outer) for n in error_shapes.STATUSES if (s := _http(_code(field(where, n))))), None
    )


def message_of(error: Any) -> str:
    """The message of an error object, without any wrapping."""
    found = parsed(field(error, *error_shapes.TEXTS))
    if isinstance(found, list):
        found = field(found[0], "msg") if found else None
    message = text(found) or text(field(found, "message")) or text(field(field(found, "error"), "message"))
    printed = _PRINTED.match(message)
    message = printed["said"] if printed else message
    return "" if _PAGE.match(message) else message


_PAGE = re.compile(r"\s*<[!?/a-zA-Z]")
"""Matches an HTML page, which is not a message. A number in angle brackets, with which Qwen begins messages, does not match."""
_PRINTED = re.compile(r"""\{'error': (?P<quote>['"])(?P<said>.*?)(?P=quote)(?:\}|, ['"])""", re.DOTALL)
"""Matches the Python dict that LiteLLM's proxy prints into the message field, and the message in it."""


def _wait(error: Any, outer: Any, details: list[Any]) -> float | None:
    for d in details:
        wait = retry_after.from_duration(field(d, "retryDelay"))
        if wait is not None:
            return wait
    return retry_after.bounded(
        field(error, "retry_after", "estimated_time") or field(outer, "retry_after", "estimated_time")
    )
