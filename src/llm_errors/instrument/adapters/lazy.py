"""Functions that return a whole answer, or with `stream` a generator that sends nothing before its first step.

A stream begins as a call with that step. One that is dropped before it was none: nothing was sent.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

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
