"""Settling calls whose stream the application dropped, safely.

A dropped stream is noticed in a finaliser. When the cyclic garbage collector runs it, the same thread may be inside the
metrics SDK and hold its lock: counting there could wait for that lock for ever. So what happens during a collection is
handed to a thread that is started for it.
"""

import _thread
import gc
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from llm_errors.safety import quietly

_waiting: deque[Callable[[], Any]] = deque()


class _Collection:
    """Which thread is collecting garbage now; 0 for none."""

    thread = 0


def _note(phase: str, info: dict[str, int]) -> None:
    _Collection.thread = _thread.get_ident() if phase == "start" else 0


def watch() -> None:
    """Begin to note collections."""
    if _note not in gc.callbacks:
        gc.callbacks.append(_note)


def unwatch() -> None:
    """Stop noting collections."""
    if _note in gc.callbacks:
        gc.callbacks.remove(_note)
    _Collection.thread = 0


def settle(action: Callable[[], Any]) -> None:
    """Run the action now, or in a thread of its own when this thread is collecting garbage."""
    if _Collection.thread != _thread.get_ident():
        quietly("drop", None, action)
        return
    _waiting.append(action)
    with suppress(RuntimeError):  # no thread can be had, as at the end of the process
        _thread.start_new_thread(_drain, ())


def _drain() -> None:
    while _waiting:
        try:
            action = _waiting.popleft()
        except IndexError:
            return
        quietly("drop", None, action)
