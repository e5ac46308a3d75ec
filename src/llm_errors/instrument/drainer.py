"""Chooses the thread that records the end of a dropped stream: the current thread, or one worker thread.

The garbage collector may find a dropped stream while the collecting thread holds a lock of the metrics SDK. Counting in that
thread could deadlock, so actions during a garbage collection are passed to a worker thread. There is at most one worker, and
it ends when there is nothing left to do. No code in this module waits for a lock during a collection.
"""

import _thread
import gc
import os
from collections import deque
from collections.abc import Callable
from time import sleep
from typing import Any

from llm_errors.safety import quietly

LIMIT = 100_000
"""The maximum number of waiting actions. Beyond it the oldest is dropped, which limits memory if the worker hangs."""
PAUSE = 0.001
"""Seconds between two checks of the worker during a collection."""
PATIENCE = 1.0
"""Seconds that process exit waits for the action that the worker is running."""

_waiting: deque[Callable[[], Any]] = deque(maxlen=LIMIT)
_vacancy = [True]
"""One item if there is no worker, otherwise empty. `list.pop` is atomic, so two threads cannot both start a worker."""


class _State:
    """State that changes with garbage collections and forks."""

    collecting: int | None = None
    """The id of the thread that is collecting garbage; 0 for none, None if collections are not watched."""
    working = _thread.allocate_lock()
    """The lock that the worker holds while it runs an action."""


def _note(phase: str, info: dict[str, int]) -> None:
    _State.collecting = _thread.get_ident() if phase == "start" else 0


def watch() -> None:
    """Start to watch garbage collections."""
    if _note not in gc.callbacks:
        gc.callbacks.append(_note)
        _State.collecting = 0


def unwatch() -> None:
    """Stop watching garbage collections."""
    if _note in gc.callbacks:
        gc.callbacks.remove(_note)
    _State.collecting = None


def run(action: Callable[[], Any]) -> None:
    """Run the action now, or in the worker if this thread is, or may be, collecting garbage."""
    if _State.collecting not in (None, _thread.get_ident()):
        quietly("drop", None, action)
        return
    _waiting.append(action)
    _start_worker()


def _start_worker() -> None:
    try:
        _vacancy.pop()
    except IndexError:  # a worker is running and will find the action
        return
    try:
        _thread.start_new_thread(_work, ())
    except RuntimeError:  # no thread can be started, for example at exit: `finish` or the next action runs it
        _vacancy.append(True)


def _work() -> None:
    try:
        with _State.working:
            _drain()
            while _State.collecting:  # the collection may find more dropped streams
                sleep(PAUSE)
                _drain()
    finally:
        _vacancy.append(True)
        if _waiting:  # the action came after the last check
            _start_worker()


def _drain() -> None:
    while True:
        try:
            action = _waiting.popleft()
        except IndexError:
            return
        quietly("drop", None, action)


def finish() -> None:
    """At process exit: run the waiting actions, and wait for the one that the worker is running."""
    _drain()
    if _State.working.acquire(timeout=PATIENCE):
        _State.working.release()


def _forked() -> None:
    """A forked child has no worker; its parent runs the waiting actions."""
    _waiting.clear()
    _vacancy[:] = [True]
    _State.working = _thread.allocate_lock()
    if _State.collecting is not None:
        _State.collecting = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
