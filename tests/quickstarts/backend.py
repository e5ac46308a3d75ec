"""What an application reports to, in this process: an OTLP/HTTP receiver that keeps what was counted and each failure's
record."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

Labels = dict[str, str]


class Backend:
    """Counts by service and labels. A process' counters are cumulative, so that its last export counts."""

    def __init__(self) -> None:
        self._points: dict[tuple[Any, ...], float] = {}
        self.failures: list[str] = []
        backend = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                backend.take(self.path, gzip.decompress(body) if self.headers.get("content-encoding") else body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    def __enter__(self) -> "Backend":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self, path: str, body: bytes) -> None:
        """Keeps what a request holds."""
        if path.endswith("/v1/metrics"):
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                process = _labels(resource.resource.attributes)
                for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                    for point in metric.sum.data_points:
                        labels = _labels(point.attributes)
                        key = (metric.name, *sorted(process.items()), *sorted(labels.items()))
                        delta = metric.sum.aggregation_temporality == 1
                        self._points[key] = point.as_int + (self._points.get(key, 0) if delta else 0)
        elif path.endswith("/v1/logs"):
            for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
                self.failures += [
                    record.body.string_value
                    for scope in resource.scope_logs
                    for record in scope.log_records
                    if record.event_name == "llm.call.failure"
                ]

    def count(self, metric: str, **wanted: str) -> float:
        """The sum over all processes of the points with these labels, written with underscores."""
        return sum(
            value
            for (name, *labels), value in self._points.items()
            if name == metric and wanted.items() <= {key.replace(".", "_"): text for key, text in labels}.items()
        )

    def processes(self, metric: str) -> set[str]:
        """Who reported the metric, by `service.instance.id`."""
        return {dict(labels)["service.instance.id"] for name, *labels in self._points if name == metric}


def _labels(pairs: Any) -> Labels:
    return {pair.key: pair.value.string_value for pair in pairs}
