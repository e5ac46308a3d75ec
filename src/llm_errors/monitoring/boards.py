"""Recording rules for dashboards only: when a failure was first and last seen, latency, and deployments.

Their group is evaluated once a minute. No alert waits for it, and a dashboard over 30 days reads no raw series.
"""

from dataclasses import dataclass
from typing import Final

from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import (
    DURATION_METRIC,
    FIRST_CHUNK_METRIC,
    REASON,
    VERSION,
    Series,
    rule_groups,
    selector,
    sum_by,
)
from llm_errors.monitoring.slo import Rule, record

SLOTS: Final = "①②③④⑤⑥⑦⑧"
"""The ranks that have a colour of their own."""
MEMORY: Final = "1d"
"""How long Prometheus may be down before it forgets when a failure was first seen."""


@dataclass(frozen=True)
class BoardRecording:
    """The recording rules for the given options, in the order in which they build on each other."""

    options: Options

    @property
    def series(self) -> Series:
        """Series names and queries for these options."""
        return Series(self.options)

    def records(self) -> list[Rule]:
        """All recording rules."""
        return [*self._seen(), *self._latency(), *self._deployments(), *self._ranks(), self._evaluation()]

    def _seen(self) -> list[Rule]:
        """When each failure was last and first seen, in seconds since 1970, accurate to a minute.

        A failure that was not seen during the budget's period is forgotten. If it happens again, it counts as first seen.
        """
        s = self.series
        by = (*s.by_class, REASON)
        known = f"last_over_time({s.last_seen}[{MEMORY}]) > time() - {self.options.window_days * 86400}"
        first = f"last_over_time({s.first_seen}[{MEMORY}]) and on ({', '.join(by)}) {s.last_seen}"
        return [
            record(s.last_seen, f"0 * ({sum_by(by, s.errors)} > 0) + time()\nor\n{known}"),
            record(s.first_seen, f"{first}\nor\n{s.last_seen}"),
        ]

    def _latency(self) -> list[Rule]:
        """Observations per second, of classic and of native histograms. One of the two is always empty."""
        s, extra = self.series, self.options.selectors
        rules = []
        for metric in (DURATION_METRIC, FIRST_CHUNK_METRIC):
            classic = selector(f"{metric}_bucket", *extra)
            rules.append(record(s.buckets(metric), sum_by((*s.by_model, "le"), f"rate({classic}[5m])")))
            rules.append(record(s.native(metric), sum_by(s.by_model, f"rate({selector(metric, *extra)}[5m])")))
        return rules

    def _deployments(self) -> list[Rule]:
        """Processes by version, and, for 5 minutes, each version that did not run during the day before."""
        s = self.series
        running = selector("target_info", *self.options.selectors, f'{VERSION}!=""')
        observed = f"{running} and on ({self.options.service_label}) {s.valid('service')}"
        before = f"last_over_time({s.processes}[1d] offset 5m)"
        return [
            record(s.processes, f"count by ({', '.join((*s.scope, VERSION))}) ({observed})"),
            record(
                s.deployed, f"{s.processes}\nunless\n{before}\nand on ()\nlast_over_time({s.evaluated}[1h] offset 10m)"
            ),
        ]

    def _ranks(self) -> list[Rule]:
        """The ranks of the most called services, providers and models. Dashboards give each rank a colour."""
        s, rules = self.series, []
        calls = s.tumbling(s.model_calls)
        for kind, labels in s.ranked_by.items():
            total = s.calls_of_a_day(kind)
            rules.append(record(total, sum_by(labels, f"sum_over_time({calls}[1d])")))
            ranks = (self._rank(total, rank, slot) for rank, slot in enumerate(SLOTS))
            rules.append(record(s.slot(kind), "\nor\n".join(ranks)))
        return rules

    def _rank(self, total: str, rank: int, slot: str) -> str:
        better = f" unless topk({rank}, {total})" if rank else ""
        return f'label_replace(0 * (topk({rank + 1}, {total}){better}) + 1, "slot", "{slot}", "", "")'

    def _evaluation(self) -> Rule:
        """The share of its interval that the last evaluation of each rule group took."""
        took, interval = (
            selector(f"prometheus_rule_group_{what}_seconds", rule_groups(self.options))
            for what in ("last_duration", "interval")
        )
        by = ("job", "instance", *(label for label in self.series.places if label != "job"), "rule_group")
        return record(self.series.group_busy, f"max by ({', '.join(by)}) ({took} / {interval})")
