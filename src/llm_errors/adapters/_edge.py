"""What a wrapper may call of ours: nothing here raises into the application's call."""

import sys
from time import perf_counter
from typing import TYPE_CHECKING, Any

from llm_errors.adapters import _layers
from llm_errors.adapters._call import ACTIVE, RunningCall
from llm_errors.adapters._keeper import keeper_of
from llm_errors.adapters._protocol import Adapter, CallInfo, Framework, Target
from llm_errors.adapters._sink import Sink
from llm_errors.safety import overlook, quietly

if TYPE_CHECKING:
    from llm_errors.adapters._driver import Driver


class Edge:
    """What a wrapper may call of ours; nothing here raises into the application's call."""

    __slots__ = ("adapter", "driver", "sink", "target")

    def __init__(self, driver: "Driver", adapter: Adapter, sink: Sink, target: Target) -> None:
        self.driver, self.adapter, self.sink, self.target = driver, adapter, sink, target

    def begin(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RunningCall | None:
        """The call that begins, or None to stay out."""
        if not self.driver.active:
            return None
        try:
            outer = ACTIVE.get()
            if outer is not None and outer.adapter is self.adapter and outer.asks(instance, args, kwargs):
                return None  # an inner class of the same chain: the call counts once
            info = self.adapter.describe(instance, args, kwargs)
            scope = self.sink.open(info) if info is not None else None
        except Exception as error:  # noqa: BLE001 - as `quietly` does, without a call of its own for every call
            overlook("begin", error)
            return None
        if info is None or scope is None:
            return None
        call = RunningCall(self.adapter, info, self.sink, scope, instance, args, kwargs, id(sys.exc_info()[1]))
        try:
            self.adapter.begin(call)
        except Exception as error:  # noqa: BLE001 - the same; the answer is then read where the SDK returns it
            overlook("begin", error)
        return call

    def active(self, instance: Any) -> RunningCall | None:
        """The call of this adapter, and of this instance if a method is patched, that is running in this context."""
        call = ACTIVE.get()
        if call is None or call.adapter is not self.adapter or not self.driver.active:
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

    def late(self, info: CallInfo, started: float, first_chunk: float | None) -> RunningCall | None:
        """A call that is reported when it has ended; to be settled and left at once."""
        scope = self.sink.open(info) if self.driver.active else None
        if scope is None:
            return None
        call = RunningCall(self.adapter, info, self.sink, scope)
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
        keeper = quietly("close", None, keeper_of, holder, self.target.through)
        if keeper is not None:
            quietly("close", None, keeper.end)
