"""What ends a call when the SDK's object that it is tied to is closed or dropped."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llm_errors.extract.answer import Answer
from llm_errors.instrument import drainer
from llm_errors.safety import quietly

if TYPE_CHECKING:
    from llm_errors.instrument.invocation import Invocation

FINALIZER = "_llm_errors_finalizer"
"""The attribute of a stream or raw response that ties it to its call."""


class StreamFinalizer:
    """Ends a call when its stream, or its answer that nobody parsed, is closed or dropped. A copy of it is None."""

    __slots__ = ("__weakref__", "_call", "_number", "_unread")

    def __init__(self, call: "Invocation", unread: Callable[[], Answer] | None = None) -> None:
        self._call, self._number, self._unread = call, call.finalizer_number, unread

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
            self.end()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()

    def __del__(self) -> None:
        if self.counts:
            drainer.settle(self.end)


def finalizer_of(holder: Any, through: str = "") -> StreamFinalizer | None:
    """The finalizer that is tied to an object, or to the one that it holds in the attribute `through`."""
    kept: Any = vars(holder)
    if through and FINALIZER not in kept:
        kept = vars(kept[through])
    found = kept.get(FINALIZER)
    return found if isinstance(found, StreamFinalizer) else None
