"""Describes a failed call to an error hook of a framework: class, reason and advice in a flat dictionary."""

import logging
from collections.abc import Callable
from typing import Any

from llm_errors.recovery.plan import plan

_LOG = logging.getLogger("llm_errors")

ErrorContext = dict[str, Any]


def error_context(
    failure: Any,
    *,
    provider: str = "",
    model: str = "",
    attempt: int = 1,
    partial_output: bool = False,
    agent_id: str | None = None,
    session_id: str | None = None,
) -> ErrorContext:
    """Returns a dictionary with `class`, `reason`, `category`, `user_message`, `retryable`, `provider` and `model`.

    It also contains `agent_id` and `session_id` if they are given."""
    advice = plan(failure, provider=provider, model=model, attempt=attempt, partial_output=partial_output)
    known = {"agent_id": agent_id, "session_id": session_id}
    return {
        "class": advice.error_class.value if advice.error_class else None,
        "reason": advice.reason,
        "category": advice.category,
        "user_message": advice.user_message,
        "retryable": advice.is_retryable,
        "provider": provider,
        "model": model,
        **{name: value for name, value in known.items() if value is not None},
    }


def on_error(handler: Callable[[ErrorContext], object], *, provider: str = "", model: str = "") -> Callable[..., None]:
    """Returns an error hook for a framework. The hook calls `handler` with the result of `error_context`.

    The framework calls the hook with the failure and, as keywords, with what it knows, such as `agent_id` or `attempt`. If
    `handler` raises, the error is logged and the framework continues.
    """

    def hook(failure: Any, **known: Any) -> None:
        try:
            handler(error_context(failure, **{"provider": provider, "model": model, **known}))
        except Exception:  # noqa: BLE001 - an error in the hook must not replace the reported one
            _LOG.warning("the on_error handler failed", exc_info=True)

    return hook
