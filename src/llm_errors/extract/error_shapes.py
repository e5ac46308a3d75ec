"""Recognises error objects: nested in a gateway's error, with extra fields, or sent instead of an answer.

Healthy answers of compatible servers may have fields of an error (`code` 0, `success` true, a `message`). Therefore an object
counts as an error only if the value of a field means failure.
"""

import re
from collections.abc import Mapping
from json import JSONDecoder
from typing import Any

from llm_errors.extract.fields import field, is_object, items, number, parsed, shown, text

TEXTS = (
    *("message", "Message", "faultstring", "detail", "msg", "error_msg", "errorMessage", "error_message"),
    "err_msg",
    *("details", "title"),
)
"""Names of fields that contain the message of an error, most specific first."""
STATUSES = ("status_code", "statusCode", "http_code", "httpCode", "status")
"""Names of fields that contain the HTTP status of an error, most common first."""
LIMIT = 65_536
"""The number of characters of a text that are searched for an error object."""
GUARDRAILS = frozenset(("input_guardrail_triggered", "output_guardrail_triggered"))
"""Finish reasons that Databricks sends instead of an error."""
RPC_CODES = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
"""Names of `google.rpc.Code`, by number (googleapis `google/rpc/code.proto`)."""
_OF_A_REQUEST = (400, 413, 422)
_LINK = r"(?:[\w.]{0,64}(?:Error|Exception)|Error code: \d{3}|HTTP \d{3}|Error from provider\s?\([^()]{1,100}\))"
_BEGINNING = re.compile(rf"(?:{_LINK}\s?[-:]\s{{1,2}}){{0,4}}(?:\d{{3}}\s)?(?:b['\"])?(?=[{{\[])")
"""Matches names and numbers that gateways print before an error object. If other words precede the object, it may be a
quotation from the request, so it is not read.
"""
_END = re.compile(r"['\")]*\s*(?:\Z|\.\s|\n)")
"""Matches what may follow an error object: the end of the text, or a new sentence. Otherwise the object was a quotation."""
_DECODER = JSONDecoder()


def inner(error: Any, message: str, status: int | None) -> Any:
    """The error of the provider behind a gateway, if it is about a bad request; otherwise None.

    Errors about limits and accounts are not read: the account behind a gateway belongs to the gateway.
    """
    if status not in _OF_A_REQUEST:
        return None
    raw = parsed(field(field(error, "metadata"), "raw"))  # an error of OpenRouter
    if is_object(raw):
        return raw
    found = _json_in(message or field(error, *TEXTS))
    found = found[0] if isinstance(found, list) and found else found
    return found if is_object(found) and _is_error(found) else None


def _json_in(message: Any) -> Any:
    """The JSON error object in a text, if the rest of the text is only a prefix or another sentence."""
    if not isinstance(message, str):
        return message if isinstance(message, Mapping) else None
    clipped = message[:LIMIT].lstrip()
    begins = _BEGINNING.match(clipped)
    if begins is None:
        return None
    try:
        found, end = _DECODER.raw_decode(clipped, begins.end())
    except (ValueError, RecursionError):
        return None
    return found if _END.match(clipped, end) else None


def _is_error(found: Any) -> bool:
    """Whether an object in a message is an error. A message may instead quote an object of the request, which is no error."""
    if text(field(found, "type"), 16) == "error" or text(field(found, "finishReason"), 64) in GUARDRAILS:
        return True
    return field(found, "error", "external_model_error") is not None


_OBJECT = ("message", "code", "type", "status", "error_code", "errorCode")
"""Fields of the errors of an API. An error of a proxy in front of the API has none of them."""


_PROMPT = re.compile(r"(?:input|messages|prompt)\b")
"""Matches the parameter that contains the prompt, or a part of it."""


def facts_of(error: Any, outer: Any, details: list[Any], message: str) -> frozenset[str]:
    """The facts in an error object and around it."""
    found = [*_metadata(field(error, "metadata")), *_stages(error, outer), *_quotas(details)]
    if field(error, "base_resp") is True:
        found.append("base_resp")
    filtered = field(field(error, "innererror"), "content_filter_result", "content_filter_results")
    if field(field(filtered, "jailbreak"), "filtered", "detected") is True:
        found.append("jailbreak")
    if _exceeds_limit(message):
        found.append("exceeds_limit")
    if _PROMPT.match(text(field(error, "param"), 64)):
        found.append("prompt_parameter")
    if field(error, *_OBJECT) is not None:
        found.append("error_object")
    return frozenset(found)


