"""Wrappers for streams whose class defines `__next__`. Python looks it up on the class, so the class must be patched."""

from typing import Any

from llm_errors.instrument.finalizers import finalizer_of
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Function
from llm_errors.instrument.wrappers import Edge, before, before_async
from llm_errors.safety import quietly


def begin(call: Invocation, stream: Any) -> None:
    """Follow the stream from now on. If it is dropped, the call ends."""
    call.expect(call.info.reader.chunks())
    call.attach_finalizer(stream)


def _waiting(edge: Edge, args: tuple[Any, ...]) -> Invocation | None:
    """The open call of the stream, which now waits for a chunk."""
    finalizer = finalizer_of(args[0]) if edge.patcher.active else None
    if finalizer is None or not finalizer.counts:
        return None
    call: Invocation = finalizer.call
    call.waiting = True
    return call


def _left(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The application closes the stream. While a chunk is awaited, the SDK itself closes the stream, because it has ended."""
    finalizer = finalizer_of(args[0])
    if finalizer is not None and finalizer.counts and not finalizer.call.waiting:
        finalizer.end()


def close(edge: Edge, original: Function) -> Function:
    """The wrapper of `close`, which the SDK itself calls at the end."""
    return before(original, "close", _left)


def close_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""
    return before_async(original, "close", _left)


def step(edge: Edge, original: Function) -> Function:
    """The wrapper of `__next__`."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = quietly("chunk", None, _waiting, edge, args)
        if call is None:
            return original(*args, **kwargs)
        try:
            chunk = original(*args, **kwargs)
        except StopIteration:
            quietly("stream", None, call.exhausted)
            raise
        except BaseException as exc:
            quietly("stream", None, call.failed, exc)
            raise
        quietly("chunk", None, call.passed, chunk)
        return chunk

    return wrapper


def step_async(edge: Edge, original: Function) -> Function:
    """The wrapper of `__anext__`."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = quietly("chunk", None, _waiting, edge, args)
        if call is None:
            return await original(*args, **kwargs)
        try:
            chunk = await original(*args, **kwargs)
        except StopAsyncIteration:
            quietly("stream", None, call.exhausted)
            raise
        except BaseException as exc:
            quietly("stream", None, call.failed, exc)
            raise
        quietly("chunk", None, call.passed, chunk)
        return chunk

    return wrapper


_END = "_EOF"
"""The class of the value that gRPC returns after the last chunk."""


def read_async(edge: Edge, original: Function) -> Function:
    """The wrapper of gRPC's `read`, a coroutine function that returns a chunk or the mark of the end."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = quietly("chunk", None, _waiting, edge, args)
        if call is None:
            return await original(*args, **kwargs)
        try:
            chunk = await original(*args, **kwargs)
        except BaseException as exc:
            quietly("stream", None, call.failed, exc)
            raise
        if type(chunk).__name__ == _END:
            quietly("stream", None, call.exhausted)
        else:
            quietly("chunk", None, call.passed, chunk)
        return chunk

    return wrapper
