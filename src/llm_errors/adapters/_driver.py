"""The driver: puts wrappers into SDK classes and takes them out again. The only module that patches.

A wrapper is a plain function of the original's kind (coroutine function, generator function) and name, so that
signatures, `inspect`, copy and pickle see what they saw before. It goes inside the proxies of other instrumentations:
the call is seen where their span is current, whoever came first.
"""

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from time import perf_counter
from typing import Any

import wrapt

from llm_errors.adapters import _drops, _layers
from llm_errors.adapters._call import ACTIVE, Keeper, RunningCall, Sink, keeper_of
from llm_errors.adapters._protocol import Adapter, CallInfo, Framework, Kind, Target
from llm_errors.safety import quietly, warn_once

Function = Callable[..., Any]


@dataclass
class _Patch:
    """One wrapper in place."""

    owner: type
    attribute: str
    original: Function
    wrapper: Function
    inherited: bool

    def undo(self) -> None:
        """Take out only what is ours, wherever it now is."""
        current = vars(self.owner).get(self.attribute)
        if current is self.wrapper:
            if self.inherited:
                delattr(self.owner, self.attribute)
            else:
                setattr(self.owner, self.attribute, self.original)
            return
        current = _static(self.owner, self.attribute)
        while isinstance(current, wrapt.ObjectProxy):
            if current.__wrapped__ is self.wrapper:
                current.__wrapped__ = self.original
                return
            current = current.__wrapped__


class Driver:
    """All patches of one `instrument()`."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._patches: list[_Patch] = []
        self.active = True
        self.found: dict[str, str] = {}
        """Target name -> `patched`, `not imported`, `not wanted` or `missing`."""

    def install(self, adapter: Adapter) -> None:
        """Patch the adapter's targets, each now or when its module is imported."""
        _drops.watch()
        for target in adapter.targets():
            self.found[target.name] = "not imported"
            hook = functools.partial(self._imported, adapter, target)
            wrapt.register_post_import_hook(hook, target.module)

    def uninstall(self) -> None:
        """Take all patches out; wrappers that someone still holds go inert."""
        self.active = False
        for patch in reversed(self._patches):
            quietly("uninstrument", None, patch.undo)
        self._patches.clear()
        _drops.unwatch()

    def _imported(self, adapter: Adapter, target: Target, module: Any) -> None:
        """A raising hook would break the application's `import`."""
        if self.active:
            quietly("patch", None, self._patch, adapter, target, module)

    def _patch(self, adapter: Adapter, target: Target, module: Any) -> None:
        owner = getattr(module, target.owner, None)
        present = isinstance(owner, type) and _static(owner, target.attribute) is not None
        if present and target.when is not None and not target.when(owner):  # type: ignore[arg-type]
            self.found[target.name] = "not wanted"
            return
        if not present:
            self.found[target.name] = "missing"
            if not target.optional:
                warn_once(target.name, "llm-errors: %s is not there; its calls are not observed", target.name)
            return
        self._put(owner, target, adapter)  # type: ignore[arg-type]
        self.found[target.name] = "patched"

    def _put(self, owner: type, target: Target, adapter: Adapter) -> None:
        outer, original = _innermost(_static(owner, target.attribute))
        wrapper = _WRAPPERS[target.kind](_Edge(self, adapter, self._sink, target.through), original)
        functools.update_wrapper(wrapper, original)
        wrapper.__module__, wrapper.__qualname__ = owner.__module__, f"{owner.__qualname__}.{target.attribute}"
        inherited = target.attribute not in vars(owner)
        if outer is not None:
            outer.__wrapped__ = wrapper
        else:
            setattr(owner, target.attribute, wrapper)
        self._patches.append(_Patch(owner, target.attribute, original, wrapper, inherited))


def _static(owner: type, attribute: str) -> Any:
    """The attribute as it stands in the class that defines it, unbound."""
    return next((vars(c)[attribute] for c in owner.__mro__ if attribute in vars(c)), None)


def _innermost(function: Any) -> tuple[Any, Any]:
    """The innermost proxy of another instrumentation, if any, and the SDK's own function."""
    outer = None
    while isinstance(function, wrapt.ObjectProxy):
        outer, function = function, function.__wrapped__
    return outer, function


