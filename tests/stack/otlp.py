"""OTLP/HTTP requests in JSON, for what no well-behaved SDK sends: foreign labels, planted secrets, odd time stamps."""

import json
import time
import urllib.request
from typing import Any

DELTA, CUMULATIVE = 1, 2


def post(endpoint: str, signal: str, body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    request = urllib.request.Request(f"{endpoint}/v1/{signal}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status == 200


def attributes(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def point(value: int, labels: dict[str, str], *, start: int, end: int) -> dict[str, Any]:
    times = {"startTimeUnixNano": str(start), "timeUnixNano": str(end)}
    return {"asInt": str(value), "attributes": attributes(labels), **times}


def counter(
    name: str, points: list[dict[str, Any]], resource: dict[str, str], temporality: int = CUMULATIVE
) -> dict[str, Any]:
    total = {"aggregationTemporality": temporality, "isMonotonic": True, "dataPoints": points}
    scope = {"scope": {"name": "llm_errors", "version": "1"}, "metrics": [{"name": name, "sum": total}]}
    return {"resourceMetrics": [{"resource": {"attributes": attributes(resource)}, "scopeMetrics": [scope]}]}


def spans(found: list[dict[str, Any]], resource: dict[str, str]) -> dict[str, Any]:
    scope = {"scope": {"name": "test"}, "spans": found}
    return {"resourceSpans": [{"resource": {"attributes": attributes(resource)}, "scopeSpans": [scope]}]}


def span(trace_id: str, span_id: str, labels: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    now = time.time_ns()
    times = {"startTimeUnixNano": str(now - 10**8), "endTimeUnixNano": str(now)}
    common = {"name": "chat", "kind": 3, "attributes": attributes(labels or {}), **times}
    return {"traceId": trace_id, "spanId": span_id, **common, **more}


def logs(found: list[dict[str, Any]], resource: dict[str, str]) -> dict[str, Any]:
    scope = {"scope": {"name": "test"}, "logRecords": found}
    return {"resourceLogs": [{"resource": {"attributes": attributes(resource)}, "scopeLogs": [scope]}]}


def record(body: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    return {"timeUnixNano": str(time.time_ns()), "body": {"stringValue": body}, "attributes": attributes(labels or {})}
