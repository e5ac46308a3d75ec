"""Each peer, SDK, way of calling and order: the application sees what it saw, and the telemetry holds one call and one class."""

import asyncio
import dataclasses
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from llm_errors.testing.provider import Reply

from .conftest import Spans, difference, functions
from .peers import ALL, ANTHROPIC, OPENAI, Peer
from .scenarios import SCENARIOS, Application, Outcome, Scenario

pytestmark = [
    pytest.mark.filterwarnings("default"),  # peers warn of what they and the SDKs deprecate
    pytest.mark.usefixtures("no_native_spans", "restore"),
]

PEERS = pytest.mark.parametrize("peer", ALL, ids=str)
CASES = pytest.mark.parametrize(
    ("peer", "scenario", "flavour"), [(p, s, f) for p in ALL for s in SCENARIOS[p.api] for f in p.flavours], ids=str
)
ORDERS = pytest.mark.parametrize("order", ["peer-first", "we-first"])

Ours = Callable[..., Any]


@pytest.fixture
def ours(telemetry, spans, instrument) -> Ours:
    """Begin with the spans that everybody shares."""
    return lambda **options: instrument(tracer_provider=spans.provider, **options)


@contextmanager
def together(peer: Peer, order: str, ours: Ours, providers: dict[str, Any]) -> Iterator[None]:
    """Both instrumented; the fixtures take ours out."""
    with ExitStack() as stack:
        if order == "peer-first":
            stack.enter_context(peer.running(providers))
        ours()
        if order == "we-first":
            stack.enter_context(peer.running(providers))
        yield


def providers_of(telemetry: Any, spans: Spans) -> dict[str, Any]:
    return {
        "tracer_provider": spans.provider,
        "meter_provider": telemetry.meter_provider,
        "logger_provider": telemetry.logger_provider,
    }


def call(provider: Any, scenario: Scenario, api: str, flavour: str) -> Outcome:
    application = Application(api, provider([unrepeated(scenario.reply)]).url)
    if flavour == "async":
        return asyncio.run(application.call_async(scenario.streamed))
    return application.call(scenario.streamed)


_numbers = itertools.count()


def unrepeated(reply: Reply) -> Reply:
    """The reply under an id of its own: OpenLLMetry remembers the ids of responses and tells of each only once."""
    number = f'"r1-{next(_numbers)}"'
    sse = [line.replace('"r1"', number) for line in reply.sse] if reply.sse is not None else None
    return dataclasses.replace(reply, json=json.loads(json.dumps(reply.json).replace('"r1"', number)), sse=sse)


def kinds(found: list[Any]) -> Counter[tuple[str, str]]:
    return Counter((span.instrumentation_scope.name, span.name) for span in found)


def classes(found: list[Any]) -> list[str]:
    return [span.attributes["llm.error.class"] for span in found if "llm.error.class" in span.attributes]


@CASES
@ORDERS
def test_one_call_is_told_once(peer, scenario, order, flavour, telemetry, spans, ours, provider, restore):
    peer.needed()

    def alone():
        with peer.running(providers_of(telemetry, spans)):
            outcome = call(provider, scenario, peer.api, flavour)
        return outcome, spans.take()

    seen_alone, spans_alone = alone()
    if seen_alone.raised and not scenario.error_class:  # seen once, a TypeError beside logfire: not our doing
        seen_alone, spans_alone = alone()
    restore()

    with together(peer, order, ours, providers_of(telemetry, spans)):
        seen = call(provider, scenario, peer.api, flavour)
    found = spans.take()

    assert seen == seen_alone
    assert scenario.error_class or not seen.raised
    assert telemetry.outcomes() == {"error" if scenario.error_class else "ok": 1}
    assert telemetry.errors() == ({scenario.error_class: 1} if scenario.error_class else {})
    ours_in_log = [
        log.attributes["llm.error.class"] for log in telemetry.logs() if "llm.error.class" in (log.attributes or {})
    ]
    assert ours_in_log == ([scenario.error_class] if scenario.error_class else [])
    assert kinds(found) == kinds(spans_alone)
    current = peer.streamed if scenario.streamed else peer.plain
    if scenario.streamed and flavour == "async":
        current = current and peer.streamed_async
    if scenario.streamed and "thrown" not in scenario.name:
        current = current and peer.reads
    current = current and bool(spans_alone)  # some peers never end a span whose stream breaks
    assert classes(found) == ([scenario.error_class] if scenario.error_class and current else [])


@PEERS
@ORDERS
@pytest.mark.parametrize("leaves", ["peer-first", "we-first"])
def test_whoever_leaves_first_nothing_of_ours_acts(peer, order, leaves, telemetry, spans, ours, provider, restore):
    """Nothing stays but what the peer alone leaves behind; OpenInference puts a wrapper of ours back, which does nothing."""
    peer.needed()
    before = functions()
    healthy = SCENARIOS[peer.api][0]
    with peer.running(providers_of(telemetry, spans)):
        pass
    left_alone = set(difference(before, functions()))
    restore()

    with ExitStack() as stack:
        if order == "peer-first":
            stack.enter_context(peer.running(providers_of(telemetry, spans)))
        instrumentor = ours()
        if order == "we-first":
            stack.enter_context(peer.running(providers_of(telemetry, spans)))
        if leaves == "we-first":
            instrumentor.uninstrument()
    if leaves == "peer-first":
        instrumentor.uninstrument()

    left = set(difference(before, functions()))
    put_back = order == leaves == "we-first" and peer.saves
    assert left == left_alone or put_back
    call(provider, healthy, peer.api, "sync")
    assert telemetry.outcomes() == {}


