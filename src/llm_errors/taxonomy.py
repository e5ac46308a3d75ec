"""The 13 error classes, each with exactly one handling rule, and the closed vocabulary of reasons.

README tables, alert rules, dashboards and tests derive from this module. Standard library only.

A failure is thrown as an exception, or it is in-band: an answer shows it.

    thrown or in-band failure
    ├── reliability   TRANSPORT  TIMEOUT  RATE_LIMITED  SERVER                provider's fault; uses error budget
    ├── correctness   BAD_REQUEST  AUTH  NOT_FOUND  CALL_BUDGET  TOOL_PROTOCOL  owning team fixes it
    ├── policy        PROMPT_BLOCKED  OUTPUT_BLOCKED                           excluded from availability
    │                 TRUNCATED
    └── review        UNKNOWN                                                 add rules for recurring patterns
"""

from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple


class ErrorClass(str, Enum):
    """The class of a failed model call. The values are metric label values."""

    TRANSPORT = "TRANSPORT"
    TIMEOUT = "TIMEOUT"
    RATE_LIMITED = "RATE_LIMITED"
    SERVER = "SERVER"
    BAD_REQUEST = "BAD_REQUEST"
    AUTH = "AUTH"
    NOT_FOUND = "NOT_FOUND"
    CALL_BUDGET = "CALL_BUDGET"
    PROMPT_BLOCKED = "PROMPT_BLOCKED"
    OUTPUT_BLOCKED = "OUTPUT_BLOCKED"
    TRUNCATED = "TRUNCATED"
    TOOL_PROTOCOL = "TOOL_PROTOCOL"
    UNKNOWN = "UNKNOWN"

    def __str__(self) -> str:
        """Return the bare value, which `str` does not do on every Python version."""
        return self.value


class View(str, Enum):
    """Which dashboard shows a class, and where its alerts are routed."""

    RELIABILITY = "reliability"
    CORRECTNESS = "correctness"
    POLICY = "policy"
    REVIEW = "review"


class Availability(str, Enum):
    """How a call of this class counts in the availability SLO."""

    BAD = "bad"
    """A valid event that consumes the error budget."""
    GOOD = "good"
    """A valid event that does not consume the error budget."""
    LEFT_OUT = "left_out"
    """Not counted: the user's input caused the failure."""


class HandlingRule(NamedTuple):
    """How a class is displayed, alerted on and handled. Each class has exactly one rule.

    `retryable` is the default of the class. A reason can make it false (`FINAL_REASONS`), never true.
    `severity` is the severity of the alert: `page`, `ticket` or `info`.
    """

    error_class: ErrorClass
    view: View
    audience: str
    availability: Availability
    retryable: bool
    severity: str
    advice: str


_C, _V, _A = ErrorClass, View, Availability
_ONCALL, _TEAM, _SAFETY = "platform on-call", "owning team", "trust and safety"

