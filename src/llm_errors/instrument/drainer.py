"""Settling calls whose stream the application dropped, safely.

A dropped stream is noticed in a finaliser. When the cyclic garbage collector runs it, the same thread may be inside the
metrics SDK and hold its lock: counting there could wait for that lock for ever. So what happens during a collection is
handed to a thread that is started for it. What is still open when the process ends is settled then.
"""

import _thread
import atexit
import gc
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from llm_errors.safety import quietly

if TYPE_CHECKING:
    from llm_errors.instrument.finalizers import StreamFinalizer

_open: "WeakSet[StreamFinalizer]" = WeakSet()
_waiting: deque[Callable[[], Any]] = deque()


class _Collection:
    """Which thread is collecting garbage now; 0 for none, None while nobody takes note."""

    thread: int | None = None


def _note(phase: str, info: dict[str, int]) -> None:
    _Collection.thread = _thread.get_ident() if phase == "start" else 0


def watch() -> None:
    """Begin to note collections."""
    if _note not in gc.callbacks:
        gc.callbacks.append(_note)
        _Collection.thread = 0
    atexit.unregister(_end_all)
    atexit.register(_end_all)  # the last to be registered is the first to run: before the providers' shutdown


def unwatch() -> None:
    """Stop noting collections."""
    if _note in gc.callbacks:
        gc.callbacks.remove(_note)
    _Collection.thread = None


def settle(action: Callable[[], Any]) -> None:
    """Run the action now, or in a thread of its own when this thread is collecting garbage, or may be."""
    if _Collection.thread not in (None, _thread.get_ident()):
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


def at_exit(finalizer: "StreamFinalizer") -> None:
    """End the finalizer when the process ends, should it still count: before the exporters' last flush."""
    _open.add(finalizer)


def _end_all() -> None:
    for finalizer in list(_open):
        quietly("exit", None, finalizer.end)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open.clear)  # what the parent has open is the parent's to count
