"""Defines recording rules for dashboards only: when a failure was first and last seen, latency, deployments and ranks.

The group of these rules is evaluated once a minute, because no alert depends on it. With the recorded series, a dashboard over
30 days need not read raw series.
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
"""The values of the label `slot`. Each of these ranks has its own colour on dashboards."""
MEMORY: Final = "1d"
"""How long Prometheus may be down without forgetting when a failure was first seen."""


@dataclass(frozen=True)
class BoardRecording:
    """Builds the recording rules for the given options. Later rules read the series of earlier rules."""

    options: Options

    @property
    def series(self) -> Series:
        """The names of the recorded series, and queries over them, for these options."""
        return Series(self.options)

    def records(self) -> list[Rule]:
        """All recording rules."""
        return [*self._seen(), *self._latency(), *self._deployments(), *self._ranks(), self._evaluation()]

    def _seen(self) -> list[Rule]:
        """Rules for when each failure was last and first seen, in seconds since 1970, accurate to a minute.

        A failure that was not seen during the period of the error budget is forgotten. If it happens again, it counts as new.
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
        """Rules for observations per second, for classic and for native histograms. A metric is only one of the two."""
        s, extra = self.series, self.options.selectors
        rules = []
        for metric in (DURATION_METRIC, FIRST_CHUNK_METRIC):
            classic = selector(f"{metric}_bucket", *extra)
            rules.append(record(s.buckets(metric), sum_by((*s.by_model, "le"), f"rate({classic}[5m])")))
            rules.append(record(s.native(metric), sum_by(s.by_model, f"rate({selector(metric, *extra)}[5m])")))
        return rules

    def _deployments(self) -> list[Rule]:
        """Rules for the processes of each version, and for versions that did not run in the day before, for 5 minutes each."""
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
        """Rules for the ranks of the services, providers and models with the most calls. Dashboards give each rank a colour."""
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
        """A rule for how busy each rule group is: the duration of its last evaluation as a share of its interval."""
        took, interval = (
            selector(f"prometheus_rule_group_{what}_seconds", rule_groups(self.options))
            for what in ("last_duration", "interval")
        )
        by = ("job", "instance", *(label for label in self.series.places if label != "job"), "rule_group")
        return record(self.series.group_busy, f"max by ({', '.join(by)}) ({took} / {interval})")
