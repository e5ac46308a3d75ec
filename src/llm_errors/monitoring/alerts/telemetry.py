"""The alert about telemetry that stopped: without it silence reads like health."""

from llm_errors.monitoring.alerts._alert import Alert, Scope
from llm_errors.monitoring.options import MISSING_AFTER_MINUTES
from llm_errors.taxonomy import View


def alerts(scope: Scope) -> list[Alert]:
    """A service that went silent."""
    return [_missing(scope)]


def _missing(scope: Scope) -> Alert:
    s = scope.series
    silent = MISSING_AFTER_MINUTES - 5  # a count outlives its last sample by 5 minutes
    reported = f"group by ({s.service}) (last_over_time({s.tumbling(s.model_calls)}[1d]))"
    reports = f"group by ({s.service}) (last_over_time({s.model_calls}[{silent}m]))"
    return Alert(
        "LLMTelemetryMissing",
        View.RELIABILITY,
        "ticket",
        f"a service that reported within a day is silent for {MISSING_AFTER_MINUTES} min",
        f"{reported}\nunless on ({s.service})\n{reports}",
        f"No LLM metrics from {scope.the_service} for {MISSING_AFTER_MINUTES} minutes",
        "The service reported within the last day and is silent now: "
        "stopped, or its exporter or the Collector is down. "
        "Its other LLM alerts are blind meanwhile.",
        "llm-overview/Calls by service",
    )
