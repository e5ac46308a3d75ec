"""Recording rules: the counting base, availability and its budget, and the 5-minute steps that long windows read.

Bad, valid and left out follow from the taxonomy. A ratio without valid calls is absent, neither 0 nor NaN: alerts
over it stay silent and panels say that there was no valid traffic.
"""

from dataclasses import dataclass
from typing import Any

from llm_errors import semconv
from llm_errors.monitoring import promql
from llm_errors.monitoring.options import BURNS, Options
from llm_errors.monitoring.promql import CHANNEL, CLASS, OPERATION, OUTCOME, REASON, Series

Rule = dict[str, Any]

LONG_WINDOWS = tuple(burn.long for burn in BURNS if burn.long.endswith("d"))


def record(name: str, expression: str) -> Rule:
    """One recording rule."""
    return {"record": name, "expr": expression}


@dataclass(frozen=True)
class Recording:
    """The recording rules of one tailoring, in the order in which they build on each other."""

    options: Options

    @property
    def series(self) -> Series:
        """Names and queries of this tailoring."""
        return Series(self.options.service_label, self.options.window)

    def base(self) -> list[Rule]:
        """New events in 5 minutes: calls, errors and retries, with every attribute but the process."""
        s, extra = self.series, self.options.selectors
        call = (*s.by_model, OPERATION)
        raw = (
            (s.calls, semconv.CALLS, (*call, OUTCOME)),
            (s.errors, semconv.ERRORS, (*call, CLASS, REASON, CHANNEL)),
            (s.retries, semconv.RETRIES, (*call, CLASS)),
        )
        counted = [
            record(name, promql.sum_by(labels, promql.new_events(promql.selector(metric, *extra))))
            for name, metric, labels in raw
        ]
        return [
            *counted,
            record(s.model_calls, promql.sum_by(s.by_model, s.calls)),
            record(s.class_errors, promql.sum_by(s.by_class, s.errors)),
        ]

    def availability(self) -> list[Rule]:
        """Bad and valid calls per model and service, their ratios over the short windows, and the objective."""
        s = self.series
        bad, valid = s.bad("model"), s.valid("model")
        settled = promql.selector(s.calls, promql.one_of(OUTCOME, (semconv.OK, semconv.ERROR)))
        rules = [
            record(bad, self._or_zero(promql.BAD)),
            record(
                valid,
                f"clamp_min(\n  {promql.sum_by(s.by_model, settled)}\n- ({self._or_zero(promql.LEFT_OUT)}), 0)",
            ),
            record(s.bad("service"), promql.sum_by((s.service,), bad)),
            record(s.valid("service"), promql.sum_by((s.service,), valid)),
        ]
        rules += [self._ratio("service", window) for window in ("5m", "30m", "1h", "2h", "6h")]
        rules += [self._ratio("model", window) for window in ("5m", "1h")]
        return [*rules, self._objective()]

    def long_term(self) -> list[Rule]:
        """What windows of days read, each 5 minutes: 8,640 steps in 30 days instead of 172,800."""
        s = self.series
        kept = (s.bad("service"), s.valid("service"), s.model_calls, s.calls, s.class_errors)
        rules = [record(s.tumbling(name), name) for name in kept]
        rules += [self._ratio("service", window, long=True) for window in (*LONG_WINDOWS, self.options.window)]
        spent = f"{s.bad_ratio('service', self.options.window)}\n/ on ({s.service})\n"
        rules.append(record(s.succeeded, self._succeeded()))
        return [*rules, record(s.budget, f"1 - {spent}(1 - last_over_time({s.objective}[1d]))")]

    def _succeeded(self) -> str:
        s, window = self.series, self.options.window
        ended = {
            outcomes: promql.selector(s.tumbling(s.calls), promql.one_of(OUTCOME, outcomes))
            for outcomes in ((semconv.OK,), (semconv.OK, semconv.ERROR))
        }
        good, settled = (promql.sum_by((s.service,), promql.over(window, calls)) for calls in ended.values())
        return f"{good}\n/\n({settled} > 0)"

    def _or_zero(self, classes: tuple[str, ...]) -> str:
        """Errors of the classes per model, 0 where a model has calls and none of them: it keeps ratios whole."""
        s = self.series
        errors = promql.sum_by(s.by_model, promql.selector(s.class_errors, promql.one_of(CLASS, classes)))
        return f"{errors} or 0 * {s.model_calls}"

    def _ratio(self, level: str, window: str, *, long: bool = False) -> Rule:
        s = self.series
        bad, valid = s.bad(level), s.valid(level)
        if long:
            bad, valid = s.tumbling(bad), s.tumbling(valid)
        if window != "5m":
            bad, valid = promql.over(window, bad), promql.over(window, valid)
        return record(s.bad_ratio(level, window), f"clamp_max({bad} / ({valid} > 0), 1)")

    def _objective(self) -> Rule:
        """The objective of each service: the one place where a number stands for it."""
        s, own = self.series, self.options.objectives
        calls = s.valid("service")
        default = promql.selector(calls, promql.none_of(s.service, sorted(own)))
        parts = [f"0 * {default} + {_ratio_text(self.options.objective)}"]
        for service, objective in sorted(own.items()):
            one = promql.selector(calls, promql.one_of(s.service, (service,)))
            parts.append(f"0 * {one} + {_ratio_text(objective)}")
        return record(s.objective, "\nor\n".join(parts))


def _ratio_text(percentage: float) -> str:
    return f"{percentage / 100:.8f}".rstrip("0")
