"""Alerts about what carries and evaluates the telemetry: Collectors that lose it, and a Prometheus that is too slow.

They are told per Collector and per Prometheus, not per service: `job` is theirs.
"""

from llm_errors.monitoring.alerts._alert import Alert, Scope
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.pipeline import COMPONENT, QUEUE_FULL, Pipeline
from llm_errors.monitoring.promql import sum_by
from llm_errors.taxonomy import View

_PANEL = "llm-overview/Calls by service"
_COLLECTOR = f"the Collector {{{{ $labels.instance }}}} ({{{{ $labels.{COMPONENT} }}}})"
GROUPS = ("events", "slo", "shares", "slo-long", "telemetry", "pipeline")


def alerts(scope: Scope) -> list[Alert]:
    """A Collector that refuses, fails to send, or fills its queue."""
    pipeline = Pipeline(scope.options)
    count = '{{ printf "%.0f" $value }} item(s) in the last 5 minutes.'
    lost = "They are lost unless the sender tries again."
    return [
        _losing("refused", f"{pipeline.losing('refused')} > 0", f"{_COLLECTOR} refuses telemetry", f"{count} {lost}"),
        _losing(
            "send_failed",
            f"{pipeline.losing('send_failed')} > 0",
            f"{_COLLECTOR} fails to send",
            f"{count} The receiving end refused them for good: they are lost.",
        ),
        _losing(
            "queue",
            f"{pipeline.losing('enqueue_failed')} > 0\nor\n{pipeline.filling()}",
            f"{_COLLECTOR} has a full queue",
            f"More than {QUEUE_FULL:.0%} of the queue is in use, or it has refused items: nothing gets through.",
        ),
    ]


def evaluation(scope: Scope) -> list[Alert]:
    """A Prometheus that misses or fails evaluations of these groups."""
    return [_behind(scope, scope.options)]


def _losing(problem: str, expression: str, summary: str, description: str) -> Alert:
    return Alert(
        "LLMPipelineLosing",
        View.RELIABILITY,
        "ticket",
        "a Collector refuses, fails to send or fills its queue (`otelcol_*`)",
        expression,
        summary[0].upper() + summary[1:],
        f"{description} Alerts and dashboards may be too good to be true.",
        _PANEL,
        keep="15m",
        labels=(("problem", problem),),
    )


def _behind(scope: Scope, options: Options) -> Alert:
    prefix = f"{options.name}-" if options.name else ""
    group = f'rule_group=~".*;{prefix}llm-({"|".join(GROUPS)})"'
    by = ("job", "instance", *(label for label in scope.series.places if label != "job"), "rule_group")
    metrics = ("prometheus_rule_group_iterations_missed_total", "prometheus_rule_evaluation_failures_total")
    return Alert(
        "LLMRulesBehind",
        View.RELIABILITY,
        "ticket",
        "Prometheus misses evaluations of these groups, or they fail",
        "\nor\n".join(f"{sum_by(by, f'increase({metric}{{{group}}}[15m])')} > 0" for metric in metrics),
        "Prometheus {{ $labels.instance }} misses evaluations of {{ $labels.rule_group }}",
        "The group takes longer than its interval, or its rules fail. LLM alerts come late or not at all meanwhile.",
        _PANEL,
    )
