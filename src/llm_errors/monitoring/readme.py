"""Generates blocks of the README and of documentation pages from the code. Each block is between two markers."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from llm_errors.monitoring.alerts import every_alert
from llm_errors.monitoring.arguments import OptionError
from llm_errors.monitoring.kubernetes import pages as kubernetes
from llm_errors.monitoring.markdown import table
from llm_errors.monitoring.options import Options
from llm_errors.taxonomy import FINAL_REASONS, HANDLING, REASONS, Availability, ErrorClass, HandlingRule

_AVAILABILITY: Final = {Availability.BAD: "bad", Availability.GOOD: "good", Availability.LEFT_OUT: "**left out**"}


def taxonomy(_: Options) -> str:
    """The 13 classes and their handling rules."""
    head = ("class", "view", "notifies", "availability", "retryable by default", "handling rule")
    return table(head, (_rule_row(rule) for rule in HANDLING.values()))


def reasons(_: Options) -> str:
    """The reasons of each class. A reason for which a retry never helps is marked as final."""
    rows = ((c.value, ", ".join(_reason(c, reason) for reason in listed)) for c, listed in REASONS.items())
    return table(("class", "reasons"), rows)


def alerts(options: Options) -> str:
    """The alerts with their view, severity and condition, and a link to the runbook."""
    found: dict[str, tuple[str, list[str], list[str]]] = {}
    for alert in every_alert(options):
        _, severities, conditions = found.setdefault(alert.name, (alert.view.value, [], []))
        severities += [alert.severity] if alert.severity not in severities else []
        conditions += [alert.fires] if alert.fires not in conditions else []
    rows = (
        (f"[{name}]({options.runbooks}/{name}.md)", view, ", ".join(severities), "; ".join(conditions))
        for name, (view, severities, conditions) in found.items()
    )
    return table(("alert", "view", "severity", "fires"), rows)


Blocks = Mapping[str, Callable[[Options], str]]
BLOCKS: Final[Blocks] = {
    "taxonomy": taxonomy,
    "reasons": reasons,
    "alerts": alerts,
    "kubernetes-sizes": kubernetes.sizes,
    "kubernetes-queues": kubernetes.bridged,
}
_MARKER: Final = re.compile(r"^<!-- /?generated:([\w-]+) -->$", re.MULTILINE)


def rewrite(text: str, options: Options, blocks: Blocks) -> str:
    """The text of a page with all of its blocks updated. Raises `OptionError` if a marker is missing or names no block."""
    names = list(dict.fromkeys(_MARKER.findall(text)))
    if not names:
        raise OptionError(
            "the page has no generated block: <!-- generated:taxonomy --> and <!-- /generated:taxonomy -->"
        )
    for name in names:
        start, end = f"<!-- generated:{name} -->", f"<!-- /generated:{name} -->"
        if name not in blocks:
            raise OptionError(f"{start} names no block; known: {', '.join(blocks)}")
        if text.count(start) != 1 or text.count(end) != 1 or text.index(start) > text.index(end):
            raise OptionError(f"the page needs the markers {start} and {end} once each, in this order")
        before, _, rest = text.partition(start)
        text = f"{before}{start}\n{blocks[name](options)}{end}{rest.partition(end)[2]}"
    return text


def _rule_row(rule: HandlingRule) -> tuple[str, ...]:
    retry = "yes" if rule.retryable else "no"
    return (
        rule.error_class.value,
        rule.view.value,
        rule.audience,
        _AVAILABILITY[rule.availability],
        retry,
        rule.advice,
    )


def _reason(error_class: ErrorClass, reason: str) -> str:
    return f"{reason} (final)" if (error_class, reason) in FINAL_REASONS else reason
