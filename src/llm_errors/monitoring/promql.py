"""The only place where PromQL is written (panels: `dashboards/queries.py`): recorded series, the counting base, and
shares, windows and minimums over it.

**Counting.** `rate` and `increase` need two samples, so they miss a series that is born non-zero (the first failure
of a fresh process) and a short job altogether. Every number here rests on one exact count instead, per series, before
anything is summed: the events of the last 5 minutes, as last value in them minus last value before them, or the whole
value where there is no smaller one before (born, or restarted). A series counts for 5 minutes even if it lived for
one sample only.

**Nothing old is new.** Two kinds of births are none. A series that gets a label (`cluster` is added while it lives)
continues the series of the same process and attributes that had a sample 5 minutes ago, so it counts from where that
one ended.
And when Prometheus was away for longer than the look-back, every series looks born: for 10 minutes after its return
a series without a past counts only what it grows by. `evaluated` is recorded at each evaluation and tells whether
Prometheus was there. A Prometheus without any past tells births from the second evaluation on; what the first one
finds is counted, but opens no page that stays until a success.

**Look-back.** "Before" reaches 1 h back. A gap in a series shorter than that is no birth: a Prometheus that replays
its log takes minutes, a broken link between application and Collector often half an hour, and with 15 minutes each
series that returns unchanged would page. What it costs is measured by `tests/bench/rules.py`.

**Windows.** Counts are recorded each 15 s, and each event is in 20 of them, so sums over time are used as ratios
only. Where a number of events matters a subquery with a step that divides 5 minutes counts each event equally often,
whatever the interval.

**Where.** Everything is summed by the labels of a service in one place (`Options.scope`), so a cluster that is down
is not hidden by a healthy one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from llm_errors import semconv
from llm_errors.monitoring.options import Options
from llm_errors.taxonomy import HANDLING, Availability, ErrorClass, View

PROVIDER: Final = semconv.prometheus_label(semconv.PROVIDER)
MODEL: Final = semconv.prometheus_label(semconv.REQUEST_MODEL)
OPERATION: Final = semconv.prometheus_label(semconv.OPERATION)
OUTCOME: Final = semconv.prometheus_label(semconv.OUTCOME)
CLASS: Final = semconv.prometheus_label(semconv.ERROR_CLASS)
REASON: Final = semconv.prometheus_label(semconv.ERROR_REASON)
CHANNEL: Final = semconv.prometheus_label(semconv.ERROR_CHANNEL)
DURATION_METRIC: Final = semconv.prometheus_label(semconv.DURATION) + "_seconds"
FIRST_CHUNK_METRIC: Final = semconv.prometheus_label(semconv.FIRST_CHUNK) + "_seconds"
VERSION: Final = "service_version"
"""The label of `target_info` that tells which version of a service runs."""
GROUPS: Final = ("events", "slo", "shares", "slo-long", "telemetry", "boards", "pipeline")
"""The rule groups, by the last part of their names."""

INSTANCE: Final = "instance"
LOOK_BACK: Final = "1h"

BAD: Final = tuple(c.value for c, rule in HANDLING.items() if rule.availability is Availability.BAD)
LEFT_OUT: Final = tuple(c.value for c, rule in HANDLING.items() if rule.availability is Availability.LEFT_OUT)


def of_view(view: View) -> tuple[str, ...]:
    """The classes that a view shows, in the order of the taxonomy."""
    return tuple(c.value for c, rule in HANDLING.items() if rule.view is view)


def one_of(label: str, values: Iterable[str | ErrorClass]) -> str:
    """A matcher for any of the values, at least one."""
    listed = [str(value) for value in values]
    return f'{label}="{listed[0]}"' if len(listed) == 1 else f'{label}=~"{_alternatives(listed)}"'


def none_of(label: str, values: Iterable[str]) -> str:
    """A matcher for all other values; empty without values."""
    listed = list(values)
    return f'{label}!~"{_alternatives(listed)}"' if listed else ""


def indented(expression: str) -> str:
    """The expression two columns to the right."""
    return "\n".join(f"  {line}" for line in expression.splitlines())


def _alternatives(values: Iterable[str]) -> str:
    return "|".join(value.replace(".", "[.]") for value in values)


def selector(metric: str, *matchers: str) -> str:
    """A series selector; empty matchers are left out."""
    kept = ",".join(matcher for matcher in matchers if matcher)
    return f"{metric}{{{kept}}}" if kept else metric


def rule_groups(options: Options) -> str:
    """A matcher for the label `rule_group` of Prometheus' own metrics about these groups."""
    prefix = f"{options.name}-" if options.name else ""
    return f'rule_group=~".*;{prefix}llm-({"|".join(GROUPS)})"'


