"""Every wrapper passes on whatever it is given: all by keyword, and with an argument that nobody has thought of."""

import inspect
import sys
from contextvars import copy_context
from types import ModuleType
from typing import Any

import pytest

from llm_errors.extract import results
from llm_errors.instrument.adapters import (
    adk,
    dashscope,
    gapic,
    generators,
    litellm,
    litellm_calls,
    litellm_requests,
    litellm_streams,
    native_span,
    refusals,
    run_wrappers,
    sockets,
    steps,
    unusual,
    voyageai,
    waits,
    xai_stubs,
)
from llm_errors.instrument.nested import NESTED, NestedCalls, reset
from llm_errors.instrument.patcher import Patcher
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.instrument.wrappers import WRAPPERS
from llm_errors.providers import SDKS
from llm_errors.safety import configure

ASYNC = (
    *(Kind.ASYNC_CALL, Kind.ASYNC_ATTEMPT, Kind.ASYNC_RETRY, Kind.ASYNC_CLOSE, Kind.ASYNC_OUTER_CALL, Kind.ASYNC_PART),
    *(
        unusual.poll_async,
        unusual.refresh_async,
        dashscope._sent_async,
        steps.step_async,
        steps.read_async,
        steps.close_async,
    ),
    *(sockets.connects_async, sockets.receives_async, sockets.sends_async, sockets.closes_async),
    *(run_wrappers.async_run, run_wrappers.async_step, run_wrappers.async_check),
    *(litellm_calls.model_call_async, litellm_requests.request_async, litellm_streams.next_chunk_async),
    *(litellm_streams.fetched_async, litellm_streams.closed_async, xai_stubs.tapping_async, xai_stubs._polls_async),
    *(generators.lazy_async, generators.eager_async, waits.waits_async(1), refusals.refusal_in_async()),
)
SPECIAL = (
    *(one for one in ASYNC if not isinstance(one, Kind)),
    *(dashscope._sent, steps.step, steps.close, gapic._retried, voyageai._interpreted, waits.waits(1)),
    *(sockets.connects, sockets.receives, sockets.sends, sockets.closes, sockets.makes_event),
    *(run_wrappers.run, run_wrappers.check, generators.lazy, generators.eager),
    *(litellm.outside, litellm_calls.model_call, litellm_requests.request, litellm_streams.next_chunk),
    *(litellm_streams.fetched, litellm_streams.closed, xai_stubs.tapping, xai_stubs._polls),
    *(unusual.poll, unusual.refresh, refusals.refusal, refusals.refusal_in()),
    *(adk._limit, adk._responses, native_span.before_span_ends, native_span.before_body_ends),
)
"""Wrappers of functions that only some SDKs have."""


class Quiet:
    """A recorder that takes everything."""

    def open(self, info: Any, ago: float = 0.0) -> Any:
        return object()

    def leave(self, scope: Any) -> None: ...

    def prepare(self) -> None: ...

    def retried(self, info: Any, evidence: Any) -> None: ...

    def close(self, scope: Any, ending: Any) -> None: ...


class Anything(Adapter):
    """An adapter to which every call is one."""

    def __init__(self, kind: Any, owner: str) -> None:
        super().__init__(SDKS[0])
        self._target = Target("sdk_of_tomorrow", owner, "act", kind)

    def targets(self):
        return (self._target,)

    def describe(self, target, instance, args, kwargs):
        return self.info(operation="chat", model="m", reader=results.CHAT)

    def refused(self, instance, exc, given=()):
        return self.info(operation="chat", model="m", reader=results.CHAT)

    def polled(self, instance, result):
        return None

    def part(self, call, result): ...


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
    refusals.refusal: refuse,
    adk._limit: refuse,
    Kind.GENERATOR: generate,
    Kind.ASYNC_GENERATOR: generate_async,
    adk._responses: pass_on,
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
    configure(strict=False, count=None)  # what we do not understand we pass on all the same
    patchers = []

    def patch(kind: Any) -> Any:
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
@pytest.mark.parametrize(
    "kind",
    [*Kind, *SPECIAL],
    ids=lambda kind: getattr(kind, "name", None) or f"{kind.__module__.rpartition('.')[2]}.{kind.__qualname__}",
)
async def test_a_wrapper_passes_on_keywords_and_arguments_of_the_future(kind, how, patched):
    owner = patched(kind)
    given = {"how": 1, "feed": feed() if kind is adk._responses else None, "unheard_of": 2}
    act = owner().act if how == "bound" else lambda **named: owner.act(self=owner(), **named)
    if FUNCTIONS.get(kind) is refuse:
        with pytest.raises(LookupError) as raised:
            act(**given)
        assert raised.value.args[0] == (1, {"unheard_of": 2})
    else:
        assert await outcome(act(**given)) == (1, {"unheard_of": 2})


def test_framework_calls_that_begin_each_other_are_not_kept():
    """A task has a copy of the context in which it began, and with it the framework's call, which may have ended."""
    contexts = []

    def depth(calls):
        return 0 if calls is None else 1 + depth(calls.around)

    def call():
        calls = NestedCalls()
        token = NESTED.set(calls)
        contexts.append(copy_context())
        reset(token)
        return depth(calls)

    assert [call(), *(contexts.pop().run(call) for _ in range(10))] == [1] + [2] * 10
