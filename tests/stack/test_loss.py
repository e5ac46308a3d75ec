"""No counted error is lost on the cumulative path: Prometheus away, the Collector killed, processes gone meanwhile."""

import time
from pathlib import Path

import otlp
from application import Application
from processes import Start, eventually
from services import Collector, Prometheus
from sink import CallRecorder

from llm_errors import semconv as names


def waiting(agent: Collector, exporter: str) -> float:
    return agent.own_metric("otelcol_exporter_queue_size", exporter=exporter)


def test_an_outage_of_prometheus_and_a_killed_collector_lose_no_error(
    start: Start, tmp_path: Path, agent: Collector, prometheus: Prometheus
):
    application = start(Application(agent.otlp, tmp_path))
    application.call(failure="SERVER", count=7)
    prometheus.reaches("sum(llm_errors_total)", 7)

    prometheus.kill()
    application.call(failure="SERVER", count=11)
    eventually(lambda: waiting(agent, "otlp_http/metrics"), "points in the queue while Prometheus is away")
    agent.kill()
    application.call(failure="SERVER", count=13)

    agent.start()
    prometheus.start()
    prometheus.reaches("sum(llm_errors_total)", 31)
    assert prometheus.number("sum(llm_calls_total)") == 31


def test_what_a_collector_accepted_survives_its_death_though_the_process_is_gone(
    start: Start, tmp_path: Path, agent: Collector, prometheus: Prometheus, sink: CallRecorder
):
    prometheus.kill()
    sink.answer = 503
    application = start(Application(agent.otlp, tmp_path))
    application.call(failure="AUTH", count=5)
    application.end()
    agent.kill()

    sink.answer = 200
    agent.start()
    prometheus.start()
    prometheus.reaches("sum(llm_errors_total)", 5)

    def traces() -> int:
        return len({span.trace_id for span in sink.spans if names.ERROR_CLASS in span.attributes})

    eventually(lambda: traces() == 5, "the five traces")
    eventually(lambda: len({record.trace_id for record in sink.records}) == 5, "the five log records")


def test_a_process_with_a_wrong_clock_does_not_take_the_counts_of_others_with_it(
    agent: Collector, prometheus: Prometheus
):
    hour, now = 3600 * 10**9, time.time_ns()
    first, second = {"service.name": "wrong"}, {"service.name": "right"}
    otlp.post(agent.otlp, "metrics", otlp.counter("orders", [otlp.point(1, {}, start=now - hour, end=now)], first))
    prometheus.reaches('orders_total{job="wrong"}', 1)
    for number in range(1, 4):
        late, end = otlp.point(1, {}, start=now - 99 * hour, end=now - 90 * hour), time.time_ns()
        otlp.post(agent.otlp, "metrics", otlp.counter("orders", [late], first))
        good = otlp.point(number, {}, start=now, end=end)
        otlp.post(agent.otlp, "metrics", otlp.counter("orders", [good], second))
    prometheus.reaches('orders_total{job="right"}', 3)