def _metadata(metadata: Any) -> list[str]:
    """The facts in the metadata that a router such as OpenRouter adds to an error."""
    found = []
    if items(field(metadata, "reasons")) or field(metadata, "flagged_input") is not None:
        found.append("moderation")
    if text(field(metadata, "provider_name")):
        found.append("upstream")
    return found


def _stages(error: Any, outer: Any) -> list[str]:
    """The fact that the prompt or that the output was blocked, if the trace of a guardrail shows it."""
    hooks = field(outer, "hook_results")  # Portkey: the result of each guardrail
    if (
        text(field(field(error, "moderation_details"), "moderation_stage"), 16) == "output"
        or _fails(field(hooks, "after_request_hooks"))
        or field(outer, "output_guardrail") is not None
    ):
        return ["output_stage"]
    blocked = _fails(field(hooks, "before_request_hooks")) or field(outer, "input_guardrail") is not None
    return ["input_stage"] if blocked else []


def _fails(hooks: Any) -> bool:
    return any(field(hook, "verdict") is False for hook in items(hooks)[:64])


def _quotas(details: list[Any]) -> list[str]:
    names = [text(field(v, "quotaId")) for d in details for v in items(field(d, "violations"))[:8]]
    quota = " ".join((*names, *(text(field(field(d, "metadata"), "quota_limit")) for d in details)))
    return [fact for word, fact in (("PerDay", "quota_per_day"), ("Token", "quota_tokens")) if word in quota]


_AMOUNT = r"\D{0,20}?(?<![\w.-])(\d[\d,_]{0,12})(?![\w-])"
"""Matches a number that is a separate word, because digits in the name of a model are not a limit."""
_ASKED = re.compile(r"\b(?:requested|needs?|asks? for|requires?)" + _AMOUNT)
_ALLOWED = re.compile(r"\b(?:limit|allows?|allowed|maximum|up to)" + _AMOUNT)


def _exceeds_limit(message: str) -> bool:
    """Whether a rate-limit message says that this request alone exceeds the whole limit, so that waiting does not help."""
    lowered = message.lower()
    asked, allowed = _ASKED.search(lowered), _ALLOWED.search(lowered)
    if asked is None or allowed is None:
        return False
    return _amount(asked[1]) > _amount(allowed[1])


def _amount(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))


_TEXTS_OF_ERRORS = tuple(name for name in TEXTS if name not in ("details", "title"))
"""Message fields that mark an error even without an HTTP status. `details` and `title` do not."""
_CODES = ("code", "error_code", "errorCode")
_FAILED = frozenset(("error", "fail", "failed", "failure"))
_WELL = frozenset(("", "0", "ok", "success", "successful", "succeeded", "succeed"))
"""Codes and messages that mean success."""


def told_error(answer: Any) -> Any:
    """The error object in an answer, in a shape that `bodies.read` accepts; None if there is no error.

    If the whole answer is an error, the answer is returned.
    """
    if isinstance(answer, list | tuple):
        entries = (told_error(entry) for entry in answer[:8] if is_object(entry))
        return next((told for told in entries if told is not None), None)
    if field(answer, "error") is not None:
        return answer
    told = field(answer, "base_resp")  # MiniMax: a number, which is 0 for success
    code = number(field(told, "status_code"))
    if code:
        return {"error": {"code": code, "message": text(field(told, "status_msg")), "base_resp": True}}
    return answer if is_flat_error(answer) else None


def is_flat_error(result: Any) -> bool:
    """Whether the object is an error: its type says so, or it has a message and a code or status that does not mean success."""
    found = shown(result)
    if "error" in (text(field(found, "object"), 16), text(field(found, "type"), 16)):
        return True
    success, message = field(found, "success"), field(found, *TEXTS)
    if isinstance(success, bool):
        return not success
    if message is None or text(message, 16).strip().lower() in _WELL - {""} or text(field(found, "text"), 16):
        return False
    code = field(found, *_CODES)
    if any(_failed(value) for value in (code, *(field(found, name) for name in STATUSES))):
        return True
    return _is_wrong(code) and field(found, *_TEXTS_OF_ERRORS) is not None


def _is_wrong(code: Any) -> bool:
    whole = number(code)
    if whole is None:
        named = text(code, 64).strip().lower()
        whole = int(named) if named.isdecimal() else None
        if whole is None:
            return named not in _WELL
    return whole != 0 and whole not in range(200, 300)


def _failed(status: Any) -> bool:
    """Whether the value means failure: an HTTP status from 400 on, or a word such as `failed`."""
    whole = number(status)
    return whole in range(400, 600) if whole is not None else text(status, 16).lower() in _FAILED
