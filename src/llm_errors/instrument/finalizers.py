"""Ends a call if its stream is not read to the end: when it is closed, when it is garbage-collected, or at process exit.

After a fork, open calls belong to the parent process. The child reports none of them.
"""

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol
from weakref import ref

from llm_errors.extract.answer import Answer
from llm_errors.instrument import drainer
from llm_errors.safety import quietly

FINALIZER = "_llm_errors_finalizer"
"""The attribute of a stream or raw response that holds its finalizer."""


class Process:
    """Distinguishes a forked child from its parent."""

    generation = 0
    """The number of forks since the module was loaded."""


class OpenCall(Protocol):
    """What a finalizer needs from its call."""

    finalizer_number: int
    """The number of the finalizer that may end the call: the one that was created last."""
    unsettled: list[bool]
    """Empty once the call has ended."""

    def abandoned(self) -> None:
        """The caller ended the call."""
        ...

    def exhausted(self) -> None:
        """The stream has no further chunk."""
        ...

    def failed(self, exc: BaseException) -> None:
        """The call ended with this exception."""
        ...

    def settle(self, answer: Answer) -> None:
        """The call ended with this answer."""
        ...


class StreamFinalizer:
    """Ends a call when its stream or unparsed answer is closed or garbage-collected. In copies and pickles it becomes None."""

    __slots__ = ("__weakref__", "_call", "_number", "_unread")

    def __init__(self, call: OpenCall, unread: Callable[[], Answer] | None = None) -> None:
        self._call, self._number, self._unread = call, call.finalizer_number, unread
        end_at_exit(self)

    @property
    def call(self) -> Any:
        """The call that it ends."""
        return self._call

    @property
    def counts(self) -> bool:
        """Whether the call is still open, and this is its last finalizer."""
        return bool(self._call.unsettled) and self._number == self._call.finalizer_number

    def end(self) -> None:
        """Settle the call: a stream as abandoned, an unparsed answer with what is known about it."""
        if not self.counts:
            return
        if self._unread is None:
            self._call.abandoned()
        else:
            self._call.settle(quietly("answer", Answer(), self._unread))

    def body_ended(self, how: str, error: BaseException | None) -> None:
        """The SDK (anthropic 2) is about to end its own span, because the body was `read`, `closed` or `failed`."""
        if not self.counts:
            return
        if error is not None:
            self._call.failed(error)
        elif how == "read" and self._unread is None:
            self._call.exhausted()
        else:
            drainer.run(self.end)  # the SDK also reports `closed` when the body is garbage-collected

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()

    def __del__(self) -> None:
        if self.counts:
            drainer.run(self.end)


def finalizer_of(holder: Any, through: str = "") -> StreamFinalizer | None:
    """The finalizer of an object, or of the object in its attribute `through`."""
    kept: Any = vars(holder)
    if through and FINALIZER not in kept:
        kept = vars(kept[through])
    found = kept.get(FINALIZER)
    return found if isinstance(found, StreamFinalizer) else None


# --- the end of the process ---


class EndsAtExit(Protocol):
    """An open call or stream that must be ended at process exit."""

    def end(self) -> None:
        """End it, if it is still open."""
        ...


_open: dict[int, "ref[EndsAtExit]"] = {}


def end_at_exit(one: EndsAtExit) -> None:
    """End the object at process exit, before the last flush of the exporters. Only a weak reference is kept."""
    key = id(one)
    _open[key] = ref(one, lambda _: _open.pop(key, None))


def _end_all() -> None:
    for one in list(_open.values()):
        ending = one()
        if ending is not None:
            quietly("exit", None, ending.end)
    quietly("exit", None, drainer.finish)


def _be_first() -> None:
    """Register `_end_all` again, so that it runs first: `atexit` runs functions in reverse order of registration."""
    atexit.unregister(_end_all)
    atexit.register(_end_all)


class _Exit:
    """Whether `_be_first` is registered with `threading`, which has no way to unregister it."""

    asked = False


def watch() -> None:
    """Make sure that open calls end at process exit, and that calls found by the garbage collector end safely.

    `threading` calls its exit functions when the main thread has ended, before those of `atexit`. Only a private function can
    register one. If that is missing, an OpenTelemetry provider that is created later shuts down before the open calls end.
    """
    drainer.watch()
    _be_first()
    if not _Exit.asked:
        _Exit.asked = True
        with suppress(AttributeError, RuntimeError):  # the function is missing, or the process is already exiting
            threading._register_atexit(_be_first)  # type: ignore[attr-defined]


unwatch = drainer.unwatch


def _forked() -> None:
    Process.generation += 1
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
