"""Writes the alerts and their routes for Grafana's own alerting. These alerts query the series that Prometheus records."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from llm_errors.monitoring import routing, rules
from llm_errors.monitoring.alertmanager import address
from llm_errors.monitoring.alerts import Alert
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.routing import Matcher, Receiver, Route

MINIMUM_VERSION: Final = "12.0"
"""The first Grafana version that supports `keep_firing_for`. Older versions ignore the field, so alerts end too early."""


def managed(options: Options, panels: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    """The alerts as Grafana-managed rules.

    `panels`: `Alert.panel` -> the uid of its dashboard and the id of the panel.
    """
    groups = [
        {
            "orgId": 1,
            "name": group.name,
            # Two sets of files have the same titles of rules, which must be unique in a folder.
            "folder": " ".join(filter(None, ("LLM errors", options.name))),
            "interval": "5m" if group.interval == "5m" else "1m",
            "rules": [_rule(alert, options, panels[alert.panel]) for alert in group.alerts],
        }
        for group in rules.plan(options)
        if group.alerts
    ]
    return {"apiVersion": 1, "groups": groups}


def policies(options: Options) -> dict[str, Any]:
    """Contact points and notification policies. They notify the same receivers as the routes in `alertmanager.yml`."""
    tree = {**_settings(routing.root(options)), "routes": [_policy(route) for route in routing.routes(options)]}
    points = [_contact_point(receiver) for receiver in routing.receivers(options)]
    return {"apiVersion": 1, "contactPoints": points, "policies": [{"orgId": 1, **tree}]}


def _rule(alert: Alert, options: Options, panel: tuple[str, int]) -> dict[str, Any]:
    rule = alert.rule(options)
    fixed_labels = (value for _, value in alert.labels)
    identity = options.name + alert.name + alert.severity + "".join(fixed_labels) + alert.expression
    annotations = {key: text.replace("$value", "$values.A.Value") for key, text in rule["annotations"].items()}
    query = {"refId": "A", "expr": rule["expr"], "instant": True, "range": False}
    condition = {
        "refId": "C",
        "type": "threshold",
        "expression": "A",
        "conditions": [{"evaluator": {"type": "gt", "params": [0]}}],
    }
    span = {"from": 600, "to": 0}
    return {
        "uid": _uid(identity),
        "title": " ".join([alert.name, alert.severity, *(value for _, value in alert.labels)]),
        "condition": "C",
        "data": [
            {"refId": "A", "relativeTimeRange": span, "datasourceUid": "prometheus", "model": query},
            {"refId": "C", "relativeTimeRange": span, "datasourceUid": "__expr__", "model": condition},
        ],
        "noDataState": "OK",  # an expression without a result means that nothing is wrong
        "execErrState": "Error",
        "for": alert.hold or "0s",
        **({"keepFiringFor": alert.keep} if alert.keep else {}),
        "labels": rule["labels"],
        "dashboardUid": panel[0],
        "panelId": panel[1],
        "annotations": {**annotations, "__dashboardUid__": panel[0], "__panelId__": str(panel[1])},
        "isPaused": False,
    }


def _policy(route: Route) -> dict[str, Any]:
    branches = [{**_settings(one), "object_matchers": _matchers(one.matchers)} for one in route.routes]
    written = {**_settings(route), "object_matchers": _matchers(route.matchers)}
    return {**written, **({"routes": branches} if branches else {})}


def _settings(route: Route) -> dict[str, Any]:
    return {
        "receiver": route.receiver.name,
        "group_by": list(route.group_by),
        "group_wait": route.group_wait,
        "group_interval": route.group_interval,
        "repeat_interval": route.repeat_interval,
    }


def _matchers(matchers: Iterable[Matcher]) -> list[list[str]]:
    return [list(matcher) for matcher in matchers]


def _contact_point(receiver: Receiver) -> dict[str, Any]:
    hook = {
        "uid": _uid(receiver.name),
        "type": "webhook",
        "settings": {"url": address(receiver), "httpMethod": "POST"},
        "disableResolveMessage": not receiver.is_pager,
    }
    return {"orgId": 1, "name": receiver.name, "receivers": [hook]}


def _uid(identity: str) -> str:
    """A uid that depends only on `identity`. Grafana accepts up to 40 characters."""
    return hashlib.sha256(identity.encode()).hexdigest()[:20]
