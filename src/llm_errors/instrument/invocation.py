"""One running call: its CallInfo, its observed state, and its end, which is recorded exactly once."""

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
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
from llm_errors.instrument.runs import RUN, Run
from llm_errors.safety import quietly, report_internal_error

ACTIVE: ContextVar["Invocation | None"] = ContextVar("llm_errors_call", default=None)
"""The running call of an SDK in this context."""

NOTHING: Any = object()
"""The value of `parsed` before the SDK has parsed a result."""
RETURNED: Any = object()
"""The value of `parsed` if the SDK returns the parsed result itself, so that no `post_parser` is installed."""
_UNREADABLE = Evidence()
"""The evidence of a failure for which reading raised an internal error."""


def _throwing(iterator: Any, exc: BaseException) -> Callable[[], Any]:
    """The next step of an SDK's generator: it raises the application's exception inside. Other iterators are not continued."""
    if not hasattr(iterator, "throw"):
        raise exc
    if isinstance(exc, GeneratorExit):
        iterator.close()
        raise exc
    return partial(iterator.throw, exc)


async def throwing_async(iterator: Any, exc: BaseException) -> Callable[[], Any]:
    """The same for an async generator."""
    if not hasattr(iterator, "athrow"):
        raise exc
    if isinstance(exc, GeneratorExit):
        await iterator.aclose()
        raise exc
    return partial(iterator.athrow, exc)


async def _taken(chunk: Any) -> Any:
    return chunk


def _unread(chunk: Any) -> None:
    """Ignores a chunk: creating the reader raised an internal error."""


class Reads(Protocol):
    """What a call needs from its adapter."""

    def returned(self, call: "Invocation", result: Any) -> None:
        """The SDK returned."""
        ...

    def failure(self, call: "Invocation", exc: BaseException) -> Evidence | None:
        """Evidence from an exception that only the adapter can read."""
        ...

    def attempt_returned(self, call: "Invocation", result: Any) -> BaseException | Evidence | None:
        """The failure inside what one attempt returned."""
        ...


