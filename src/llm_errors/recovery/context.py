"""Passes class, reason and advice about a failed call to an error hook of a framework, as a flat dictionary."""

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
    """The keys `class`, `reason`, `category`, `user_message`, `retryable`, `provider` and `model`.

    `agent_id` and `session_id` are added if they are known."""
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
    """An error hook for a framework.

    The framework calls it with the failure, and with what it knows (`agent_id`, `session_id`, `attempt`, ...) as keywords.
    `handler` receives the context. If it raises, the error is logged and the framework continues.
    """

    def hook(failure: Any, **known: Any) -> None:
        try:
            handler(error_context(failure, **{"provider": provider, "model": model, **known}))
        except Exception:  # noqa: BLE001 - an error in the hook must not replace the reported one
            _LOG.warning("the on_error handler failed", exc_info=True)

    return hook
