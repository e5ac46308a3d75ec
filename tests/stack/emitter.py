"""The application under test, driven by JSON lines on standard input: `{"model": ..., "failure": CLASS, "count": n}`.

It writes the telemetry of CONTRACT 3 through the OpenTelemetry API and the SDK that `opentelemetry-instrument` set up.
"""

import json
import resource
import sys
import time

from opentelemetry import metrics, trace
from opentelemetry._logs import LogRecord, SeverityNumber, get_logger

from llm_errors import semconv as names

tracer = trace.get_tracer(names.SCOPE)
meter = metrics.get_meter(names.SCOPE)
logger = get_logger(names.SCOPE)
calls = meter.create_counter(names.CALLS, unit="{call}")
errors = meter.create_counter(names.ERRORS, unit="{error}")
duration = meter.create_histogram(names.DURATION, unit="s")


def call(model, failure, extra):
    labels = {names.PROVIDER: "openai", names.REQUEST_MODEL: model, names.OPERATION: "chat"}
    with tracer.start_as_current_span(f"chat {model}", attributes=labels, kind=trace.SpanKind.CLIENT) as span:
        calls.add(1, {**labels, names.OUTCOME: names.ERROR if failure else names.OK})
        duration.record(0.01, labels)
        if not failure:
            return
        facts = {names.ERROR_CLASS: failure, names.ERROR_REASON: "other", names.ERROR_CHANNEL: names.THROWN}
        span.set_attributes({**facts, **extra})
        errors.add(1, {**labels, **facts})
        now = time.time_ns()
        logger.emit(
            LogRecord(
                timestamp=now,
                observed_timestamp=now,
                severity_number=SeverityNumber.WARN,
                event_name=names.FAILURE_EVENT,
                attributes={**labels, **facts, **extra},
            )
        )


def flush():
    for provider in (metrics.get_meter_provider(), trace.get_tracer_provider()):
        provider.force_flush()
    from opentelemetry._logs import get_logger_provider

    get_logger_provider().force_flush()


def main():
    for line in sys.stdin:
        order = json.loads(line)
        begun = time.perf_counter()
        for number in range(order.get("count", 1)):
            call(order["model"].format(number), order.get("failure"), order.get("attributes", {}))
        took = time.perf_counter() - begun
        if order.get("flush"):
            flush()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": took, "peak_megabytes": peak}), flush=True)


main()
