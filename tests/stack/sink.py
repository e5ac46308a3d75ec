"""An OTLP/HTTP back end in this process: it stands for Tempo, Loki and the review queue, and can be slow or refuse."""

import gzip
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from processes import free_port

Attributes = dict[str, Any]


def _attributes(pairs: Any) -> Attributes:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}


@dataclass(frozen=True)
class Span:
    trace_id: str
    name: str
    status: str
    attributes: Attributes
    resource: Attributes


@dataclass(frozen=True)
class Record:
    event: str
    trace_id: str
    attributes: Attributes
    tenant: str | None


@dataclass
class CallRecorder:
    """What arrived; without `decode` nothing is kept. `answer` is the status given; a cleared `hold` makes it wait."""

    port: int = field(default_factory=free_port)
    spans: list[Span] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    bodies: list[tuple[str, bytes]] = field(default_factory=list)
    decode: bool = True
    answer: int = 200
    requests: int = 0
    totals: dict[str, float] = field(default_factory=dict)
    hold: threading.Event = field(default_factory=threading.Event)

    @property
    def raw(self) -> bytes:
        return b"".join(body for _, body in self.bodies)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.hold.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.hold.set()
        self._server.shutdown()
        self._server.server_close()

    def take(self, path: str, body: bytes, tenant: str | None) -> None:
        if not self.decode:
            return
        self.bodies.append((path, body))
        if path.endswith("/v1/traces"):
            self._take_traces(ExportTraceServiceRequest.FromString(body))
        elif path.endswith("/v1/logs"):
            self._take_logs(ExportLogsServiceRequest.FromString(body), tenant)
        else:
            self._take_metrics(ExportMetricsServiceRequest.FromString(body))

    def _take_metrics(self, request: Any) -> None:
        """The last request's sum of each counter, which is enough for one process with cumulative counters."""
        for scope in (scope for resource in request.resource_metrics for scope in resource.scope_metrics):
            for metric in scope.metrics:
                self.totals[metric.name] = sum(point.as_int + point.as_double for point in metric.sum.data_points)

    def _take_traces(self, request: Any) -> None:
        for resource in request.resource_spans:
            common = _attributes(resource.resource.attributes)
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                attributes = _attributes(span.attributes)
                self.spans.append(Span(span.trace_id.hex(), span.name, span.status.message, attributes, common))

    def _take_logs(self, request: Any, tenant: str | None) -> None:
        for resource in request.resource_logs:
            for record in (record for scope in resource.scope_logs for record in scope.log_records):
                attributes = _attributes(record.attributes)
                self.records.append(Record(record.event_name, record.trace_id.hex(), attributes, tenant))


def _handler(sink: CallRecorder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sink.requests += 1
            sink.hold.wait()
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if sink.answer == 200:
                sink.take(self.path, body, self.headers.get("X-Scope-OrgID"))
            self.send_response(sink.answer)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silence: what matters is recorded in the sink."""

    return Handler
