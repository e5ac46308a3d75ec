"""Wrappers for functions that return a whole answer, or a generator if a stream is requested.

A lazy generator sends the request at its first step, where the call begins. If it is dropped before that, no call is counted.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

from llm_errors.instrument.finalizers import StreamFinalizer
from llm_errors.instrument.invocation import throwing_async
from llm_errors.instrument.protocol import Function, Kind, Wrap
from llm_errors.instrument.wrappers import WRAPPERS, Edge
from llm_errors.safety import quietly


def _asked(*args: Any, **kwargs: Any) -> bool:
    return bool(kwargs.get("stream"))


def lazy_when(streams: Callable[..., bool]) -> Wrap:
    """The wrapper of a plain function. `streams` decides from the arguments whether it returns a generator."""

    def wrap(edge: Edge, original: Function) -> Function:
        whole, streamed = WRAPPERS[Kind.CALL](edge, original), WRAPPERS[Kind.GENERATOR](edge, original)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return (streamed if streams(*args, **kwargs) else whole)(*args, **kwargs)

        return wrapper

    return wrap


def lazy_when_async(streams: Callable[..., bool]) -> Wrap:
    """The same for a coroutine function."""

    def wrap(edge: Edge, original: Function) -> Function:
        whole, streamed = WRAPPERS[Kind.ASYNC_CALL](edge, original), lazily(edge, original)

        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            if streams(*args, **kwargs):
                return streamed(*args, **kwargs)
            return await whole(*args, **kwargs)

        return wrapper

    return wrap


lazy, lazy_async = lazy_when(_asked), lazy_when_async(_asked)
"""The wrappers of functions with an argument `stream`."""


def lazily(edge: Edge, original: Function) -> Function:
    """The wrapper of a coroutine function that returns an async generator. The wrapper is an async generator function.

    The request is sent at the first step. What the application sends or throws into this generator reaches the SDK's.
    """

    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        parts = await _opened(edge, original, args, kwargs)
        step: Callable[[], Any] = parts.__anext__
        async with aclosing(parts):
            while True:
                try:
                    chunk = await step()
                except StopAsyncIteration:
                    return
                finally:
                    step = parts.__anext__
                try:
                    sent = yield chunk
                    step = parts.__anext__ if sent is None else partial(parts.asend, sent)
                except BaseException as exc:  # noqa: BLE001 - the SDK raises it again, or handles it
                    step = await throwing_async(parts, exc)

    return wrapper


async def _opened(edge: Edge, original: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The generator of the SDK; if a call begins, a generator that observes it, whose first chunk was received already."""
    call = edge.begin(args, kwargs)
    if call is None:
        return await original(*args, **kwargs)
    first = []
    try:
        inner = await original(*args, **kwargs)
        first.append(await inner.__anext__())
    except StopAsyncIteration:
        pass
    except BaseException as exc:
        quietly("failed", None, call.failed, exc)
        raise
    finally:
        call.leave()
    return call.follow_async(inner, StreamFinalizer(call), first=first)


def eager_when(streams: Callable[..., bool]) -> Wrap:
    """The wrapper of a plain function that sends its request when it is called.

    `streams` decides from the arguments whether it returns a generator. The generator references neither the client nor the
    arguments, because an SDK may close a stream when its client is garbage-collected.
    """

    def wrap(edge: Edge, original: Function) -> Function:
        whole = WRAPPERS[Kind.CALL](edge, original)

        def streamed(*args: Any, **kwargs: Any) -> Any:
            call = edge.begin(args, kwargs)
            if call is None:
                return original(*args, **kwargs)
            try:
                parts = original(*call.first, *call.args, **call.kwargs)
            except BaseException as exc:
                quietly("failed", None, call.failed, exc)
                raise
            finally:
                call.leave()
            call.returned(parts)
            return call.follow(parts, StreamFinalizer(call))

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return (streamed if streams(*args, **kwargs) else whole)(*args, **kwargs)

        return wrapper

    return wrap


def eager_when_async(streams: Callable[..., bool]) -> Wrap:
    """The same for a coroutine function."""

    def wrap(edge: Edge, original: Function) -> Function:
        whole = WRAPPERS[Kind.ASYNC_CALL](edge, original)

        async def streamed(*args: Any, **kwargs: Any) -> Any:
            call = edge.begin(args, kwargs)
            if call is None:
                return await original(*args, **kwargs)
            try:
                parts = await original(*call.first, *call.args, **call.kwargs)
            except BaseException as exc:
                quietly("failed", None, call.failed, exc)
                raise
            finally:
                call.leave()
            call.returned(parts)
            return call.follow_async(parts, StreamFinalizer(call))

        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await (streamed if streams(*args, **kwargs) else whole)(*args, **kwargs)

        return wrapper

    return wrap


eager, eager_async = eager_when(_asked), eager_when_async(_asked)
"""The wrappers of functions with an argument `stream`."""


def stepping(edge: Edge, original: Function) -> Function:
    """The wrapper of an async generator function, which sends its request at the first step."""

    async def opened(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    return lazily(edge, opened)
