"""The wrappers, one per kind of function.

The wrapper of a coroutine function is a coroutine function, and that of a generator function a generator function, so that
`inspect` gives the same result as before.
"""

import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, Protocol

from llm_errors.call import CallInfo, CallRecorder
from llm_errors.instrument.finalizers import StreamFinalizer, finalizer_of
from llm_errors.instrument.invocation import ACTIVE, Invocation
from llm_errors.instrument.nested import NESTED, OuterCall
from llm_errors.instrument.protocol import Adapter, Function, Kind, Target
from llm_errors.safety import quietly, report_internal_error


class Installation(Protocol):
    """What a wrapper needs from the patcher that installed it."""

    active: bool
    """False after `uninstrument()`. Wrappers that are still referenced then only call the original function."""


class Edge:
    """What a wrapper needs to observe one target. Nothing here raises into the application's call."""

    __slots__ = ("adapter", "patcher", "recorder", "target")

    def __init__(self, patcher: Installation, adapter: Adapter, recorder: CallRecorder, target: Target) -> None:
        self.patcher, self.adapter, self.recorder, self.target = patcher, adapter, recorder, target

    def begin(self, given: tuple[Any, ...], kwargs: dict[str, Any]) -> Invocation | None:
        """The call that begins, or None to ignore it."""
        if not self.patcher.active:
            return None
        try:
            instance, args = self.bound(given)
            outer = ACTIVE.get()
            if outer is not None and outer.adapter is self.adapter and outer.asks(instance, args, kwargs):
                return None  # a subclass has passed on the same call, which is counted once
            info = self.adapter.describe(self.target, instance, args, kwargs)
            around = NESTED.get()
            if around is not None and info is not None:
                info = around.named(info)
            scope = self.recorder.open(info) if info is not None else None
        except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every call
            report_internal_error("begin", error)
            return None
        if info is None or scope is None:
            return None
        call = Invocation(self.adapter, info, self.recorder, scope, instance, args, kwargs, id(sys.exc_info()[1]))
        try:
            self.adapter.begin(call)
        except Exception as error:  # noqa: BLE001 - `quietly` is inlined here too. If `begin` fails, the call is judged by its returned result.
            report_internal_error("begin", error)
        return call

    def active(self, args: tuple[Any, ...]) -> Invocation | None:
        """The running call of this adapter in this context. If the target is a method, the adapter also checks the object."""
        call = ACTIVE.get()
        if call is None or call.adapter is not self.adapter or not self.patcher.active:
            return None
        return (
            call if not self.target.owner or self.adapter.is_of(call, self.target, args[0] if args else None) else None
        )

    def retry(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The SDK is about to retry a failed attempt."""
        call = self.active(args)
        evidence = quietly("retry", None, self.adapter.attempt_failed, call, kwargs) if call is not None else None
        if call is not None and evidence is not None:
            quietly("retry", None, call.retried, evidence)

    def late(
        self, info: CallInfo, started: float, first_chunk: float | None = None, received: float | None = None
    ) -> Invocation | None:
        """A call that is reported after it has ended. The caller of `late` must settle it and call `leave` immediately."""
        scope = self.recorder.open(info, perf_counter() - started) if self.patcher.active else None
        if scope is None:
            return None
        call = Invocation(self.adapter, info, self.recorder, scope)
        call.since(started, first_chunk, received)
        return call

    def outer(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OuterCall | None:
        """The framework call that begins, or None to ignore it."""
        info = self.adapter.describe(self.target, *self.bound(args), kwargs) if self.patcher.active else None
        return None if info is None else OuterCall(self.late, info)

    def bound(self, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """The object of the called method and the other arguments. The object is None for a module function."""
        return (args[0], args[1:]) if self.target.owner and args else (None, args)

    def closed(self, args: tuple[Any, ...]) -> None:
        """The application closed a stream or a raw response."""
        finalizer = quietly("close", None, self._finalizer, args)
        if finalizer is not None:
            quietly("close", None, finalizer.end)

    def _finalizer(self, args: tuple[Any, ...]) -> StreamFinalizer | None:
        return finalizer_of(args[0], self.target.through)

    def part(self, args: tuple[Any, ...], result: Any) -> None:
        """A stream's own method returned a part of the answer."""
        call = self._followed(args)
        if call is not None:
            self.adapter.part(call, result)

    def part_failed(self, args: tuple[Any, ...], exc: BaseException) -> None:
        """A stream's own method raised instead of returning a part of the answer."""
        call = self._followed(args)
        if call is not None:
            call.failed(exc)

    def _followed(self, args: tuple[Any, ...]) -> Invocation | None:
        finalizer = finalizer_of(args[0])
        return finalizer.call if finalizer is not None and finalizer.counts else None


def _call(edge: Edge, original: Function) -> Function:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = edge.begin(args, kwargs)
        if call is None:
            return original(*args, **kwargs)
        try:
            result = original(*call.first, *call.args, **call.kwargs)
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        finally:
            call.leave()
        if call.unsettled:
            call.returned(result)
        return result

    return wrapper


def _async_call(edge: Edge, original: Function, follows: bool = False) -> Function:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = edge.begin(args, kwargs)
        if call is None:
            return await original(*args, **kwargs)
        try:
            result = await original(*call.first, *call.args, **call.kwargs)
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        finally:
            call.leave()
        if follows:
            return call.follow_async(result, StreamFinalizer(call))
        if call.unsettled:
            call.returned(result)
        return result

    return wrapper


def _generator(edge: Edge, original: Function) -> Function:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        # This runs at the first step, when the SDK sends the request. While the generator is suspended, no context variable
        # of llm-errors stays set.
        call = edge.begin(args, kwargs)
        if call is None:
            return (yield from original(*args, **kwargs))
        first = []
        value = None
        try:
            inner = original(*call.first, *call.args, **call.kwargs)
            first.append(next(inner))
        except StopIteration as stop:
            value = stop.value
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        finally:
            call.leave()
        ended = yield from call.follow(inner, StreamFinalizer(call), first=first)
        return value if ended is None else ended

    return wrapper


def _outer_call(edge: Edge, original: Function) -> Function:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        outer = quietly("begin", None, edge.outer, args, kwargs)
        if outer is None:
            return original(*args, **kwargs)
        try:
            with outer.running():
                result = original(*args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, outer.failed, exc)
            raise
        quietly("returned", None, outer.returned, result)
        return result

    return wrapper


def _async_outer_call(edge: Edge, original: Function) -> Function:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        outer = quietly("begin", None, edge.outer, args, kwargs)
        if outer is None:
            return await original(*args, **kwargs)
        try:
            with outer.running():
                result = await original(*args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, outer.failed, exc)
            raise
        quietly("returned", None, outer.returned, result)
        return result

    return wrapper


def _attempt(edge: Edge, original: Function) -> Function:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = edge.active(args)
        if call is None:
            return original(*args, **kwargs)
        quietly("attempt", None, call.attempt_begins)
        try:
            result = original(*args, **kwargs)
        except BaseException as exc:
            quietly("attempt", None, call.attempt_failed, exc)
            raise
        quietly("attempt", None, call.attempt_returned, result)
        return result

    return wrapper


def _async_attempt(edge: Edge, original: Function) -> Function:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = edge.active(args)
        if call is None:
            return await original(*args, **kwargs)
        quietly("attempt", None, call.attempt_begins)
        try:
            result = await original(*args, **kwargs)
        except BaseException as exc:
            quietly("attempt", None, call.attempt_failed, exc)
            raise
        quietly("attempt", None, call.attempt_returned, result)
        return result

    return wrapper


def _retry(edge: Edge, original: Function) -> Function:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        edge.retry(args, kwargs)
        return original(*args, **kwargs)

    return wrapper


def _async_retry(edge: Edge, original: Function) -> Function:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        edge.retry(args, kwargs)
        return await original(*args, **kwargs)

    return wrapper


def _close(edge: Edge, original: Function) -> Function:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        finally:
            edge.closed(args)

    return wrapper


def _async_close(edge: Edge, original: Function) -> Function:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return await original(*args, **kwargs)
        finally:
            edge.closed(args)

    return wrapper


def _part(edge: Edge, original: Function) -> Function:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except BaseException as exc:
            quietly("chunk", None, edge.part_failed, args, exc)
            raise
        quietly("chunk", None, edge.part, args, result)
        return result

    return wrapper


def _async_part(edge: Edge, original: Function) -> Function:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = await original(*args, **kwargs)
        except BaseException as exc:
            quietly("chunk", None, edge.part_failed, args, exc)
            raise
        quietly("chunk", None, edge.part, args, result)
        return result

    return wrapper


def before(original: Function, place: str, step: Callable[..., object], *given: Any) -> Function:
    """A wrapper that calls `step(*given, args, kwargs)` before the original function.

    `place` names this code in the report of an internal error.
    """

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        quietly(place, None, step, *given, args, kwargs)
        return original(*args, **kwargs)

    return wrapper


def before_async(original: Function, place: str, step: Callable[..., object], *given: Any) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        quietly(place, None, step, *given, args, kwargs)
        return await original(*args, **kwargs)

    return wrapper


WRAPPERS: dict[Kind, Callable[[Edge, Function], Function]] = {
    Kind.CALL: _call,
    Kind.ASYNC_CALL: _async_call,
    Kind.GENERATOR: _generator,
    Kind.ASYNC_GENERATOR: partial(_async_call, follows=True),
    Kind.OUTER_CALL: _outer_call,
    Kind.ASYNC_OUTER_CALL: _async_outer_call,
    Kind.ATTEMPT: _attempt,
    Kind.ASYNC_ATTEMPT: _async_attempt,
    Kind.RETRY: _retry,
    Kind.ASYNC_RETRY: _async_retry,
    Kind.CLOSE: _close,
    Kind.ASYNC_CLOSE: _async_close,
    Kind.PART: _part,
    Kind.ASYNC_PART: _async_part,
}
