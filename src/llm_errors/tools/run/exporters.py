"""Contains the exporters that send a copy of the telemetry to `llm-errors run`. The processes of the application load them.

OpenTelemetry finds these exporters by their entry points and uses them besides the configured exporters. They send to a
loopback port, with `http.client`, because other HTTP libraries may be instrumented or use a proxy. If `llm-errors run` has
ended, the telemetry is dropped.
"""

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from http.client import HTTPConnection, HTTPException
from typing import Any

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, detach, set_value
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import export as logs_export
from opentelemetry.sdk.metrics import Counter, Histogram, ObservableCounter
from opentelemetry.sdk.metrics.export import AggregationTemporality, MetricReader, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from llm_errors import semconv
from llm_errors.tools.run.environment import ADDRESS, PROCESS_HEADER

INTERVAL = 0.5
"""The seconds between two exports of metrics. A killed process loses at most the counts of this time."""
PATIENCE = 5.0
"""The timeout of an export in seconds."""


def post(path: str, body: bytes) -> bool:
    """Send an export to the receiver of `llm-errors run`, and return whether it arrived."""
    host, _, port = os.environ.get(ADDRESS, "").rpartition(":")
    if not host:
        return False
    connection = HTTPConnection(host, int(port), timeout=PATIENCE)
    try:
        headers = {"content-type": "application/x-protobuf", PROCESS_HEADER: str(os.getpid())}
        connection.request("POST", path, body, headers)
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _concerns_us(attributes: Any) -> bool:
    return bool(attributes) and (semconv.ERROR_CLASS in attributes or semconv.RETRY_COUNT in attributes)


class RunSpanExporter(SpanExporter):
    """Sends the spans of calls that failed or were retried."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send the spans of a batch that belong to failed or retried calls."""
        concerning = [span for span in spans if _concerns_us(span.attributes)]
        if concerning:
            post("/v1/traces", encode_spans(concerning).SerializeToString())
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Nothing is buffered."""


_LogExporter: Any = getattr(logs_export, "LogRecordExporter", None) or logs_export.LogExporter
_LogResult: Any = getattr(logs_export, "LogRecordExportResult", None) or logs_export.LogExportResult


class RunLogExporter(_LogExporter):  # type: ignore[misc]
    """Sends the log records of failed calls. They contain the details of a failure also if the call has no span."""

    def export(self, batch: Sequence[Any]) -> Any:
        """Send the log records of a batch that belong to failed calls."""
        concerning = [one for one in batch if _concerns_us(one.log_record.attributes)]
        if concerning:
            post("/v1/logs", encode_logs(concerning).SerializeToString())
        return _LogResult.SUCCESS

    def shutdown(self) -> None:
        """Nothing is buffered."""

    def force_flush(self, timeout_millis: int = 0) -> bool:
        """Nothing is buffered."""
        return True


class RunMetricReader(MetricReader):
    """Sends the increase of each counter since the last export, every half second and when the process ends.

    A process that is killed between two exports loses at most the counts of half a second. The parent sends its counts right
    before a fork, so that a forked worker does not send them again.
    """

    def __init__(self) -> None:
        delta = AggregationTemporality.DELTA
        super().__init__(preferred_temporality={Counter: delta, ObservableCounter: delta, Histogram: delta})
        self._gate = threading.Lock()
        """Held during a collection and during a fork, so that a child process never inherits an unfinished collection."""
        self._over = threading.Event()
        post("/v1/metrics", b"")  # an empty export tells the receiver that this process is observed
        self._begin()
        _before_raised_signals(self._flush)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._after_fork_in_child
            )

    def _begin(self) -> None:
        threading.Thread(target=self._tick, daemon=True, name="llm-errors-run").start()

    def _tick(self) -> None:
        while not self._over.wait(INTERVAL):
            self._flush()

    def _flush(self) -> None:
        if self._gate.acquire(timeout=PATIENCE):  # in a signal handler, the interrupted code may hold the lock
            try:
                self.collect()
            finally:
                self._gate.release()

    def _receive_metrics(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any) -> None:
        token = attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        try:
            ours = [_of_our_scope(resource) for resource in metrics_data.resource_metrics]
            if any(resource.scope_metrics for resource in ours):
                post("/v1/metrics", encode_metrics(MetricsData(resource_metrics=ours)).SerializeToString())
        finally:
            detach(token)

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        """Send the counts since the last export."""
        self._flush()
        return True

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        """Send the last counts, once."""
        if not self._over.is_set():
            self._over.set()
            self._flush()

    def _before_fork(self) -> None:
        self._gate.acquire()
        if not self._over.is_set():
            self.collect()

    def _after_fork(self) -> None:
        self._gate.release()

    def _after_fork_in_child(self) -> None:
        self._gate.release()
        if self._over.is_set():
            return
        post("/v1/metrics", b"")
        self._begin()
        # A child of `multiprocessing` runs no handlers of `atexit` when it ends, but runs the finalizers of `multiprocessing`.
        if (util := sys.modules.get("multiprocessing.util")) is not None:
            util.register_after_fork(self, lambda reader: util.Finalize(reader, reader._flush, exitpriority=0))


def _before_raised_signals(flush: Callable[[], None]) -> None:
    """Flush before the process sends a signal to itself. uvicorn ends itself in this way, without running exit handlers."""
    raise_signal = signal.raise_signal

    @functools.wraps(raise_signal)
    def flushed(signalnum: int, /) -> None:
        flush()
        raise_signal(signalnum)

    signal.raise_signal = flushed


def _of_our_scope(resource: Any) -> Any:
    """The metrics of a resource, without the metrics of other instrumentations."""
    ours = [scope for scope in resource.scope_metrics if scope.scope.name == semconv.SCOPE]
    return type(resource)(resource=resource.resource, scope_metrics=ours, schema_url=resource.schema_url)
