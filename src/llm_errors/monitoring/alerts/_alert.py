"""Defines what an alert is, and the names and texts that several alerts use."""

from dataclasses import dataclass
from typing import Any, Final

from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CLASS, MODEL, PROVIDER, REASON, Series
from llm_errors.taxonomy import View

AT_MODEL: Final = f"{{{{ $labels.{PROVIDER} }}}}/{{{{ $labels.{MODEL} }}}}"
THE_CLASS: Final = f"{{{{ $labels.{CLASS} }}}}"
THE_REASON: Final = f"{{{{ $labels.{REASON} }}}}"
RULE_SET: Final = "rule_set"
"""The label with the name of the rule set. It distinguishes the alerts of several sets in one Prometheus."""
COUNT: Final = '{{ printf "%.0f" $value }}'
MOMENT: Final = "{{ $value | humanizeTimestamp }}"
SHARE: Final = "{{ $value | humanizePercentage }}"


@dataclass(frozen=True)
class Alert:
    """An alert rule.

    `severity` is page, ticket or info, even if the user renames them in the generated files. `panel` is
    `dashboard uid/panel title`. `fires` describes the condition for the documentation. `hold` and `keep` are Prometheus' `for`
    and `keep_firing_for`.
    """

    name: str
    view: View
    severity: str
    fires: str
    expression: str
    summary: str
    description: str
    panel: str
    hold: str = ""
    keep: str = ""
    labels: tuple[tuple[str, str], ...] = ()

    def rule(self, options: Options) -> dict[str, Any]:
        """The alert as a Prometheus rule."""
        labels = {"severity": options.severities[self.severity], "view": self.view.value, **dict(self.labels)}
        if options.name:
            labels[RULE_SET] = options.name
        timing = {"for": self.hold, "keep_firing_for": self.keep}
        return {
            "alert": self.name,
            "expr": self.expression,
            **{key: value for key, value in timing.items() if value},
            "labels": labels,
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": f"{options.runbooks}/{self.name}.md",
            },
        }


@dataclass(frozen=True)
class Scope:
    """Gives alerts the series names and the texts that depend on the options."""

    options: Options

    @property
    def series(self) -> Series:
        """The names of the recorded series, and queries over them, for these options."""
        return Series(self.options)

    @property
    def the_service(self) -> str:
        """The template that Prometheus replaces by the name of the service in the text of an alert."""
        return f"{{{{ $labels.{self.options.service_label} }}}}"
