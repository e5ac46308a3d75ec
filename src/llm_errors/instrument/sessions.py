"""A session is one connection on which a model gives many answers. Every answer is counted as a call.

A session without an answer is counted as one call: it succeeded, was refused, or was closed by the server. The adapter of an
SDK calls the methods of `Session` when an event of the SDK is sent or received. This module knows no dialect.
"""

from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer
from llm_errors.extract.closes import close_of
from llm_errors.instrument import drainer
from llm_errors.instrument.finalizers import Process, end_at_exit
from llm_errors.instrument.invocation import Invocation
from llm_errors.safety import quietly

LIMIT = 256
"""The maximum number of open answers of one session. Beyond it, the oldest counts as cancelled."""
SESSION = "_llm_errors_session"
"""The attribute of the SDK's connection that holds the session."""

Late = Callable[[CallInfo, float], Invocation | None]
"""Begins a call, from its CallInfo and its begin in `perf_counter` seconds. Returns None if nothing is to be reported."""


class Asked(NamedTuple):
    """A call that the application asked for, before the server began to answer."""

    lane: str
    event: str
    call: Invocation


class Session:
    """The calls of one connection.

    A lane is an independent sequence of answers on the connection. Most servers have only one, with an empty name. The
    adapter chooses a key for each running answer.
    """

    __slots__ = (
        "__weakref__",
        "_asked",
        "_ended",
        "_generation",
        "_info",
        "_late",
        "_owes",
        "_reported",
        "_running",
        "_started",
    )

    def __init__(self, late: Late, info: CallInfo, started: float) -> None:
        self._late, self._info, self._started = late, info, started
        self._generation = Process.generation
        self._asked: deque[Asked] = deque()
        self._running: dict[str, Invocation] = {}
        self._owes = True  # no call was reported yet
        self._reported = False  # the server has reported an error since the last answer began
        self._ended = False
        end_at_exit(self)

    @property
    def info(self) -> CallInfo:
        """What is known about every call of the session."""
        return self._info

    @property
    def asked(self) -> bool:
        """Whether the application waits for an answer that the server has not begun."""
        return bool(self._asked)

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes of the answers that the application waits for and the server has not begun."""
        return tuple(asked.lane for asked in self._asked)

    @property
    def newest(self) -> Asked | None:
        """The last call that the application asked for and the server has not begun."""
        return self._asked[-1] if self._asked else None

    @property
    def answers(self) -> bool:
        """Whether an answer is running."""
        return bool(self._running)

    @property
    def running(self) -> tuple[str, ...]:
        """The keys of the running answers."""
        return tuple(self._running)

    # --- messages of the application and of the server ---

    def ask(self, lane: str = "", event: str = "", model: str | None = None) -> None:
        """The application requests an answer. `event` is the id of its message, to which an error may refer."""
        call = self._begin(self._info if model is None else self._info._replace(model=model))
        if call is not None:
            if len(self._asked) >= LIMIT:
                self._asked.popleft().call.abandoned()
            self._asked.append(Asked(lane, event, call))

    def lost(self, exc: BaseException, asked: Asked | None = None) -> None:
        """The SDK raised `exc`, either because the connection was closed, or because the application made a mistake.

        After a mistake, the message was not sent, so the call that it would have requested (`asked`) fails.
        """
        if close_of(exc) is not None:
            self.closed(exc)
        elif asked is not None and asked in self._asked:
            self._asked.remove(asked)
            asked.call.failed(exc)

    def begin(self, key: str, lane: str = "") -> None:
        """The server begins an answer: the oldest requested answer of the lane, or else one that was not requested."""
        asked = self._oldest(lane)
        call = asked.call if asked is not None else self._begin(self._info)
        before = self._running.pop(key, None)
        if before is not None:
            before.abandoned()
        if call is None:
            return
        if len(self._running) >= LIMIT:
            self._running.pop(next(iter(self._running))).abandoned()
        self._running[key] = call

    def part(self, key: str, event: Any) -> None:
        """A part of an answer arrived. The reader of the API decides whether it is the last one."""
        call = self._running.get(key)
        if call is not None:
            call.passed(event)
            if not call.unsettled:
                self._running.pop(key, None)

    def cancelled(self, key: str, answer: Answer) -> None:
        """The server ended an answer because the application cancelled it."""
        call = self._running.pop(key, None)
        if call is not None:
            call.settle(answer, cancelled=True)

    def fail_asked(self, evidence: Evidence, lane: str = "", event: str = "") -> bool:
        """The server refuses a requested answer. Returns False if none was requested in this lane or by this event."""
        asked = self._oldest(lane, event)
        if asked is not None:
            self._reported = True
            asked.call.settle(Answer(), evidence)
        return asked is not None

    def fail(self, evidence: Evidence, key: str = "") -> None:
        """The server reports an error of a running answer, or of the session itself, which is then a separate call."""
        self._reported, self._owes = True, False
        running = self._running.pop(key, None)
        if running is not None:
            running.settle(Answer(), evidence)
            return
        own = self._late(self._info, perf_counter())
        if own is not None:
            own.settle(Answer(), evidence)
            own.leave()

    # --- the end ---

    def closed(self, exc: BaseException) -> None:
        """The connection raised this exception, because the server has closed it.

        All open answers fail. If none is open, the session has failed, unless the close was regular or the server had
        already reported the error that led to it.
        """
        if self._ended:
            return
        close = close_of(exc)
        failed = [*(asked.call for asked in self._asked), *self._running.values()]
        self._asked.clear()
        self._running.clear()
        for call in failed:
            call.waiting = True  # the duration of the call ends now, not when its last part arrived
            call.failed(exc)
        if failed:
            self._reported = True
        elif not self._reported and (close is None or not close.is_normal):
            self._fail_whole(exc)

    def _fail_whole(self, exc: BaseException) -> None:
        call = self._late(self._info, self._started if self._owes else perf_counter())
        self._owes, self._reported = False, True
        if call is not None:
            call.failed(exc)
            call.leave()

    def end(self) -> None:
        """The application closed or dropped the connection. Open answers are cancelled.

        A session succeeded if it gave no answer and none was requested: the application may have used it only to transcribe.
        """
        if self._ended or self._generation != Process.generation:
            return
        self._ended = True
        opened = [*(asked.call for asked in self._asked), *self._running.values()]
        self._asked.clear()
        self._running.clear()
        for call in opened:
            call.abandoned()
        if self._owes:
            self._owes = False
            whole = self._late(self._info, self._started)
            if whole is not None:
                whole.settle(Answer())
                whole.leave()

    def __del__(self) -> None:
        if not self._ended:
            drainer.run(self.end)

    # --- calls ---

    def _begin(self, info: CallInfo) -> Invocation | None:
        self._owes = self._reported = False
        call = self._late(info, perf_counter())
        if call is not None:
            call.leave()
            call.expect(info.reader.chunks())
        return call

    def _oldest(self, lane: str, event: str = "") -> Asked | None:
        for asked in tuple(self._asked):
            if asked.lane == lane and event in ("", asked.event):
                self._asked.remove(asked)
                return asked
        return None


def refused(late: Late, info: CallInfo, started: float, exc: BaseException) -> None:
    """The session did not begin: the connection or the handshake failed."""
    call = late(info, started)
    if call is not None:
        quietly("failed", None, call.failed, exc)
        call.leave()
