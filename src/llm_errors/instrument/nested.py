"""A framework's call around SDK calls. The SDK calls are reported; the outer call adds only what no SDK call shows.

While the model code of the framework runs, a `NestedCalls` is in the context, and every SDK call that begins there reports
its outcome to it. If no SDK call begins, the model is not observed otherwise, and the outer call is reported as a whole.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from time import perf_counter
from typing import Any, Protocol
from weakref import ref

from llm_errors.call import CallInfo
from llm_errors.extract import exceptions
from llm_errors.extract.answer import Answer
from llm_errors.instrument import drainer
from llm_errors.instrument.finalizers import Process, end_at_exit
from llm_errors.safety import quietly

NESTED: ContextVar["NestedCalls | None"] = ContextVar("llm_errors_nested_calls", default=None)


class NestedCalls:
    """The number and the last outcome of the SDK calls inside one framework call. Framework calls can be nested too."""

    __slots__ = ("__weakref__", "_around", "_native_span", "began", "failed")

    def __init__(self, native_span: bool = False) -> None:
        around = NESTED.get()
        self._native_span: bool = native_span or (around is not None and around._native_span)
        # A task that begins inside a call may outlive it and begin another call. Strong references would chain all ended calls.
        self._around = None if around is None else ref(around)
        self.began = 0
        self.failed = False
        """Whether the last SDK call failed or was cancelled."""

    @property
    def around(self) -> "NestedCalls | None":
        """The calls of the framework call around this one, while it exists."""
        return None if self._around is None else self._around()

    def begins(self) -> None:
        """A nested SDK call begins."""
        self.began += 1
        around = self.around
        if around is not None:
            around.begins()

    def ended(self, failed: bool) -> None:
        """A nested SDK call has ended."""
        self.failed = failed
        around = self.around
        if around is not None:
            around.ended(failed)

    def named(self, info: CallInfo) -> CallInfo:
        """The CallInfo of a nested SDK call, corrected by what the framework knows about it."""
        return info._replace(native_span=True) if self._native_span else info


class LateCall(Protocol):
    """A call that is reported after it has ended."""

    counted: bool
    """Whether a nested SDK call was counted already."""

    def settle(self, answer: Answer) -> None:
        """The call ended with this answer."""
        ...

    def failed(self, exc: BaseException) -> None:
        """The call ended with this exception."""
        ...

    def abandoned(self) -> None:
        """The caller cancelled the call."""
        ...

    def leave(self) -> None:
        """The call was reported."""
        ...


Late = Callable[[CallInfo, float, float | None, float | None], LateCall | None]
"""Creates a LateCall from its CallInfo and three times: begin, first response, and last response (None means now)."""


class OuterCall:
    """One model call of a framework, observed through its result, its exception or its stream of responses."""

    def __init__(self, late: Late, info: CallInfo) -> None:
        self._late, self._info = late, info
        self._generation = Process.generation
        self._nested = NestedCalls(info.native_span)
        self._chunks = info.reader.chunks()
        self._started = perf_counter()
        self._first_chunk: float | None = None
        self._received: float | None = None  # the last response; None while waiting for another
        self._open = True
        end_at_exit(self)

    @contextmanager
    def running(self) -> Iterator[None]:
        """SDK calls that begin inside this context are nested calls of this one."""
        token = NESTED.set(self._nested)
        try:
            yield
        finally:
            reset(token)

    def returned(self, result: Any) -> None:
        """The framework returned this result."""
        self._settle(self._info.reader.whole(result))

    async def watch(self, feed: Any) -> AsyncIterator[Any]:
        """Pass the responses through and read each one. While the generator is suspended, no context variable stays set."""
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
            # Settle now: the framework ends its span after this answer, but reads the end of the stream only later.
            self._exhausted()
        elif self._first_chunk is None and not self._chunks.done:
            self._first_chunk = self._received

    def _exhausted(self) -> None:
        self._settle(self._chunks.end())

    def _settle(self, answer: Answer) -> None:
        """Report an empty answer even if the SDK call was healthy: the framework may have dropped its content."""
        call = self._report(answer.suspicion is not None and "empty" in answer.suspicion.facts)
        if call is not None:
            call.settle(answer)
            call.leave()

    def failed(self, exc: BaseException) -> None:
        """The framework raised this exception."""
        if not exceptions.is_cancellation(exc):
            call = self._report(True)
            if call is not None:
                call.failed(exc)
                call.leave()

    def end(self) -> None:
        """The caller ended the call, unless it had already ended."""
        if self._open and self._chunks.done:
            self._exhausted()
        elif self._open and not self._nested.began:
            call = self._report(True)
            if call is not None:
                call.abandoned()
                call.leave()

    def _report(self, news: bool) -> LateCall | None:
        """The call to report, or None if it was reported before or if this is a forked child.

        If no SDK call was nested, the whole call is reported. Otherwise only a failure is reported, and only if `news` is
        true, which means that the SDK calls did not report it.
        """
        first, self._open = self._open and self._generation == Process.generation, False
        whole = not self._nested.began
        if not first or not (whole or (news and not self._nested.failed)):
            return None
        call = self._late(self._info, self._started, self._first_chunk, self._received)
        if call is not None:
            call.counted = not whole
        return call


def reset(token: "Token[NestedCalls | None]") -> None:
    """Reset the context variable. In another context, for example if a task is closed elsewhere, nothing is reset."""
    try:
        NESTED.reset(token)
    except ValueError:
        return
