"""Wrappers for functions of a framework that run model calls, or that detect a limit or an unusable answer.

A run that ends with one of the exceptions of its target is reported. A limit is counted as a call. An answer that the
framework cannot use is counted as a failure of the last model call, unless that call was already counted as failed.
"""

import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import causes, exceptions
from llm_errors.extract.answer import Answer, suspect
from llm_errors.instrument import runs
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Function, Target
from llm_errors.instrument.runs import RUN, Run
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly

_HELD = "_llm_errors_run"
"""The attribute of a framework's run object that holds its `Run`."""


@dataclass(frozen=True)
class Watched(Target):
    """A function of a framework to patch.

    `limits` are class names of exceptions that end a run because a limit is reached or a guardrail refuses. `verdicts` are
    class names of exceptions for an answer that the framework cannot use.
    """

    lost: str = "some limits of runs, or answers that the framework cannot use, will not be counted; model calls are"
    limits: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    in_band: Callable[[Any, Any], str] | None = None
    """Returns the fact of a limit that ended a run without an exception, or an empty text.

    The arguments are the object of the method, and what the method returned or yielded."""
    elsewhere: tuple[str, ...] = ()
    """For a constructor: modules that create the exception again, for a run that was counted before."""


def _begin(edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
    if not edge.patcher.active:
        return None
    info = edge.adapter.describe(edge.target, *edge.bound(args), kwargs)
    return None if info is None else Run(edge.recorder, info)


def _failed(edge: Edge, run: Run | None, exc: BaseException) -> None:
    """Report what a run, or a function inside it, raised, if it is one of the exceptions of the target."""
    target = edge.target
    if not isinstance(target, Watched) or run is None or exceptions.is_cancellation(exc):
        return
    first = exceptions.first_failure(exc)
    names = {name.rpartition(".")[2] for name in causes.names(first)}
    if runs.counted(first):
        return
    if not names.isdisjoint(target.limits):
        runs.count(first)
        _limit(edge, run, first)
    elif not names.isdisjoint(target.verdicts):
        runs.count(first)
        _verdict(edge, run, first)


def _limit(edge: Edge, run: Run, failure: BaseException | str) -> None:
    """Count a limit, once per run. The provider and the model are those of the last model call."""
    if run.limited:
        return
    run.limited = True
    info, last = run.info, run.with_call().last
    if last is not None:
        info = info._replace(provider=last.provider, model=last.model)
    _report(edge, run, info, failure, counted=False)
    if run.parent is not None:
        run.parent.failed_within()


def _looked(edge: Edge, run: Run, args: tuple[Any, ...], result: Any) -> None:
    """Report a limit that appears in what a function returned or yielded."""
    target = edge.target
    fact = (
        target.in_band(args[0] if args else None, result)
        if isinstance(target, Watched) and target.in_band is not None
        else ""
    )
    if fact:
        _limit(edge, run, fact)


def _verdict(edge: Edge, run: Run, failure: BaseException) -> None:
    """Count an unusable answer as a failure of the last model call, or as a call if no model call was observed."""
    asked = run.with_call()
    if asked.last is None:
        _report(edge, run, run.info, failure, counted=False)
    elif asked.answered:
        asked.rejected()
        _report(edge, asked, asked.last, failure, counted=True)


def _report(edge: Edge, run: Run, info: CallInfo, failure: BaseException | str, counted: bool) -> None:
    recorder = edge.recorder
    scope = recorder.open_on(info, recorder.agent_span() or run.span, not counted)
    if scope is None:
        return
    call = Invocation(edge.adapter, info, recorder, scope)
    call.run = None  # this is not a model call
    call.counted = counted
    call.since(perf_counter(), None)
    if isinstance(failure, str):
        call.settle(Answer(suspect("", failure)))
    else:
        call.failed(failure)
    call.leave()


def run(edge: Edge, original: Function) -> Function:
    """The wrapper of a function that runs model calls."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        begun = quietly("begin", None, _begin, edge, args, kwargs)
        if begun is None:
            return original(*args, **kwargs)
        try:
            with begun.running():
                result = original(*args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, _failed, edge, begun, exc)
            raise
        quietly("returned", None, _looked, edge, begun, args, result)
        return result

    return wrapper


def async_run(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        begun = quietly("begin", None, _begin, edge, args, kwargs)
        if begun is None:
            return await original(*args, **kwargs)
        try:
            with begun.running():
                result = await original(*args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, _failed, edge, begun, exc)
            raise
        quietly("returned", None, _looked, edge, begun, args, result)
        return result

    return wrapper


def steps(edge: Edge, original: Function) -> Function:
    """The same for a generator function. No context variable stays set across a yield."""

    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        begun = quietly("begin", None, _begin, edge, args, kwargs)
        inner = original(*args, **kwargs)
        if begun is None:
            return (yield from inner)
        step = partial(next, inner)
        try:
            while True:
                try:
                    with begun.running():
                        item = step()
                except StopIteration as stop:
                    return stop.value
                except BaseException as exc:
                    quietly("failed", None, _failed, edge, begun, exc)
                    raise
                try:
                    step = partial(inner.send, (yield item))
                except GeneratorExit:
                    raise
                except BaseException as thrown:  # noqa: BLE001 - the caller threw it into the framework's generator
                    step = partial(inner.throw, thrown)
        finally:
            inner.close()

    return wrapper


def async_steps(edge: Edge, original: Function) -> Function:
    """The same for an async generator function."""

    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        begun = quietly("begin", None, _begin, edge, args, kwargs)
        inner = original(*args, **kwargs)
        step = inner.__anext__
        try:
            while True:
                try:
                    with nullcontext() if begun is None else begun.running():
                        item = await step()
                except StopAsyncIteration:
                    return
                except BaseException as exc:
                    quietly("failed", None, _failed, edge, begun, exc)
                    raise
                if begun is not None:
                    quietly("chunk", None, _looked, edge, begun, args, item)
                try:
                    step = partial(inner.asend, (yield item))
                except GeneratorExit:
                    raise
                except BaseException as thrown:  # noqa: BLE001 - the caller threw it into the framework's generator
                    step = partial(inner.athrow, thrown)
        finally:
            await inner.aclose()

    return wrapper


def async_step(edge: Edge, original: Function) -> Function:
    """The wrapper of a coroutine method that makes one step of a run. The object of the method is the run."""

    def held(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
        own = vars(args[0])
        if _HELD not in own:
            own[_HELD] = _begin(edge, args, kwargs)
        begun: Run | None = own[_HELD]
        return begun

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        begun = quietly("begin", None, held, args, kwargs)
        if begun is None:
            return await original(*args, **kwargs)
        try:
            with begun.running():
                return await original(*args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, _failed, edge, begun, exc)
            raise

    return wrapper


def entered(edge: Edge, original: Function) -> Function:
    """The wrapper of a function that `asynccontextmanager` created and the framework has decorated again."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        manager = original(*args, **kwargs)
        inner = getattr(manager, "gen", None)
        if edge.patcher.active and isinstance(inner, AsyncGenerator):
            manager.gen = async_steps(edge, lambda *_, **__: inner)(*args, **kwargs)
        return manager

    return wrapper


def _of_context(edge: Edge) -> Run | None:
    """The run in the context. Outside of a run, for example for a stream that is read after it, a new run."""
    if not edge.patcher.active:
        return None
    return RUN.get() or _begin(edge, (), {})


def _raised(edge: Edge, exc: Exception) -> None:
    _failed(edge, _of_context(edge), exc)


def check(edge: Edge, original: Function) -> Function:
    """The wrapper of a function inside a run that raises one of the exceptions, or returns a result that shows a limit."""

    def returned(args: tuple[Any, ...], result: Any) -> None:
        shows = isinstance(edge.target, Watched) and edge.target.in_band is not None
        run = _of_context(edge) if shows else None
        if run is not None:
            _looked(edge, run, args, result)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except Exception as exc:
            quietly("failed", None, _raised, edge, exc)
            raise
        quietly("returned", None, returned, args, result)
        return result

    return wrapper


def async_check(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function that raises."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return await original(*args, **kwargs)
        except Exception as exc:
            quietly("failed", None, _raised, edge, exc)
            raise

    return wrapper


def constructed(edge: Edge, original: Function) -> Function:
    """The wrapper of the constructor of an exception that a run creates, but may not raise."""

    def wrapper(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        run = RUN.get()
        if run is None or not edge.patcher.active or not isinstance(edge.target, Watched):
            return
        if sys._getframe(1).f_globals.get("__name__") not in edge.target.elsewhere:
            quietly("failed", None, _failed, edge, run, args[0])

    return wrapper
