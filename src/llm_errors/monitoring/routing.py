"""Decides who is notified: routes by view and severity, groups of alerts, and which alerts suppress others.

`alertmanager` writes these routes in the format of Alertmanager, and `grafana_alerting` in the format of Grafana.

**Groups.** Alerts of one group are sent in one notification, which is about one service in one place (`Options.scope`). The
reliability alerts of a service are one group, so a rate-limit spike and the budget burn that it causes send one page.
Correctness alerts are also grouped by provider and class: a revoked key sends one page for all models that use the key. No
group depends on the model.

**Waits.** The first notification of a group waits until other models may have failed too. This takes one export and one
evaluation, of 15 seconds each. Later changes of a group are sent after its group interval. With 10 minutes, the end of an
outage and the end of the rate limits that it caused are in one message.

**Inhibition.** Only pages suppress other alerts, and they suppress only tickets about the same service or model. No page is
ever suppressed.
"""

from dataclasses import dataclass, replace
from typing import Final

from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CLASS, MODEL, PROVIDER
from llm_errors.taxonomy import ErrorClass, View

ALERTS: Final = "LLM.+"
"""A pattern that matches the names of all alerts of llm-errors, and hardly any other alert."""

Matcher = tuple[str, str, str]
"""A label, one of Alertmanager's operators, and a value."""

RETENTION: Final = "240h"
"""How long Alertmanager must remember its notifications: longer than the longest `repeat_interval`.

With Alertmanager's default of 120h, a weekly notification would be sent every five days.
"""


@dataclass(frozen=True)
class Receiver:
    """Somebody who is notified. A pager is also notified when an alert ends."""

    name: str
    is_pager: bool


PLATFORM_PAGER: Final = Receiver("page-platform", True)
OWNER_PAGER: Final = Receiver("page-owning-team", True)
PLATFORM: Final = Receiver("ticket-platform", False)
OWNER: Final = Receiver("ticket-owning-team", False)
TRUST_AND_SAFETY: Final = Receiver("ticket-trust-and-safety", False)
PRODUCT: Final = Receiver("ticket-product", False)
WEEKLY: Final = Receiver("weekly-review", False)


@dataclass(frozen=True)
class Route:
    """The receiver, grouping and timing of the alerts that all `matchers` match.

    The first matching route decides. If one of its own `routes` matches too, this inner route decides.
    """

    matchers: tuple[Matcher, ...]
    receiver: Receiver
    group_by: tuple[str, ...]
    group_wait: str
    group_interval: str
    repeat_interval: str
    routes: tuple["Route", ...] = ()


@dataclass(frozen=True)
class Inhibition:
    """While an alert that matches `source` fires, alerts that match `target` and share the labels `equal` are suppressed."""

    source: tuple[Matcher, ...]
    target: tuple[Matcher, ...]
    equal: tuple[str, ...]


def receivers(options: Options) -> list[Receiver]:
    """All receivers without duplicates, including the receivers of teams."""
    fixed = (OWNER_PAGER, PLATFORM_PAGER, OWNER, PLATFORM, TRUST_AND_SAFETY, PRODUCT, WEEKLY)
    named = {receiver.name: receiver for receiver in fixed}
    for team in options.teams:
        named.setdefault(team.receiver, Receiver(team.receiver, True))
    return list(named.values())


def routes(options: Options) -> list[Route]:
    """The routes in the order in which they are tried. Alerts that match no route go to `root`."""
    page, scope = (("severity", "=", options.severities["page"]),), options.scope
    failing = (*scope, PROVIDER, CLASS)
    correctness, reliability, policy, review = map(
        _of_view, (View.CORRECTNESS, View.RELIABILITY, View.POLICY, View.REVIEW)
    )
    cut_off = ((CLASS, "=", ErrorClass.TRUNCATED.value),)
    return [
        _owned(Route(correctness + page, OWNER_PAGER, failing, "30s", "5m", "4h"), options),
        Route(reliability + page, PLATFORM_PAGER, scope, "30s", "10m", "4h"),
        _owned(Route(correctness, OWNER, failing, "1m", "30m", "3d"), options),
        Route(policy + cut_off, PRODUCT, (*scope, CLASS), "1m", "30m", "7d"),
        Route(policy, TRUST_AND_SAFETY, (*scope, CLASS), "1m", "30m", "7d"),
        Route(review, WEEKLY, ("alertname",), "5m", "1h", "7d"),
        Route(reliability, PLATFORM, scope, "1m", "30m", "3d"),
    ]


def root(options: Options) -> Route:
    """The route of alerts that no other route matches."""
    return Route((), PLATFORM, options.scope, "1m", "30m", "12h")


def inhibitions(options: Options) -> list[Inhibition]:
    """Which pages suppress which tickets, because both are about the same failures of a service or model."""
    same_service, same_model = options.scope, (*options.scope, PROVIDER, MODEL)
    page, ticket = (("severity", "=", options.severities[name]) for name in ("page", "ticket"))
    pairs = (
        ("LLMAvailabilityBurnPage", "LLMAvailabilityBurnTicket", same_service),
        ("LLMRateLimitSpike", "LLMModelBurnTicket", same_model),
    )
    return [
        Inhibition((("alertname", "=", source), page), (("alertname", "=", target), ticket), equal)
        for source, target, equal in pairs
    ]


def _of_view(view: View) -> tuple[Matcher, ...]:
    return (("view", "=", view.value),)


def _owned(route: Route, options: Options) -> Route:
    """The route with a branch for each team that owns some of the services."""
    branches = (
        replace(route, matchers=((team.label, "=", team.value),), receiver=Receiver(team.receiver, True))
        for team in options.teams
    )
    return replace(route, routes=tuple(branches))
