"""Playing one scripted reply to one real SDK call, and what the telemetry says of it."""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from llm_errors.testing.provider import Provider, Reply


@dataclass
class Verdict:
    """What one call left behind."""

    outcome: str
    labels: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    retries: dict[str, int] = field(default_factory=dict)
    raised: BaseException | None = None
    result: Any = None
    provider: Provider | None = None

    @property
    def verdict(self) -> str:
        """`ok`, `cancelled`, or class and reason."""
        attributes = self.attributes
        if self.outcome != "error":
            return self.outcome
        return f"{attributes['llm.error.class']}/{attributes['llm.error.reason']}"

    def __getattr__(self, name: str) -> Any:
        """The rest of a classification, by its last name."""
        return self.attributes.get(f"llm.error.{name}")


def _consume(result: Any) -> Any:
    return list(result) if hasattr(result, "__next__") else result


async def _consume_async(result: Any) -> Any:
    result = await result if inspect.isawaitable(result) else result
    return (
        [chunk async for chunk in result] if hasattr(result, "__aiter__") and hasattr(result, "__anext__") else result
    )


class Play:
    """Call it with a client factory, a call on the client, and the script."""

    def __init__(self, telemetry: Any, start: Callable[..., Provider]) -> None:
        self._telemetry, self._start = telemetry, start

    def __call__(
        self,
        make: Callable[..., Any],
        call: Callable[..., Any],
        script: Reply | Sequence[Reply],
        asynchronous: bool = False,
    ) -> Verdict:
        provider = self._start([script] if isinstance(script, Reply) else script)
        raised = result = None
        try:
            result = self._call_async(make, call, provider) if asynchronous else self._call(make, call, provider)
        except Exception as exc:
            raised = exc
        return self._verdict(raised, result, provider)

    def _call(self, make: Callable[..., Any], call: Callable[..., Any], provider: Provider) -> Any:
        client = make(provider.url, False)
        try:
            return _consume(call(client))
        finally:
            client.close()

    def _call_async(self, make: Callable[..., Any], call: Callable[..., Any], provider: Provider) -> Any:
        async def go() -> Any:
            client = make(provider.url, True)
            try:
                return await _consume_async(call(client))
            finally:
                await (client.aclose if hasattr(client, "aclose") else client.close)()

        return asyncio.run(go())

    def _verdict(self, raised: BaseException | None, result: Any, provider: Provider) -> Verdict:
        calls = self._telemetry.points("llm_calls_total")
        assert sum(point.value for _, point in calls) == 1, f"one call, counted {calls}, raised {raised!r}"
        labels = calls[0][0]
        errors = self._telemetry.points("llm_errors_total")
        attributes = dict(self._telemetry.span().attributes)
        outcome = labels["llm.call.outcome"]
        if outcome == "error":
            ((error, point),) = errors
            assert point.value == 1
            assert error["llm.error.class"] == attributes["llm.error.class"]
        else:
            assert not errors
        return Verdict(outcome, labels, attributes, self._telemetry.retries(), raised, result, provider)


@pytest.fixture
def play(observed: Any, provider: Callable[..., Provider]) -> Play:
    """Play a script to an SDK in an instrumented process."""
    return Play(observed, provider)


@pytest.fixture
def serve():
    """Start a websocket server that plays a script."""
    from tests.sdks.sockets import SocketServer  # websockets is not in every environment

    started = []

    def start(*script):
        started.append(SocketServer(script))
        return started[-1]

    yield start
    for server in started:
        server.close()
