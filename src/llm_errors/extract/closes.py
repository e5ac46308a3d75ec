"""Reads how a server closed a websocket: the close code, and the reason text.

A close is an error without an HTTP status. The evidence gets the close code as a code such as `close_1011`, and the reason as
the message. Many servers write an error code, or an error object, into the reason.
"""

import json
import re
from typing import Any, NamedTuple

from llm_errors.extract import bodies, causes
from llm_errors.extract.fields import field, number, parsed, text

CLOSES = range(1000, 5000)
"""Close codes: 1000 to 2999 of the protocol, 3000 to 4999 of applications."""
ABNORMAL = 1006
"""The code for a connection that ended without a close frame."""
NORMAL = frozenset((1000, 1001, 1005))
"""Codes of closes that are no errors."""
_CLASS = "websockets.ConnectionClosed"
_OF_GENAI = "google.genai.APIError"
_OF_ELEVENLABS = "elevenlabs.ApiError"
_ONE_WORD = re.compile(r"[A-Za-z][\w.-]*")
_CUT_JSON = re.compile(r'"message"\s*:\s*"([^"]*)')
"""Finds the message of an error object that is cut off, as a reason has at most 123 bytes."""


class Close(NamedTuple):
    """The code and the reason with which a websocket was closed."""

    code: int
    reason: str

    @property
    def is_normal(self) -> bool:
        """Whether the close is no error."""
        return self.code in NORMAL

    def read(self) -> bodies.ErrorBody:
        """Read the reason as an error body, and add the close code to its codes."""
        found = bodies.read(self.reason)
        word = self.reason.strip()
        named = (word,) if _ONE_WORD.fullmatch(word) else ()
        message = found.message or self._cut_message() or self.reason
        return bodies.ErrorBody(
            codes=(*found.codes, *named, f"close_{self.code}"),
            message=message,
            status=found.status,
            retry_after=found.retry_after,
            facts=found.facts | {"closed"},
            dialect=found.dialect,
        )

    def _cut_message(self) -> str:
        cut = _CUT_JSON.search(self.reason) if isinstance(parsed(self.reason), str) else None
        return cut[1] if cut else ""


def close_of(exc: BaseException | None) -> Close | None:
    """The close of the websocket, if the exception contains one.

    websockets raises ConnectionClosed. Two SDKs raise their own exception instead: google-genai an APIError, with the close
    code as `code`, and elevenlabs an ApiError, with the close code as `status_code`.
    """
    if exc is None:
        return None
    names = causes.names(exc)
    if _CLASS in names:
        frame = field(exc, "rcvd")
        return Close(number(field(frame, "code")) or ABNORMAL, text(field(frame, "reason")))
    code: Any = number(field(exc, "code")) if _OF_GENAI in names else None
    if code in CLOSES:
        return Close(code, text(field(exc, "details")))
    code = number(field(exc, "status_code")) if _OF_ELEVENLABS in names else None
    return Close(code, _reason(field(exc, "body"))) if code in CLOSES else None


def _reason(body: Any) -> str:
    """The reason in the body of elevenlabs' error.

    The body is the reason itself, as a text, or the server's last message, whose field `error` is the code. The reason is then
    returned as JSON.
    """
    if not isinstance(body, dict):
        return text(body)
    return json.dumps({"code": text(body.get("error"), 64), "message": text(body.get("message"))})
