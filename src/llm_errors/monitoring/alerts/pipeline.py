"""Defines the alerts about the telemetry pipeline: Collectors that lose data, and a Prometheus that is too slow.

They fire per Collector or per Prometheus, not per service. Their label `job` names the job of the Collector or the Prometheus.
"""

from llm_errors.monitoring.alerts._alert import Alert, Scope
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.pipeline import COMPONENT, QUEUE_FULL, Pipeline
from llm_errors.monitoring.promql import rule_groups, sum_by
from llm_errors.taxonomy import View

_COLLECTORS = "llm-overview/Lost by Collectors, items in 5 minutes"
_QUEUES = "llm-overview/Collectors' queues, share in use"
_EVALUATION = "llm-overview/Evaluation of the rules, share of the interval"
_COLLECTOR = f"the Collector {{{{ $labels.instance }}}} ({{{{ $labels.{COMPONENT} }}}})"


def alerts(scope: Scope) -> list[Alert]:
    """Alerts about a Collector that refuses data, fails to send it, or has a full queue."""
    pipeline = Pipeline(scope.options)
    count = '{{ printf "%.0f" $value }} item(s) in the last 5 minutes.'
    lost = "They are lost unless the sender retries."
    return [
        _losing(
            "refused",
            f"{pipeline.lost_recently('refused')} > 0",
            f"{_COLLECTOR} rejects incoming telemetry",
            f"{count} {lost}",
        ),
        _losing(
            "send_failed",
            f"{pipeline.lost_recently('send_failed')} > 0",
            f"{_COLLECTOR} fails to send",
            f"{count} The receiver rejected them permanently, so they are lost.",
        ),
        _losing(
            "queue",
            f"{pipeline.lost_recently('enqueue_failed')} > 0\nor\n{pipeline.queue} > {QUEUE_FULL}",
            f"{_COLLECTOR} has a full queue",
            f"More than {QUEUE_FULL:.0%} of the queue is in use, or it has rejected items: the receiver accepts too little.",
        ),
    ]


def evaluation(scope: Scope) -> list[Alert]:
    """The alert about a Prometheus that misses evaluations of these rule groups, or whose evaluations fail."""
    return [_behind(scope, scope.options)]


def _losing(problem: str, expression: str, summary: str, description: str) -> Alert:
    return Alert(
        "LLMPipelineLosing",
        View.RELIABILITY,
        "ticket",
        fires="a Collector refuses, fails to send or fills its queue (`otelcol_*`)",
        expression=expression,
        summary=summary[0].upper() + summary[1:],
        description=f"{description} Alerts and dashboards may look better than reality.",
        panel=_QUEUES if problem == "queue" else _COLLECTORS,
        keep="15m",
        labels=(("problem", problem),),
    )


def _behind(scope: Scope, options: Options) -> Alert:
    group = rule_groups(options)
    by = ("job", "instance", *(label for label in scope.series.places if label != "job"), "rule_group")
    metrics = ("prometheus_rule_group_iterations_missed_total", "prometheus_rule_evaluation_failures_total")
    return Alert(
        "LLMRulesBehind",
        View.RELIABILITY,
        "ticket",
        fires="Prometheus misses evaluations of these groups, or they fail",
        expression="\nor\n".join(f"{sum_by(by, f'increase({metric}{{{group}}}[15m])')} > 0" for metric in metrics),
        summary="Prometheus {{ $labels.instance }} misses evaluations of {{ $labels.rule_group }}",
        description="The group takes longer than its interval, or its rules fail. Until this is fixed, LLM alerts "
        "are late or do not fire.",
        panel=_EVALUATION,
    )
