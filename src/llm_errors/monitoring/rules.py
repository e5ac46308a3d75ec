"""Decides which rules are evaluated together as a group, and how often.

Within a group, each rule reads what the rules before it have just recorded. The group that counts events also contains the
alerts about single events, so that these alerts fire in the same evaluation that counts the event.
"""

from dataclasses import dataclass
from typing import Any

from llm_errors.monitoring import alerts
from llm_errors.monitoring.alerts import Alert, Scope
from llm_errors.monitoring.boards import BoardRecording
from llm_errors.monitoring.options import INTERVAL_SECONDS, Options
from llm_errors.monitoring.pipeline import Pipeline
from llm_errors.monitoring.slo import Recording, Rule


@dataclass(frozen=True)
class Group:
    """Rules that are evaluated one after the other in each `interval`. Recording rules (`records`) come before alerts."""

    name: str
    interval: str
    records: list[Rule]
    alerts: list[Alert]


def plan(options: Options) -> tuple[Group, ...]:
    """All groups. Later groups read series that earlier groups record."""
    recording, scope = Recording(options), Scope(options)
    often, name = f"{INTERVAL_SECONDS}s", f"{options.name}-" if options.name else ""
    return (
        Group(f"{name}llm-events", often, recording.base(), alerts.single.alerts(scope)),
        Group(f"{name}llm-slo", often, recording.availability(), alerts.burn.alerts(scope)),
        Group(f"{name}llm-shares", "30s", recording.shares(), alerts.shares.alerts(scope)),
        Group(f"{name}llm-slo-long", "5m", recording.long_term(), alerts.burn.long_term(scope)),
        Group(f"{name}llm-telemetry", "1m", [], [*alerts.telemetry.alerts(scope), *alerts.pipeline.evaluation(scope)]),
        Group(f"{name}llm-boards", "1m", BoardRecording(options).records(), []),
        Group(f"{name}llm-pipeline", "30s", Pipeline(options).records(), alerts.pipeline.alerts(scope)),
    )


def groups(options: Options) -> list[dict[str, Any]]:
    """The groups in the format of Prometheus."""
    return [
        {
            "name": group.name,
            "interval": group.interval,
            "rules": [*group.records, *(alert.rule(options) for alert in group.alerts)],
        }
        for group in plan(options)
    ]


def rule_file(options: Options) -> dict[str, Any]:
    """A Prometheus rule file."""
    return {"groups": groups(options)}


def pipeline_file(options: Options) -> dict[str, Any]:
    """A Prometheus rule file with the group about Collectors alone, for a Prometheus that does not load the other groups."""
    return {"groups": groups(options)[-1:]}


def prometheus_rule(options: Options) -> dict[str, Any]:
    """The groups as a resource of the Prometheus operator. Its labels must match the operator's `ruleSelector`."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {
            "name": options.resource,
            "labels": {"app.kubernetes.io/name": "llm-errors", "role": "alert-rules"},
        },
        "spec": {"groups": groups(options)},
    }
