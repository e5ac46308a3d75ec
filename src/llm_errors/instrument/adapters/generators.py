"""Wrappers for functions that return a whole answer, or with `stream` a generator.

A lazy generator sends the request at its first step, where the call begins. One that is dropped before its first step
is not a call.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from llm_errors.instrument.finalizers import StreamFinalizer
from llm_errors.instrument.protocol import Function, Kind
from llm_errors.instrument.wrappers import WRAPPERS, Edge
from llm_errors.safety import quietly


def lazy(edge: Edge, original: Function) -> Function:
    """The wrapper of a plain function."""
    whole, streamed = WRAPPERS[Kind.CALL](edge, original), WRAPPERS[Kind.GENERATOR](edge, original)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return (streamed if kwargs.get("stream") else whole)(*args, **kwargs)

    return wrapper


def lazy_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""
    whole = WRAPPERS[Kind.ASYNC_CALL](edge, original)

    async def streamed(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        call = edge.begin(args, kwargs)
        async with aclosing(await original(*args, **kwargs)) as inner:
            if call is None:
                async for chunk in inner:
                    yield chunk
                return
            try:
                first = [await inner.__anext__()]
            except StopAsyncIteration:
                first = []
            except BaseException as exc:
                quietly("failed", None, call.failed, exc)
                raise
            finally:
                call.leave()
            async with aclosing(call.follow_async(_after(first, inner))) as followed:
                async for chunk in followed:
                    yield chunk

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return streamed(*args, **kwargs) if kwargs.get("stream") else await whole(*args, **kwargs)

    return wrapper


async def _after(first: list[Any], rest: Any) -> AsyncIterator[Any]:
    for chunk in first:
        yield chunk
    async for chunk in rest:
        yield chunk


def eager(edge: Edge, original: Function) -> Function:
    """The wrapper of a plain function that sends its request at once.

    The generator keeps neither the client nor the arguments alive, because an SDK may end a stream when its client is
    collected.
    """
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
        return (streamed if kwargs.get("stream") else whole)(*args, **kwargs)

    return wrapper


def eager_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""
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
        return await (streamed if kwargs.get("stream") else whole)(*args, **kwargs)

    return wrapper
