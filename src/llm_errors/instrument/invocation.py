"""One running call: what it is, what has been seen of it, and that it ends exactly once."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextvars import ContextVar
from dataclasses import replace
from time import perf_counter
from typing import Any, Protocol

from llm_errors.call import CallInfo, CallOutcome, CallRecorder
from llm_errors.evidence import Evidence
from llm_errors.extract import causes, exceptions, glimpse
from llm_errors.extract.answer import Answer, Chunks, suspect
from llm_errors.extract.fields import parsed
from llm_errors.instrument import drainer, jobs
from llm_errors.instrument.finalizers import FINALIZER, Process, StreamFinalizer
from llm_errors.instrument.nested import NESTED, NestedCalls
from llm_errors.safety import quietly, report_internal_error

ACTIVE: ContextVar["Invocation | None"] = ContextVar("llm_errors_call", default=None)
"""The call whose SDK code is running in this context."""

NOTHING: Any = object()
"""No result has been parsed."""
RETURNED: Any = object()
"""The result is what the SDK returns: nobody listens."""
_UNREADABLE = Evidence()
"""A failure that our own code could not read."""


def _unread(chunk: Any) -> None:
    """What is done with a chunk when our own reader could not be made."""


class Reads(Protocol):
    """What a call asks of its adapter."""

    def returned(self, call: "Invocation", result: Any) -> None:
        """The SDK returned."""
        ...

    def failure(self, call: "Invocation", exc: BaseException) -> Evidence | None:
        """Evidence of an exception that only the adapter can read."""
        ...

    def attempt_returned(self, call: "Invocation", result: Any) -> BaseException | Evidence | None:
        """The failure inside what one attempt returned."""
        ...


class Invocation:
    """The mutable half of an observed call."""

    __slots__ = (
        "_chunks",
        "_entered",
        "_first_chunk",
        "_generation",
        "_nested",
        "_pending",
        "_recorder",
        "_retries",
        "_scope",
        "_started",
        "adapter",
        "ambient",
        "args",
        "counted",
        "finalizer_number",
        "info",
        "instance",
        "instead",
        "kwargs",
        "marked",
        "parsed",
        "received",
        "running",
        "unsettled",
        "waiting",
    )

    def __init__(
        self,
        adapter: Reads,
        info: CallInfo,
        recorder: CallRecorder,
        scope: Any,
        instance: Any = None,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        ambient: int = 0,
    ) -> None:
        self.adapter, self.info, self._recorder, self._scope = adapter, info, recorder, scope
        self.instance, self.args, self.kwargs = instance, args, kwargs or {}  # what the SDK is to be called with
        self.ambient = ambient
        self.running = True
        self.parsed = NOTHING  # the last result that the SDK has parsed, or `RETURNED`
        self.received: float | None = None  # when the last part of an answer came that comes in parts
        self.waiting = False  # for the next part
        self.instead: list[bytes] | None = None  # the beginning of a body that came in place of a stream
        self.marked: Callable[[], bool] | None = None  # whether the body of a stream held the mark of its end
        self.counted = False
        self.finalizer_number = 0  # of the finalizer that may end the call
        self.unsettled = [True]  # popped once: list.pop is atomic, whichever thread settles
        self._generation = Process.generation
        self._retries = 0
        self._pending: Evidence | None = None
        self._chunks: Chunks | None = None
        self._first_chunk: float | None = None
        self._nested: NestedCalls | None = NESTED.get()
        if self._nested is not None:
            self._nested.began += 1
        self._started = perf_counter()
        self._entered: Any = ACTIVE.set(self)

    # --- while the SDK's code runs ---

    def asks(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call that begins inside this one is the same: an inner class of one chain passes on what it got."""
        own = (*self.args, *self.kwargs.values())
        return self.instance is instance and [*map(id, own)] == [*map(id, (*args, *kwargs.values()))]

    def since(self, started: float, first_chunk: float | None, received: float | None = None) -> None:
        """The call had begun before it was entered, and the last part of its answer may have come then."""
        self._started, self._first_chunk, self.received = started, first_chunk, received

    def leave(self) -> None:
        """The SDK's code no longer runs. From another context (a coroutine closed elsewhere) nothing is undone."""
        self.running = False
        try:
            if ACTIVE.get() is self:
                ACTIVE.reset(self._entered)
                self._recorder.leave(self._scope)
        except Exception as error:  # noqa: BLE001 - as `quietly` does, without a call of its own for every call
            report_internal_error("leave", error)
        self._entered = None

    def _release(self) -> None:
        """A stream outlives the SDK's call: it need not keep the client and the messages alive."""
        self.instance = None
        self.args, self.kwargs = (), {}

    @property
    def first(self) -> tuple[Any, ...]:
        """The object whose method is called, to be passed on before the arguments; nothing for a function of a module."""
        return () if self.instance is None else (self.instance,)

    def attempt_begins(self) -> None:
        """A further attempt: the one before it is hidden from the caller."""
        if self._pending is not None:
            self.retried(self._pending)
            self._pending = None

    def attempt_failed(self, exc: BaseException) -> None:
        """An attempt failed; whether the caller will see it shows later."""
        if not exceptions.is_cancellation(exc):
            self._pending = self._read(exc)

    def attempt_returned(self, result: Any) -> None:
        """An attempt returned; some SDKs return the failure of an attempt instead of raising it."""
        failure = self.adapter.attempt_returned(self, result)
        if isinstance(failure, BaseException):
            self.attempt_failed(failure)
        elif failure is not None:
            self._pending = failure

    def retried(self, evidence: Evidence) -> None:
        """Count an attempt that the SDK's own retry hides."""
        self._retries += 1
        self._recorder.retried(self.info, evidence)

    # --- the end: whatever of ours fails on the way, the call is closed ---

    def returned(self, result: Any) -> None:
        """The SDK returned."""
        try:
            self.adapter.returned(self, result)
        except Exception as error:  # noqa: BLE001 - as `quietly` does, without a call of its own for every call
            report_internal_error("returned", error)
            quietly("returned", None, self.settle, Answer())
        finally:
            self._release()

    def judge(self, result: Any) -> None:
        """The call ended with this result, or with an answer that has been read before."""
        self.settle(self._whole(result))

    def judge_text(self, content: str | bytes) -> None:
        """The call ended with an answer of which only the text is there."""
        self.settle(glimpse.read(self.info.reader, self.info.dialect, content))

    def _whole(self, result: Any) -> Answer:
        return result if type(result) is Answer else self.info.reader.whole(result)

    def failed(self, exc: BaseException) -> None:
        """The call ended with this exception."""
        if exceptions.is_cancellation(exc):
            drainer.run(self.abandoned)  # a collection may throw it into a coroutine that nobody awaits any more
            return
        evidence = quietly("failure", _UNREADABLE, self._read, exc)
        answer = self._seen()
        if self.parsed is not NOTHING and self.parsed is not RETURNED and not causes.is_of_a_request(evidence):
            answer = quietly("answer", answer, self._whole, self.parsed)
            if answer.suspicion is not None:  # the SDK raised over what it had parsed: that tells why
                evidence = replace(answer.suspicion, channel="thrown", exceptions=evidence.exceptions)
        self.settle(answer, evidence)

    def abandoned(self) -> None:
        """The caller ended the call: cancelled, unless the terminal event had been seen."""
        if self.unsettled:
            answer = self._seen()
            self.settle(answer, cancelled=not self._is_done())

    def _read(self, exc: BaseException) -> Evidence:
        first = exceptions.first_failure(exc)
        own = self.adapter.failure(self, first)
        return own or exceptions.read(first, self.info.dialect, self.info.provider, self.ambient)

    def _is_done(self) -> bool:
        """Whether the terminal event has been seen. Then whatever the call still waits for is no part of it."""
        done: bool = quietly("answer", False, getattr, self._chunks, "done", False)
        self.waiting = self.waiting and not done
        return done

    def _seen(self) -> Answer:
        return Answer() if self._chunks is None else quietly("answer", Answer(), self._chunks.end)

    def settle(self, answer: Answer, failure: Evidence | None = None, cancelled: bool = False) -> None:
        """The call ended, with this answer and with what may be wrong with it, or with a failure, or by the caller.

        What settles late ended when the last part of its answer came, unless it still waits for more. A child that was
        forked during the call tells nothing of it.
        """
        try:
            self.unsettled.pop()
        except IndexError:
            return
        if self._generation != Process.generation:
            return
        evidence = failure if failure is not None or cancelled else answer.suspicion
        first = self._first_chunk
        if evidence is not None and first is not None and not (failure is None and self._is_only_an_error(evidence)):
            evidence = replace(evidence, partial_output=True)
        now = perf_counter()
        ended = now if self.waiting or self.received is None else self.received
        ending = CallOutcome(
            self.info,
            evidence,
            cancelled,
            answer,
            ended - self._started,
            now - ended,
            None if first is None else first - self._started,
            self._retries,
            self.counted,
        )
        self.parsed = NOTHING
        if self.info.background and answer.id:
            jobs.settled(self.info, answer.id, evidence is not None)
        if not self.running:
            self._release()
        if self._nested is not None:
            self._nested.ended(evidence is not None or cancelled)
        self._recorder.close(self._scope, ending)

    def _is_only_an_error(self, evidence: Evidence) -> bool:
        """Whether the one chunk that came is an error object: no output has reached the caller."""
        return evidence.embedded and self._first_chunk == self.received

    # --- streams ---

    def follow(
        self, iterator: Any, finalizer: StreamFinalizer | None = None, chunks: Chunks | None = None
    ) -> Generator[Any, None, Any]:
        """Pass chunks through and look at each. `finalizer` notices when the iterator is dropped before its first step.

        `chunks` reads them in place of the reader of the API.
        """
        look = self._begin_chunks(chunks)
        try:
            while True:
                self.waiting = True
                try:
                    chunk = next(iterator)
                except StopIteration as stop:
                    quietly("stream", None, self.exhausted)
                    return stop.value
                except BaseException as exc:
                    quietly("stream", None, self.failed, exc)
                    raise
                self.received = perf_counter()
                self.waiting = False
                self._pass(look, chunk)
                yield chunk
        finally:
            if self.unsettled:
                drainer.run(self.abandoned)

    async def follow_async(
        self, iterator: Any, finalizer: StreamFinalizer | None = None, chunks: Chunks | None = None
    ) -> AsyncGenerator[Any, None]:
        """The same for an async iterator."""
        look = self._begin_chunks(chunks)
        try:
            while True:
                self.waiting = True
                try:
                    chunk = await iterator.__anext__()
                except StopAsyncIteration:
                    quietly("stream", None, self.exhausted)
                    return
                except BaseException as exc:
                    quietly("stream", None, self.failed, exc)
                    raise
                self.received = perf_counter()
                self.waiting = False
                self._pass(look, chunk)
                yield chunk
        finally:
            if self.unsettled:
                drainer.run(self.abandoned)

    def _pass(self, look: Callable[[Any], bool | None], chunk: Any) -> None:
        try:
            ended = look(chunk)
        except Exception as error:  # noqa: BLE001 - as `quietly` does, without a call of its own for every chunk
            ended = None
            report_internal_error("chunk", error)
        if self._first_chunk is None:
            self._first_chunk = self.received
        if ended and self.unsettled:
            quietly("stream", None, self.exhausted)

    def _begin_chunks(self, chunks: Chunks | None) -> Callable[[Any], bool | None]:
        self._release()
        self._chunks = chunks if chunks is not None else quietly("stream", None, self.info.reader.chunks)
        return _unread if self._chunks is None else self._chunks.chunk

    def expect(self, chunks: Chunks) -> None:
        """The application fetches the answer in pieces by a method of the SDK's; `took` is told of each."""
        self._begin_chunks(chunks)

    def took(self, piece: Any) -> None:
        """The application has fetched a piece of the answer."""
        self.received = perf_counter()
        if self._chunks is not None and self._chunks.chunk(piece):
            self.exhausted()

    def exhausted(self) -> None:
        """No further chunk comes."""
        self._is_done()
        answer = self._seen()
        cut = answer.suspicion is not None and "no_end" in answer.suspicion.facts
        if cut and self.marked is not None and self.marked():
            answer = answer._replace(suspicion=None)
        if self.instead is not None and self._first_chunk is None:
            said = quietly("answer", Answer(), self.info.reader.whole, parsed(b"".join(self.instead))).suspicion
            no_stream = suspect(self.info.dialect, "unexpected_body")
            answer = answer._replace(suspicion=said if said and said.embedded else no_stream)
        self.settle(answer)

    def attach_finalizer(self, holder: Any, unread: Callable[[], Answer] | None = None) -> None:
        """Tie the call to an object of the SDK: when that is closed or dropped, the call ends too.

        The last object counts: a raw response that has been parsed into a stream may go.
        """
        self.finalizer_number += 1
        self.received = perf_counter()
        vars(holder)[FINALIZER] = StreamFinalizer(self, unread)

    def share_finalizer(self, holder: Any, other: Any) -> None:
        """Let a second object, such as the observer of a body, end the call of the first one, too."""
        vars(other)[FINALIZER] = vars(holder)[FINALIZER]