_RULES = (
    HandlingRule(_C.TRANSPORT, _V.RELIABILITY, _ONCALL, _A.BAD, True, "page",
                 "Retry with back-off, in a single retry layer; if that fails, degrade."),
    HandlingRule(_C.TIMEOUT, _V.RELIABILITY, _ONCALL, _A.BAD, True, "page",
                 "Retry with back-off, in a single retry layer; if that fails, degrade. Check deadlines."),
    HandlingRule(_C.RATE_LIMITED, _V.RELIABILITY, _ONCALL, _A.BAD, True, "page",
                 "Wait as long as Retry-After says; raise the quota or shed load; if that fails, degrade."),
    HandlingRule(_C.SERVER, _V.RELIABILITY, _ONCALL, _A.BAD, True, "page",
                 "Retry with back-off, then fall back to another model; if that fails, degrade."),
    HandlingRule(_C.BAD_REQUEST, _V.CORRECTNESS, _TEAM, _A.GOOD, False, "ticket",
                 "Re-raise; fix the request (context_overflow: compress to 70 % of the limit, once)."),
    HandlingRule(_C.AUTH, _V.CORRECTNESS, _TEAM, _A.GOOD, False, "page",
                 "Re-raise and page; fix or rotate the credential; never hide it behind a friendly message."),
    HandlingRule(_C.NOT_FOUND, _V.CORRECTNESS, _TEAM, _A.GOOD, False, "page",
                 "Re-raise and page; fix the model or deployment name."),
    HandlingRule(_C.CALL_BUDGET, _V.CORRECTNESS, _TEAM, _A.GOOD, False, "page",
                 "Re-raise; one of your own limits or your provider account's budget is exhausted."),
    HandlingRule(_C.PROMPT_BLOCKED, _V.POLICY, _SAFETY, _A.LEFT_OUT, False, "ticket",
                 "Show the refusal text; review."),
    HandlingRule(_C.OUTPUT_BLOCKED, _V.POLICY, _SAFETY, _A.LEFT_OUT, False, "ticket",
                 "Show the refusal text; withdraw what was streamed; review."),
    HandlingRule(_C.TRUNCATED, _V.POLICY, "product", _A.GOOD, False, "ticket",
                 "Don't retry; ask for shorter output or raise the token limit."),
    HandlingRule(_C.TOOL_PROTOCOL, _V.CORRECTNESS, _TEAM, _A.GOOD, True, "ticket",
                 "Re-ask the model once; fix the tool or output schema."),
    HandlingRule(_C.UNKNOWN, _V.REVIEW, "weekly review", _A.GOOD, False, "info",
                 "Keep the raw message; promote recurring patterns to named classes."),
)  # fmt: skip

HANDLING: Final = MappingProxyType({rule.error_class: rule for rule in _RULES})
"""Class -> its handling rule, in the order of the taxonomy."""

_WORDS = {
    _C.TRANSPORT: "connection_refused dns tls disconnected stream_cut proxy other",
    _C.TIMEOUT: "connect read write pool provider other",
    _C.RATE_LIMITED: "requests tokens concurrency daily_quota service_quota request_too_large_for_rate upstream other",
    _C.SERVER: "internal overloaded unavailable gateway deadline_exceeded model_not_ready model_error conflict upstream"
    " other",
    _C.BAD_REQUEST: "invalid_parameter context_overflow request_too_large unsupported invalid_media failed_precondition"
    " malformed_history protocol other",
    _C.AUTH: "missing_key invalid_key expired permission_denied region account_disabled other",
    _C.NOT_FOUND: "model deployment resource other",
    _C.CALL_BUDGET: "insufficient_quota billing spend_limit max_llm_calls max_turns token_limit other",
    _C.PROMPT_BLOCKED: "content_filter safety jailbreak prohibited_content blocklist guardrail moderation image_safety"
    " other",
    _C.OUTPUT_BLOCKED: "content_filter safety refusal recitation prohibited_content blocklist guardrail sensitive_data"
    " language image_safety other",
    _C.TRUNCATED: "max_tokens context_window reasoning_tokens other",
    _C.TOOL_PROTOCOL: "malformed_call unexpected_call too_many_calls invalid_arguments schema_mismatch other",
    _C.UNKNOWN: "empty_response unrecognised_finish_reason unrecognised_error unexpected_body foreign_exception other",
}

REASONS: Final = MappingProxyType({error_class: tuple(words.split()) for error_class, words in _WORDS.items()})
"""The reasons of each class. The vocabulary is closed; the values are metric label values."""

FINAL_REASONS: Final = frozenset(
    {
        (ErrorClass.TRANSPORT, "tls"),
        (ErrorClass.RATE_LIMITED, "daily_quota"),
        (ErrorClass.RATE_LIMITED, "service_quota"),
        (ErrorClass.RATE_LIMITED, "request_too_large_for_rate"),
    }
)
"""Reasons for which a retry cannot succeed, although their class is retryable by default."""

ACCOUNT_BUDGET_REASONS: Final = ("insufficient_quota", "billing", "spend_limit")
"""CALL_BUDGET reasons that concern the provider account; their alerts page someone. The others are limits of a single run."""
