"""Calls and durations are counted as by any other instrument, though the sum of calls is asked for only at collection."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, SpanContext, TraceFlags

from llm_errors import LLMErrorsInstrumentor, semconv
from llm_errors.telemetry.durations import Durations
from llm_errors.telemetry.tally import Tally
from tests.promises.test_processes import run
from tests.promises.wire import CHAT, call, failure, whole

DURATION = "gen_ai.client.operation.duration"
SAMPLED = NonRecordingSpan(SpanContext(1, 1, False, TraceFlags(TraceFlags.SAMPLED)))


def attempt(client: Any) -> None:
    try:
        call(CHAT, client)
    except Exception:
        return


def total(tally: Tally) -> int:
    return sum(observation.value for observation in tally.observed())


def exemplars(telemetry: Any, name: str) -> list[Any]:
    return [exemplar for _, point in telemetry.points(name) for exemplar in point.exemplars]


# --- calls ---


def test_the_counter_of_calls_is_a_monotonic_cumulative_sum(provider, connect, observed):
    call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    data = observed._reader.get_metrics_data()
    metrics = [m for s in data.resource_metrics[0].scope_metrics for m in s.metrics if m.name == semconv.CALLS]
    (metric,) = metrics
    assert (metric.unit, metric.data.is_monotonic) == ("{call}", True)
    assert metric.data.aggregation_temporality is AggregationTemporality.CUMULATIVE


def test_to_look_at_the_sum_does_not_change_it(provider, connect, observed):
    call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    assert [observed.outcomes() for _ in range(3)] == [{"ok": 1}] * 3


def test_no_step_is_lost_among_threads_that_count_and_one_that_looks():
    tally = Tally("a")

    def count(_: int) -> None:
        for _ in range(1000):
            next(tally["x",].steps)

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(count, n) for n in range(8)]
        seen = [total(tally) for _ in range(50)]
        for one in done:
            one.result()
    assert total(tally) == 8000
    assert seen == sorted(seen)


def test_with_delta_temporality_each_collection_has_its_own_calls(provider, connect, instrument, telemetry):
    from opentelemetry.sdk.metrics import ObservableCounter

    reader = InMemoryMetricReader(preferred_temporality={ObservableCounter: AggregationTemporality.DELTA})
    telemetry._reader, telemetry.meter_provider = reader, MeterProvider([reader], shutdown_on_exit=False)
    instrument()
    client = connect(CHAT, provider([whole(CHAT)] * 3).url)
    call(CHAT, client)
    call(CHAT, client)
    assert telemetry.outcomes() == {"ok": 2}
    call(CHAT, client)
    assert telemetry.outcomes() == {"ok": 1}


@pytest.mark.parametrize("preference", ["cumulative", "delta", "lowmemory"])
def test_calls_errors_and_retries_are_of_one_temporality(
    preference, provider, connect, instrument, telemetry, monkeypatch
):
    """A ratio of a delta and of a cumulative sum would lie: under `lowmemory` the two kinds of counter differ."""
    exporters = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.metric_exporter")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", preference)
    reader = InMemoryMetricReader(preferred_temporality=exporters.OTLPMetricExporter()._preferred_temporality)
    telemetry._reader, telemetry.meter_provider = reader, MeterProvider([reader], shutdown_on_exit=False)
    instrument()
    server = provider([failure(CHAT, 500, retry_after_ms="1")])
    with pytest.raises(Exception, match="no"):
        call(CHAT, connect(CHAT, server.url, retries=1))
    scopes = reader.get_metrics_data().resource_metrics[0].scope_metrics
    found = {m.name: m.data.aggregation_temporality for s in scopes for m in s.metrics}
    assert len({found[name] for name in (semconv.CALLS, semconv.ERRORS, semconv.RETRIES)}) == 1


def test_the_exemplar_of_a_call_leads_to_its_span_once(provider, connect, observed):
    call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    (exemplar,) = exemplars(observed, semconv.CALLS)
    assert (exemplar.trace_id, exemplar.span_id) == (observed.span().context.trace_id, observed.span().context.span_id)
    assert exemplars(observed, semconv.CALLS) == []


def test_a_span_that_is_not_sampled_takes_nobodys_place():
    calls = Tally("a")["x",]
    calls.offer(INVALID_SPAN)
    assert calls.exemplar is None


def test_a_span_around_the_collection_is_no_exemplar(provider, connect, observed):
    call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    exemplars(observed, semconv.CALLS)
    with observed.tracer_provider.get_tracer("app").start_as_current_span("flush"):
        assert exemplars(observed, semconv.CALLS) == []


# --- instrumented again ---


def test_instrumented_again_at_the_same_provider_the_sum_goes_on(provider, connect, instrument, telemetry):
    client = connect(CHAT, provider([whole(CHAT), failure(CHAT, 401)]).url)
    instrument()
    attempt(client)
    LLMErrorsInstrumentor().uninstrument()
    assert telemetry.outcomes() == {"ok": 1}
    instrument()
    attempt(client)
    assert telemetry.outcomes() == {"ok": 1, "error": 1}


def test_at_another_provider_the_sum_begins_anew(provider, connect, instrument, telemetry):
    client = connect(CHAT, provider([whole(CHAT)] * 2).url)
    instrument()
    attempt(client)
    LLMErrorsInstrumentor().uninstrument()
    other = InMemoryMetricReader()
    telemetry._reader, telemetry.meter_provider = other, MeterProvider([other], shutdown_on_exit=False)
    instrument()
    attempt(client)
    assert telemetry.outcomes() == {"ok": 1}


def test_a_global_provider_that_is_set_later_has_the_calls_and_durations_since(provider):
    said = run(sys.executable, "-m", "promises.apps", "set_later", provider([whole(CHAT)] * 3).url)
    assert json.loads(said) == [{"ok": 2}, 2]


class Unhashable(MeterProvider):
    """Of an application that compares its providers."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]


