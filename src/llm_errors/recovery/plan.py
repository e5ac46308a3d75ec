"""Decides what to do about one failed call: whether and when to retry, and what to change before. It does none of this itself.

`verdict.judge` decides class and reason. The tables in this module map them to a category and to a text for the user, and the
advice follows from these.
"""

import random as _random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from llm_errors.evidence import Classification
from llm_errors.recovery import backoff, hints, verdict
from llm_errors.taxonomy import ACCOUNT_BUDGET_REASONS, ErrorClass

_E = ErrorClass

CATEGORIES: Final = ("rate_limit", "context_overflow", "auth", "overloaded", "model_error", "permanent", "unknown")
KINDS: Final = (
    "rate_limit",
    "overloaded",
    "idle_timeout",
    "auth",
    "auth_permanent",
    "model_not_found",
    "format_error",
    "context_overflow",
    "billing",
    "empty_response",
    "unknown",
)
COMPRESS_TO: Final = 0.7
"""The share of the context limit that a compressed prompt may use. The rest is for the answer."""
MAX_RETRIES: Final = 3

_CATEGORY: Final = {
    _E.TRANSPORT: "overloaded",
    _E.TIMEOUT: "overloaded",
    _E.RATE_LIMITED: "rate_limit",
    _E.SERVER: "overloaded",
    _E.BAD_REQUEST: "model_error",
    _E.AUTH: "auth",
    _E.NOT_FOUND: "model_error",
    _E.CALL_BUDGET: "permanent",
    _E.PROMPT_BLOCKED: "permanent",
    _E.OUTPUT_BLOCKED: "permanent",
    _E.TRUNCATED: "model_error",
    _E.TOOL_PROTOCOL: "model_error",
    _E.UNKNOWN: "unknown",
}
_KIND: Final = {
    _E.TRANSPORT: "overloaded",
    _E.TIMEOUT: "idle_timeout",
    _E.RATE_LIMITED: "rate_limit",
    _E.SERVER: "overloaded",
    _E.BAD_REQUEST: "format_error",
    _E.AUTH: "auth",
    _E.NOT_FOUND: "model_not_found",
    _E.TOOL_PROTOCOL: "format_error",
}
_DEAD_KEY: Final = frozenset(("missing_key", "invalid_key", "account_disabled", "region"))
_TOO_LONG: Final = frozenset(("context_overflow", "request_too_large"))

_TRY_LATER = "The assistant is busy right now. Please try again in a moment."
_SUPPORT = "The assistant is not available at the moment. Please contact support."
_REFUSED = "This request cannot be answered. Please rephrase it."
_TOO_LONG_TEXT = "This conversation has grown too long. Please shorten it or start a new one."
_UNKNOWN_TEXT = "Something went wrong. Please try again later."
_USER_MESSAGE: Final = {
    _E.TRANSPORT: _TRY_LATER,
    _E.TIMEOUT: _TRY_LATER,
    _E.RATE_LIMITED: _TRY_LATER,
    _E.SERVER: _TRY_LATER,
    _E.BAD_REQUEST: "This request could not be processed. Please change it and try again.",
    _E.AUTH: _SUPPORT,
    _E.NOT_FOUND: _SUPPORT,
    _E.CALL_BUDGET: _SUPPORT,
    _E.PROMPT_BLOCKED: _REFUSED,
    _E.OUTPUT_BLOCKED: _REFUSED,
    _E.TRUNCATED: "The answer was cut short. Please ask for a smaller part of it.",
    _E.TOOL_PROTOCOL: "Something went wrong while preparing the answer. Please try again.",
    _E.UNKNOWN: _UNKNOWN_TEXT,
}


@dataclass(frozen=True)
class RecoveryPlan:
    """Advice on one failed call.

    `category` is one of `CATEGORIES`, `kind` one of `KINDS`. `backoff_seconds` is the wait before the retry, or 0 if no wait
    is needed. `compress_to_tokens` is the size to compress the prompt to, if the sizes are known. `user_message`
    can be shown to anyone: it names no provider, model, key or cause. The advice depends on `error_class` and `reason`. They
    are None and empty if nothing failed, or if the caller cancelled the call.
    """

    category: str
    kind: str
    is_retryable: bool
    should_compress_context: bool
    should_rotate_credential: bool
    should_fallback_model: bool
    backoff_seconds: float
    user_message: str
    error_class: ErrorClass | None
    reason: str
    provider: str = ""
    model: str = ""
    attempt: int = 1
    compress_to_tokens: int | None = None
    classification: Classification | None = None