class Invocation:
    """An observed call and its mutable state. `CallInfo` has the immutable part."""

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
        "run",
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
        self.instance, self.args, self.kwargs = (
            instance,
            args,
            kwargs or {},
        )  # the arguments for the SDK; `begin` may change them
        self.ambient = ambient
        self.running = True
        self.parsed = NOTHING  # the last result that the SDK parsed, or `RETURNED`
        self.received: float | None = None  # when the last part arrived
        self.waiting = False  # whether the SDK waits for the next part
        self.instead: list[bytes] | None = None  # the beginning of a body that arrived instead of a stream
        self.marked: Callable[[], bool] | None = None  # whether the body of a stream contained its end marker
        self.counted = False
        self.finalizer_number = 0  # the number of the finalizer that may end the call
        self.unsettled = [True]  # popped once; list.pop is atomic between threads
        self._generation = Process.generation
        self._retries = 0
        self._pending: Evidence | None = None
        self._chunks: Chunks | None = None
        self._first_chunk: float | None = None
        self._nested: NestedCalls | None = NESTED.get()
        if self._nested is not None:
            self._nested.begins()
        self.run: Run | None = RUN.get()  # the run of a framework around the call
        if self.run is not None:
            quietly("run", None, self.run.begins, scope)
        self._started = perf_counter()
        self._entered: Any = ACTIVE.set(self)

    # --- while the SDK's code runs ---

    def asks(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a nested call has the same object and arguments. It is then this call, passed on by a subclass."""
        own = (*self.args, *self.kwargs.values())
        return self.instance is instance and [*map(id, own)] == [*map(id, (*args, *kwargs.values()))]

    def since(self, started: float, first_chunk: float | None, received: float | None = None) -> None:
        """Set the times of a call that began earlier, in `perf_counter` seconds."""
        self._started, self._first_chunk, self.received = started, first_chunk, received

    def leave(self) -> None:
        """The SDK's code has returned. The context is reset, unless this is another one, for example that of a closing task."""
        self.running = False
        try:
            if ACTIVE.get() is self:
                ACTIVE.reset(self._entered)
                self._recorder.leave(self._scope)
        except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every call
            report_internal_error("leave", error)
        self._entered = None

    def _release(self) -> None:
        """Drop the references to the client and the messages, because a stream outlives the SDK's call."""
        self.instance = None
        self.args, self.kwargs = (), {}

    @property
    def first(self) -> tuple[Any, ...]:
        """The object of the method, to be passed before the arguments; empty for a module function."""
        return () if self.instance is None else (self.instance,)

    def attempt_begins(self) -> None:
        """Another attempt begins, so the failure of the previous one is hidden from the caller."""
        if self._pending is not None:
            self.retried(self._pending)
            self._pending = None

    def attempt_failed(self, exc: BaseException) -> None:
        """An attempt failed. It is not yet known whether the SDK retries it."""
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
        """Count a failed attempt that the SDK retried by itself."""
        self._retries += 1
        self._recorder.retried(self.info, evidence)

    # --- the end: the call is closed even if an internal error occurs ---

    def returned(self, result: Any) -> None:
        """The SDK returned."""
        try:
            self.adapter.returned(self, result)
        except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every call
            report_internal_error("returned", error)
            quietly("returned", None, self.settle, Answer())
        finally:
            self._release()

    def judge(self, result: Any) -> None:
        """The call ended with this result. It may be an `Answer`, which was read before."""
        self.settle(self._whole(result))

    def judge_text(self, content: str | bytes) -> None:
        """The call ended with an answer that is available as text only."""
        self.settle(glimpse.read(self.info.reader, self.info.dialect, content))

    def _whole(self, result: Any) -> Answer:
        return result if type(result) is Answer else self.info.reader.whole(result)

    def failed(self, exc: BaseException) -> None:
        """The call ended with this exception."""
        if exceptions.is_cancellation(exc):
            drainer.run(self.abandoned)  # the garbage collector may be closing a dropped coroutine
            return
        evidence = quietly("failure", _UNREADABLE, self._read, exc)
        answer = self._seen()
        if self.parsed is not NOTHING and self.parsed is not RETURNED and not causes.is_of_a_request(evidence):
            answer = quietly("answer", answer, self._whole, self.parsed)
            if answer.suspicion is not None:  # the SDK raised because of the answer it had parsed
                evidence = replace(answer.suspicion, channel="thrown", exceptions=evidence.exceptions)
        self.settle(answer, evidence)

    def abandoned(self) -> None:
        """The caller ended the call. It is cancelled, unless the terminal event was received."""
        if self.unsettled:
            answer = self._seen()
            self.settle(answer, cancelled=not self._is_done())

    def _read(self, exc: BaseException) -> Evidence:
        first = exceptions.first_failure(exc)
        own = self.adapter.failure(self, first)
        return own or exceptions.read(first, self.info.dialect, self.info.provider, self.ambient)

    def _is_done(self) -> bool:
        """Whether the terminal event was received. The call has then ended, even if the SDK still waits for something."""
        done: bool = quietly("answer", False, getattr, self._chunks, "done", False)
        self.waiting = self.waiting and not done
        return done

    def _seen(self) -> Answer:
        return Answer() if self._chunks is None else quietly("answer", Answer(), self._chunks.end)

    def settle(self, answer: Answer, failure: Evidence | None = None, cancelled: bool = False) -> None:
        """End the call with an answer (which may be suspect), with a failure, or as cancelled by the caller.

        The call ended when the last part of its answer arrived, or now if it still waits for a part. A child process that
        was forked during the call does not report it.
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
        if self.run is not None and not cancelled:
            quietly("run", None, self.run.ended, self.info, evidence is not None)
        self._recorder.close(self._scope, ending)

    def _is_only_an_error(self, evidence: Evidence) -> bool:
        """Whether the only chunk is an error object, so that no output has reached the caller."""
        return evidence.embedded and self._first_chunk == self.received

    # --- streams ---

    def follow(
        self,
        iterator: Any,
        finalizer: StreamFinalizer | None = None,
        chunks: Chunks | None = None,
        first: Sequence[Any] = (),
    ) -> Generator[Any, Any, Any]:
        """Pass the chunks through and read each one. `chunks` replaces the reader of the API.

        `finalizer` is kept alive by this generator: it ends the call if the generator is dropped before its first step.
        `first` has the first chunk, if it was taken from the iterator before. What the application sends or throws into this
        generator reaches the generator of the SDK, and closing this one closes that one.
        """
        look = self._begin_chunks(chunks)
        begun = False
        step: Callable[[], Any] | None = iter(first).__next__ if first else None
        thrown = 0
        try:
            while True:
                self.waiting = True
                try:
                    chunk = next(iterator) if step is None else step()
                except StopIteration as stop:
                    quietly("stream", None, self.exhausted)
                    return stop.value
                except BaseException as exc:
                    step = None  # a step that throws refers to an exception, and through it to this frame
                    quietly("stream", None, self._broken, exc, thrown)
                    raise
                self.received = perf_counter()
                self.waiting = False
                try:
                    ended = look(chunk)
                except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every chunk
                    ended = None
                    report_internal_error("chunk", error)
                if ended or not begun:
                    begun = self._turning_point(ended)
                try:
                    sent = yield chunk
                    step = None if sent is None else partial(iterator.send, sent)
                except BaseException as exc:  # noqa: BLE001 - the SDK raises it again, or handles it
                    step, thrown = _throwing(iterator, exc), id(exc)
        finally:
            self._left()

    async def follow_async(
        self,
        iterator: Any,
        finalizer: StreamFinalizer | None = None,
        chunks: Chunks | None = None,
        first: Sequence[Any] = (),
    ) -> AsyncGenerator[Any, Any]:
        """The same for an async iterator."""
        look = self._begin_chunks(chunks)
        begun = False
        step: Callable[[], Any] | None = partial(_taken, first[0]) if first else None
        thrown = 0
        try:
            while True:
                self.waiting = True
                try:
                    chunk = await (iterator.__anext__() if step is None else step())
                except StopAsyncIteration:
                    quietly("stream", None, self.exhausted)
                    return
                except BaseException as exc:
                    step = None
                    quietly("stream", None, self._broken, exc, thrown)
                    raise
                self.received = perf_counter()
                self.waiting = False
                try:
                    ended = look(chunk)
                except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every chunk
                    ended = None
                    report_internal_error("chunk", error)
                if ended or not begun:
                    begun = self._turning_point(ended)
                try:
                    sent = yield chunk
                    step = None if sent is None else partial(iterator.asend, sent)
                except BaseException as exc:  # noqa: BLE001 - the SDK raises it again, or handles it
                    step, thrown = await throwing_async(iterator, exc), id(exc)
        finally:
            self._left()

    def _broken(self, exc: BaseException, thrown: int) -> None:
        """The generator of the SDK raised. If the application threw this exception into it, the stream was given up."""
        if id(exc) != thrown:
            self.failed(exc)

    def _left(self) -> None:
        if self.unsettled:
            drainer.run(self.abandoned)

    def _turning_point(self, ended: bool | None) -> bool:
        """The first chunk arrived, or a chunk that ends the answer. Always returns True: the stream has begun."""
        if self._first_chunk is None:
            self._first_chunk = self.received
        if ended and self.unsettled:
            quietly("stream", None, self.exhausted)
        return True

    def _begin_chunks(self, chunks: Chunks | None) -> Callable[[Any], bool | None]:
        self._release()
        self._chunks = chunks if chunks is not None else quietly("stream", None, self.info.reader.chunks)
        return _unread if self._chunks is None else self._chunks.chunk

    @property
    def chunks(self) -> Chunks | None:
        """The state of the stream, if the answer is a stream."""
        return self._chunks

    def expect(self, chunks: Chunks) -> None:
        """The application will fetch the answer in pieces with a method of the SDK. `took` is called for each piece."""
        self._begin_chunks(chunks)

    def took(self, piece: Any) -> None:
        """The application fetched a piece of the answer."""
        self.received = perf_counter()
        if self._chunks is not None and self._chunks.chunk(piece):
            self.exhausted()

    def passed(self, chunk: Any) -> None:
        """A stream object of the SDK returned a chunk to the application. The adapter has called `expect` for the stream."""
        self.received, self.waiting = perf_counter(), False
        if self._chunks is not None:
            ended = quietly("chunk", None, self._chunks.chunk, chunk)
            if ended or self._first_chunk is None:
                self._turning_point(ended)

    def exhausted(self) -> None:
        """The stream has no further chunk."""
        self._is_done()
        answer = self._seen()
        cut = answer.suspicion is not None and "no_end" in answer.suspicion.facts
        if cut and self.marked is not None and self.marked():
            answer = answer._replace(suspicion=None)
        if self.instead is not None and self._first_chunk is None:
            suspicion = quietly("answer", Answer(), self.info.reader.whole, parsed(b"".join(self.instead))).suspicion
            no_stream = suspect(self.info.dialect, "unexpected_body")
            answer = answer._replace(suspicion=suspicion if suspicion and suspicion.embedded else no_stream)
        self.settle(answer)

    def attach_finalizer(self, holder: Any, unread: Callable[[], Answer] | None = None) -> None:
        """End the call when an object of the SDK is closed or garbage-collected.

        Only the last object counts: a raw response may be dropped after it was parsed into a stream.
        """
        self.finalizer_number += 1
        self.received = perf_counter()
        vars(holder)[FINALIZER] = StreamFinalizer(self, unread)

    def share_finalizer(self, holder: Any, other: Any) -> None:
        """Let a second object, for example the observer of a body, also end the call of the first one."""
        vars(other)[FINALIZER] = vars(holder)[FINALIZER]
