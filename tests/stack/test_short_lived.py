"""Functions and batch jobs through short-lived.yaml: many short processes add up to one long series."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import otlp
import pytest
from application import SERVICE, Application
from processes import Start, eventually, get
from services import Collector, Prometheus, outputs
from sink import CallRecorder

PROCESSES = 30
AT_ONCE = 6
REQUESTS, STREAMS = 200, 200
DELTA = {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta", "OTEL_METRIC_EXPORT_INTERVAL": "3600000"}


@pytest.fixture
def prometheus() -> None:
    """Made together with the Collector that it scrapes."""


@pytest.fixture
def stack(start: Start, tmp_path: Path, sink: CallRecorder) -> tuple[Collector, Prometheus]:
    collector = Collector(tmp_path, "agent.yaml", "short-lived.yaml")
    prometheus = start(Prometheus(tmp_path, scrapes=(collector.scrape,)))
    collector.env.update(outputs(prometheus, sink))
    return start(collector), prometheus


def one_error(collector: Collector, folder: Path) -> None:
    application = Application(collector.otlp, folder, **DELTA)
    application.call(failure="AUTH")
    application.end()
    application.kill()


def test_thirty_processes_with_one_error_each_show_thirty(stack: tuple[Collector, Prometheus], tmp_path: Path):
    collector, prometheus = stack
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda number: one_error(collector, tmp_path / str(number)), range(PROCESSES)))
    prometheus.reaches("sum(llm_errors_total)", PROCESSES)
    (sample,) = prometheus.query("llm_errors_total")
    assert sample.labels["job"] == SERVICE
    assert sample.labels["instance"] == "short-lived"
    assert prometheus.number("llm_calls_total") == PROCESSES


def test_overlapping_and_disordered_deltas_are_all_counted(stack: tuple[Collector, Prometheus]):
    collector, prometheus = stack
    times, now = random.Random(4), time.time_ns()

    def send(number: int) -> None:
        start = now - times.randrange(10**11)
        end = start + times.randrange(10**10)
        deltas = [otlp.point(1, {"stream": str(stream)}, start=start, end=end) for stream in range(STREAMS)]
        resource = {"service.name": SERVICE, "service.instance.id": str(number), "process.pid": str(number)}
        otlp.post(collector.otlp, "metrics", otlp.counter("orders", deltas, resource, otlp.DELTA))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(send, range(REQUESTS)))
    prometheus.reaches("sum(orders_total)", REQUESTS * STREAMS)


def test_the_same_job_in_two_places_has_a_sum_for_each(stack: tuple[Collector, Prometheus]):
    collector, prometheus = stack
    now = time.time_ns()
    for number, namespace in enumerate(("web", "batch"), 1):
        resource = {
            "service.name": SERVICE,
            "deployment.environment.name": "staging",
            "k8s.cluster.name": "eu",
            "k8s.namespace.name": namespace,
        }
        deltas = [otlp.point(number, {"stream": stream}, start=now - 1, end=now) for stream in ("a", "b")]
        otlp.post(collector.otlp, "metrics", otlp.counter("orders", deltas, resource, otlp.DELTA))
    place = 'deployment_environment_name="staging",k8s_cluster_name="eu"'
    prometheus.reaches(f'sum(orders_total{{{place},k8s_namespace_name="web"}})', 2)
    prometheus.reaches(f'sum(orders_total{{{place},k8s_namespace_name="batch"}})', 4)


def test_cumulative_counters_of_long_lived_processes_keep_their_identity(
    stack: tuple[Collector, Prometheus], tmp_path: Path
):
    collector, prometheus = stack
    now = time.time_ns()
    for number in (1, 2):
        resource = {"service.name": SERVICE, "service.instance.id": str(number)}
        found = otlp.counter("orders", [otlp.point(number, {}, start=now - 10**9, end=now)], resource)
        otlp.post(collector.otlp, "metrics", found)
    prometheus.reaches("sum(orders_total)", 3)
    assert {sample.labels["instance"] for sample in prometheus.query("orders_total")} == {"1", "2"}


def test_a_killed_collector_begins_anew_and_what_was_scraped_stays_counted(stack: tuple[Collector, Prometheus]):
    collector, prometheus = stack

    def send() -> None:
        now = time.time_ns()
        found = otlp.counter(
            "orders", [otlp.point(1, {}, start=now - 1, end=now)], {"service.name": SERVICE}, otlp.DELTA
        )
        otlp.post(collector.otlp, "metrics", found)

    for _ in range(3):
        send()
    prometheus.reaches("orders_total", 3)
    collector.kill()
    collector.start()
    send()
    eventually(lambda: prometheus.number("orders_total") == 1, "the sum from its new beginning")
    # The first scrape of 3 is a birth, which only the rules see; the reset to 1 is in the increase.
    assert prometheus.number("resets(orders_total[1m])") == 1


def test_a_function_frozen_or_killed_after_its_flush_loses_nothing(stack: tuple[Collector, Prometheus], tmp_path: Path):
    collector, prometheus = stack
    function = Application(collector.otlp, tmp_path, **DELTA)
    function.call(failure="SERVER", flush=True)
    function.freeze()
    prometheus.reaches("llm_errors_total", 1)
    function.thaw()
    function.call(failure="SERVER", flush=True)
    function.freeze()
    function.kill()
    prometheus.reaches("llm_errors_total", 2)


def test_exemplars_leave_in_the_scrape(stack: tuple[Collector, Prometheus], tmp_path: Path):
    collector, prometheus = stack
    one_error(collector, tmp_path)
    prometheus.reaches("llm_errors_total", 1)
    found = prometheus.ask("query_exemplars", query="llm_errors_total", start="0", end="4102444800")
    assert found, get(f"http://127.0.0.1:{collector.scrape}/metrics")