@PEERS
def test_when_the_peer_leaves_we_make_our_own_span(peer, telemetry, spans, ours, provider, restore):
    peer.needed()
    if not peer.undoes:
        pytest.skip("could not import a way to uninstrument this peer, which none of its releases has")
    ours()
    with peer.running(providers_of(telemetry, spans)):
        call(provider, SCENARIOS[peer.api][0], peer.api, "sync")
    spans.take()
    outcome = call(provider, SCENARIOS[peer.api][1], peer.api, "sync")
    assert outcome.raised
    assert telemetry.outcomes() == {"ok": 1, "error": 1}
    found = [s for s in spans.take() if s.instrumentation_scope.name == "llm_errors"]
    assert classes(found) == [SCENARIOS[peer.api][1].error_class]


@PEERS
def test_the_duration_is_recorded_where_no_peer_does(peer, telemetry, spans, ours, provider, restore):
    peer.needed()
    with together(peer, "peer-first", ours, providers_of(telemetry, spans)):
        call(provider, SCENARIOS[peer.api][0], peer.api, "sync")
    ours_have_it = peer.name in ("openinference", "logfire")
    data = telemetry._reader.get_metrics_data()
    scopes = [s for r in data.resource_metrics for s in r.scope_metrics if s.scope.name == "llm_errors"]
    names = {metric.name for scope in scopes for metric in scope.metrics}
    assert ("gen_ai.client.operation.duration" in names) is ours_have_it


@pytest.mark.parametrize("peer", [p for p in ALL if p.api == ANTHROPIC], ids=str)
@pytest.mark.parametrize("scenario", SCENARIOS[ANTHROPIC], ids=str)
def test_the_span_that_anthropic_makes_itself_carries_the_class(
    peer, scenario, telemetry, spans, ours, provider, restore, monkeypatch
):
    """It is the innermost one. The peer's is its parent, and stays as the peer leaves it."""
    peer.needed()
    anthropic = pytest.importorskip("anthropic._tracing", reason="could not import a tracing anthropic: an older major")
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY", "true")
    with together(peer, "peer-first", ours, providers_of(telemetry, spans)):
        call(provider, scenario, peer.api, "sync")
    found = spans.take()
    native = [s for s in found if s.instrumentation_scope.name == anthropic.INSTRUMENTATION_SCOPE]
    assert "llm_errors" not in {s.instrumentation_scope.name for s in found}
    if native:  # logfire suppresses it
        assert classes(found) == classes(native) == ([scenario.error_class] if scenario.error_class else [])
    assert telemetry.errors() == ({scenario.error_class: 1} if scenario.error_class else {})


@pytest.mark.parametrize("peer", [p for p in ALL if p.name == "logfire"], ids=str)
@pytest.mark.parametrize("flavour", ["sync", "async"])
def test_no_span_of_ours_takes_the_place_of_one_that_logfire_samples_out(
    peer, flavour, telemetry, spans, ours, provider, restore
):
    """The call is counted, although logfire suppresses instrumentation around it, and failures are logged."""
    peer.needed()
    ours()
    undo = sampled_out_by_logfire(peer.api)
    scenarios = [s for s in SCENARIOS[peer.api] if s.error_class or not s.streamed]
    for scenario in scenarios:
        call(provider, scenario, peer.api, flavour)
    undo()
    assert spans.take() == []
    failed = Counter(s.error_class for s in scenarios if s.error_class)
    assert telemetry.errors() == failed
    assert sum(telemetry.outcomes().values()) == len(scenarios)
    assert Counter(log.attributes["llm.error.class"] for log in telemetry.logs()) == failed


@pytest.mark.parametrize("suppressing", [True, False])
def test_logfires_span_that_is_sampled_out_stays_current(
    suppressing, telemetry, spans, ours, provider, restore, monkeypatch
):
    import openai
    from opentelemetry import trace
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    monkeypatch.setattr(spans.provider, "sampler", ALWAYS_ON)  # whatever the parent
    peer = next(p for p in ALL if p.name == "logfire" and p.api == OPENAI)
    peer.needed()
    ours()
    undo = sampled_out_by_logfire(OPENAI, suppress_other_instrumentation=suppressing)
    server, current = provider([unrepeated(SCENARIOS[OPENAI][0].reply)]), []
    hooks = {"request": [lambda _: current.append(trace.get_current_span())]}
    with openai.DefaultHttpxClient(event_hooks=hooks) as http:
        client = openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", http_client=http)
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    undo()
    (seen,) = current
    assert type(seen).__module__.startswith("logfire.")
    assert spans.take() == []
    assert telemetry.outcomes() == {"ok": 1}


def sampled_out_by_logfire(api: str, **options: Any) -> Callable[[], None]:
    import logfire

    none = logfire.SamplingOptions(head=0.0)
    local = logfire.configure(local=True, send_to_logfire=False, console=False, sampling=none)
    undo = getattr(local, "instrument_anthropic" if api == ANTHROPIC else "instrument_openai")(**options)

    def stop() -> None:
        with undo:
            pass

    return stop


def test_what_an_application_suppresses_inside_a_span_of_logfire_that_is_sampled_out_is_not_counted(
    telemetry, spans, ours, provider, restore
):
    logfire = pytest.importorskip("logfire")
    ours()
    none = logfire.SamplingOptions(head=0.0)
    local = logfire.configure(local=True, send_to_logfire=False, console=False, sampling=none)
    with local.span("application"), logfire.suppress_instrumentation():
        call(provider, SCENARIOS[OPENAI][0], OPENAI, "sync")
    assert (telemetry.outcomes(), spans.take()) == ({}, [])
