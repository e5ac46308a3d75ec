"""Defines the recording rules for counts of events, availability and its error budget, and the 5-minute steps of long windows.

The taxonomy decides which calls are bad, valid or left out. If there are no valid calls, a ratio has no value (neither 0 nor
NaN): alerts on it do not fire, and panels show that there were no valid calls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from llm_errors import semconv
from llm_errors.monitoring import promql
from llm_errors.monitoring.options import BURNS, CANCELLED, Options
from llm_errors.monitoring.promql import CHANNEL, CLASS, MODEL, OPERATION, OUTCOME, PROVIDER, REASON, Series
from llm_errors.taxonomy import ACCOUNT_BUDGET_REASONS, ErrorClass, View

Rule = dict[str, Any]

SETTLED: Final = (semconv.OK, semconv.ERROR)
BEFORE_TODAY: Final = "7d_before_today"
REPAIR_LIMIT_SECONDS: Final = 24 * 3600 - 300
"""The age at which an unrepaired failure is forgotten: one day, minus the 5 minutes for which a count contains an event."""
ASKED_FOR: Final = "25m"
"""The range of counts without calls that shows that a model was not called for 30 minutes: each count adds 5 minutes."""
LONG_WINDOWS: Final = tuple(burn.long for burn in BURNS if burn.long.endswith("d"))


def record(name: str, expression: str) -> Rule:
    """A recording rule in the format of Prometheus."""
    return {"record": name, "expr": expression}


@dataclass(frozen=True)
class Recording:
    """Builds the recording rules for the given options. Later rules read the series of earlier ones."""

    options: Options

    @property
    def series(self) -> Series:
        """The names of the recorded series, and queries over them, for these options."""
        return Series(self.options)

    def base(self) -> list[Rule]:
        """Rules for new events in 5 minutes: calls, errors, retries and internal errors, summed over processes."""
        s, extra = self.series, self.options.selectors
        call = (PROVIDER, MODEL, OPERATION)
        raw = (
            (s.calls, semconv.CALLS, (*call, OUTCOME)),
            (s.errors, semconv.ERRORS, (*call, CLASS, REASON, CHANNEL)),
            (s.retries, semconv.RETRIES, (*call, CLASS)),
            (s.own_failures, semconv.INSTRUMENTATION_ERRORS, (semconv.PLACE,)),
        )
        counted = [
            record(name, promql.sum_by((*s.scope, *own), s.new_events(promql.selector(metric, *extra), own)))
            for name, metric, own in raw
        ]
        succeeded = promql.selector(s.calls, promql.one_of(OUTCOME, (semconv.OK,)))
        return [
            record(s.absent, promql.after_absence(s.evaluated)),
            record(s.evaluated, "vector(1)"),
            *counted,
            record(s.model_calls, promql.sum_by(s.by_model, s.calls)),
            record(s.model_ok, promql.sum_by(s.by_model, succeeded)),
            record(s.class_errors, promql.sum_by(s.by_class, s.errors)),
            record(s.failing, self._failing()),
            record(s.inherited, f"{s.failing}\nunless on () last_over_time({s.evaluated}[7d] offset 1s)"),
            record(s.unrepaired, self._unrepaired()),
        ]

    def _failing(self) -> str:
        s = self.series
        account = promql.one_of(REASON, ACCOUNT_BUDGET_REASONS)
        chosen = (
            (promql.one_of(CLASS, (ErrorClass.AUTH, ErrorClass.NOT_FOUND)),),
            (promql.one_of(CLASS, (ErrorClass.CALL_BUDGET,)), account),
        )
        errors = "\nor\n".join(promql.selector(s.errors, *matchers) for matchers in chosen)
        return promql.sum_by((*s.by_class, REASON), errors)

    def _unrepaired(self) -> str:
        """When each failure that needs a repair was last seen: now, if it is in the count, else the time recorded before.

        After a call to the model has succeeded, the value is 0. A day after the last failure, the series ends.
        """
        s = self.series
        fresh = f" > time() - {REPAIR_LIMIT_SECONDS}"
        still = s.unrepaired_before() + fresh
        not_found = s.unrepaired_before(promql.one_of(CLASS, (ErrorClass.NOT_FOUND,))) + fresh
        succeeds = promql.with_label_added(s.places, f"{s.model_ok} > 0")
        provider = promql.sum_by(s.by_provider, f"max_over_time({s.model_ok}[{ASKED_FOR}])")
        elsewhere = promql.with_label_added(s.places, f"{provider} > 0")
        asked = promql.with_label_added(s.places, f"max_over_time({s.model_calls}[{ASKED_FOR}]) > 0")
        repaired = f"{still}\nand on ({', '.join(s.by_model)}) (\n{promql.indented(succeeds)}\n)"
        replaced = (
            f"{not_found}\nand on ({', '.join(s.by_provider)}) (\n{promql.indented(elsewhere)}\n)\n"
            f"unless on ({', '.join(s.by_model)}) (\n{promql.indented(asked)}\n)\nand on () {s.evaluated} offset 30m"
        )
        return "\nor\n".join(
            (
                f"0 * ({s.failing} > 0 unless {s.failing} <= last_over_time({s.inherited}[5m])) + time()",
                f"0 * (\n{promql.indented(repaired)}\n)",
                f"0 * (\n{promql.indented(replaced)}\n)",
                still,
            )
        )

    def availability(self) -> list[Rule]:
        """Rules for bad and valid calls per model and service, their ratios over short windows, and the objective."""
        s = self.series
        bad, valid = s.bad("model"), s.valid("model")
        settled = promql.selector(s.calls, promql.one_of(OUTCOME, SETTLED))
        rules = [
            record(bad, self._or_zero(promql.BAD)),
            record(
                valid,
                f"clamp_min(\n  {promql.sum_by(s.by_model, settled)}\n- ({self._or_zero(promql.LEFT_OUT)}), 0)",
            ),
            record(s.bad("service"), promql.sum_by(s.scope, bad)),
            record(s.valid("service"), promql.sum_by(s.scope, valid)),
            *self._last_3_minutes(),
        ]
        rules += [self._ratio("service", window) for window in ("5m", "30m", "1h", "2h", "6h")]
        rules += [self._ratio("model", window) for window in ("5m", "1h")]
        return [*rules, self._objective()]

    def _last_3_minutes(self) -> list[Rule]:
        """Rules for counts of 3 minutes, which are the 5-minute counts minus the events of their first two minutes."""
        s = self.series
        bad, valid = s.bad("service"), s.valid("service")

        def earlier(metric: str, label: str, values: tuple[str, ...]) -> str:
            raw = promql.selector(metric, *self.options.selectors, promql.one_of(label, values))
            return f"({promql.sum_by(s.scope, promql.grown_between_3m_and_5m_ago(raw))} or 0 * {valid})"

        settled = earlier(semconv.CALLS, OUTCOME, SETTLED)
        left_out = earlier(semconv.ERRORS, CLASS, promql.LEFT_OUT)
        ratio = f"clamp_max({s.recent('bad')} / ({s.recent('valid')} > 0), 1)"
        return [
            record(s.recent("bad"), f"clamp_min({bad}\n- {earlier(semconv.ERRORS, CLASS, promql.BAD)}, 0)"),
            record(s.recent("valid"), f"clamp_min({valid}\n- {settled}\n+ {left_out}, 0)"),
            record(s.bad_ratio("service", "3m"), ratio),
        ]

    def shares(self) -> list[Rule]:
        """Rules for the shares that alerts compare with the week before today."""
        share = self.series.share
        return [record(name(span), share(error, call, by, span)) for name, error, call, by, span in self._compared()]

    def _compared(self) -> list[tuple[Callable[[str], str], str, str, tuple[str, ...], str]]:
        """What `shares` records: name, errors, calls, labels and window, for the policy classes and for cancelled calls."""
        s, shares, policy = self.series, self.options.shares, promql.of_view(View.POLICY)
        classes = promql.selector(s.class_errors, promql.one_of(CLASS, policy))
        cancelled = promql.selector(s.calls, promql.one_of(OUTCOME, (semconv.CANCELLED,)))
        return [
            (s.class_share, classes, s.model_calls, s.by_class, shares[policy[0]].window),
            (s.cancelled_share, cancelled, s.model_calls, s.by_model, shares[CANCELLED].window),
        ]

    def long_term(self) -> list[Rule]:
        """Rules for windows of days. They read steps of 5 minutes, so 30 days have 8,640 steps instead of 172,800."""
        s = self.series
        kept = (s.bad("service"), s.valid("service"), s.model_calls, s.calls, s.class_errors, s.errors)
        rules = [record(s.tumbling(name), name) for name in kept]
        rules += [self._ratio("service", window, long=True) for window in (*LONG_WINDOWS, self.options.window)]
        rules += [
            record(name(BEFORE_TODAY), s.share_before_today(error, call, by))
            for name, error, call, by, _ in self._compared()
        ]
        spent = f"{s.bad_ratio('service', self.options.window)}\n/ on ({', '.join(s.scope)})\n"
        rules.append(record(s.succeeded, self._succeeded()))
        return [*rules, record(s.budget, f"1 - {spent}(1 - last_over_time({s.objective}[1d]))")]

    def _succeeded(self) -> str:
        s, window = self.series, self.options.window
        ended = {
            outcomes: promql.selector(s.tumbling(s.calls), promql.one_of(OUTCOME, outcomes))
            for outcomes in ((semconv.OK,), SETTLED)
        }
        good, settled = (promql.sum_by(s.scope, promql.over(window, calls)) for calls in ended.values())
        return f"{good}\n/\n({settled} > 0)"

    def _or_zero(self, classes: tuple[str, ...]) -> str:
        """Errors of the classes per model. A model with calls but without such errors has 0, so that no ratio is missing."""
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
        """The rule with the objective of each service. All other rules read this series."""
        s, own = self.series, self.options.objectives
        calls = s.valid("service")
        default = promql.selector(calls, promql.none_of(self.options.service_label, sorted(own)))
        parts = [f"0 * {default} + {_ratio_text(self.options.objective)}"]
        for service, objective in sorted(own.items()):
            one = promql.selector(calls, promql.one_of(self.options.service_label, (service,)))
            parts.append(f"0 * {one} + {_ratio_text(objective)}")
        return record(s.objective, "\nor\n".join(parts))


def _ratio_text(percentage: float) -> str:
    return f"{percentage / 100:.8f}".rstrip("0")
