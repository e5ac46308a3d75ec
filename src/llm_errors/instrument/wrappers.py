"""The wrappers, one per kind of function: plain functions of the original's own kind, so that `inspect` sees what it saw."""

import sys
from collections.abc import Callable
from functools import partial
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any

from llm_errors.call import CallInfo, CallRecorder
from llm_errors.instrument import nested
from llm_errors.instrument.finalizers import StreamFinalizer, finalizer_of
from llm_errors.instrument.invocation import ACTIVE, Invocation
from llm_errors.instrument.protocol import Adapter, Framework, Kind, Target
from llm_errors.safety import quietly, report_internal_error

if TYPE_CHECKING:
    from llm_errors.instrument.patcher import Patcher

Function = Callable[..., Any]


class Edge:
    """What a wrapper may call of ours; nothing here raises into the application's call."""

    __slots__ = ("adapter", "patcher", "recorder", "target")

    def __init__(self, patcher: "Patcher", adapter: Adapter, recorder: CallRecorder, target: Target) -> None:
        self.patcher, self.adapter, self.recorder, self.target = patcher, adapter, recorder, target

    def begin(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Invocation | None:
        """The call that begins, or None to stay out."""
        if not self.patcher.active:
            return None
        try:
            outer = ACTIVE.get()
            if outer is not None and outer.adapter is self.adapter and outer.asks(instance, args, kwargs):
                return None  # an inner class of the same chain: the call counts once
            info = self.adapter.describe(self.target, instance, args, kwargs)
            scope = self.recorder.open(info) if info is not None else None
        except Exception as error:  # noqa: BLE001 - as `quietly` does, without a call of its own for every call
            report_internal_error("begin", error)
            return None
        if info is None or scope is None:
            return None
        call = Invocation(self.adapter, info, self.recorder, scope, instance, args, kwargs, id(sys.exc_info()[1]))
        try:
            self.adapter.begin(call)
        except Exception as error:  # noqa: BLE001 - the same; the answer is then read where the SDK returns it
            report_internal_error("begin", error)
        return call

    def active(self, instance: Any) -> Invocation | None:
        """The call of this adapter, and of this instance if a method is patched, that is running in this context."""
        call = ACTIVE.get()
        if call is None or call.adapter is not self.adapter or not self.patcher.active:
            return None
        return call if call.instance is instance or not self.target.owner else None

    def retry(self, instance: Any, kwargs: dict[str, Any]) -> None:
        """The SDK hides a failed attempt."""
        call = self.active(instance)
        evidence = quietly("retry", None, self.adapter.attempt_failed, call, kwargs) if call is not None else None
        if call is not None and evidence is not None:
            quietly("retry", None, call.retried, evidence)

    def ending(self, instance: Any, result: Any) -> None:
        """The SDK is about to end its own span over an answer that it has parsed: the class belongs on that span.

        A body that is still to be read keeps the span, and of a failure the wrapper has told before.
        """
        call = self.active(instance)
        if call is not None and getattr(result, "error", None) is None:
            call.returned(result.data)

    def late(
        self, info: CallInfo, started: float, first_chunk: float | None = None, received: float | None = None
    ) -> Invocation | None:
        """A call that is reported when it has ended; to be settled and left at once."""
        scope = self.recorder.open(info) if self.patcher.active else None
        if scope is None:
            return None
        call = Invocation(self.adapter, info, self.recorder, scope)
        call.since(started, first_chunk, received)
        return call

    def refused(self, instance: Any, exc: BaseException) -> None:
        """A framework raised instead of calling the model."""
        info = self.adapter.refused(instance, exc) if isinstance(self.adapter, Framework) else None
        call = self.late(info, perf_counter()) if info is not None else None
        if call is not None:
            call.failed(exc)
            call.leave()

    def watched(self, instance: Any, feed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The feed of a framework's model call, looked at on its way; the feed itself to stay out."""
        info = self.adapter.describe(self.target, instance, args, kwargs) if self.patcher.active else None
        return feed if info is None else nested.OuterCall(self.late, info).watch(feed)

    def closed(self, holder: Any) -> None:
        """The application closed a stream or a raw response."""
        finalizer = quietly("close", None, finalizer_of, holder, self.target.through)
        if finalizer is not None:
            quietly("close", None, finalizer.end)


def _call(edge: Edge, original: Function) -> Function:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = edge.begin(self, args, kwargs)
        if call is None:
            return original(self, *args, **kwargs)
        try:
            result = original(self, *call.args, **call.kwargs)
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
    async def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = edge.begin(self, args, kwargs)
        if call is None:
            return await original(self, *args, **kwargs)
        try:
            result = await original(self, *call.args, **call.kwargs)
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
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Runs at the first step, which is when the SDK sends the request; no context stays attached across a yield.
        call = edge.begin(self, args, kwargs)
        if call is None:
            return (yield from original(self, *args, **kwargs))
        try:
            inner = original(self, *call.args, **call.kwargs)
            first = [next(inner)]
        except StopIteration:
            first = []
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        finally:
            call.leave()
        return (yield from call.follow(chain(first, inner), StreamFinalizer(call)))

    return wrapper


def _attempt(edge: Edge, original: Function) -> Function:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = edge.active(self)
        if call is None:
            return original(self, *args, **kwargs)
        quietly("attempt", None, call.attempt_begins)
        try:
            return original(self, *args, **kwargs)
        except BaseException as exc:
            quietly("attempt", None, call.attempt_failed, exc)
            raise

    return wrapper


def _async_attempt(edge: Edge, original: Function) -> Function:
    async def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = edge.active(self)
        if call is None:
            return await original(self, *args, **kwargs)
        quietly("attempt", None, call.attempt_begins)
        try:
            return await original(self, *args, **kwargs)
        except BaseException as exc:
            quietly("attempt", None, call.attempt_failed, exc)
            raise

    return wrapper


def _retry(edge: Edge, original: Function) -> Function:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        edge.retry(self, kwargs)
        return original(self, *args, **kwargs)

    return wrapper


def _async_retry(edge: Edge, original: Function) -> Function:
    async def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        edge.retry(self, kwargs)
        return await original(self, *args, **kwargs)

    return wrapper


def _close(edge: Edge, original: Function) -> Function:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        finally:
            edge.closed(self)

    return wrapper


def _async_close(edge: Edge, original: Function) -> Function:
    async def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return await original(self, *args, **kwargs)
        finally:
            edge.closed(self)

    return wrapper


def _span_end(edge: Edge, original: Function) -> Function:
    def wrapper(client: Any, span: Any, result: Any) -> Any:
        quietly("span end", None, edge.ending, client, result)
        return original(client, span, result)

    return wrapper


def _body_end(edge: Edge, original: Function) -> Function:
    def wrapper(self: Any, how: str, error: BaseException | None = None) -> Any:
        finalizer = quietly("close", None, finalizer_of, self)
        if finalizer is not None:
            quietly("close", None, finalizer.body_ended, how, error)
        return original(self, how, error)

    return wrapper


WRAPPERS: dict[Kind, Callable[[Edge, Function], Function]] = {
    Kind.CALL: _call,
    Kind.ASYNC_CALL: _async_call,
    Kind.GENERATOR: _generator,
    Kind.ASYNC_GENERATOR: partial(_async_call, follows=True),
    Kind.ATTEMPT: _attempt,
    Kind.ASYNC_ATTEMPT: _async_attempt,
    Kind.RETRY: _retry,
    Kind.ASYNC_RETRY: _async_retry,
    Kind.CLOSE: _close,
    Kind.ASYNC_CLOSE: _async_close,
    Kind.REFUSAL: nested.refusal,
    Kind.FEED: nested.feed,
    Kind.SPAN_END: _span_end,
    Kind.BODY_END: _body_end,
}