def sum_by(labels: Sequence[str], expression: str) -> str:
    """The sum by labels."""
    inner = f"\n{indented(expression)}\n" if "\n" in expression else expression
    return f"sum by ({', '.join(labels)}) ({inner})"


def count_by(labels: Sequence[str], expression: str) -> str:
    """The number of series by labels."""
    return "count" + sum_by(labels, expression).removeprefix("sum")


def over(window: str, series: str, ago: str = "") -> str:
    """Weight of events within the window that ended `ago`: only good for ratios of two of them."""
    return f"sum_over_time({series}[{window}]" + (f" offset {ago})" if ago else ")")


def events(window: str, series: str) -> str:
    """Exact number of events within the window, of a series that counts 5 minutes."""
    if window == "5m":
        return series
    if window.endswith("d"):
        return f"sum_over_time({series}[{window}:5m])"
    return f"sum_over_time({series}[{window}:1m]) / 5"


def minus_before(now: str, before: str) -> str:
    """What a counter grew by; nothing for a series without a smaller value before."""
    return f"({now} - {before} >= 0)"


def with_label_added(labels: Sequence[str], expression: str) -> str:
    """The series, and again without each of the labels: what had no such label yet finds its successor in them."""
    return "\nor\n".join([expression, *(f"sum without ({label}) ({expression})" for label in labels)])


def after_absence(evaluated: str) -> str:
    """1 for 10 minutes after rules were not evaluated for about an hour or longer, up to a week; else 0."""
    longer, recent = (f"last_over_time({evaluated}[{span}] offset 10m)" for span in ("7d", "50m"))
    return f"({longer}\nunless\n{recent})\nor\nvector(0)"


def grown_between_3m_and_5m_ago(series: str) -> str:
    """Events that a 5-minute count has and a 3-minute count has not; births in between stay for their 5 minutes."""
    end, start = f"last_over_time({series}[2m] offset 3m)", f"last_over_time({series}[5m] offset 5m)"
    return f"{minus_before(end, start)}\n  or\n({end} and {start})"


def new_events(series: str, process: Sequence[str], absent: str) -> str:
    """Events of the last 5 minutes per counter series, births, restarts, gaps and short lives included.

    `process` are the labels that stay when a series gets a further one. In this order: a series that continues another
    one of its process; one that grew; one that was born or restarted: all of it is new, or where `absent` is 1 and
    nobody can tell only what it grew by. Each selector is read anew by Prometheus, so they are few.
    """
    same = ", ".join(process)
    now = f"last_over_time({series}[5m])"
    before = f"last_over_time({series}[{LOOK_BACK}] offset 5m)"
    known = f"last_over_time({series}[10m]) and {series} offset 5m"
    continued = f"({now} unless {series} offset 5m)\n- on ({same}) group_left ()\nmax by ({same}) ({known})"
    return "\nor\n".join(
        (
            f"(\n{indented(continued)}\n) >= 0",
            minus_before(now, before),
            f"({now} - min_over_time({series}[5m]) * scalar({absent}))",
        )
    )


