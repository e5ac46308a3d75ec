"""An error inside a gateway's error: where a gateway puts what the provider behind it said."""

import re
from collections.abc import Mapping
from json import JSONDecoder
from typing import Any

from llm_errors.extract.fields import field, is_object, parsed, text

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
