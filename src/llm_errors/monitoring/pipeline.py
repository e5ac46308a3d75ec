"""Defines recording rules about data that Collectors lose. They read the Collectors' internal metrics (`otelcol_*`).

These rules are a separate group, which can be loaded without the others. They cover every Collector that Prometheus scrapes:
the user's `--selector` applies only to LLM series.
"""

from dataclasses import dataclass
from typing import Any, Final

from llm_errors.monitoring import promql
from llm_errors.monitoring.options import WHERE, Options
from llm_errors.monitoring.promql import INSTANCE

COMPONENT: Final = "component"
"""The label that names the exporter or receiver that loses data."""
SIGNAL: Final = "signal"
QUEUE_FULL: Final = 0.8
LOSSES: Final = {"refused": "receiver", "send_failed": "exporter", "enqueue_failed": "exporter"}
"""Way in which data is lost -> the kind of component that loses it."""
_SIGNALS: Final = "(metric_points|spans|log_records)(_total)?"


@dataclass(frozen=True)
class Pipeline:
    """Knows the names of the recorded series, and builds the recording rules, for the given options."""

    options: Options

    @property
    def collector(self) -> tuple[str, ...]:
        """The labels that identify one Collector."""
        return ("job", INSTANCE, *(label for label in (*WHERE, *self.options.extra_labels) if label != "job"))

    def name(self, what: str) -> str:
        """The name of a recorded series."""
        return f"{self.options.name}_pipeline:{what}" if self.options.name else f"pipeline:{what}"

    @property
    def evaluated(self) -> str:
        """The series that is 1 at each evaluation of this group."""
        return self.name("llm_rules_evaluated:bool")

    @property
    def absent(self) -> str:
        """The series that is 1 while the rules cannot tell new series from returning series, otherwise 0."""
        return self.name("llm_rules_absent:bool")

    def lost(self, what: str) -> str:
        """The number of items that were `refused`, `send_failed` or `enqueue_failed` since the Collector started."""
        return self.name(f"otelcol_{what}:total")

    def lost_recently(self, what: str) -> str:
        """The number of items that were lost in this way in the last 5 minutes, per Collector and component."""
        return self.name(f"otelcol_{what}:count5m")

    @property
    def queue(self) -> str:
        """Share of an exporter's queue that is in use."""
        return self.name("otelcol_queue:ratio")

    def records(self) -> list[dict[str, Any]]:
        """Rules for total losses per Collector, component and signal, for recent losses, and for queues.

        The totals read the names that the metrics have in all releases of the Collector.
        """
        totals = {
            self.absent: promql.after_absence(self.evaluated),
            self.evaluated: "vector(1)",
            **{self.lost(what): self._total(f"otelcol_{kind}_{what}_", kind) for what, kind in LOSSES.items()},
        }
        lately = {self.lost_recently(what): self._lately(what) for what in LOSSES}
        found = {**totals, **lately, self.queue: self._queue()}
        return [{"record": name, "expr": expression} for name, expression in found.items()]

    def _total(self, metric: str, component: str) -> str:
        named = f'label_replace({{__name__=~"{metric}{_SIGNALS}"}}, "{SIGNAL}", "$1", "__name__", "{metric}{_SIGNALS}")'
        placed = f'label_replace({named}, "{COMPONENT}", "$1", "{component}", "(.+)")'
        return promql.sum_by((*self.collector, COMPONENT, SIGNAL), placed)

    def _lately(self, what: str) -> str:
        process = ("job", INSTANCE, COMPONENT, SIGNAL)
        return promql.sum_by((*self.collector, COMPONENT), promql.new_events(self.lost(what), process, self.absent))

    def _queue(self) -> str:
        used = "otelcol_exporter_queue_size / otelcol_exporter_queue_capacity"
        placed = f'label_replace({used}, "{COMPONENT}", "$1", "exporter", "(.+)")'
        return f"max by ({', '.join((*self.collector, COMPONENT))}) ({placed})"
