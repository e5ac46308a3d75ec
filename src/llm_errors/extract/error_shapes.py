"""Shapes of error objects: one inside a gateway's, what stands beside its codes, and one in place of an answer.

Healthy answers of compatible servers have an error's fields too (`code` 0, `success` true, a `message`): an object must
say that it is an error.
"""

import re
from collections.abc import Mapping
from json import JSONDecoder
from typing import Any

from llm_errors.extract.fields import field, is_object, items, number, parsed, shown, text

TEXTS = (
    *("message", "Message", "detail", "msg", "error_msg", "errorMessage", "error_message"),
    *("details", "title"),
)
"""Names of the text of an error, the most telling first."""
STATUSES = ("status_code", "statusCode", "http_code", "httpCode", "status")
"""Names of the HTTP status in an error, the plainest first."""
LIMIT = 65_536
"""Characters of a text in which an error object is looked for."""
GUARDRAILS = frozenset(("input_guardrail_triggered", "output_guardrail_triggered"))
"""Finish reasons that Databricks puts in place of an error."""
_OF_A_REQUEST = (400, 413, 422)
_LINK = r"(?:[\w.]{0,64}(?:Error|Exception)|Error code: \d{3}|HTTP \d{3}|Error from provider\s?\([^()]{1,100}\))"
_BEGINNING = re.compile(rf"(?:{_LINK}\s?[-:]\s{{1,2}}){{0,4}}(?:\d{{3}}\s)?(?:b['\"])?(?=[{{\[])")
"""Nothing, or the names and numbers that gateways put before a body they print. Behind other words it may be an echo."""
_END = re.compile(r"['\")]*\s*(?:\Z|\.\s|\n)")
"""Nothing more, or a further sentence. Where the same one goes on, it speaks of what it has quoted."""
_DECODER = JSONDecoder()


def inner(error: Any, said: str, status: int | None) -> Any:
    """The error of the provider behind a gateway if it is about a bad request; None if there is none.

    Of a busy or refused one nothing is read: the account and the limits behind a gateway are the gateway's.
    """
    if status not in _OF_A_REQUEST:
        return None
    raw = parsed(field(field(error, "metadata"), "raw"))  # OpenRouter's
    if is_object(raw):
        return raw
    found = _json_in(said or field(error, *TEXTS))
    found = found[0] if isinstance(found, list) and found else found
    return found if is_object(found) and _is_error(found) else None


def _json_in(said: Any) -> Any:
    """What a text says in JSON and in nothing else."""
    if not isinstance(said, str):
        return said if isinstance(said, Mapping) else None
    clipped = said[:LIMIT].lstrip()
    begins = _BEGINNING.match(clipped)
    if begins is None:
        return None
    try:
        found, end = _DECODER.raw_decode(clipped, begins.end())
    except (ValueError, RecursionError):
        return None
    return found if _END.match(clipped, end) else None


def _is_error(found: Any) -> bool:
    """Whether it is an error object and no other thing in a message, which may be a part of the request."""
    if text(field(found, "type"), 16) == "error" or text(field(found, "finishReason"), 64) in GUARDRAILS:
        return True
    return field(found, "error", "external_model_error") is not None


_OBJECT = ("message", "code", "type", "status", "error_code", "errorCode")
"""Fields by which an API's own error is told from what a server in front of it says."""


_PROMPT = re.compile(r"(?:input|messages|prompt)\b")
"""The parameter that is the prompt, or a part of it."""


def facts_of(error: Any, outer: Any, details: list[Any], message: str) -> frozenset[str]:
    """What is found in an error object and around it."""
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
    """What a router adds to an error."""
    found = []
    if items(field(metadata, "reasons")) or field(metadata, "flagged_input") is not None:
        found.append("moderation")
    if text(field(metadata, "provider_name")):
        found.append("upstream")
    return found


def _stages(error: Any, outer: Any) -> list[str]:
    """At which stage something was blocked, if a trace of it says so: an answer is only there after the request."""
    hooks = field(outer, "hook_results")  # Portkey's, with a verdict of each guardrail
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


_TEXTS_OF_ERRORS = tuple(name for name in TEXTS if name not in ("details", "title"))
"""Those that need no HTTP status beside them: many a thing has a title."""
_CODES = ("code", "error_code", "errorCode")
_FAILED = frozenset(("error", "fail", "failed", "failure"))
_WELL = frozenset(("", "0", "ok", "success", "successful", "succeeded", "succeed"))
"""Codes and texts that mean success."""


def told_error(answer: Any) -> Any:
    """What `bodies.read` is to read of an answer that holds an error, or is one; None if it does neither."""
    if isinstance(answer, list | tuple):
        entries = (told_error(entry) for entry in answer[:8] if is_object(entry))
        return next((told for told in entries if told is not None), None)
    if field(answer, "error") is not None:
        return answer
    told = field(answer, "base_resp")  # MiniMax's, with a number that is 0 when all went well
    code = number(field(told, "status_code"))
    if code:
        return {"error": {"code": code, "message": text(field(told, "status_msg")), "base_resp": True}}
    return answer if is_flat_error(answer) else None


def is_flat_error(result: Any) -> bool:
    """Whether the object itself is an error: it says so, or has a text beside a code or status that is none of success."""
    found = shown(result)
    if "error" in (text(field(found, "object"), 16), text(field(found, "type"), 16)):
        return True
    success, said = field(found, "success"), field(found, *TEXTS)
    if isinstance(success, bool):
        return not success
    if said is None or text(said, 16).strip().lower() in _WELL - {""} or text(field(found, "text"), 16):
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
    """An HTTP status, or a word."""
    whole = number(status)
    return whole in range(400, 600) if whole is not None else text(status, 16).lower() in _FAILED
