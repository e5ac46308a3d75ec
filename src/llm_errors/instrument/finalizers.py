"""What ends a call whose stream nobody reads to its end: a close, a drop, the end of the process.

After a fork the calls that were open belong to the parent: the child tells of none of them.
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
"""The attribute of a stream or raw response that ties it to its call."""


class Process:
    """Tells a forked child from its parent."""

    generation = 0
    """How many forks lie between this process and the one that loaded the module."""


class OpenCall(Protocol):
    """What a finalizer must know of its call."""

    finalizer_number: int
    """The number of the finalizer that may end the call: the last that was made for it."""
    unsettled: list[bool]
    """Empty once the call has ended."""

    def abandoned(self) -> None:
        """The caller ended the call."""
        ...

    def exhausted(self) -> None:
        """No further chunk comes."""
        ...

    def failed(self, exc: BaseException) -> None:
        """The call ended with this exception."""
        ...

    def settle(self, answer: Answer) -> None:
        """The call ended with this answer."""
        ...


class StreamFinalizer:
    """Ends a call when its stream, or its answer that nobody parsed, is closed or dropped. A copy of it is None."""

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
        """Whether the call is still open, and this its last finalizer."""
        return bool(self._call.unsettled) and self._number == self._call.finalizer_number

    def end(self) -> None:
        """Settle: a stream as abandoned, an unparsed answer with what can be said of it."""
        if not self.counts:
            return
        if self._unread is None:
            self._call.abandoned()
        else:
            self._call.settle(quietly("answer", Answer(), self._unread))

    def body_ended(self, how: str, error: BaseException | None) -> None:
        """The SDK is about to end its own span over a body that was `read`, `closed` or `failed`."""
        if not self.counts:
            return
        if error is not None:
            self._call.failed(error)
        elif how == "read" and self._unread is None:
            self._call.exhausted()
        else:
            drainer.run(self.end)  # the SDK says `closed` of a body that a collection finds

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()

    def __del__(self) -> None:
        if self.counts:
            drainer.run(self.end)


def finalizer_of(holder: Any, through: str = "") -> StreamFinalizer | None:
    """The finalizer that is tied to an object, or to the one that it holds in the attribute `through`."""
    kept: Any = vars(holder)
    if through and FINALIZER not in kept:
        kept = vars(kept[through])
    found = kept.get(FINALIZER)
    return found if isinstance(found, StreamFinalizer) else None


# --- the end of the process ---


class EndsAtExit(Protocol):
    """Something that is open, and ends when the process does."""

    def end(self) -> None:
        """End it, should it still be open."""
        ...


_open: dict[int, "ref[EndsAtExit]"] = {}


def end_at_exit(one: EndsAtExit) -> None:
    """End it when the process ends, before the exporters' last flush. It is not kept alive for that."""
    key = id(one)
    _open[key] = ref(one, lambda _: _open.pop(key, None))


def _end_all() -> None:
    for one in list(_open.values()):
        ending = one()
        if ending is not None:
            quietly("exit", None, ending.end)
    quietly("exit", None, drainer.finish)


def _be_first() -> None:
    """Functions run at exit in reverse order, and a provider's shutdown may have been registered after ours."""
    atexit.unregister(_end_all)
    atexit.register(_end_all)


class _Exit:
    """Whether `threading`, which cannot forget a function, has been asked to call ours."""

    asked = False


def watch() -> None:
    """See to it that open calls end with the process, and to a safe place for those that a collection finds.

    `threading` calls its functions when the main thread has ended, before any of `atexit`'s. It has no public name for
    that: where there is none at all, providers made after now shut down before open calls end.
    """
    drainer.watch()
    _be_first()
    if not _Exit.asked:
        _Exit.asked = True
        with suppress(AttributeError, RuntimeError):  # not there; or the process is ending already
            threading._register_atexit(_be_first)  # type: ignore[attr-defined]


unwatch = drainer.unwatch


def _forked() -> None:
    Process.generation += 1
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
