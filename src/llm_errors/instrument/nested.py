"""A layer's call around an SDK's: the innermost layer reports, the outer one adds only what that cannot see.

While the outer layer's model code runs, a `NestedCalls` is in the context, and every SDK call begun there tells it how it
ended. If none was begun, nobody below sees this model, and the outer call is reported as a whole.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from time import perf_counter
from typing import Any, Protocol

from llm_errors.call import CallInfo
from llm_errors.extract import exceptions
from llm_errors.extract.answer import Answer
from llm_errors.instrument import drainer
from llm_errors.instrument.finalizers import Process, end_at_exit
from llm_errors.safety import quietly

NESTED: ContextVar["NestedCalls | None"] = ContextVar("llm_errors_nested_calls", default=None)


class NestedCalls:
    """What the SDK calls below one framework call have come to."""

    __slots__ = ("began", "failed")

    def __init__(self) -> None:
        self.began = 0
        self.failed = False
        """Whether the last of them ended in an error or was cancelled."""

    def ended(self, failed: bool) -> None:
        """A call below has ended."""
        self.failed = failed


class LateCall(Protocol):
    """A call that is reported when it has ended."""

    counted: bool
    """Whether a layer below has counted it."""

    def settle(self, answer: Answer) -> None:
        """It ended with this answer."""
        ...

    def failed(self, exc: BaseException) -> None:
        """It ended with this exception."""
        ...

    def abandoned(self) -> None:
        """The caller ended it."""
        ...

    def leave(self) -> None:
        """It is told."""
        ...


Late = Callable[[CallInfo, float, float | None, float | None], LateCall | None]
"""Makes one: what it is; when it began, its first response came, and its last one, if it does not end only now."""


class OuterCall:
    """One model call of an outer layer, seen from what it returns or raises, or from its stream of responses."""

    def __init__(self, late: Late, info: CallInfo) -> None:
        self._late, self._info = late, info
        self._generation = Process.generation
        self._nested = NestedCalls()
        self._chunks = info.reader.chunks()
        self._started = perf_counter()
        self._first_chunk: float | None = None
        self._received: float | None = None  # the last response, unless a further one is waited for
        self._open = True
        end_at_exit(self)

    @contextmanager
    def running(self) -> Iterator[None]:
        """While it lasts, the calls that SDKs begin are calls below this one."""
        token = NESTED.set(self._nested)
        try:
            yield
        finally:
            _reset(token)

    def returned(self, result: Any) -> None:
        """The outer layer returned this."""
        self._settle(self._info.reader.whole(result))

    async def watch(self, feed: Any) -> AsyncIterator[Any]:
        """Pass the responses through and look at each; nothing stays in the context across a yield."""
        try:
            while True:
                self._received = None
                try:
                    with self.running():
                        response = await feed.__anext__()
                except StopAsyncIteration:
                    quietly("stream", None, self._exhausted)
                    return
                except BaseException as exc:
                    quietly("stream", None, self.failed, exc)
                    raise
                self._received = perf_counter()
                quietly("chunk", None, self._look, response)
                yield response
        finally:
            drainer.run(self.end)
            await feed.aclose()

    def _look(self, response: Any) -> None:
        self._chunks.chunk(response)
        if self._chunks.done and not self._info.stream:
            # At once: a framework that has its one answer does not ask for the end of the stream while its span is current.
            self._exhausted()
        elif self._first_chunk is None and not self._chunks.done:
            self._first_chunk = self._received

    def _exhausted(self) -> None:
        self._settle(self._chunks.end())

    def _settle(self, answer: Answer) -> None:
        """An SDK that has seen a healthy answer has not seen that the outer layer's reading of it found nothing in it."""
        call = self._report(answer.suspicion is not None and "empty" in answer.suspicion.facts)
        if call is not None:
            call.settle(answer)
            call.leave()

    def failed(self, exc: BaseException) -> None:
        """The outer layer raised this."""
        if not exceptions.is_cancellation(exc):
            call = self._report(True)
            if call is not None:
                call.failed(exc)
                call.leave()

    def end(self) -> None:
        """The caller ended the call, unless it had ended by itself."""
        if self._open and self._chunks.done:
            self._exhausted()
        elif self._open and not self._nested.began:
            call = self._report(True)
            if call is not None:
                call.abandoned()
                call.leave()

    def _report(self, news: bool) -> LateCall | None:
        """The call to report, once, and not in a child that was forked meanwhile.

        All of it if no SDK below was seen, the failure alone if that is news; else nothing.
        """
        first, self._open = self._open and self._generation == Process.generation, False
        whole = not self._nested.began
        if not first or not (whole or (news and not self._nested.failed)):
            return None
        call = self._late(self._info, self._started, self._first_chunk, self._received)
        if call is not None:
            call.counted = not whole
        return call


def _reset(token: "Token[NestedCalls | None]") -> None:
    """From another context, as when a task is torn down elsewhere, there is nothing to undo."""
    try:
        NESTED.reset(token)
    except ValueError:
        return
