"""Wrappers for functions of a framework that run model calls, or that detect a limit or an unusable answer.

`run_reports` decides what is reported. This module has more than 120 lines because plain functions, coroutine functions,
generator functions and async generator functions each need a wrapper of their kind.
"""

import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import nullcontext
from functools import partial
from typing import Any

from llm_errors.instrument.adapters.run_reports import Watched, begin, failed, looked
from llm_errors.instrument.protocol import Function
from llm_errors.instrument.runs import RUN, Run
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly

_HELD = "_llm_errors_run"
"""The attribute of a framework's run object that holds its `Run`."""


def run(edge: Edge, original: Function) -> Function:
    """The wrapper of a function that runs model calls."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        begun = quietly("begin", None, begin, edge, args, kwargs)
        if begun is None:
            return original(*args, **kwargs)
        try:
            with begun.running():
                result = original(*args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, failed, edge, begun, exc)
            raise
        quietly("returned", None, looked, edge, begun, args, result)
        return result

    return wrapper


def async_run(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        begun = quietly("begin", None, begin, edge, args, kwargs)
        if begun is None:
            return await original(*args, **kwargs)
        try:
            with begun.running():
                result = await original(*args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, failed, edge, begun, exc)
            raise
        quietly("returned", None, looked, edge, begun, args, result)
        return result

    return wrapper


def steps(edge: Edge, original: Function) -> Function:
    """The same for a generator function. No context variable stays set while the generator is suspended."""

    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        begun = quietly("begin", None, begin, edge, args, kwargs)
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
                    quietly("failed", None, failed, edge, begun, exc)
                    raise
                try:
                    step = partial(inner.send, (yield item))
                except GeneratorExit:
                    raise
                except BaseException as thrown:  # noqa: BLE001 - the caller threw it into the framework's generator
                    step = partial(inner.throw, thrown)
        finally:
            del step  # it may hold an exception, whose traceback holds this frame
            inner.close()

    return wrapper


def async_steps(edge: Edge, original: Function) -> Function:
    """The same for an async generator function."""

    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        begun = quietly("begin", None, begin, edge, args, kwargs)
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
                    quietly("failed", None, failed, edge, begun, exc)
                    raise
                if begun is not None:
                    quietly("chunk", None, looked, edge, begun, args, item)
                try:
                    step = partial(inner.asend, (yield item))
                except GeneratorExit:
                    raise
                except BaseException as thrown:  # noqa: BLE001 - the caller threw it into the framework's generator
                    step = partial(inner.athrow, thrown)
        finally:
            del step  # it may hold an exception, too
            await inner.aclose()

    return wrapper


def async_step(edge: Edge, original: Function) -> Function:
    """The wrapper of a coroutine method that makes one step of a run. The method's object represents the run."""

    def held(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
        own = vars(args[0])
        if _HELD not in own:
            own[_HELD] = begin(edge, args, kwargs)
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
            quietly("failed", None, failed, edge, begun, exc)
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
    """The run in the context; a new run if there is none, for example because a stream is read after its run has ended."""
    if not edge.patcher.active:
        return None
    return RUN.get() or begin(edge, (), {})


def _raised(edge: Edge, exc: Exception) -> None:
    failed(edge, _of_context(edge), exc)


def _returned(edge: Edge, args: tuple[Any, ...], result: Any) -> None:
    shows = isinstance(edge.target, Watched) and edge.target.in_band is not None
    run = _of_context(edge) if shows else None
    if run is not None:
        looked(edge, run, args, result)


def check(edge: Edge, original: Function) -> Function:
    """The wrapper of a function inside a run that may raise an exception of its target, or return a result with a limit."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except Exception as exc:
            quietly("failed", None, _raised, edge, exc)
            raise
        quietly("returned", None, _returned, edge, args, result)
        return result

    return wrapper


def async_check(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = await original(*args, **kwargs)
        except Exception as exc:
            quietly("failed", None, _raised, edge, exc)
            raise
        quietly("returned", None, _returned, edge, args, result)
        return result

    return wrapper


def constructed(edge: Edge, original: Function) -> Function:
    """The wrapper of the constructor of an exception that a run creates, but does not always raise."""

    def wrapper(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        run = RUN.get()
        if run is None or not edge.patcher.active or not isinstance(edge.target, Watched):
            return
        if sys._getframe(1).f_globals.get("__name__") not in edge.target.elsewhere:
            quietly("failed", None, failed, edge, run, args[0])

    return wrapper
