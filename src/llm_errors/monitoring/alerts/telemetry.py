"""Defines the alerts about missing or unreadable telemetry. Without them, a service that reports nothing looks healthy."""

from llm_errors import semconv
from llm_errors.monitoring import promql
from llm_errors.monitoring.alerts._alert import COUNT, Alert, Scope
from llm_errors.monitoring.options import MISSING_AFTER_MINUTES
from llm_errors.monitoring.promql import CLASS, OUTCOME, selector
from llm_errors.taxonomy import View

PANEL = "llm-overview/Calls by service"
OVERFLOW = "otel_metric_overflow"
UNKNOWN_SERVICE = "|unknown_service(:.*)?"
"""A pattern that matches a missing service name, and the default names that OpenTelemetry's SDKs set."""
OTHER_NAMES = '__name__=~"(.+_)?llm_(calls|errors)(_total)*"', '__name__!~"llm_(calls|errors)_total"'
"""Matchers for the counters under names that no rule reads: with a prefix, without the suffix, or with two suffixes."""


def alerts(scope: Scope) -> list[Alert]:
    """Alerts about services that report nothing, about series that cannot be read, and about internal errors of llm-errors."""
    return [_missing(scope), *_unreadable(scope), _own_failures(scope)]


def _missing(scope: Scope) -> Alert:
    s, options = scope.series, scope.options
    silent = MISSING_AFTER_MINUTES - 5  # a 5-minute count has values until 5 minutes after the last sample
    calls = selector(s.tumbling(s.model_calls), promql.none_of(options.service_label, options.batch_jobs))
    scoped = ", ".join(s.scope)
    reported = f"group by ({scoped}) (last_over_time({calls}[1d]))"
    reports = f"group by ({scoped}) (last_over_time({s.model_calls}[{silent}m]))"
    successors = promql.with_label_added(s.places, reports)
    return Alert(
        "LLMTelemetryMissing",
        View.RELIABILITY,
        "ticket",
        fires=f"a service that reported within a day is silent for {MISSING_AFTER_MINUTES} min; "
        "not for services named as batch jobs",
        expression=f"{reported}\nunless on ({scoped}) (\n{promql.indented(successors)}\n)",
        summary=f"No LLM metrics from {scope.the_service} for {MISSING_AFTER_MINUTES} minutes",
        description="The service reported within the last day and is silent now: "
        "it has stopped, or its exporter or the Collector is down. "
        "Until then its other LLM alerts cannot fire.",
        panel=PANEL,
    )


def _unreadable(scope: Scope) -> list[Alert]:
    """An alert for each reason why the rules cannot read a series. The label `problem` names the reason."""
    service, extra = scope.options.service_label, scope.options.selectors
    counters = (semconv.CALLS, semconv.ERRORS)
    unnamed = [selector(metric, *extra, f'{service}=~"{UNKNOWN_SERVICE}"') for metric in counters]
    overflowed = [selector(metric, *extra, f'{OVERFLOW}!=""') for metric in counters]
    strange = [
        selector(metric, *extra, f'{label}=""', f'{OVERFLOW}=""')
        for metric, label in ((semconv.CALLS, OUTCOME), (semconv.ERRORS, CLASS))
    ]
    problems = (
        ("names", [*strange, selector("", *extra, *OTHER_NAMES)], "under names that no rule expects"),
        ("service", unnamed, "without a service name"),
        ("overflow", overflowed, "without their attributes, because the SDK's limit of attribute sets was exceeded"),
    )
    return [
        Alert(
            "LLMTelemetryUnreadable",
            View.RELIABILITY,
            "ticket",
            fires="series arrive without the expected label names, without a service, or overflowed",
            expression=promql.count_by(scope.series.scope, "\nor\n".join(found)),
            summary=f"LLM metrics of {scope.the_service} arrive {words}",
            description=f"{COUNT} series cannot be counted and are missing from alerts and dashboards.",
            panel=PANEL,
            keep="15m",
            labels=(("problem", problem),),
        )
        for problem, found, words in problems
    ]


def _own_failures(scope: Scope) -> Alert:
    return Alert(
        "LLMInstrumentationErrors",
        View.REVIEW,
        "info",
        fires="any `llm_instrumentation_errors_total`",
        expression=f"{scope.series.own_failures} > 0",
        summary=f"llm-errors itself failed in {scope.the_service} ({{{{ $labels.{semconv.PLACE} }}}})",
        description=f"{COUNT} failure(s) inside the instrumentation in the last 5 minutes. The calls themselves "
        "were not affected, "
        "but some of them may be missing from metrics, spans and logs.",
        panel=PANEL,
        keep="24h",
    )