class _Edge:
    """What a wrapper may call of ours; nothing here raises into the application's call."""

    __slots__ = ("adapter", "driver", "sink", "through")

    def __init__(self, driver: Driver, adapter: Adapter, sink: Sink, through: str) -> None:
        self.driver, self.adapter, self.sink, self.through = driver, adapter, sink, through

    def begin(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RunningCall | None:
        """The call that begins, or None to stay out."""
        if not self.driver.active:
            return None
        return quietly("begin", None, self._begin, instance, args, kwargs)

    def _begin(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RunningCall | None:
        request = (id(instance), *map(id, args), *map(id, kwargs.values()))
        outer = ACTIVE.get()
        if outer is not None and outer.request == request and outer.adapter is self.adapter:
            return None  # an inner class of the same chain: the call counts once
        info = self.adapter.describe(instance, args, kwargs)
        if info is None or not self.sink.enabled():
            return None
        call = RunningCall(self.adapter, info, self.sink, request, id(sys.exc_info()[1]))
        quietly("begin", None, self.adapter.begin, call, args, kwargs)
        call.enter()
        return call

    def active(self) -> RunningCall | None:
        """The call of this adapter that is running in this context."""
        call = ACTIVE.get()
        return call if call is not None and call.adapter is self.adapter and self.driver.active else None

    def retry(self, kwargs: dict[str, Any]) -> None:
        """The SDK hides a failed attempt."""
        call = self.active()
        evidence = quietly("retry", None, self.adapter.attempt_failed, call, kwargs) if call is not None else None
        if call is not None and evidence is not None:
            quietly("retry", None, call.retried, evidence)

    def late(self, info: CallInfo, started: float, first_chunk: float | None) -> RunningCall | None:
        """A call that is reported when it has ended; to be settled and left at once."""
        if not self.driver.active or not self.sink.enabled():
            return None
        call = RunningCall(self.adapter, info, self.sink)
        call.enter()
        call.since(started, first_chunk)
        return call

    def refused(self, instance: Any, exc: BaseException) -> None:
        """A framework raised instead of calling the model."""
        info = self.adapter.refused(instance, exc) if isinstance(self.adapter, Framework) else None
        call = self.late(info, perf_counter(), None) if info is not None else None
        if call is not None:
            call.failed(exc)
            call.leave()

    def watched(self, instance: Any, feed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The feed of a framework's model call, looked at on its way; the feed itself to stay out."""
        info = self.adapter.describe(instance, args, kwargs) if self.driver.active else None
        return feed if info is None else _layers.LayeredCall(self.late, info).watch(feed)

    def closed(self, holder: Any) -> None:
        """The application closed a stream or a raw response."""
        keeper = quietly("close", None, keeper_of, holder, self.through)
        if keeper is not None:
            quietly("close", None, keeper.end)


def _call(edge: _Edge, original: Function) -> Function:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = edge.begin(self, args, kwargs)
        if call is None:
            return original(self, *args, **kwargs)
        try:
            result = original(self, *args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        finally:
            quietly("leave", None, call.leave)
        call.returned(result)
        return result

    return wrapper


def _async_call(edge: _Edge, original: Function) -> Function:
    async def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = edge.begin(self, args, kwargs)
        if call is None:
            return await original(self, *args, **kwargs)
        try:
            result = await original(self, *args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        finally:
            quietly("leave", None, call.leave)
        call.returned(result)
        return result

    return wrapper


def _generator(edge: _Edge, original: Function) -> Function:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Runs at the first step, which is when the SDK sends the request; no context stays attached across a yield.
        call = edge.begin(self, args, kwargs)
        if call is None:
            return (yield from original(self, *args, **kwargs))
        try:
            inner = original(self, *args, **kwargs)
            first = [next(inner)]
        except StopIteration:
            first = []
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        finally:
            quietly("leave", None, call.leave)
        return (yield from call.follow(chain(first, inner)))

    return wrapper


def _async_generator(edge: _Edge, original: Function) -> Function:
    async def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = edge.begin(self, args, kwargs)
        if call is None:
            return await original(self, *args, **kwargs)
        try:
            result = await original(self, *args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        finally:
            quietly("leave", None, call.leave)
        return call.follow_async(result, Keeper(call))

    return wrapper


def _attempt(edge: _Edge, original: Function) -> Function:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = edge.active()
        if call is None:
            return original(self, *args, **kwargs)
        quietly("attempt", None, call.attempt_begins)
        try:
            return original(self, *args, **kwargs)
        except BaseException as exc:
            quietly("attempt", None, call.attempt_failed, exc)
            raise

    return wrapper


def _async_attempt(edge: _Edge, original: Function) -> Function:
    async def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        call = edge.active()
        if call is None:
            return await original(self, *args, **kwargs)
        quietly("attempt", None, call.attempt_begins)
        try:
            return await original(self, *args, **kwargs)
        except BaseException as exc:
            quietly("attempt", None, call.attempt_failed, exc)
            raise

    return wrapper


def _retry(edge: _Edge, original: Function) -> Function:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        edge.retry(kwargs)
        return original(self, *args, **kwargs)

    return wrapper


def _async_retry(edge: _Edge, original: Function) -> Function:
    async def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        edge.retry(kwargs)
        return await original(self, *args, **kwargs)

    return wrapper


def _close(edge: _Edge, original: Function) -> Function:
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        finally:
            edge.closed(self)

    return wrapper


def _async_close(edge: _Edge, original: Function) -> Function:
    async def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return await original(self, *args, **kwargs)
        finally:
            edge.closed(self)

    return wrapper


def _body_end(edge: _Edge, original: Function) -> Function:
    def wrapper(self: Any, how: str, error: BaseException | None = None) -> Any:
        keeper = quietly("close", None, keeper_of, self)
        if keeper is not None:
            quietly("close", None, keeper.body_ended, how, error)
        return original(self, how, error)

    return wrapper


_WRAPPERS: dict[Kind, Callable[[_Edge, Function], Function]] = {
    Kind.CALL: _call,
    Kind.ASYNC_CALL: _async_call,
    Kind.GENERATOR: _generator,
    Kind.ASYNC_GENERATOR: _async_generator,
    Kind.ATTEMPT: _attempt,
    Kind.ASYNC_ATTEMPT: _async_attempt,
    Kind.RETRY: _retry,
    Kind.ASYNC_RETRY: _async_retry,
    Kind.CLOSE: _close,
    Kind.ASYNC_CLOSE: _async_close,
    Kind.REFUSAL: _layers.refusal,
    Kind.FEED: _layers.feed,
    Kind.BODY_END: _body_end,
}