def plan(
    failure: Any,
    *,
    provider: str = "",
    model: str = "",
    attempt: int = 1,
    prompt_tokens: int | None = None,
    context_length: int | None = None,
    partial_output: bool = False,
    max_retries: int = MAX_RETRIES,
    fallbacks: int = 1,
    repaired: bool | None = None,
    cap: float = backoff.CAP,
    random: Callable[[], float] = _random.random,
) -> RecoveryPlan:
    """Advice on `failure`: an exception, an SDK's response object or the same as a plain dict, or a `Classification`.

    `attempt` is the number of the attempt that failed. The first is 1, and attempts with other models and credentials count
    too. At most `max_retries` retries are advised; 0 means none. `fallbacks` is the number of other models that the
    application can fall back to. After `max_retries` + `fallbacks` attempts the advice is to stop.

    `partial_output` means that a part of the answer has reached the user. Then nothing is retried. Two failures are retried
    only once: a context overflow (with a compressed prompt) and a broken tool call (by asking the model again). `repaired`
    tells whether this one retry has been made. If it is None, every attempt except the first counts as this retry.
    """
    found = verdict.judge(
        failure,
        provider=provider,
        partial_output=partial_output,
        prompt_tokens=prompt_tokens,
        context_length=context_length,
    )
    if found is None:
        return _nothing_failed(provider, model, attempt)
    category, overflow = _category(found), _overflows(found)
    once = overflow or found.error_class is _E.TOOL_PROTOCOL
    used = attempt > 1 if repaired is None else repaired
    hopeful = attempt <= max(max_retries, 0) + max(fallbacks, 0)
    retryable = (
        (found.retryable or (overflow and not found.partial_output)) and attempt <= max_retries and not (once and used)
    )
    base = backoff.base_delay(category, provider) if retryable else 0.0
    return RecoveryPlan(
        category=category,
        kind=_kind(found),
        is_retryable=retryable,
        should_compress_context=hopeful and overflow and not used,
        should_rotate_credential=hopeful and found.error_class is _E.AUTH and found.reason != "region",
        should_fallback_model=hopeful and fallbacks > 0 and _falls_back(found, category),
        backoff_seconds=_wait(failure, base=base, attempt=attempt, cap=cap, random=random),
        user_message=_TOO_LONG_TEXT if overflow else _USER_MESSAGE[found.error_class],
        error_class=found.error_class,
        reason=found.reason,
        provider=provider,
        model=model,
        attempt=attempt,
        compress_to_tokens=_target(prompt_tokens, context_length) if overflow else None,
        classification=found,
    )


def _nothing_failed(provider: str, model: str, attempt: int) -> RecoveryPlan:
    return RecoveryPlan(
        "unknown", "unknown", False, False, False, False, 0.0, _UNKNOWN_TEXT, None, "", provider, model, attempt
    )


def _overflows(found: Classification) -> bool:
    return found.error_class is _E.BAD_REQUEST and found.reason in _TOO_LONG


def _category(found: Classification) -> str:
    if _overflows(found):
        return "context_overflow"
    if found.error_class is _E.CALL_BUDGET and found.retryable:
        return "rate_limit"  # the provider says when the quota is available again
    return _CATEGORY[found.error_class]


def _kind(found: Classification) -> str:
    error_class, reason = found.error_class, found.reason
    if _overflows(found):
        return "context_overflow"
    if error_class is _E.AUTH and reason in _DEAD_KEY and found.evidence != "status":
        return "auth_permanent"
    if error_class is _E.CALL_BUDGET and reason in ACCOUNT_BUDGET_REASONS:
        return "billing"
    if reason == "empty_response":
        return "empty_response"
    return _KIND.get(error_class, "unknown")


def _falls_back(found: Classification, category: str) -> bool:
    """Whether another model may help, because the provider is overloaded or a rate limit lasts longer than a retry can wait."""
    return category == "overloaded" or (category == "rate_limit" and not found.retryable and not found.partial_output)


def _wait(failure: Any, *, base: float, attempt: int, cap: float, random: Callable[[], float]) -> float:
    """The wait that the provider asks for, or else the backoff of the category.

    It is 0 if `base` is 0, because waiting does not help then or nothing is retried.
    """
    if not base:
        return 0.0
    asked = hints.wait_asked_for(failure, cap=cap)
    return asked if asked is not None else backoff.delay(attempt, base, cap=cap, random=random)


def _target(prompt_tokens: int | None, context_length: int | None) -> int | None:
    """The size to compress the prompt to: a share of the context limit, or of the prompt if the prompt is smaller."""
    sizes = [s for s in (prompt_tokens, context_length) if s is not None and s > 0]
    return int(min(sizes) * COMPRESS_TO) if sizes else None
