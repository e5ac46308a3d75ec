"""Our own failures: never the application's, logged once per place, counted; in strict mode (tests) raised.

`quietly` is what stands between every edge of the application's call and our code. Standard library only.
"""

import logging
from collections.abc import Callable
from typing import Any, TypeVar

_log = logging.getLogger("llm_errors")
R = TypeVar("R")


class _State:
    """What `configure` sets, for the whole process."""

    strict = False
    count: Callable[[str], Any] | None = None
    seen: set[str]


_state = _State()
_state.seen = set()


def configure(*, strict: bool, count: Callable[[str], Any] | None) -> None:
    """Set strict mode, and the counter of `llm_instrumentation_errors_total`; forget which places have been logged."""
    _state.strict, _state.count, _state.seen = strict, count, set()


def quietly(place: str, default: R, call: Callable[..., R], *args: Any) -> R:
    """The call's result, or `default` if our code fails.

    An exception that is no `Exception`, such as SystemExit, passes.
    """
    try:
        return call(*args)
    except Exception as error:  # noqa: BLE001 - the promise: a bug of ours is never the application's
        report_internal_error(place, error)
        return default


def report_internal_error(place: str, error: Exception) -> None:
    """Log and count a failure of our own that has just been caught; in strict mode raise it again."""
    if _state.strict:
        raise error
    if place not in _state.seen:
        _state.seen.add(place)
        _log.warning("llm-errors failed at %s; the application's call goes on", place, exc_info=error)
    if _state.count is not None:
        try:
            _state.count(place)
        except Exception:  # noqa: BLE001 - counting our failures must not become one
            _state.count = None


def warn_once(place: str, message: str, *args: Any) -> None:
    """Log a warning once per place."""
    if place not in _state.seen:
        _state.seen.add(place)
        _log.warning(message, *args)
