"""Where the end of a dropped stream is told: in the thread that notices the drop, or in one worker.

When the cyclic garbage collector finds a dropped stream, its thread may be inside the metrics SDK and hold a lock:
counting there could wait for that lock for ever. So what is noticed during a collection is handed to a worker thread.
There is at most one, and it ends when nothing is left to do. Nothing here waits for a lock in a collection.
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
"""Actions that may wait for the worker: past that the oldest is given up, so that a worker that hangs costs no memory."""
PAUSE = 0.001
"""Seconds between two looks of the worker while a collection goes on."""
PATIENCE = 1.0
"""Seconds that the end of the process waits for what the worker has begun."""

_waiting: deque[Callable[[], Any]] = deque(maxlen=LIMIT)
_vacancy = [True]
"""Holds one item while there is no worker. `list.pop` is atomic, so only one thread at a time can start one."""


class _State:
    """What changes with collections and forks."""

    collecting: int | None = None
    """The thread that is collecting garbage; 0 for none, None while nobody takes note."""
    working = _thread.allocate_lock()
    """Held by the worker."""


def _note(phase: str, info: dict[str, int]) -> None:
    _State.collecting = _thread.get_ident() if phase == "start" else 0


def watch() -> None:
    """Begin to note collections."""
    if _note not in gc.callbacks:
        gc.callbacks.append(_note)
        _State.collecting = 0


def unwatch() -> None:
    """Stop noting collections."""
    if _note in gc.callbacks:
        gc.callbacks.remove(_note)
    _State.collecting = None


def run(action: Callable[[], Any]) -> None:
    """Run the action now, or in the worker when this thread is collecting garbage, or may be."""
    if _State.collecting not in (None, _thread.get_ident()):
        quietly("drop", None, action)
        return
    _waiting.append(action)
    _start_worker()


def _start_worker() -> None:
    try:
        _vacancy.pop()
    except IndexError:  # there is one, and it will find the action
        return
    try:
        _thread.start_new_thread(_work, ())
    except RuntimeError:  # no thread can be had, as when the process ends: `finish` or the next action sees to it
        _vacancy.append(True)


def _work() -> None:
    try:
        with _State.working:
            _drain()
            while _State.collecting:  # it may find more
                sleep(PAUSE)
                _drain()
    finally:
        _vacancy.append(True)
        if _waiting:  # it came after the last look
            _start_worker()


def _drain() -> None:
    while True:
        try:
            action = _waiting.popleft()
        except IndexError:
            return
        quietly("drop", None, action)


def finish() -> None:
    """Run what waits, and let the worker end what it has begun: the process ends."""
    _drain()
    if _State.working.acquire(timeout=PATIENCE):
        _State.working.release()


def _forked() -> None:
    """A child has no worker, and what waited is told by its parent."""
    _waiting.clear()
    _vacancy[:] = [True]
    _State.working = _thread.allocate_lock()
    if _State.collecting is not None:
        _State.collecting = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