class Delegating:
    """Of an application that puts its own in front of the SDK's."""

    __slots__ = ("_real",)

    def __init__(self, reader: Any) -> None:
        self._real = MeterProvider([reader], shutdown_on_exit=False)

    def get_meter(self, *args: Any, **kwargs: Any) -> Any:
        return self._real.get_meter(*args, **kwargs)


def test_an_unhashable_provider_has_the_calls(provider, connect, instrument, telemetry):
    telemetry._reader = InMemoryMetricReader()
    telemetry.meter_provider = Unhashable([telemetry._reader], shutdown_on_exit=False)
    instrument()
    attempt(connect(CHAT, provider([whole(CHAT)]).url))
    assert telemetry.outcomes() == {"ok": 1}


def test_providers_that_delegate_to_one_have_the_calls_of_both(provider, connect, instrument, telemetry):
    client = connect(CHAT, provider([whole(CHAT), failure(CHAT, 401), whole(CHAT)]).url)
    telemetry._reader = InMemoryMetricReader()
    first = Delegating(telemetry._reader)
    again = Delegating.__new__(Delegating)
    again._real = first._real
    for telemetry.meter_provider in (first, again, first):
        instrument()
        attempt(client)
        LLMErrorsInstrumentor().uninstrument()
    assert telemetry.outcomes() == {"ok": 2, "error": 1}


def test_without_a_span_of_ours_the_one_around_is_the_exemplar(provider, connect, instrument, telemetry):
    instrument(spans="off")
    with telemetry.tracer_provider.get_tracer("app").start_as_current_span("app") as span:
        call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    (exemplar,) = exemplars(telemetry, semconv.CALLS)
    assert exemplar.span_id == span.get_span_context().span_id


# --- durations ---


def test_a_bucket_is_offered_one_exemplar_between_collections(provider, connect, observed):
    client = connect(CHAT, provider([whole(CHAT)] * 4).url)
    for _ in range(2):
        call(CHAT, client)
        call(CHAT, client)
        (point,) = [p for _, p in observed.points(DURATION)]
        assert 1 <= len(point.exemplars) <= 2  # they may fall into neighbouring buckets
        ours = {s.context.span_id for s in observed.spans()}
        assert {e.span_id for e in point.exemplars} <= ours


def test_the_second_of_a_bucket_is_recorded_where_nobody_is_sampled():
    durations, context = Durations({}), object()
    assert durations.context(0.5, SAMPLED, context) is context
    nobody = durations.context(0.6, SAMPLED, context)
    assert nobody is not context
    assert nobody, "an empty context would stand for the current one"


def test_a_slower_call_is_offered_beside_a_fast_one():
    durations, context = Durations({}), object()
    durations.context(0.5, SAMPLED, context)
    assert durations.context(30, SAMPLED, context) is context


def test_after_a_collection_the_bucket_is_offered_again():
    durations, context = Durations({}), object()
    durations.context(0.5, SAMPLED, context)
    durations.collected()
    assert durations.context(0.5, SAMPLED, context) is context


@pytest.mark.parametrize("span", [None, INVALID_SPAN], ids=["no span", "not sampled"])
def test_a_call_that_is_not_sampled_takes_nobodys_place(span):
    durations, context = Durations({}), object()
    durations.context(0.5, span, context)
    assert durations.context(0.5, SAMPLED, context) is context


def test_a_trace_that_is_not_sampled_has_no_exemplars(provider, connect, instrument, telemetry):
    telemetry.tracer_provider.sampler = ALWAYS_OFF
    instrument()
    call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    assert exemplars(telemetry, DURATION) == exemplars(telemetry, semconv.CALLS) == []
