"""Writes the routes in three forms: a complete Alertmanager configuration, lists to merge into an existing configuration, and a
resource of the Prometheus operator.

The addresses of receivers are placeholders that end in `.invalid`. If an operator forgets to replace one, Alertmanager logs an
error when it notifies.
"""

from collections.abc import Iterable
from typing import Any

from llm_errors.monitoring import routing
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.routing import Inhibition, Matcher, Receiver, Route

_OURS: tuple[Matcher, ...] = (("alertname", "=~", routing.ALERTS),)


def configuration(options: Options) -> dict[str, Any]:
    """A complete Alertmanager configuration."""
    return {
        "route": {**_settings(routing.root(options)), "routes": [_route(r) for r in routing.routes(options)]},
        **_rest(options),
    }


def to_merge(options: Options) -> dict[str, Any]:
    """The entries to append to the lists of an existing configuration. Other alerts are routed as before."""
    ours = {"matchers": _matchers(_OURS), **_settings(routing.root(options))}
    return {
        "route": {"routes": [{**ours, "routes": [_route(route) for route in routing.routes(options)]}]},
        **_rest(options),
    }


def resource(options: Options) -> dict[str, Any]:
    """An `AlertmanagerConfig` of the Prometheus operator."""
    ours = {"matchers": _objects(_OURS), **_operator_settings(routing.root(options))}
    return {
        "apiVersion": "monitoring.coreos.com/v1alpha1",
        "kind": "AlertmanagerConfig",
        "metadata": {"name": options.resource, "labels": {"app.kubernetes.io/name": "llm-errors"}},
        "spec": {
            "route": {**ours, "routes": [_operator_route(route) for route in routing.routes(options)]},
            "inhibitRules": [_operator_inhibition(rule) for rule in routing.inhibitions(options)],
            "receivers": [
                {"name": r.name, "webhookConfigs": [{"url": address(r), "sendResolved": r.is_pager}]}
                for r in routing.receivers(options)
            ],
        },
    }


def address(receiver: Receiver) -> str:
    """A placeholder for the address of a receiver. No name server resolves it."""
    return f"http://alert-receiver.invalid/{receiver.name}"


def _rest(options: Options) -> dict[str, Any]:
    return {
        "inhibit_rules": [
            {
                "source_matchers": _matchers(rule.source),
                "target_matchers": _matchers(rule.target),
                "equal": list(rule.equal),
            }
            for rule in routing.inhibitions(options)
        ],
        "receivers": [
            {"name": r.name, "webhook_configs": [{"url": address(r), "send_resolved": r.is_pager}]}
            for r in routing.receivers(options)
        ],
    }


def _route(route: Route) -> dict[str, Any]:
    branches = [{"matchers": _matchers(one.matchers), "receiver": one.receiver.name} for one in route.routes]
    written = {"matchers": _matchers(route.matchers), **_settings(route)}
    return {**written, **({"routes": branches} if branches else {})}


def _settings(route: Route) -> dict[str, Any]:
    return {
        "receiver": route.receiver.name,
        "group_by": list(route.group_by),
        "group_wait": route.group_wait,
        "group_interval": route.group_interval,
        "repeat_interval": route.repeat_interval,
    }


def _matchers(matchers: Iterable[Matcher]) -> list[str]:
    return [f'{label}{operator}"{value}"' for label, operator, value in matchers]


def _operator_route(route: Route) -> dict[str, Any]:
    branches = [{"matchers": _objects(one.matchers), **_operator_settings(one)} for one in route.routes]
    written = {"matchers": _objects(route.matchers), **_operator_settings(route)}
    return {**written, **({"routes": branches} if branches else {})}


def _operator_settings(route: Route) -> dict[str, Any]:
    return {
        "receiver": route.receiver.name,
        "groupBy": list(route.group_by),
        "groupWait": route.group_wait,
        "groupInterval": route.group_interval,
        "repeatInterval": route.repeat_interval,
    }


def _operator_inhibition(rule: Inhibition) -> dict[str, Any]:
    return {"sourceMatch": _objects(rule.source), "targetMatch": _objects(rule.target), "equal": list(rule.equal)}


def _objects(matchers: Iterable[Matcher]) -> list[dict[str, str]]:
    return [{"name": label, "matchType": operator, "value": value} for label, operator, value in matchers]
