"""What an error hook of a framework is told about a failed call: class, reason and advice, as a flat dictionary."""

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
    """`class`, `reason`, `category`, `user_message`, `retryable`, `provider`, `model`; `agent_id` and `session_id` if
    known."""
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

    It is called with the failure and what is known (`agent_id`, `session_id`, `attempt`, ...) as keywords.
    `handler` gets the context. A handler that raises is logged and never disturbs the framework.
    """

    def hook(failure: Any, **known: Any) -> None:
        try:
            handler(error_context(failure, **{"provider": provider, "model": model, **known}))
        except Exception:  # noqa: BLE001 - a hook must not replace the error that it reports
            _LOG.warning("the on_error handler failed", exc_info=True)

    return hook
