"""What the adapter protocol must carry, shown with two made-up SDKs.

One returns the failures of its attempts as pairs and raises a stream's errors behind the only attribute that can be tapped,
as botocore does. The other is a layer of module functions, called by keyword, over an SDK that may report by itself, as
litellm is.
"""

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from llm_errors.evidence import Evidence
from llm_errors.extract import results
from llm_errors.instrument.patcher import Patcher
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.instrumentor import build_recorder
from llm_errors.providers import Sdk
from llm_errors.settings import read

HELLO = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "hi"}}]}
DELTA = {"choices": [{"index": 0, "delta": {"content": "hi"}}]}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


class Throttled(Exception):
    """The made-up SDK's exception: its code stands where no neutral reader looks."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.fault = {"name": code}


class Endpoint:
    def __init__(self, answers: Iterator) -> None:
        self.answers = answers

    def get_response(self, request):
        answer = next(self.answers)
        return (None, answer) if isinstance(answer, Exception) else ((200, answer), None)


class EventStream:
    def __init__(self, events) -> None:
        self.raw = iter(events)

    def __iter__(self):
        for event in self.raw:
            yield self.parse(event)

    def parse(self, event):
        if isinstance(event, Exception):
            raise event
        return event


class Cloud:
    def __init__(self, *answers) -> None:
        self.endpoint = Endpoint(iter(answers))

    def invoke(self, operation, params):
        for _ in range(3):
            success, failure = self.endpoint.get_response(params)
            if failure is None:
                return EventStream(success[1]) if operation == "stream" else success[1]
        raise failure


class CloudAdapter(Adapter):
    def targets(self):
        yield Target("cloud", "Cloud", "invoke", Kind.CALL)
        yield Target("cloud", "Endpoint", "get_response", Kind.ATTEMPT)
        yield Target("cloud", "EventStream", "parse", Kind.PART)

    def describe(self, target, instance, args, kwargs):
        given = dict(zip(("operation", "params"), args, strict=False)) | kwargs
        model = given["params"].get("modelId")
        return model and self.info(
            operation="chat", model=model, stream=given["operation"] == "stream", reader=results.CHAT
        )

    def is_of(self, call, target, instance):
        return call.instance.endpoint is instance

    def attempt_returned(self, call, result):
        return result[1]

    def failure(self, call, exc):
        said = call.kwargs.get("params", {}).get("modelId", "") if call.kwargs else ""
        code = getattr(exc, "fault", {}).get("name", "")
        return (
            Evidence(dialect="openai", codes=(code,), message=said, exceptions=(("cloud.Throttled",),))
            if code
            else None
        )

    def returned(self, call, result):
        if isinstance(result, EventStream):
            call.attach_finalizer(result)
            result.raw = call.follow(result.raw)
        else:
            call.judge(result)


class RouterAdapter(Adapter):
    def targets(self):
        yield Target("router", "", "completion", Kind.OUTER_CALL)
        yield Target("router", "", "acompletion", Kind.ASYNC_OUTER_CALL)

    def describe(self, target, instance, args, kwargs):
        return self.info(operation="chat", model=kwargs["model"], reader=results.CHAT)


CLOUD = CloudAdapter(Sdk("cloud", "cloud", ">=1,<2", "cloud", "openai", "cloud", "cloud"))
ROUTER = RouterAdapter(Sdk("router", "router", ">=1,<2", "router", "openai", "router", "router"))


@pytest.fixture
def observe(telemetry, monkeypatch):
    """Patch the made-up SDKs as `instrument()` would."""
    cloud, router = ModuleType("cloud"), ModuleType("router")
    cloud.Cloud, cloud.Endpoint, cloud.EventStream = (
        type(c.__name__, (c,), {"__module__": "cloud"}) for c in (Cloud, Endpoint, EventStream)
    )
    monkeypatch.setitem(cloud.Cloud.invoke.__globals__, "EventStream", cloud.EventStream)
    monkeypatch.setitem(Cloud.__init__.__globals__, "Endpoint", cloud.Endpoint)

    def completion(*, model, answer):
        return answer() if callable(answer) else answer

    async def acompletion(*, model, answer):
        return answer() if callable(answer) else answer

    router.completion, router.acompletion = completion, acompletion
    monkeypatch.setitem(sys.modules, "cloud", cloud)
    monkeypatch.setitem(sys.modules, "router", router)
    given = {n: getattr(telemetry, n) for n in ("tracer_provider", "meter_provider", "logger_provider")}
    recorder, _ = build_recorder(read({}, {}), given)
    patcher = Patcher(recorder)
    for adapter in (CLOUD, ROUTER):
        patcher.install(adapter)
    yield cloud, router
    patcher.uninstall()


def raising(exc):
    def raise_it():
        raise exc

    return raise_it


def test_an_attempt_that_returns_its_failure_is_a_hidden_retry(observe, telemetry):
    cloud, _ = observe
    client = cloud.Cloud(Throttled("rate_limit_exceeded"), HELLO)
    assert client.invoke("chat", params={"modelId": "m"}) is HELLO
    assert (telemetry.outcomes(), telemetry.retries()) == ({"ok": 1}, {"RATE_LIMITED": 1})


def test_an_adapter_reads_its_sdk_s_own_exception_with_the_arguments_of_the_call(observe, telemetry):
    cloud, _ = observe
    client = cloud.Cloud(*[Throttled("insufficient_quota")] * 3)
    with pytest.raises(Throttled):
        client.invoke(operation="chat", params={"modelId": "m"})
    assert telemetry.reasons() == {("CALL_BUDGET", "insufficient_quota"): 1}
    assert telemetry.retries() == {"CALL_BUDGET": 2}
    assert telemetry.span().attributes["gen_ai.request.model"] == "m"


def test_an_error_behind_the_tapped_attribute_of_a_stream_is_the_call_s(observe, telemetry):
    cloud, _ = observe
    stream = cloud.Cloud([DELTA, Throttled("rate_limit_exceeded")]).invoke("stream", {"modelId": "m"})
    with pytest.raises(Throttled):
        list(stream)
    assert telemetry.errors() == {"RATE_LIMITED": 1}
    assert telemetry.span().attributes["llm.error.partial_output"] is True


def test_a_stream_of_parts_that_ends_well_is_one_good_call(observe, telemetry):
    cloud, _ = observe
    assert list(cloud.Cloud([DELTA, STOP]).invoke("stream", {"modelId": "m"})) == [DELTA, STOP]
    assert telemetry.outcomes() == {"ok": 1}


def test_another_operation_of_the_same_client_is_left_alone(observe, telemetry):
    cloud, _ = observe
    assert cloud.Cloud(HELLO).invoke("list", {}) is HELLO
    assert telemetry.outcomes() == {}


def test_an_outer_call_that_no_inner_one_saw_is_counted_as_a_whole(observe, telemetry):
    _, router = observe
    assert router.completion(model="m", answer=HELLO) is HELLO
    with pytest.raises(ConnectionError):
        router.completion(model="m", answer=raising(ConnectionRefusedError("refused")))
    assert (telemetry.outcomes(), telemetry.errors()) == ({"ok": 1, "error": 1}, {"TRANSPORT": 1})


def test_an_outer_call_adds_nothing_to_an_inner_one_that_reported(observe, telemetry):
    cloud, router = observe
    inner = cloud.Cloud(HELLO, *[Throttled("rate_limit_exceeded")] * 3)
    router.completion(model="m", answer=lambda: inner.invoke("chat", {"modelId": "m"}))
    with pytest.raises(Throttled):
        router.completion(model="m", answer=lambda: inner.invoke("chat", {"modelId": "m"}))
    assert (telemetry.outcomes(), telemetry.errors()) == ({"ok": 1, "error": 1}, {"RATE_LIMITED": 1})
    assert len(telemetry.spans()) == 2


async def test_an_outer_coroutine_function_is_observed_alike(observe, telemetry):
    _, router = observe
    assert await router.acompletion(model="m", answer=HELLO) is HELLO
    with pytest.raises(TimeoutError):
        await router.acompletion(model="m", answer=raising(TimeoutError()))
    assert (telemetry.outcomes(), telemetry.errors()) == ({"ok": 1, "error": 1}, {"TIMEOUT": 1})
