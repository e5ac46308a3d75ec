"""A run of a framework around model calls: an agent, a chain, or a fallback that replaces a failed call by another one.

While code of the framework runs, its `Run` is in the context, and every model call that begins then reports its end to this
`Run`. The run therefore knows the last model call, in case the framework rejects its answer. It also knows whether a failure
was followed by a success, which is written on the span of the agent.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from weakref import WeakValueDictionary, ref

from llm_errors.call import CallInfo, CallRecorder
from llm_errors.extract import causes

RUN: ContextVar["Run | None"] = ContextVar("llm_errors_run", default=None)
"""The innermost run of a framework in this context."""

_COUNTED: "WeakValueDictionary[int, BaseException]" = WeakValueDictionary()
"""`id` -> exception, for counted exceptions that still exist. An exception passes through all enclosing runs, but is counted
once."""


def counted(exc: BaseException) -> bool:
    """Whether the exception, or one that it was raised from, was counted."""
    return any(_COUNTED.get(id(link)) is link for link in causes.chain(exc))


def count(exc: BaseException) -> None:
    """Remember that the exception was counted, unless its class does not support weak references."""
    try:
        _COUNTED[id(exc)] = exc
    except TypeError:
        return


class Run:
    """One run, and what is known about its model calls."""

    __slots__ = (
        "__weakref__",
        "_around",
        "_failed",
        "_parent",
        "_recorder",
        "_recovered",
        "answered",
        "info",
        "last",
        "limited",
        "span",
    )

    def __init__(self, recorder: CallRecorder, info: CallInfo) -> None:
        self._recorder = recorder
        self.info = info
        """The run as a CallInfo. A limit that the run reaches is counted with it."""
        parent = RUN.get()
        # A task that begins inside a run may outlive it and begin another run. Strong references would chain all ended runs.
        self._parent = None if parent is None else ref(parent)
        self.span: Any = recorder.agent_span()
        """The span of the agent, if another instrumentation or the framework records one."""
        self._around: Any = recorder.enclosing_span()
        if parent is not None and parent.span is None:
            parent.span = self.span  # the span was created after the parent began
        self.last: CallInfo | None = None
        """The last model call that ended."""
        self.answered = False
        """Whether the last model call was counted without a failure."""
        self.limited = False
        """Whether a limit of this run was counted."""
        self._failed = False
        self._recovered: Any = None  # the span on which a failure is marked as recovered

    @property
    def parent(self) -> "Run | None":
        """The run around this one, while it exists."""
        return None if self._parent is None else self._parent()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Model calls that begin inside this context belong to the run."""
        token = RUN.set(self)
        try:
            yield
        finally:
            with suppress(ValueError):  # the coroutine was closed in another context
                RUN.reset(token)

    def begins(self, scope: Any) -> None:
        """A model call begins. The span of the agent may have been created after the run began."""
        if self.span is None:
            self.span = self._recorder.agent_span(scope)

    def ended(self, info: CallInfo, failed: bool) -> None:
        """A model call ended."""
        marked = False
        run: Run | None = self
        while run is not None:
            run.last, run.answered = info, not failed
            marked = run.followed(failed, marked) or marked
            run = run.parent

    def with_call(self) -> "Run":
        """The innermost run, from this one outwards, in which a model call has ended. If there is none, this run."""
        run: Run | None = self
        while run is not None and run.last is None:
            run = run.parent
        return run or self

    def rejected(self) -> None:
        """The answer of the last model call was counted as a failure."""
        run: Run | None = self
        while run is not None:
            run.answered = False
            run.followed(True, False)
            run = run.parent

    def failed_within(self) -> None:
        """A run inside this one reached a limit."""
        self.followed(True, False)

    def followed(self, failed: bool, marked: bool) -> bool:
        """Note a failure or a success, and return whether a failure was marked as recovered.

        Only the innermost span around the failure and the success is marked: `marked` tells whether a run inside this one has
        marked its span. Another failure removes the mark.
        """
        before, self._failed = self._failed, failed
        if failed and self._recovered is not None:
            self._recorder.recovered(self._recovered, False)
            self._recovered = None
        elif before and not failed and not marked:
            self._recovered = self._enclosing()
            if self._recovered is not None:
                self._recorder.recovered(self._recovered, True)
        return self._recovered is not None and not failed

    def _enclosing(self) -> Any:
        """The span of the agent; if neither this run nor a run around it has one, the application's span around the run."""
        run: Run | None = self
        while run is not None and run.span is None:
            run = run.parent
        return self.span if run is not None else self._around
