"""The README's tables of classes, reasons and alerts, as blocks between markers, so that they cannot disagree."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from llm_errors.monitoring.alerts import every_alert
from llm_errors.monitoring.arguments import OptionError
from llm_errors.monitoring.options import Options
from llm_errors.taxonomy import FINAL_REASONS, HANDLING, REASONS, Availability, ErrorClass, HandlingRule

_AVAILABILITY: Final = {Availability.BAD: "bad", Availability.GOOD: "good", Availability.LEFT_OUT: "**left out**"}


def taxonomy(_: Options) -> str:
    """The 13 classes and their handling rules."""
    head = ("class", "view", "who is told", "availability", "retryable by default", "handling rule")
    return _table(head, (_rule_row(rule) for rule in HANDLING.values()))


def reasons(_: Options) -> str:
    """The closed vocabulary of reasons; those that no retry cures are marked."""
    rows = ((c.value, ", ".join(_reason(c, reason) for reason in listed)) for c, listed in REASONS.items())
    return _table(("class", "reasons"), rows)


def alerts(options: Options) -> str:
    """The alerts: route, severity, condition and runbook."""
    found: dict[str, tuple[str, list[str], list[str]]] = {}
    for alert in every_alert(options):
        _, severities, conditions = found.setdefault(alert.name, (alert.view.value, [], []))
        severities += [alert.severity] if alert.severity not in severities else []
        conditions += [alert.fires] if alert.fires not in conditions else []
    rows = (
        (f"[{name}](dashboards/runbooks/{name}.md)", view, ", ".join(severities), "; ".join(conditions))
        for name, (view, severities, conditions) in found.items()
    )
    return _table(("alert", "view", "severity", "fires"), rows)


BLOCKS: Final[Mapping[str, Callable[[Options], str]]] = {"taxonomy": taxonomy, "reasons": reasons, "alerts": alerts}


def rewrite(text: str, options: Options) -> str:
    """The README with each block renewed; raises `OptionError` when a block's markers are missing."""
    for name, block in BLOCKS.items():
        start, end = f"<!-- generated:{name} -->", f"<!-- /generated:{name} -->"
        if text.count(start) != 1 or text.count(end) != 1 or text.index(start) > text.index(end):
            raise OptionError(f"the README needs the markers {start} and {end} once each, in this order")
        fresh = f"{start}\n{block(options)}{end}"
        before, _, rest = text.partition(start)
        text = before + fresh + rest.partition(end)[2]
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


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
