"""Reads UNKNOWN failures from spans and log records and groups them by fingerprint. It makes no network connection."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from llm_errors import semconv
from llm_errors.tools import rule_template


@dataclass(frozen=True)
class Occurrence:
    """One UNKNOWN failure. `at` is the time in seconds since the epoch."""

    at: float
    trace_id: str
    span_id: str
    attributes: Mapping[str, Any]
    service: str = ""
    """The service as in Prometheus' label `job`: `namespace/name`, or the name alone."""

    def get(self, name: str) -> str:
        """An attribute as text. Of a list, the first value counts. The text is empty without the attribute."""
        value = self.attributes.get(name)
        return str(value[0] if isinstance(value, list) and value else value or "")


_FACTS = {"empty_response": "empty", "unexpected_body": "unexpected_body"}
"""Reason of an UNKNOWN failure -> the fact about the content that explains it.

The finish reason of such an answer is the same as that of a healthy answer, so it explains nothing.
"""


@dataclass(frozen=True)
class Group:
    """All occurrences of one fingerprint. `example` is the newest of them."""

    fingerprint: str
    count: int
    first: float
    last: float
    example: Occurrence
    services: tuple[str, ...] = ()

    def pattern(self) -> rule_template.Pattern:
        """The values for the rule template. They come from the example."""
        one, status = self.example, self.example.get(semconv.ERROR_STATUS_CODE)
        finish = one.get(semconv.RESPONSE_FINISH_REASONS)
        code = one.get(semconv.ERROR_CODE)
        by_finish = one.get(semconv.ERROR_EVIDENCE) == "finish_reason" and bool(code)
        fact = _FACTS.get(one.get(semconv.ERROR_REASON))
        if fact is not None:
            return rule_template.Pattern(
                name=f"unknown.{self.fingerprint}", provider=one.get(semconv.PROVIDER), facts=(fact,)
            )
        error_type = one.get(semconv.EXCEPTION_TYPE) or one.get(semconv.ERROR_TYPE)
        return rule_template.Pattern(
            name=f"unknown.{self.fingerprint}",
            provider=one.get(semconv.PROVIDER),
            status=int(status) if status.isdecimal() else None,
            codes=(code,) if code and code != finish and not by_finish else (),
            finish=code if by_finish or (code and code == finish) else "",
            exception=error_type if "." in error_type else "",  # for an in-band failure `error.type` is the class
        )

    def report(self) -> dict[str, Any]:
        """The group as plain data, for JSON and for the table."""
        one, pattern = self.example, self.pattern()
        return {
            "fingerprint": self.fingerprint,
            "service": ", ".join(self.services),
            "count": self.count,
            "first_seen": when(self.first),
            "last_seen": when(self.last),
            "provider": one.get(semconv.PROVIDER),
            "model": one.get(semconv.REQUEST_MODEL),
            "reason": one.get(semconv.ERROR_REASON),
            "exception": one.get(semconv.EXCEPTION_TYPE) or one.get(semconv.ERROR_TYPE),
            "status": one.get(semconv.ERROR_STATUS_CODE),
            "code": one.get(semconv.ERROR_CODE),
            "message": one.get(semconv.ERROR_MESSAGE),
            "trace": one.trace_id,
            "toml": rule_template.toml(pattern),
            "python": rule_template.python(pattern),
        }


