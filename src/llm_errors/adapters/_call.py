"""One running call: what it is, what has been seen of it, and that it ends exactly once."""

from collections.abc import AsyncIterator, Callable, Generator
from contextvars import ContextVar
from dataclasses import replace
from time import perf_counter
from typing import Any

from llm_errors.adapters import _drops
from llm_errors.adapters._keeper import HOLDER, Keeper
from llm_errors.adapters._layers import LAYER, Layer
from llm_errors.adapters._protocol import Adapter, CallInfo
from llm_errors.adapters._sink import Ending, Sink
from llm_errors.evidence import Evidence
from llm_errors.reading import exceptions
from llm_errors.reading.answer import Answer, Chunks, suspect
from llm_errors.reading.fields import parsed
from llm_errors.safety import overlook, quietly

ACTIVE: ContextVar["RunningCall | None"] = ContextVar("llm_errors_call", default=None)
"""The call whose SDK code is running in this context."""

_FAILED: Any = object()
_UNREADABLE = Evidence()
"""A failure that our own code could not read."""


def _unread(chunk: Any) -> None:
    """What is done with a chunk when our own reader could not be made."""


class RunningCall:
    """The mutable half of an observed call."""

    __slots__ = (
        "_answer",
        "_chunks",
        "_first_chunk",
        "_layer",
        "_left",
        "_open",
        "_pending",
        "_retries",
        "_scope",
        "_sink",
        "_started",
        "_token",
        "adapter",
        "ambient",
        "counted",
        "info",
        "instead",
        "keeps",
        "request",
    )

    def __init__(
        self, adapter: Adapter, info: CallInfo, sink: Sink, request: tuple[int, ...] = (), ambient: int = 0
    ) -> None:
        self.adapter, self.info, self._sink = adapter, info, sink
        self.request, self.ambient = request, ambient
        self.instead: list[bytes] | None = None  # the beginning of a body that came in place of a stream
        self.counted = False
        self._layer: Layer | None = None
        self.keeps = 0  # the number of the keeper that may end the call
        self._open = [True]  # popped once: list.pop is atomic, whichever thread settles
        self._retries = 0
        self._pending: Evidence | None = None
        self._answer: Answer | None = None
        self._chunks: Chunks | None = None
        self._first_chunk: float | None = None
        self._token: Any = None
        self._left: Any = None
        self._scope: Any = None
        self._started = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the call has not been settled yet."""
        return bool(self._open)

    # --- while the SDK's code runs ---

    def enter(self) -> None:
        """The SDK's code begins to run in this context. Each step is guarded on its own: a span once made must end."""
        self._layer = LAYER.get()
        if self._layer is not None:
            self._layer.began += 1
        self._scope = quietly("open", None, self._sink.open, self.info)
        self._started = perf_counter()
        if self._scope is not None:
            self._token = quietly("enter", None, self._sink.enter, self._scope)
        self._left = ACTIVE.set(self)

    def since(self, started: float, first_chunk: float | None) -> None:
        """The call had begun before it was entered."""
        self._started, self._first_chunk = started, first_chunk

    def leave(self) -> None:
        """The SDK's code no longer runs. From another context (a coroutine closed elsewhere) nothing is undone."""
        if self._left is not None and ACTIVE.get() is self:
            ACTIVE.reset(self._left)
            self._sink.leave(self._token)
        self._left = self._token = None

    def attempt_begins(self) -> None:
        """A further attempt: the one before it is hidden from the caller."""
        if self._pending is not None:
            self.retried(self._pending)
            self._pending = None

    def attempt_failed(self, exc: BaseException) -> None:
        """An attempt failed; whether the caller will see it shows later."""
        if not exceptions.is_cancellation(exc):
            self._pending = self._read(exc)

    def retried(self, evidence: Evidence) -> None:
        """Count an attempt that the SDK's own retry hides."""
        self._retries += 1
        self._sink.retried(self.info, evidence)

    # --- the end: whatever of ours fails on the way, the call is closed ---

    def returned(self, result: Any) -> None:
        """The SDK returned."""
        if quietly("returned", _FAILED, self.adapter.returned, self, result) is _FAILED:
            quietly("returned", None, self.settle, Answer())

    def observe(self, result: Any) -> Answer:
        """Read a whole answer; should the SDK still raise over it, what was seen in it tells why."""
        self._answer = self.info.reader.whole(result)
        return self._answer

    def settle(self, answer: Answer) -> None:
        """The call ended with this answer."""
        self._close(answer, answer.suspicion, False)

    def failed(self, exc: BaseException) -> None:
        """The call ended with this exception."""
        if exceptions.is_cancellation(exc):
            self.abandoned()
            return
        evidence = quietly("failure", _UNREADABLE, self._read, exc)
        answer = self._answer or self._seen()
        if self._answer is not None and self._answer.suspicion is not None:
            evidence = replace(self._answer.suspicion, channel="thrown", exceptions=evidence.exceptions)
        self._close(answer, evidence, False)

    def abandoned(self) -> None:
        """The caller ended the call: cancelled, unless the terminal event had been seen."""
        if self._open:
            answer = self._seen()
            done = bool(quietly("answer", False, getattr, self._chunks, "done", False))
            self._close(answer, answer.suspicion if done else None, not done)

    def _read(self, exc: BaseException) -> Evidence:
        first = exceptions.first_failure(exc)
        return exceptions.read(first, self.info.dialect, self.info.provider, self.ambient)

    def _seen(self) -> Answer:
        return Answer() if self._chunks is None else quietly("answer", Answer(), self._chunks.end)

    def _close(self, answer: Answer, evidence: Evidence | None, cancelled: bool) -> None:
        try:
            self._open.pop()
        except IndexError:
            return
        first = self._first_chunk
        if evidence is not None and first is not None:
            evidence = replace(evidence, partial_output=True)
        ending = Ending(
            self.info,
            evidence,
            cancelled,
            answer,
            perf_counter() - self._started,
            None if first is None else first - self._started,
            self._retries,
            self.counted,
        )
        if self._layer is not None:
            self._layer.ended(evidence is not None or cancelled)
        self._sink.close(self._scope, ending)

    # --- streams ---

    def follow(self, iterator: Any, keeper: "Keeper | None" = None) -> Generator[Any, None, Any]:
        """Pass chunks through and look at each. `keeper` notices when the iterator is dropped before its first step."""
        look = self._begin_chunks()
        try:
            while True:
                try:
                    chunk = next(iterator)
                except StopIteration as stop:
                    quietly("stream", None, self.exhausted)
                    return stop.value
                except BaseException as exc:
                    quietly("stream", None, self.failed, exc)
                    raise
                try:
                    ended = look(chunk)
                except Exception as error:  # noqa: BLE001 - as `quietly` does, without a call of its own for every chunk
                    ended = None
                    overlook("chunk", error)
                if ended:
                    quietly("stream", None, self.exhausted)
                if self._first_chunk is None:
                    self._first_chunk = perf_counter()
                yield chunk
        finally:
            if self._open:
                _drops.settle(self.abandoned)

    async def follow_async(self, iterator: Any, keeper: "Keeper | None" = None) -> AsyncIterator[Any]:
        """The same for an async iterator."""
        look = self._begin_chunks()
        try:
            while True:
                try:
                    chunk = await iterator.__anext__()
                except StopAsyncIteration:
                    quietly("stream", None, self.exhausted)
                    return
                except BaseException as exc:
                    quietly("stream", None, self.failed, exc)
                    raise
                try:
                    ended = look(chunk)
                except Exception as error:  # noqa: BLE001 - as `quietly` does, without a call of its own for every chunk
                    ended = None
                    overlook("chunk", error)
                if ended:
                    quietly("stream", None, self.exhausted)
                if self._first_chunk is None:
                    self._first_chunk = perf_counter()
                yield chunk
        finally:
            if self._open:
                _drops.settle(self.abandoned)

    def _begin_chunks(self) -> Callable[[Any], bool | None]:
        self._chunks = quietly("stream", None, self.info.reader.chunks)
        return _unread if self._chunks is None else self._chunks.chunk

    def exhausted(self) -> None:
        """No further chunk comes."""
        answer = self._seen()
        if self.instead is not None and self._first_chunk is None:
            said = quietly("answer", Answer(), self.info.reader.whole, parsed(b"".join(self.instead))).suspicion
            no_stream = suspect(self.info.dialect, "unexpected_body")
            answer = answer._replace(suspicion=said if said and said.embedded else no_stream)
        self.settle(answer)

    def keep(self, holder: Any, unread: Callable[[], Answer] | None = None) -> None:
        """Tie the call to an object of the SDK: when that is closed or dropped, the call ends too.

        The last object counts: a raw response that has been parsed into a stream may go.
        """
        self.keeps += 1
        vars(holder)[HOLDER] = Keeper(self, unread)

    def keep_too(self, holder: Any, other: Any) -> None:
        """Let a second object, such as the observer of a body, end what the first one keeps."""
        vars(other)[HOLDER] = vars(holder)[HOLDER]
