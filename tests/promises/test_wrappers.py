"""Every wrapper passes on whatever it is given: all by keyword, and with an argument that nobody has thought of."""

import inspect
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from llm_errors.extract import results
from llm_errors.instrument.patcher import Patcher
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.instrument.wrappers import WRAPPERS
from llm_errors.providers import SDKS
from llm_errors.safety import configure

ASYNC = (Kind.ASYNC_CALL, Kind.ASYNC_ATTEMPT, Kind.ASYNC_RETRY, Kind.ASYNC_CLOSE, Kind.ASYNC_POLL)


class Quiet:
    """A recorder that takes everything."""

    def open(self, info: Any) -> Any:
        return object()

    def leave(self, scope: Any) -> None: ...

    def retried(self, info: Any, evidence: Any) -> None: ...

    def close(self, scope: Any, ending: Any) -> None: ...


class Anything(Adapter):
    """An adapter to which every call is one."""

    def __init__(self, kind: Kind, owner: str) -> None:
        super().__init__(SDKS[0])
        self._target = Target("sdk_of_tomorrow", owner, "act", kind, argument="feed" if kind is Kind.FEED else "")

    def targets(self):
        return (self._target,)

    def describe(self, target, instance, args, kwargs):
        return self.info(operation="chat", model="m", reader=results.CHAT)

    def refused(self, instance, exc, given=()):
        return self.info(operation="chat", model="m", reader=results.CHAT)

    def polled(self, instance, result):
        return None


def act(self, how=None, *, feed=None, **more):
    return (how, more)


def refuse(self, how=None, *, feed=None, **more):
    raise LookupError((how, more))


async def act_async(self, how=None, *, feed=None, **more):
    return (how, more)


def generate(self, how=None, *, feed=None, **more):
    yield (how, more)


async def generate_async(self, how=None, *, feed=None, **more):
    async def answer():
        yield (how, more)

    return answer()


async def pass_on(self, how=None, *, feed=None, **more):
    async for _ in feed:
        yield (how, more)


FUNCTIONS = {
    **dict.fromkeys(ASYNC, act_async),
    Kind.REFUSAL: refuse,
    Kind.GENERATOR: generate,
    Kind.ASYNC_GENERATOR: generate_async,
    Kind.FEED: pass_on,
}
"""Functions that behave as the kinds say, and tell what they were given; all others are plain."""


async def outcome(result: Any) -> Any:
    """What a function of any kind gives."""
    if inspect.isawaitable(result):
        result = await result
    if hasattr(result, "__anext__"):
        return await anext(result)
    return next(result) if inspect.isgenerator(result) else result


async def feed():
    yield "response"


@pytest.fixture
def patched(monkeypatch):
    """A class with one patched function of a kind."""
    configure(strict=True, count=None)
    patchers = []

    def patch(kind: Kind) -> Any:
        module: Any = ModuleType("sdk_of_tomorrow")
        module.Owner = holder = type("Owner", (), {"act": FUNCTIONS.get(kind, act)})
        monkeypatch.setitem(sys.modules, "sdk_of_tomorrow", module)
        patchers.append(Patcher(Quiet()))
        patchers[-1].install(Anything(kind, "Owner"))
        assert set(patchers[-1].found.values()) == {"patched"}
        return holder

    yield patch
    for patcher in patchers:
        patcher.uninstall()


def test_there_is_a_wrapper_for_every_kind():
    assert set(WRAPPERS) == set(Kind)


@pytest.mark.parametrize("how", ["bound", "by keyword"])
@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.name)
async def test_a_wrapper_passes_on_keywords_and_arguments_of_the_future(kind, how, patched):
    owner = patched(kind)
    given = {"how": 1, "feed": feed() if kind is Kind.FEED else None, "unheard_of": 2}
    act = owner().act if how == "bound" else lambda **named: owner.act(self=owner(), **named)
    if kind is Kind.REFUSAL:
        with pytest.raises(LookupError) as raised:
            act(**given)
        assert raised.value.args[0] == (1, {"unheard_of": 2})
    else:
        assert await outcome(act(**given)) == (1, {"unheard_of": 2})


@pytest.mark.parametrize("given", [{"client": 1, "span": 2, "result": 3, "reason": 4}, {}], ids=["more", "nothing"])
def test_the_end_of_a_native_span_may_be_told_more_than_today(given, monkeypatch, observed):
    base = pytest.importorskip("anthropic._base_client")
    if not hasattr(base, "finish_api_call_span"):
        pytest.skip("a tracing anthropic")
    told = []
    original = inspect.unwrap(base.finish_api_call_span)
    cells = [c for c in base.finish_api_call_span.__closure__ or () if c.cell_contents is original]
    monkeypatch.setattr(cells[0], "cell_contents", lambda *args, **kwargs: told.append((args, kwargs)))
    base.finish_api_call_span(**given)
    assert told == [((), given)]


@pytest.mark.parametrize("kind", [Kind.CALL, Kind.RETRY, Kind.CLOSE, Kind.POLL, Kind.FEED], ids=lambda kind: kind.name)
def test_a_warning_says_exactly_what_is_lost_with_a_target(kind, monkeypatch, caplog):
    configure(strict=True, count=None)
    monkeypatch.setitem(sys.modules, "sdk_of_tomorrow", SimpleNamespace(__name__="sdk_of_tomorrow"))
    patcher = Patcher(Quiet())
    patcher.install(Anything(kind, "Owner"))
    patcher.uninstall()
    (said,) = [record.getMessage() for record in caplog.records]
    assert "patch target sdk_of_tomorrow:Owner.act not found: " in said
    lost = {
        Kind.CALL: "calls through it will not be observed",
        Kind.RETRY: "retries that the SDK hides will not be counted; its calls and errors are",
        Kind.CLOSE: "a stream that the application closes early will be counted when it is dropped",
        Kind.POLL: "background jobs that fail after the call has returned will not be counted; its calls are",
        Kind.FEED: "calls of models whose SDK is not instrumented will not be observed",
    }
    assert said.endswith(lost[kind])
