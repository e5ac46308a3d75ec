"""Decides how the provider of the demo replies to a request: with a healthy answer, or with the fault of the ticket.

This module contains no error classes, so the classes in the report come from llm-errors alone. It needs the standard
library only.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from llm_errors.testing import replies
from llm_errors.testing.provider import Reply, Request
from llm_errors.tools.demo import monday

_OVERLOADED = replies.anthropic_error_body("overloaded_error", "Overloaded")
_QUOTA_DETAILS = (
    {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel", "quotaValue": "1000"}],
    },
    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"},
)

FAULTS: Final = {
    "cut_off": replies.openai_answer('{"queue": "returns", "urg', finish="length"),
    "broken_call": replies.openai_answer(
        None, "tool_calls", tool_calls=[replies.openai_call("find_order", '{"order": 4')]
    ),
    "dropped": replies.openai_stream(("Your parcel ", "is "), finish=None, action="cut_mid_stream"),
    "hanging": Reply(action="hang"),
    "spent": replies.openai_error(
        429,
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
        headers=replies.SOON,
    ),
    "quota": replies.gemini_error(
        429, "RESOURCE_EXHAUSTED", "Quota exceeded for requests per minute. Please retry in 17s.", _QUOTA_DETAILS
    ),
    "safety_stop": replies.gemini_answer("", finish="SAFETY"),
    "blocked_prompt": replies.gemini_blocked("PROHIBITED_CONTENT"),
    "empty": replies.gemini_stream(()),
    "overloaded": replies.anthropic_stream(("Dear customer, ", "we "), error=_OVERLOADED),
    "refusal": replies.anthropic_stream(("I cannot ",), stop="refusal"),
    "too_long": replies.anthropic_error(
        400, "invalid_request_error", "prompt is too long: 212000 tokens > 200000 maximum"
    ),
    "retired": replies.openai_error(
        404, "model_not_found", "invalid_request_error", f"The model `{monday.RETIRED}` has been deprecated."
    ),
    "busy": Reply(529, json=_OVERLOADED),
    "forbidden": replies.anthropic_error(403, "permission_error", "Your API key may not use this model."),
    "nothing": replies.gemini_answer(""),
    "revoked": replies.anthropic_error(401, "authentication_error", "invalid x-api-key"),
}
"""Name of a fault -> the reply of the provider."""

Healthy = Callable[[Request], Reply]


def _openai(request: Request) -> Reply:
    asked = request.json()
    if asked.get("stream"):
        return replies.openai_stream(("Your parcel ", "is on ", "its way."))
    if asked.get("tools"):
        return replies.openai_answer(
            None, "tool_calls", tool_calls=[replies.openai_call("find_order", '{"order": 4711}')]
        )
    if asked.get("response_format"):
        return replies.openai_answer(json.dumps({"queue": "delivery", "urgent": False}))
    return replies.openai_answer("The invoice is corrected.")


def _anthropic(request: Request) -> Reply:
    if request.json().get("stream"):
        return replies.anthropic_stream(("Dear customer, ", "your parcel ", "is on its way."))
    return replies.anthropic_answer("The customer waits for a parcel.")


_HEALTHY: Final[tuple[tuple[str, Healthy], ...]] = (
    ("/chat/completions", _openai),
    ("/messages", _anthropic),
    (":streamGenerateContent", lambda _: replies.gemini_stream(("Shall I ", "send it ", "again?"))),
    (":generateContent", lambda _: replies.gemini_answer("Your parcel is on its way.")),
)
"""Pairs of a path's end and the function that writes the healthy answer in the wire format of this path."""

_TICKET = re.compile(rb"Ticket (\d+)")


class Stage:
    """Is the script of the provider for the whole day. The provider is `Provider(Stage().answer)`."""

    def __init__(self) -> None:
        self._tickets = {t.number: t for t in monday.all_tickets()}
        self._attempts: Counter[int] = Counter()

    def answer(self, request: Request) -> Reply:
        """The reply to a request. The number of the ticket is in the text of the request.

        The provider calls this function for one request at a time, so it needs no lock.
        """
        found = _TICKET.search(request.body)
        ticket = self._tickets.get(int(found[1])) if found else None
        if ticket is not None and ticket.fault:
            self._attempts[ticket.number] += 1
            if self._attempts[ticket.number] <= ticket.attempts:
                return FAULTS[ticket.fault]
        path = request.path.partition("?")[0]
        healthy = next((reply for end, reply in _HEALTHY if path.endswith(end)), None)
        return (
            healthy(request) if healthy else replies.openai_error(404, None, "invalid_request_error", "Unknown path.")
        )
