"""Collects the telemetry that arrives from the application: counts, counts over time, and the details of failures.

Each export contains the increase of a counter since the last export, and this module adds the increases up. To bound the
memory, it keeps the details of the newest failures of each class only, and one entry for each second in which a call ended.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from llm_errors import semconv

Attributes = Mapping[str, Any]

KEPT: Final = 200
"""The number of failures of each class whose details are kept."""
OK, CANCELLED = semconv.OK, semconv.CANCELLED


@dataclass(frozen=True)
class Failure:
    """A failed call. `at` is the time in seconds since the epoch. The ids are empty if the call has no span."""

    at: float
    trace_id: str
    span_id: str
    attributes: Attributes

    @property
    def error_class(self) -> str:
        """The class of the failure."""
        return str(self.attributes.get(semconv.ERROR_CLASS, ""))


class Telemetry:
    """Contains everything that the application has reported so far."""

    def __init__(self) -> None:
        self.processes: set[str] = set()
        self.timeline: dict[int, Counter[str]] = {}
        """Second -> the number of calls that were reported in it as `ok`, as `cancelled` or under each class."""
        self.rescued = 0
        """The number of calls that succeeded after failed attempts."""
        self.failed_anyway = 0
        """The number of calls that failed although the SDK had retried."""
        self._series: Counter[tuple[str, frozenset[tuple[str, Any]]]] = Counter()
        self._failures: dict[str, OrderedDict[tuple[str, str, float], Failure]] = {}

    def add(self, path: str, body: bytes) -> None:
        """Add an OTLP export that arrived at a path. An export to an unknown path is ignored."""
        take = {"/v1/metrics": self._add_metrics, "/v1/traces": self._add_spans, "/v1/logs": self._add_logs}.get(path)
        if take is not None:
            take(body)

    def counts(self, metric: str, *labels: str) -> Counter[tuple[Any, ...]]:
        """The values of the given labels -> the sum of the counter."""
        sums: Counter[tuple[Any, ...]] = Counter()
        for (name, attributes), value in self._series.items():
            if name == metric:
                given = dict(attributes)
                sums[tuple(given.get(label, "") for label in labels)] += value
        return sums

    @property
    def calls(self) -> int:
        """The number of model calls."""
        return sum(self.counts(semconv.CALLS).values())

    def failures(self, error_class: str | None = None) -> list[Failure]:
        """The failures of a class, or of all classes, whose details are kept. They are sorted by time."""
        kept = self._failures.values() if error_class is None else [self._failures.get(error_class, OrderedDict())]
        return sorted((failure for each in kept for failure in each.values()), key=lambda failure: failure.at)

    def _add_metrics(self, body: bytes) -> None:
        for metric in (
            metric
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.HasField("sum")
        ):
            for point in metric.sum.data_points:
                if point.as_int:
                    attributes = read(point.attributes)
                    self._series[metric.name, frozenset(attributes.items())] += point.as_int
                    self._add_to_timeline(metric.name, attributes, point.time_unix_nano // 10**9, point.as_int)

    def _add_to_timeline(self, metric: str, attributes: Attributes, second: int, count: int) -> None:
        outcome = attributes.get(semconv.OUTCOME) if metric == semconv.CALLS else None
        kind = attributes.get(semconv.ERROR_CLASS) if metric == semconv.ERRORS else outcome
        if kind is not None and kind != semconv.ERROR:  # a failed call is counted under its class by the other counter
            self.timeline.setdefault(second, Counter())[kind] += count

    def _add_spans(self, body: bytes) -> None:
        for span in (
            span
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ):
            attributes = read(span.attributes)
            failed = semconv.ERROR_CLASS in attributes
            if failed:
                self._keep(Failure(span.end_time_unix_nano / 1e9, span.trace_id.hex(), span.span_id.hex(), attributes))
            if attributes.get(semconv.RETRY_COUNT):
                self.failed_anyway += failed
                self.rescued += not failed

    def _add_logs(self, body: bytes) -> None:
        for record in (
            record
            for resource in ExportLogsServiceRequest.FromString(body).resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ):
            attributes = read(record.attributes)
            if semconv.ERROR_CLASS in attributes:
                at = (record.time_unix_nano or record.observed_time_unix_nano) / 1e9
                self._keep(Failure(at, record.trace_id.hex(), record.span_id.hex(), attributes))

    def _keep(self, failure: Failure) -> None:
        """Keep the details of a failure. If its span and its log record both arrive, their attributes are combined."""
        kept = self._failures.setdefault(failure.error_class, OrderedDict())
        identity = (failure.trace_id, failure.span_id, 0.0 if failure.span_id else failure.at)
        known = kept.get(identity)
        if known is not None:
            failure = Failure(known.at, failure.trace_id, failure.span_id, {**known.attributes, **failure.attributes})
        kept[identity] = failure
        if len(kept) > KEPT:
            kept.popitem(last=False)


def read(attributes: Iterable[Any]) -> dict[str, Any]:
    """OTLP attributes as plain Python values. A list becomes a tuple."""
    return {a.key: _value(a.value) for a in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return tuple(_value(one) for one in value.array_value.values)
    return getattr(value, kind) if kind else None
