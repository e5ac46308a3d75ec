"""Measures the numbers of collector-config/README.md on this machine:  python tests/stack/measure.py

Sizes come from the real package's telemetry. Costs are CPU seconds of the Collector, which other work on the machine
changes less than elapsed time.
"""

import gzip
import http.client
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import otlp
from application import Application
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from processes import Daemon, eventually
from replies import reply
from services import Collector, Prometheus
from sink import CallRecorder

from llm_errors.testing.provider import Provider

SECONDS = 10
THREADS = 4
SPANS = 200
POINTS = 3
SUMMED = "otelcol_receiver_accepted_metric_points"


@contextmanager
def running(thing: Any) -> Iterator[Any]:
    if not isinstance(thing, Application):
        thing.start()
    try:
        yield thing
    finally:
        thing.kill() if hasattr(thing, "kill") else thing.stop()


def cpu_seconds(daemon: Daemon) -> float:
    fields = Path(f"/proc/{daemon.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(daemon: Daemon) -> float:
    status = Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def blast(port: int, path: str, body: Callable[[], bytes]) -> int:
    """Requests that were accepted in SECONDS from THREADS connections."""
    accepted, end = [0] * THREADS, time.monotonic() + SECONDS

    def worker(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while time.monotonic() < end:
            connection.request("POST", path, body(), {"Content-Type": "application/x-protobuf"})
            answer = connection.getresponse()
            answer.read()
            accepted[number] += answer.status == 200

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(worker, range(THREADS)))
    return sum(accepted)


def report(what: str, daemon: Daemon, items: int, begun: float, unit: str) -> None:
    spent = cpu_seconds(daemon) - begun
    print(f"{what}: {items / SECONDS:,.0f} {unit}/s taken, {spent / items * 1e6:.1f} us CPU each, "
          f"so {items / spent:,.0f}/s per core; RSS {megabytes(daemon):.0f} MB")  # fmt: skip


def sizes(folder: Path) -> bytes:
    """Prints series and bytes of one process; returns a request of SPANS real spans."""
    with ExitStack() as stack:
        sink, prometheus = (
            stack.enter_context(running(CallRecorder())),
            stack.enter_context(running(Prometheus(folder))),
        )
        outputs = {
            "METRICS_ENDPOINT": prometheus.otlp,
            "TRACES_ENDPOINT": sink.endpoint,
            "LOGS_ENDPOINT": sink.endpoint,
        }
        agent = stack.enter_context(running(Collector(folder, "agent.yaml", **outputs)))
        application = stack.enter_context(running(Application(agent.otlp, folder)))
        application.call(count=5)
        prometheus.reaches("sum(llm_calls_total)", 5)
        print("series, one model, healthy:", series(prometheus))
        for failure in ("SERVER", "RATE_LIMITED", "AUTH"):
            application.call(failure=failure, count=5)
        prometheus.reaches("sum(llm_errors_total)", 15)
        print("series, one model, three classes:", series(prometheus))
        direct = stack.enter_context(running(CallRecorder()))
        settings = {
            "OTEL_METRIC_EXPORT_INTERVAL": "3600000",
            "OTEL_BSP_SCHEDULE_DELAY": "60000",
            "OTEL_LOGS_EXPORTER": "none",
        }
        other = stack.enter_context(running(Application(direct.endpoint, folder, **settings)))
        other.call(failure="SERVER", count=SPANS, flush=True)
        bodies = [body for path, body in direct.bodies if path.endswith("/v1/traces")]
        body = max(bodies, key=len)
        count = len(ExportTraceServiceRequest.FromString(body).resource_spans[0].scope_spans[0].spans)
        print(
            f"bytes per failed span: {len(body) / count:.0f}, gzip {len(gzip.compress(body)) / count:.0f}, of {count}"
        )
        metric = [body for path, body in direct.bodies if path.endswith("/v1/metrics")][-1]
        print(f"bytes per metric export of one process, one model: {len(metric)}, gzip {len(gzip.compress(metric))}")
        return body


def series(prometheus: Prometheus) -> dict[str, int]:
    found = prometheus.query('count by (__name__) ({__name__=~"llm_.*|gen_ai_.*"})')
    return {sample.labels["__name__"]: int(sample.value) for sample in found}


def fresh_traces(body: bytes) -> Callable[[], bytes]:
    local = threading.local()

    def make() -> bytes:
        if not hasattr(local, "request"):
            local.request = ExportTraceServiceRequest.FromString(body)
        for scope in local.request.resource_spans[0].scope_spans:
            for span in scope.spans:
                span.trace_id, span.span_id = secrets.token_bytes(16), secrets.token_bytes(8)
        return local.request.SerializeToString()

    return make


def throughput(folder: Path, body: bytes) -> None:
    spans = len(ExportTraceServiceRequest.FromString(body).resource_spans[0].scope_spans[0].spans)
    with ExitStack() as stack:
        sink, prometheus = (
            stack.enter_context(running(CallRecorder(decode=False))),
            stack.enter_context(running(Prometheus(folder))),
        )
        outputs = {
            "METRICS_ENDPOINT": prometheus.otlp,
            "TRACES_ENDPOINT": sink.endpoint,
            "LOGS_ENDPOINT": sink.endpoint,
        }
        agent = stack.enter_context(running(Collector(folder, "agent.yaml", **outputs)))
        begun = cpu_seconds(agent)
        report("agent, traces", agent, blast(agent.port, "/v1/traces", fresh_traces(body)) * spans, begun, "spans")
        begun = cpu_seconds(agent)
        exports = blast(agent.port, "/v1/metrics", process_export())
        report("agent, metrics", agent, exports, begun, "exports of a process")
        gateway = Collector(folder, "gateway.yaml", name="gateway", DECISION_WAIT="10s", MEMORY_LIMIT_MIB="4096")
        gateway.env.update(
            SHARD_0=gateway.shard, SHARD_1=gateway.shard, TRACES_ENDPOINT=sink.endpoint, NUM_TRACES="2000000"
        )
        stack.enter_context(running(gateway))
        begun = cpu_seconds(gateway)
        report(
            "gateway, both tiers",
            gateway,
            blast(gateway.port, "/v1/traces", fresh_traces(body)) * spans,
            begun,
            "spans",
        )
        jobs = stack.enter_context(running(Collector(folder, "agent.yaml", "short-lived.yaml", name="jobs", **outputs)))
        begun = cpu_seconds(jobs)
        count = blast(jobs.port, "/v1/metrics", process_export(delta=True))
        waited = time.monotonic()
        eventually(
            lambda: jobs.own_metric(SUMMED, receiver="otlp/serial") >= count * POINTS, "an empty serial queue", 120
        )
        report("short-lived, until accepted", jobs, count, begun, "processes")
        print(f"short-lived, until summed: {count / (SECONDS + time.monotonic() - waited):,.0f} processes/s")


def process_export(delta: bool = False) -> Callable[[], bytes]:
    """Three counters of one of a thousand processes, as a protobuf request."""

    def make() -> bytes:
        now = time.time_ns()
        labels = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5", "gen_ai.operation.name": "chat"}
        points = [
            otlp.point(1, {**labels, "llm.error.class": name}, start=now - 10**9, end=now)
            for name in ("AUTH", "SERVER", "TIMEOUT")
        ]
        resource = {"service.name": "shop", "service.instance.id": str(now % 1000)}
        body = otlp.counter("llm_errors_total", points, resource, otlp.DELTA if delta else otlp.CUMULATIVE)
        data: bytes = ParseDict(body, ExportMetricsServiceRequest()).SerializeToString()
        return data

    return make


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Provider(reply) as provider:
        os.environ["PROVIDER_URL"] = provider.url
        body = sizes(Path(folder) / "sizes")
        throughput(Path(folder) / "throughput", body)


if __name__ == "__main__":
    main()
