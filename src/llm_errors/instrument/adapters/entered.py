"""Wrappers for generator functions that `contextmanager` decorates.

Entering the `with` statement sends the request; the block reads the stream. The decorator stays outside the wrapper, so the
application gets the same context manager as before.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from typing import Any

from llm_errors.instrument import drainer
from llm_errors.instrument.protocol import Function
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly


def entered(edge: Edge, original: Function) -> Function:
    """The wrapper of a generator function. No context variable of llm-errors stays set while the block runs."""
    managed = contextmanager(original)

    def wrapper(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with ExitStack() as stack:
            call = edge.begin(args, kwargs)
            if call is None:
                yield stack.enter_context(managed(*args, **kwargs))
                return
            try:
                response = stack.enter_context(managed(*args, **kwargs))
            except BaseException as exc:
                quietly("failed", None, call.failed, exc)
                raise
            finally:
                call.leave()
            call.returned(response)
            try:
                yield response
            finally:
                drainer.run(call.abandoned)

    return wrapper


def entered_async(edge: Edge, original: Function) -> Function:
    """The same for `asynccontextmanager`."""
    managed = asynccontextmanager(original)

    async def wrapper(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        async with AsyncExitStack() as stack:
            call = edge.begin(args, kwargs)
            if call is None:
                yield await stack.enter_async_context(managed(*args, **kwargs))
                return
            try:
                response = await stack.enter_async_context(managed(*args, **kwargs))
            except BaseException as exc:
                quietly("failed", None, call.failed, exc)
                raise
            finally:
                call.leave()
            call.returned(response)
            try:
                yield response
            finally:
                drainer.run(call.abandoned)

    return wrapper
