"""Notices that a stream, or an answer that nobody has parsed, is closed or dropped: then its call ends too."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from llm_errors.adapters import _drops
from llm_errors.reading.answer import Answer

if TYPE_CHECKING:
    from llm_errors.adapters._call import RunningCall


class Keeper:
    """Ends a call when its stream, or its answer that nobody parsed, is closed or dropped."""

    __slots__ = ("_call", "_unread")

    def __init__(self, call: "RunningCall", unread: Callable[[], Answer] | None = None) -> None:
        self._call, self._unread = call, unread

    def end(self) -> None:
        """Settle: a stream as abandoned, an unparsed answer with what can be said of it."""
        if not self._call.is_open:
            return
        if self._unread is None:
            self._call.abandoned()
        else:
            self._call.settle(self._unread())

    def body_ended(self, how: str, error: BaseException | None) -> None:
        """The SDK is about to end its own span over a body that was `read`, `closed` or `failed`."""
        if error is not None:
            self._call.failed(error)
        elif how == "read" and self._unread is None:
            self._call.exhausted()
        else:
            self.end()

    def __del__(self) -> None:
        if self._call.is_open:
            _drops.settle(self.end)
