"""Rule groups: which rules are evaluated together, and how often. Also the same rules for the operator and for
Grafana.

Groups matter: within one, rules see what the rules before them just recorded. The alerts about single events stand in
the group that counts, so that a page needs one evaluation only.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from llm_errors.monitoring import alerts
from llm_errors.monitoring.alerts import Alert, Scope
from llm_errors.monitoring.options import INTERVAL_SECONDS, Options
from llm_errors.monitoring.slo import Recording, Rule

Group = dict[str, Any]
_Plan = tuple[str, str, Callable[[], list[Rule]], Callable[[Scope], list[Alert]]]


def _plan(options: Options) -> tuple[_Plan, ...]:
    recording = Recording(options)
    nothing: Callable[[], list[Rule]] = list
    return (
        ("llm-events", f"{INTERVAL_SECONDS}s", recording.base, alerts.single.alerts),
        ("llm-slo", f"{INTERVAL_SECONDS}s", recording.availability, alerts.burn.alerts),
        ("llm-shares", "30s", nothing, alerts.shares.alerts),
        ("llm-slo-long", "5m", recording.long_term, alerts.burn.long_term),
        ("llm-telemetry", "1m", nothing, alerts.telemetry.alerts),
    )


def groups(options: Options) -> list[Group]:
    """The groups of the rule file."""
    scope = Scope(options)
    return [
        {
            "name": name,
            "interval": interval,
            "rules": [*records(), *(alert.rule(options) for alert in alerts_of(scope))],
        }
        for name, interval, records, alerts_of in _plan(options)
    ]


def rule_file(options: Options) -> dict[str, Any]:
    """A Prometheus rule file."""
    return {"groups": groups(options)}


def prometheus_rule(options: Options) -> dict[str, Any]:
    """The same groups as a resource of the Prometheus operator; its labels must match the operator's `ruleSelector`."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "llm-errors", "labels": {"app.kubernetes.io/name": "llm-errors", "role": "alert-rules"}},
        "spec": {"groups": groups(options)},
    }


def grafana_alerting(options: Options, panels: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    """The alerts for Grafana's own alerting, over the series that Prometheus keeps recording.

    `panels` maps an alert's panel to its dashboard uid and panel id.
    """
    scope = Scope(options)
    managed = [
        {
            "orgId": 1,
            "name": name,
            "folder": "LLM errors",
            "interval": "5m" if interval == "5m" else "1m",
            "rules": [_managed(alert, options, panels[alert.panel]) for alert in alerts_of(scope)],
        }
        for name, interval, _, alerts_of in _plan(options)
    ]
    return {"apiVersion": 1, "groups": managed}


def _managed(alert: Alert, options: Options, panel: tuple[str, int]) -> dict[str, Any]:
    rule = alert.rule(options)
    identity = alert.name + alert.severity + "".join(value for _, value in alert.labels) + alert.expression
    annotations = {key: text.replace("$value", "$values.A.Value") for key, text in rule["annotations"].items()}
    query = {"refId": "A", "expr": rule["expr"], "instant": True, "range": False}
    condition = {
        "refId": "C",
        "type": "threshold",
        "expression": "A",
        "conditions": [{"evaluator": {"type": "gt", "params": [0]}}],
    }
    span = {"from": 600, "to": 0}
    keep = {"keepFiringFor": alert.keep} if alert.keep else {}
    return {
        "uid": hashlib.sha256(identity.encode()).hexdigest()[:20],
        "title": " ".join([alert.name, alert.severity, *(value for _, value in alert.labels)]),
        "condition": "C",
        "data": [
            {"refId": "A", "relativeTimeRange": span, "datasourceUid": "prometheus", "model": query},
            {"refId": "C", "relativeTimeRange": span, "datasourceUid": "__expr__", "model": condition},
        ],
        "noDataState": "OK",  # a filter without a match is health, not missing data
        "execErrState": "Error",
        "for": alert.hold or "0s",
        **keep,
        "labels": rule["labels"],
        "annotations": {**annotations, "__dashboardUid__": panel[0], "__panelId__": str(panel[1])},
        "isPaused": False,
    }
