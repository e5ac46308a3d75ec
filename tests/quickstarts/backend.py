"""What an application reports to, in this process: an OTLP receiver over HTTP and gRPC that keeps what was counted and
each failure's record."""

import gzip
import threading
import time
from collections.abc import Callable
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

DELTA = 1
PATIENCE = 60
"""Seconds after which a test gives up; no test waits that long when all is well."""


class Backend:
    """What arrived: counters by process and labels, the names of spans, and the bodies of failures' records."""

    def __init__(self) -> None:
        self._points: dict[tuple[Any, ...], float] = {}
        self.spans: list[str] = []
        self.failures: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._grpc = grpc.server(futures.ThreadPoolExecutor(4))
        self._grpc.add_generic_rpc_handlers((_Services(self),))
        self.grpc_url = f"http://127.0.0.1:{self._grpc.add_insecure_port('127.0.0.1:0')}"

    def __enter__(self) -> "Backend":
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        self._grpc.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._grpc.stop(0).wait()

    @property
    def url(self) -> str:
        """The address for OTLP over HTTP."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def take(self, signal: str, body: bytes) -> None:
        """Keeps what a request holds."""
        if signal == "metrics":
            self._take_metrics(ExportMetricsServiceRequest.FromString(body))
        elif signal == "logs":
            request = ExportLogsServiceRequest.FromString(body)
            records = (
                r for resource in request.resource_logs for scope in resource.scope_logs for r in scope.log_records
            )
            self.failures += [r.body.string_value for r in records if r.event_name == "llm.call.failure"]
        else:
            spans = ExportTraceServiceRequest.FromString(body).resource_spans
            self.spans += [s.name for resource in spans for scope in resource.scope_spans for s in scope.spans]

    def _take_metrics(self, request: ExportMetricsServiceRequest) -> None:
        for resource in request.resource_metrics:
            process = _labels(resource.resource.attributes)
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                before = self._points if metric.sum.aggregation_temporality == DELTA else {}
                for point in metric.sum.data_points:
                    key = (metric.name, *sorted((process | _labels(point.attributes)).items()))
                    self._points[key] = point.as_int + before.get(key, 0)

    def count(self, metric: str, **wanted: str) -> float:
        """The sum over all processes of the points with these labels, whose dots are written as underscores."""
        return sum(
            value
            for (name, *labels), value in self._points.items()
            if name == metric and wanted.items() <= {key.replace(".", "_"): text for key, text in labels}.items()
        )

    def processes(self, metric: str) -> set[str]:
        """Who reported the metric, by `service.instance.id`."""
        return {dict(labels)["service.instance.id"] for name, *labels in self._points if name == metric}


def eventually(probe: Callable[[], Any], what: str) -> Any:
    """The first truthy answer of the probe."""
    deadline = time.monotonic() + PATIENCE
    while not (found := probe()):
        assert time.monotonic() < deadline, f"not within {PATIENCE} s: {what}"
        time.sleep(0.05)
    return found


def _labels(pairs: Any) -> dict[str, str]:
    return {pair.key: pair.value.string_value for pair in pairs}


def _handler(backend: Backend) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            packed = self.headers.get("content-encoding") == "gzip"
            backend.take(self.path.rpartition("/")[2], gzip.decompress(body) if packed else body)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


class _Services(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def service(self, details: Any) -> Any:
        """`/opentelemetry.proto.collector.metrics.v1.MetricsService/Export` and the like."""
        signal = details.method.split(".")[3].replace("trace", "traces")

        def export(request: bytes, context: Any) -> bytes:
            self._backend.take(signal, request)
            return b""

        return grpc.unary_unary_rpc_method_handler(export)
