"""An observed generator passes on what the application sends, throws and closes, as the SDK's own does."""

import sys
from types import ModuleType
from typing import Any

import pytest

from llm_errors.extract import results
from llm_errors.instrument.adapters import generators
from llm_errors.instrument.patcher import Patcher
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.instrumentor import build_recorder
from llm_errors.providers import SDKS
from llm_errors.settings import read

SYNC = {"bare": None, "generator": Kind.GENERATOR, "lazy": generators.lazy, "eager": generators.eager}
ASYNC = {
    "bare": None,
    "generator": Kind.ASYNC_GENERATOR,
    "lazy": generators.lazy_async,
    "eager": generators.eager_async,
    "stepping": generators.stepping,
}
every_kind = pytest.mark.parametrize("kind", SYNC.values(), ids=SYNC)
every_async_kind = pytest.mark.parametrize("kind", ASYNC.values(), ids=ASYNC)


class Talks(Adapter):
    def __init__(self, kind: Any) -> None:
        super().__init__(SDKS[0])
        self._target = Target("sdk_that_talks", "Owner", "act", kind)

    def targets(self):
        return (self._target,)

    def describe(self, target, instance, args, kwargs):
        return self.info(operation="chat", model="m", reader=results.CHAT, stream=True)

    def returned(self, call, result): ...


def talk(self, heard, *, stream):
    heard.append((yield 1))
    try:
        yield 2
    except LookupError as exc:
        heard.append(exc)
    try:
        yield 3
    except KeyError as exc:
        raise ValueError from exc
    finally:
        heard.append("closed")
    return "end"


async def stepping(self, heard, *, stream):
    heard.append((yield 1))
    try:
        yield 2
    except LookupError as exc:
        heard.append(exc)
    try:
        yield 3
    except KeyError as exc:
        raise ValueError from exc
    finally:
        heard.append("closed")


async def talk_async(self, heard, *, stream):
    return stepping(self, heard, stream=stream)


@pytest.fixture
def patched(telemetry, monkeypatch):
    """The method of a made-up SDK, patched with a kind; without a kind, as it is."""
    patchers = []

    def patch(kind: Any, function: Any) -> Any:
        module: Any = ModuleType("sdk_that_talks")
        module.Owner = type("Owner", (), {"act": function})
        monkeypatch.setitem(sys.modules, "sdk_that_talks", module)
        if kind is not None:
            providers = {n: getattr(telemetry, n) for n in ("tracer_provider", "meter_provider", "logger_provider")}
            patchers.append(Patcher(build_recorder(read({}, {}), providers)[0]))
            patchers[-1].install(Talks(kind))
        return module.Owner()

    yield patch
    for patcher in patchers:
        patcher.uninstall()


@every_kind
def test_what_is_sent_thrown_and_closed_reaches_the_generator_of_the_sdk(kind, patched, telemetry):
    heard, thrown = [], LookupError()
    parts = patched(kind, talk).act(heard, stream=True)
    assert [next(parts), parts.send("said"), parts.throw(thrown)] == [1, 2, 3]
    parts.close()
    assert heard == ["said", thrown, "closed"]
    assert telemetry.outcomes() == ({} if kind is None else {"cancelled": 1})


@every_async_kind
async def test_the_same_reaches_an_async_generator(kind, patched, telemetry):
    heard, thrown = [], LookupError()
    function = stepping if kind in (None, generators.stepping) else talk_async
    made = patched(kind, function).act(heard, stream=True)
    parts = await made if function is talk_async else made
    assert [await anext(parts), await parts.asend("said"), await parts.athrow(thrown)] == [1, 2, 3]
    await parts.aclose()
    assert heard == ["said", thrown, "closed"]
    assert telemetry.outcomes() == ({} if kind is None else {"cancelled": 1})


@every_kind
def test_an_exception_that_the_generator_does_not_handle_is_the_applications(kind, patched, telemetry):
    thrown = RuntimeError("the application's")
    parts = patched(kind, talk).act([], stream=True)
    next(parts)
    with pytest.raises(RuntimeError) as raised:
        parts.throw(thrown)
    assert raised.value is thrown
    assert telemetry.outcomes() == ({} if kind is None else {"cancelled": 1})


@every_async_kind
async def test_the_same_of_an_async_generator(kind, patched, telemetry):
    thrown = RuntimeError("the application's")
    function = stepping if kind in (None, generators.stepping) else talk_async
    made = patched(kind, function).act([], stream=True)
    parts = await made if function is talk_async else made
    await anext(parts)
    with pytest.raises(RuntimeError) as raised:
        await parts.athrow(thrown)
    assert raised.value is thrown
    assert telemetry.outcomes() == ({} if kind is None else {"cancelled": 1})


@every_kind
def test_what_a_generator_raises_instead_is_a_failure(kind, patched, telemetry):
    parts = patched(kind, talk).act([], stream=True)
    assert [next(parts) for _ in range(3)] == [1, 2, 3]
    with pytest.raises(ValueError):
        parts.throw(KeyError())
    assert telemetry.outcomes() == ({} if kind is None else {"error": 1})


@every_kind
def test_the_value_that_a_generator_returns_is_returned(kind, patched):
    parts = patched(kind, talk).act([], stream=True)
    assert [next(parts) for _ in range(3)] == [1, 2, 3]
    with pytest.raises(StopIteration) as stopped:
        next(parts)
    assert stopped.value.value == "end"
