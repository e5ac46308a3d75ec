"""Tail sampling over two gateways: a trace with a failed call is kept whole, of the healthy ones a share."""

import random
import secrets
from collections import Counter
from pathlib import Path

import otlp
import pytest
from application import Application
from processes import Start, eventually
from services import Collector, Prometheus, outputs
from sink import CallRecorder

from llm_errors import semconv as names

HEALTHY, FAILED, SPANS = 200, 40, 3
SHARE = {"HEALTHY_PERCENT": "10", "SLOW_MS": "20000"}


@pytest.fixture
def gateways(start: Start, tmp_path: Path, sink: CallRecorder) -> tuple[Collector, Collector]:
    pair = [Collector(tmp_path, "gateway.yaml", name=f"gateway-{number}", **SHARE) for number in (0, 1)]
    for gateway in pair:
        gateway.env.update(SHARD_0=pair[0].shard, SHARD_1=pair[1].shard, TRACES_ENDPOINT=sink.endpoint)
        start(gateway)
    return pair[0], pair[1]


def trace_ids(count: int, seed: int) -> list[str]:
    numbers = random.Random(seed)
    return [f"{numbers.getrandbits(128):032x}" for _ in range(count)]


def send(gateways: tuple[Collector, Collector], ids: list[str], labels: dict[str, str]) -> None:
    """The spans of a trace come in different requests, at different gateways; the last has the labels."""
    for number in range(SPANS):
        last = labels if number == SPANS - 1 else {}
        found = [otlp.span(trace, secrets.token_hex(8), last) for trace in ids]
        otlp.post(gateways[number % 2].otlp, "traces", otlp.spans(found, {"service.name": f"host-{number}"}))


def spans_of(sink: CallRecorder, ids: list[str]) -> Counter[str]:
    wanted = set(ids)
    return Counter(span.trace_id for span in sink.spans if span.trace_id in wanted)


def test_failed_traces_are_kept_whole_and_healthy_ones_sampled(
    gateways: tuple[Collector, Collector], sink: CallRecorder
):
    healthy, failed = trace_ids(HEALTHY, 1), trace_ids(FAILED, 2)
    send(gateways, healthy, {})
    send(gateways, failed, {names.ERROR_CLASS: "OUTPUT_BLOCKED"})  # in band: no error status on the span
    eventually(lambda: spans_of(sink, failed) == dict.fromkeys(failed, SPANS), "all spans of all failed traces")
    sampled = "otelcol_processor_tail_sampling_global_count_traces_sampled"
    decided = [gateway.own_metric(sampled) for gateway in gateways]
    assert all(decided), f"both gateways decide: {decided}"
    eventually(lambda: sum(gateway.own_metric(sampled) for gateway in gateways) == HEALTHY + FAILED, "all decisions")
    kept = eventually(lambda: spans_of(sink, healthy), "some healthy traces")
    assert set(kept.values()) == {SPANS}
    assert HEALTHY * 0.02 < len(kept) < HEALTHY * 0.25


def test_a_gateway_that_is_away_misses_nothing(gateways: tuple[Collector, Collector], sink: CallRecorder):
    failed = trace_ids(FAILED, 3)
    gateways[1].kill()
    found = [otlp.span(trace, secrets.token_hex(8), {names.ERROR_CLASS: "AUTH"}) for trace in failed]
    otlp.post(gateways[0].otlp, "traces", otlp.spans(found, {"service.name": "host"}))
    eventually(lambda: "Exporting failed" in gateways[0].printed(), "an attempt to hand spans to the dead gateway")
    gateways[1].start()
    eventually(lambda: set(spans_of(sink, failed)) == set(failed), "the traces of both shards")


def test_an_exemplar_leads_to_a_trace_that_the_gateways_kept(
    gateways: tuple[Collector, Collector], start: Start, tmp_path: Path, prometheus: Prometheus, sink: CallRecorder
):
    settings = {**outputs(prometheus, sink), "TRACES_ENDPOINT": gateways[0].otlp}
    agent = start(Collector(tmp_path, "agent.yaml", name="agent", **settings))
    start(Application(agent.otlp, tmp_path)).call(failure="SERVER", count=5)

    def exemplar_traces() -> set[str]:
        found = prometheus.ask("query_exemplars", query="llm_errors_total", start="0", end="4102444800") or []
        return {exemplar["labels"]["trace_id"] for series in found for exemplar in series["exemplars"]}

    linked = eventually(exemplar_traces, "an exemplar")
    eventually(lambda: linked <= {span.trace_id for span in sink.spans}, "the trace behind the exemplar")