@dataclass(frozen=True)
class Series:
    """Names of the recorded series and queries over them, for one tailoring."""

    options: Options

    @property
    def window(self) -> str:
        """The budget's period."""
        return self.options.window

    @property
    def scope(self) -> tuple[str, ...]:
        """Labels of what is told about a service in one place."""
        return self.options.scope

    @property
    def places(self) -> tuple[str, ...]:
        """Labels that tell where a service runs."""
        return self.scope[1:]

    @property
    def by_provider(self) -> tuple[str, ...]:
        """Labels of what is told about a provider."""
        return (*self.scope, PROVIDER)

    @property
    def by_model(self) -> tuple[str, ...]:
        """Labels of what is told about a model."""
        return (*self.by_provider, MODEL)

    @property
    def by_class(self) -> tuple[str, ...]:
        """Labels of what is told about a class at a model."""
        return (*self.by_model, CLASS)

    def name(self, level: str, what: str) -> str:
        """`level` is `service`, `version`, `model`, `class`, `reason` or `attributes`: the labels that a recorded series keeps
        beside those that tell the place."""
        suffix = {
            "service": "",
            "model": "_provider_model",
            "class": "_provider_model_class",
            "reason": "_provider_model_class_reason",
            "attributes": "_attributes",
            "version": "_version",
        }
        prefix = f"{self.options.name}_" if self.options.name else ""
        return f"{prefix}{self.options.service_label}{suffix[level]}:{what}"

    @property
    def evaluated(self) -> str:
        """1 at each evaluation of the rules."""
        return self.name("service", "llm_rules_evaluated:bool")

    @property
    def absent(self) -> str:
        """1 while the rules cannot tell a birth from a return, since they were not evaluated for long; else 0."""
        return self.name("service", "llm_rules_absent:bool")

    def new_events(self, series: str, attributes: Sequence[str]) -> str:
        """New events of a raw counter in 5 minutes, per series."""
        return new_events(series, (self.options.service_label, INSTANCE, *attributes), self.absent)

    @property
    def own_failures(self) -> str:
        """New failures of the instrumentation itself in 5 minutes, by place."""
        return self.name("service", "llm_instrumentation_errors:count5m")

    @property
    def model_ok(self) -> str:
        """New calls in 5 minutes per model that ended well."""
        return self.name("model", "llm_calls_ok:count5m")

    @property
    def failing(self) -> str:
        """New failures in 5 minutes that only a repair ends, by reason."""
        return self.name("reason", "llm_errors_failing:count5m")

    @property
    def inherited(self) -> str:
        """The same as the very first evaluation found it: nobody can tell how old it is."""
        return self.name("reason", "llm_errors_inherited:count5m")

    @property
    def unrepaired(self) -> str:
        """When a failure that needs a repair was last seen, in seconds since 1970; 0 once a call has succeeded."""
        return self.name("reason", "llm_errors_unrepaired:time")

    def unrepaired_before(self, *matchers: str) -> str:
        """The same as it was recorded last, within a day."""
        return f"last_over_time({selector(self.unrepaired, *matchers)}[1d])"

    def recent(self, what: str) -> str:
        """New `bad` or `valid` calls of a service in 3 minutes."""
        return self.name("service", f"llm_slo_{what}:count3m")

    def class_share(self, window: str) -> str:
        """Recorded share of a model's calls that ended in a class."""
        return self.name("class", f"llm_errors:ratio{window}")

    def cancelled_share(self, window: str) -> str:
        """Recorded share of a model's calls that the application cancelled."""
        return self.name("model", f"llm_calls_cancelled:ratio{window}")

    @property
    def calls(self) -> str:
        """New calls in 5 minutes with all their attributes."""
        return self.name("attributes", "llm_calls:count5m")

    @property
    def errors(self) -> str:
        """New errors in 5 minutes with all their attributes."""
        return self.name("attributes", "llm_errors:count5m")

    @property
    def retries(self) -> str:
        """New hidden retries in 5 minutes with all their attributes."""
        return self.name("attributes", "llm_retries:count5m")

    @property
    def model_calls(self) -> str:
        """New calls in 5 minutes per model, whatever their outcome."""
        return self.name("model", "llm_calls:count5m")

    @property
    def class_errors(self) -> str:
        """New errors in 5 minutes per model and class."""
        return self.name("class", "llm_errors:count5m")

    @property
    def first_seen(self) -> str:
        """Since when a failure has come again and again, in seconds since 1970."""
        return self.name("reason", "llm_errors_first_seen:time")

    @property
    def last_seen(self) -> str:
        """When a failure was last seen, in seconds since 1970."""
        return self.name("reason", "llm_errors_last_seen:time")

    def buckets(self, metric: str) -> str:
        """Observations a second per model, by bucket of a classic histogram."""
        return self.name("model", f"{metric}_bucket:rate5m")

    def native(self, metric: str) -> str:
        """The same of a native histogram."""
        return self.name("model", f"{metric}:rate5m")

    @property
    def ranked_by(self) -> dict[str, tuple[str, ...]]:
        """What dashboards tell apart by colour, and the labels that name one of each."""
        return {"service": self.scope, "provider": (PROVIDER,), "model": (PROVIDER, MODEL)}

    def calls_of_a_day(self, kind: str) -> str:
        """Calls of the last day of a service, provider or model, over everything else."""
        return self._of_kind(kind, "llm_calls:sum1d")

    def slot(self, kind: str) -> str:
        """1 for those with the most calls of the last day; the label `slot` is their rank."""
        return self._of_kind(kind, "llm_calls:slot")

    def _of_kind(self, kind: str, what: str) -> str:
        prefix = f"{self.options.name}_" if self.options.name else ""
        level = {"service": self.options.service_label, "provider": "provider", "model": "provider_model"}[kind]
        return f"{prefix}{level}:{what}"

    @property
    def processes(self) -> str:
        """Processes of a service by its version."""
        return self.name("version", "llm_processes:count")

    @property
    def deployed(self) -> str:
        """Processes of a version that is new, for 5 minutes."""
        return self.name("version", "llm_deployed:count5m")

    @property
    def group_busy(self) -> str:
        """Share of the interval that the last evaluation of a rule group took."""
        return self.name("service", "llm_rule_group_busy:ratio")

    @property
    def objective(self) -> str:
        """The availability objective of a service, as a ratio."""
        return self.name("service", "llm_slo_objective:ratio")

    @property
    def budget(self) -> str:
        """What is left of the error budget: 1 untouched, 0 spent, negative missed."""
        return self.name("service", f"llm_slo_budget_remaining:ratio{self.window}")

    @property
    def succeeded(self) -> str:
        """Share of the calls that ended well, among those that were not cancelled."""
        return self.name("service", f"llm_calls_ok:ratio{self.window}")

    def bad(self, level: str) -> str:
        """New calls in 5 minutes that burn the budget."""
        return self.name(level, "llm_slo_bad:count5m")

    def valid(self, level: str) -> str:
        """New valid calls in 5 minutes."""
        return self.name(level, "llm_slo_valid:count5m")

    def tumbling(self, series: str) -> str:
        """The count of `series` recorded each 5 minutes only, which is what long windows read."""
        return series.replace(":count5m", ":every5m")

    def bad_ratio(self, level: str, window: str) -> str:
        """Recorded share of valid calls that failed within the window."""
        return self.name(level, f"llm_slo_bad:ratio{window}")

    def burn_rate(self, window: str, matcher: str = "") -> str:
        """How many times faster than the objective allows a service burns its budget over the window."""
        ratio = selector(self.bad_ratio("service", window), matcher)
        return f"{ratio} / on ({', '.join(self.scope)}) (1 - {self.objective})"

    def share(self, error: str, call: str, labels: Sequence[str], window: str, ago: str = "") -> str:
        """Share of a model's calls (`call`, recorded per model) that ended as `error` within the window."""
        join = f"/ on ({', '.join(self.by_model)}) group_left ()"
        return f"{sum_by(labels, over(window, error, ago))}\n{join}\n({over(window, call, ago)} > 0)"

    def share_before_today(self, error: str, call: str, labels: Sequence[str]) -> str:
        """The share of the 7 days that ended a day ago: of sums of events, not a mean of shares."""
        return self.share(self.tumbling_of(error), self.tumbling_of(call), labels, "7d", "1d")

    def tumbling_of(self, selected: str) -> str:
        """`tumbling` for a selector with matchers."""
        metric, brace, rest = selected.partition("{")
        return self.tumbling(metric) + brace + rest
