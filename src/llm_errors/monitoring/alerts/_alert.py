"""The class of an alert, and the names and texts that all alerts share."""

from dataclasses import dataclass
from typing import Any, Final

from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CLASS, MODEL, PROVIDER, REASON, Series
from llm_errors.taxonomy import View

AT_MODEL: Final = f"{{{{ $labels.{PROVIDER} }}}}/{{{{ $labels.{MODEL} }}}}"
THE_CLASS: Final = f"{{{{ $labels.{CLASS} }}}}"
THE_REASON: Final = f"{{{{ $labels.{REASON} }}}}"
RULE_SET: Final = "rule_set"
"""The label that distinguishes the same alert of two rule sets in one Prometheus. Only named sets have it."""
COUNT: Final = '{{ printf "%.0f" $value }}'
MOMENT: Final = "{{ $value | humanizeTimestamp }}"
SHARE: Final = "{{ $value | humanizePercentage }}"


@dataclass(frozen=True)
class Alert:
    """One alert rule. `severity` is page, ticket or info before renaming; `panel` is `dashboard uid/panel title`.

    `fires` describes the condition for the README. `hold` and `keep` are Prometheus' `for` and `keep_firing_for`.
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
    """The options, in the form that the alerts need."""

    options: Options

    @property
    def series(self) -> Series:
        """Series names and queries for these options."""
        return Series(self.options)

    @property
    def the_service(self) -> str:
        """The template of the service's name in the text of an alert."""
        return f"{{{{ $labels.{self.options.service_label} }}}}"
