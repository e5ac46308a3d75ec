"""The wrappers, one per kind of function: plain functions of the original's own kind, so that `inspect` sees what it saw."""

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from llm_errors.adapters import _layers
from llm_errors.adapters._edge import Edge
from llm_errors.adapters._keeper import Keeper, keeper_of
from llm_errors.adapters._protocol import Kind
from llm_errors.safety import quietly

Function = Callable[..., Any]


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
            return call.follow_async(result, Keeper(call))
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
        return (yield from call.follow(chain(first, inner)))

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
        keeper = quietly("close", None, keeper_of, self)
        if keeper is not None:
            quietly("close", None, keeper.body_ended, how, error)
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
    Kind.REFUSAL: _layers.refusal,
    Kind.FEED: _layers.feed,
    Kind.SPAN_END: _span_end,
    Kind.BODY_END: _body_end,
}