def when(seconds: float) -> str:
    """A time in ISO format."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def groups(occurrences: Iterable[Occurrence]) -> list[Group]:
    """Groups by fingerprint, the most frequent first. A span and a log record of the same failure count once."""
    found: dict[str, dict[tuple[str, str, float], Occurrence]] = {}
    for one in occurrences:
        # Two log records without a span id can only be told apart by their time.
        identity = (one.trace_id, one.span_id, 0.0 if one.span_id else one.at)
        found.setdefault(one.get(semconv.ERROR_FINGERPRINT), {}).setdefault(identity, one)
    made = [_group(fingerprint, list(ones.values())) for fingerprint, ones in found.items()]
    return sorted(made, key=lambda g: (-g.count, g.fingerprint))


def _group(fingerprint: str, ones: list[Occurrence]) -> Group:
    ones.sort(key=lambda one: one.at)
    services = tuple(sorted({one.service for one in ones if one.service}))
    return Group(fingerprint, len(ones), ones[0].at, ones[-1].at, ones[-1], services)


def service_of(name: str, namespace: str) -> str:
    """The service as Prometheus writes it in `job`, from `service.name` and `service.namespace`."""
    return f"{namespace}/{name}" if namespace and name else name


def from_otlp(lines: Iterable[str], since: float) -> Iterator[Occurrence]:
    """Yields the UNKNOWN failures since a time from the spans and log records of OTLP JSON.

    Each line is one export, as the file exporter of the Collector writes it.
    """
    for line in lines:
        if line.strip():
            found = (_of_record(record, service) for record, service in _records(json.loads(line)))
            yield from (one for one in found if _is_unknown(one) and one.at >= since)


_OTLP = (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))


_SIGNALS = ("resourceSpans", "resourceLogs", "resourceMetrics")


def _records(export: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yields every span and log record of an export with its service. Raises ValueError if the JSON is not an export."""
    if not any(signal in export for signal in _SIGNALS):
        raise ValueError("is no OTLP export")
    for resources, scopes, records in _OTLP:
        for resource in export.get(resources) or ():
            told = _attributes((resource.get("resource") or {}).get("attributes"))
            service = service_of(str(told.get("service.name", "")), str(told.get("service.namespace", "")))
            for scope in resource.get(scopes) or ():
                yield from ((record, service) for record in scope.get(records) or ())


def _attributes(given: Any) -> dict[str, Any]:
    return {a["key"]: value_of(a.get("value", {})) for a in given or ()}


def _is_unknown(one: Occurrence) -> bool:
    return one.get(semconv.ERROR_CLASS) == "UNKNOWN" and bool(one.get(semconv.ERROR_FINGERPRINT))


def _of_record(record: Mapping[str, Any], service: str) -> Occurrence:
    nanos = record.get("endTimeUnixNano") or record.get("timeUnixNano") or record.get("observedTimeUnixNano") or 0
    attributes = _attributes(record.get("attributes"))
    return Occurrence(int(nanos) / 1e9, record.get("traceId", ""), record.get("spanId", ""), attributes, service)


def value_of(value: Mapping[str, Any]) -> Any:
    """The Python value of an OTLP JSON value such as `{"stringValue": "..."}`."""
    if "arrayValue" in value:
        return [value_of(v) for v in value["arrayValue"].get("values", ())]
    return next(iter(value.values()), None)


def from_tempo(answer: Mapping[str, Any]) -> Iterator[Occurrence]:
    """Yields the failures in a result of Tempo's search."""
    for trace in answer.get("traces") or ():
        sets = trace.get("spanSets") or [trace.get("spanSet") or {}]
        for span in (s for one in sets for s in one.get("spans") or ()):
            attributes = _attributes(span.get("attributes"))
            name = str(attributes.get("service.name") or trace.get("rootServiceName", ""))
            service = service_of(name, str(attributes.get("service.namespace", "")))
            at = int(span.get("startTimeUnixNano") or trace.get("startTimeUnixNano") or 0) / 1e9
            yield Occurrence(at, trace.get("traceID", ""), span.get("spanID", ""), attributes, service)


def from_loki(answer: Mapping[str, Any]) -> Iterator[Occurrence]:
    """Yields the failures in a result of a range query of Loki, which stores OTLP attributes as labels with underscores."""
    names = {semconv.prometheus_label(n): n for n in _NAMES}
    for stream in answer.get("data", {}).get("result") or ():
        labels = stream.get("stream", {})
        attributes = {names.get(k, k): v for k, v in labels.items()}
        service = service_of(labels.get("service_name", ""), labels.get("service_namespace", ""))
        for entry in stream.get("values") or ():
            trace, span = labels.get("trace_id", ""), labels.get("span_id", "")
            yield Occurrence(int(entry[0]) / 1e9, trace, span, attributes, service)


_NAMES = (
    semconv.ERROR_CLASS,
    semconv.ERROR_REASON,
    semconv.ERROR_CODE,
    semconv.ERROR_EVIDENCE,
    semconv.ERROR_FINGERPRINT,
    semconv.ERROR_MESSAGE,
    semconv.ERROR_STATUS_CODE,
    semconv.EXCEPTION_TYPE,
    semconv.ERROR_TYPE,
    semconv.PROVIDER,
    semconv.REQUEST_MODEL,
    semconv.RESPONSE_FINISH_REASONS,
)
ATTRIBUTES = _NAMES
"""The attributes that a query must request from a backend."""
