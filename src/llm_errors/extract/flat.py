"""Errors in place of an answer under HTTP 200: in an envelope, or without one as some servers and event streams send it.

Healthy answers of compatible servers have such fields too (`code` 0, `success` true, a `message`): an error must say so.
"""

from typing import Any

from llm_errors.extract.fields import field, is_object, number, shown, text
from llm_errors.extract.wrapped import STATUSES, TEXTS

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
