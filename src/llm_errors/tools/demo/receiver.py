"""A tiny OTLP/HTTP receiver: keeps the newest value of every counter series, and the model calls' spans."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from llm_errors import semconv
from llm_errors.testing.provider import Provider, Reply, Request

Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class ModelSpan:
    """A model call's span, as far as the report needs it."""

    trace_id: str
    attributes: Attributes


class Telemetry:
    """What has arrived. Counters are cumulative: of each series the newest value stands."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, frozenset[tuple[str, Any]]], int] = {}
        self.spans: list[ModelSpan] = []
        self.newest = 0
        """The time of the newest data point of our counters, in nanoseconds."""

    def counts(self, metric: str, *labels: str) -> Counter[tuple[Any, ...]]:
        """Sums of a counter by the values of some labels."""
        sums: Counter[tuple[Any, ...]] = Counter()
        for (name, attributes), value in self._series.items():
            if name == metric:
                given = dict(attributes)
                sums[tuple(given.get(label, "") for label in labels)] += value
        return sums

    @property
    def calls(self) -> int:
        """Every model call that was counted."""
        return sum(self.counts(semconv.CALLS).values())

    def add_metrics(self, body: bytes) -> None:
        """Take an export of metrics in."""
        for metric in (
            metric
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.HasField("sum")
        ):
            for point in metric.sum.data_points:
                self._series[metric.name, frozenset(_read(point.attributes).items())] = point.as_int
                self.newest = max(self.newest, point.time_unix_nano)

    def add_spans(self, body: bytes) -> None:
        """Take an export of spans in."""
        for span in (
            span
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ):
            attributes = _read(span.attributes)
            if semconv.OPERATION in attributes:
                self.spans.append(ModelSpan(span.trace_id.hex(), attributes))


def _read(attributes: Any) -> dict[str, Any]:
    """Plain values by name; lists are not needed here."""
    return {
        a.key: getattr(a.value, kind) for a in attributes if (kind := a.value.WhichOneof("value")).endswith("_value")
    }


class Receiver:
    """The endpoint, and the telemetry that came in. Use as a context manager."""

    def __init__(self) -> None:
        self.telemetry = Telemetry()
        self._arrived = threading.Condition()
        self._server = Provider(self._take)
        self.url = self._server.url

    def __enter__(self) -> "Receiver":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.close()

    def _take(self, request: Request) -> Reply:
        with self._arrived:
            if request.path.endswith("/v1/metrics"):
                self.telemetry.add_metrics(request.body)
            elif request.path.endswith("/v1/traces"):
                self.telemetry.add_spans(request.body)
            self._arrived.notify_all()
        return Reply()

    def wait_for(self, moment: int, patience: float) -> bool:
        """Wait for metrics from after a moment (in nanoseconds), and for the spans of all calls counted in them."""

        def complete() -> bool:
            return self.telemetry.newest >= moment and len(self.telemetry.spans) >= self.telemetry.calls

        with self._arrived:
            return self._arrived.wait_for(complete, patience)
