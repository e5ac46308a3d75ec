"""Routing by view, and what explains what. Receivers are placeholders under `.invalid`: a page that nobody set up
fails loudly.

Inhibition is narrow. A page silences the ticket over the same budget, never the tickets that say which model. A
broken credential explains what happens to its own model in its own service, never a page of the whole service: that
carries no model label, and the outage of another model would vanish with it.
"""

from typing import Any, Final

from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CLASS, MODEL, PROVIDER
from llm_errors.taxonomy import View

RECEIVERS: Final = (
    "page-owning-team",
    "page-platform",
    "ticket-owning-team",
    "ticket-platform",
    "ticket-trust-and-safety",
    "weekly-review",
)


def configuration(options: Options) -> dict[str, Any]:
    """The Alertmanager configuration of one tailoring."""
    return {
        "route": {
            "receiver": "ticket-platform",
            "group_by": ["alertname", options.service_label],
            "group_wait": "30s",
            "group_interval": "5m",
            "repeat_interval": "12h",
            "routes": _routes(options),
        },
        "inhibit_rules": _inhibitions(options),
        "receivers": [_receiver(name) for name in RECEIVERS],
    }


def _routes(options: Options) -> list[dict[str, Any]]:
    service, page = options.service_label, options.severities["page"]
    failing = ["alertname", service, PROVIDER, MODEL, CLASS]
    return [
        _route(View.CORRECTNESS, "page-owning-team", page, group_by=failing, group_wait="0s", repeat_interval="4h"),
        _route(View.RELIABILITY, "page-platform", page, group_wait="10s", repeat_interval="4h"),
        _route(View.CORRECTNESS, "ticket-owning-team", group_by=failing, repeat_interval="3d"),
        _route(View.POLICY, "ticket-trust-and-safety", group_by=failing, repeat_interval="7d"),
        _route(View.REVIEW, "weekly-review", group_by=["alertname"], group_wait="5m", repeat_interval="7d"),
        _route(View.RELIABILITY, "ticket-platform", repeat_interval="3d"),
    ]


def _route(view: View, receiver: str, severity: str = "", **timing: Any) -> dict[str, Any]:
    matchers = [f'view="{view.value}"'] + ([f'severity="{severity}"'] if severity else [])
    return {"matchers": matchers, "receiver": receiver, **timing}


def _inhibitions(options: Options) -> list[dict[str, Any]]:
    service = options.service_label
    return [
        _inhibit(['alertname="LLMAvailabilityBurnPage"'], ['alertname="LLMAvailabilityBurnTicket"'], [service]),
        _inhibit(
            ['alertname="LLMAvailabilityBurnPage"', 'window="1h"'],
            ['alertname="LLMAvailabilityBurnPage"', 'window="6h"'],
            [service],
        ),
        _inhibit(
            ['alertname="LLMCredentialOrModelError"'],
            ['alertname=~"LLMModelBurnTicket|LLMRateLimitSpike|LLMUnknownErrors"'],
            [service, PROVIDER, MODEL],
        ),
    ]


def _inhibit(source: list[str], target: list[str], equal: list[str]) -> dict[str, Any]:
    return {"source_matchers": source, "target_matchers": target, "equal": equal}


def _receiver(name: str) -> dict[str, Any]:
    hook = {"url": f"http://alert-receiver.invalid/{name}", "send_resolved": name.startswith("page-")}
    return {"name": name, "webhook_configs": [hook]}
