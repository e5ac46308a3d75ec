"""Defines the names of the recorded series, and PromQL expressions over them: counts of events, shares, windows, minimums.

The queries of the panels are in `dashboards/queries.py`.

**Counting.** PromQL's `rate` and `increase` need two samples. They miss the first failure of a new process, because its
series starts with a value above 0, and they miss short jobs completely. So all numbers here are based on an exact count of
the events of the last 5 minutes in each raw series. The count is the last value in these 5 minutes minus the last value
before them. If there is no smaller value before, the series is new or its process was restarted, and the count is the whole
value. Even a series with a single sample is counted for 5 minutes.

**Old events are not counted again.** In two cases, a series looks new but continues old counts. First, if a label such as
`cluster` is added to a series, Prometheus sees a new series. It counts from the last value of the old series, which has the
same process and attributes and had a sample 5 minutes ago. Second, all series look new after Prometheus was down for longer
than the look-back. For 10 minutes after its return, a series without earlier samples counts only its increase. The series
`evaluated`, which is recorded at each evaluation, shows whether Prometheus was down. A Prometheus without any data recognises
new series from its second evaluation on. It counts the events of its first evaluation, but does not let them open a page that
stays until a call succeeds.

**Look-back.** The last value before the 5 minutes is searched in the hour before them, so a series that returns after a
shorter gap does not count as new. Such gaps are common: Prometheus takes minutes to replay its log, and a connection between
application and Collector is often broken for half an hour. With a look-back of 15 minutes, each failure counter that returns
unchanged would page. `tests/bench/rules.py` measures what the look-back costs.

**Windows.** Counts of 5 minutes are recorded every 15 s, so each event is in 20 of them. Sums of these counts over time are
therefore only used in ratios. Where the number of events matters, a subquery with a step that divides 5 minutes counts each
event equally often, whatever the evaluation interval is.

**Places.** All sums keep the labels that identify a service in one place (`Options.scope`), so that a healthy cluster does
not hide a cluster that is down.
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
"""The label of `target_info` with the version of the service."""
GROUPS: Final = ("events", "slo", "shares", "slo-long", "telemetry", "boards", "pipeline")
"""The names of the rule groups without the prefix `llm-`."""

INSTANCE: Final = "instance"
LOOK_BACK: Final = "1h"

BAD: Final = tuple(c.value for c, rule in HANDLING.items() if rule.availability is Availability.BAD)
LEFT_OUT: Final = tuple(c.value for c, rule in HANDLING.items() if rule.availability is Availability.LEFT_OUT)


def of_view(view: View) -> tuple[str, ...]:
    """The classes of a view, in the order of the taxonomy."""
    return tuple(c.value for c, rule in HANDLING.items() if rule.view is view)


def one_of(label: str, values: Iterable[str | ErrorClass]) -> str:
    """A matcher that selects series whose label has one of the values. There must be at least one value."""
    listed = [str(value) for value in values]
    return f'{label}="{listed[0]}"' if len(listed) == 1 else f'{label}=~"{_alternatives(listed)}"'


def none_of(label: str, values: Iterable[str]) -> str:
    """A matcher that excludes series whose label has one of the values. Without values it is an empty text."""
    listed = list(values)
    return f'{label}!~"{_alternatives(listed)}"' if listed else ""


def indented(expression: str) -> str:
    """The expression, indented by two spaces."""
    return "\n".join(f"  {line}" for line in expression.splitlines())


def _alternatives(values: Iterable[str]) -> str:
    return "|".join(value.replace(".", "[.]") for value in values)


def selector(metric: str, *matchers: str) -> str:
    """A series selector. Empty matchers are left out."""
    kept = ",".join(matcher for matcher in matchers if matcher)
    return f"{metric}{{{kept}}}" if kept else metric


def rule_groups(options: Options) -> str:
    """A matcher that selects these rule groups in Prometheus' metrics about its own evaluations."""
    prefix = f"{options.name}-" if options.name else ""
    return f'rule_group=~".*;{prefix}llm-({"|".join(GROUPS)})"'


def sum_by(labels: Sequence[str], expression: str) -> str:
    """The sum of the series for each combination of the labels."""
    inner = f"\n{indented(expression)}\n" if "\n" in expression else expression
    return f"sum by ({', '.join(labels)}) ({inner})"


def count_by(labels: Sequence[str], expression: str) -> str:
    """The number of series for each combination of the labels."""
    return "count" + sum_by(labels, expression).removeprefix("sum")


def over(window: str, series: str, ago: str = "") -> str:
    """A number proportional to the events in the window, which ends now or `ago`. It is used in ratios only."""
    return f"sum_over_time({series}[{window}]" + (f" offset {ago})" if ago else ")")


def events(window: str, series: str) -> str:
    """The exact number of events in the window, from a series that counts the events of the last 5 minutes."""
    if window == "5m":
        return series
    if window.endswith("d"):
        return f"sum_over_time({series}[{window}:5m])"
    return f"sum_over_time({series}[{window}:1m]) / 5"


def minus_before(now: str, before: str) -> str:
    """The increase of a counter. It has no value if the value before is missing or larger."""
    return f"({now} - {before} >= 0)"


def with_label_added(labels: Sequence[str], expression: str) -> str:
    """The series, and copies of them that each lack one of the labels.

    So an old series without a label still matches the series that replaces it when the label is added.
    """
    return "\nor\n".join([expression, *(f"sum without ({label}) ({expression})" for label in labels)])


def after_absence(evaluated: str) -> str:
    """1 for 10 minutes after a gap of about an hour to a week in which the rules were not evaluated, otherwise 0."""
    longer, recent = (f"last_over_time({evaluated}[{span}] offset 10m)" for span in ("7d", "50m"))
    return f"({longer}\nunless\n{recent})\nor\nvector(0)"


def grown_between_3m_and_5m_ago(series: str) -> str:
    """The number of events between 5 and 3 minutes ago. It does not include series that began in this time."""
    end, start = f"last_over_time({series}[2m] offset 3m)", f"last_over_time({series}[5m] offset 5m)"
    return f"{minus_before(end, start)}\n  or\n({end} and {start})"


def new_events(series: str, process: Sequence[str], absent: str) -> str:
    """The events of the last 5 minutes in each counter series, also in new, restarted, interrupted and short-lived series.

    `process` are the labels that a series keeps when another label is added. The result combines three expressions. The first
    is for a series that continues another series of the same process, and the second for a series that grew. The third is
    for a new or restarted series: it counts the whole value, or only the increase while `absent` is 1. Prometheus reads the
    data of each selector separately, so the expressions use few selectors.
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
    """Knows the names of the recorded series, and expressions over them, for the given options."""

    options: Options

    @property
    def window(self) -> str:
        """The period of the error budget as a PromQL duration."""
        return self.options.window

    @property
    def scope(self) -> tuple[str, ...]:
        """The labels that identify a service in one place."""
        return self.options.scope

    @property
    def places(self) -> tuple[str, ...]:
        """The labels that tell where a service runs."""
        return self.scope[1:]

    @property
    def by_provider(self) -> tuple[str, ...]:
        """The labels that identify a provider that a service calls."""
        return (*self.scope, PROVIDER)

    @property
    def by_model(self) -> tuple[str, ...]:
        """The labels that identify a model that a service calls."""
        return (*self.by_provider, MODEL)

    @property
    def by_class(self) -> tuple[str, ...]:
        """The labels that identify a class of failures of a model."""
        return (*self.by_model, CLASS)

    def name(self, level: str, what: str) -> str:
        """The name of a recorded series.

        `level` is `service`, `version`, `model`, `class`, `reason` or `attributes`. It says which labels the series keeps
        besides the labels of the service (`scope`).
        """
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
        """The series that is 1 at each evaluation of the rules."""
        return self.name("service", "llm_rules_evaluated:bool")

    @property
    def absent(self) -> str:
        """The series that is 1 while the rules cannot tell new series from returning series, otherwise 0."""
        return self.name("service", "llm_rules_absent:bool")

    def new_events(self, series: str, attributes: Sequence[str]) -> str:
        """New events in 5 minutes, for each series of a raw counter."""
        return new_events(series, (self.options.service_label, INSTANCE, *attributes), self.absent)

    @property
    def own_failures(self) -> str:
        """New internal errors of llm-errors in 5 minutes, by the part of llm-errors that failed."""
        return self.name("service", "llm_instrumentation_errors:count5m")

    @property
    def model_ok(self) -> str:
        """New successful calls in 5 minutes, per model."""
        return self.name("model", "llm_calls_ok:count5m")

    @property
    def failing(self) -> str:
        """New failures in 5 minutes that need a repair, by reason."""
        return self.name("reason", "llm_errors_failing:count5m")

    @property
    def inherited(self) -> str:
        """The value of `failing` at the very first evaluation by a Prometheus. The age of these failures is unknown."""
        return self.name("reason", "llm_errors_inherited:count5m")

    @property
    def unrepaired(self) -> str:
        """When a failure that needs a repair was last seen, in seconds since 1970. It is 0 after a call has succeeded."""
        return self.name("reason", "llm_errors_unrepaired:time")

    def unrepaired_before(self, *matchers: str) -> str:
        """The last value of `unrepaired` that was recorded within a day."""
        return f"last_over_time({selector(self.unrepaired, *matchers)}[1d])"

    def recent(self, what: str) -> str:
        """New calls in 3 minutes per service. `what` is `bad` or `valid`."""
        return self.name("service", f"llm_slo_{what}:count3m")

    def class_share(self, window: str) -> str:
        """Recorded share of a model's calls that failed with a class."""
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
        """When a failure was first seen, in seconds since 1970."""
        return self.name("reason", "llm_errors_first_seen:time")

    @property
    def last_seen(self) -> str:
        """When a failure was last seen, in seconds since 1970."""
        return self.name("reason", "llm_errors_last_seen:time")

    def buckets(self, metric: str) -> str:
        """Observations per second and model, by bucket of a classic histogram."""
        return self.name("model", f"{metric}_bucket:rate5m")

    def native(self, metric: str) -> str:
        """Observations per second and model, of a native histogram."""
        return self.name("model", f"{metric}:rate5m")

    @property
    def ranked_by(self) -> dict[str, tuple[str, ...]]:
        """What dashboards distinguish by colour (service, provider or model) -> the labels that identify it."""
        return {"service": self.scope, "provider": (PROVIDER,), "model": (PROVIDER, MODEL)}

    def calls_of_a_day(self, kind: str) -> str:
        """Calls in the last day, for each service, provider or model, as `kind` says."""
        return self._of_kind(kind, "llm_calls:sum1d")

    def slot(self, kind: str) -> str:
        """1 for the services, providers or models with the most calls in the last day. The label `slot` is the rank."""
        return self._of_kind(kind, "llm_calls:slot")

    def _of_kind(self, kind: str, what: str) -> str:
        prefix = f"{self.options.name}_" if self.options.name else ""
        level = {"service": self.options.service_label, "provider": "provider", "model": "provider_model"}[kind]
        return f"{prefix}{level}:{what}"

    @property
    def processes(self) -> str:
        """Number of processes of a service, by version."""
        return self.name("version", "llm_processes:count")

    @property
    def deployed(self) -> str:
        """Number of processes of a new version. The series ends after 5 minutes."""
        return self.name("version", "llm_deployed:count5m")

    @property
    def group_busy(self) -> str:
        """Duration of the last evaluation of a rule group, as a share of its interval."""
        return self.name("service", "llm_rule_group_busy:ratio")

    @property
    def objective(self) -> str:
        """The availability objective of a service, as a ratio."""
        return self.name("service", "llm_slo_objective:ratio")

    @property
    def budget(self) -> str:
        """The share of the error budget that is left: from 1 down to 0, and negative if the objective is missed."""
        return self.name("service", f"llm_slo_budget_remaining:ratio{self.window}")

    @property
    def succeeded(self) -> str:
        """Share of the calls that succeeded, not including cancelled calls."""
        return self.name("service", f"llm_calls_ok:ratio{self.window}")

    def bad(self, level: str) -> str:
        """New calls in 5 minutes that consume the error budget."""
        return self.name(level, "llm_slo_bad:count5m")

    def valid(self, level: str) -> str:
        """New valid calls in 5 minutes."""
        return self.name(level, "llm_slo_valid:count5m")

    def tumbling(self, series: str) -> str:
        """The name of the copy of a 5-minute count that is recorded only every 5 minutes, for long windows."""
        return series.replace(":count5m", ":every5m")

    def bad_ratio(self, level: str, window: str) -> str:
        """Recorded share of valid calls that failed within the window."""
        return self.name(level, f"llm_slo_bad:ratio{window}")

    def burn_rate(self, window: str, matcher: str = "") -> str:
        """The burn rate: how many times faster than the objective allows a service consumed its error budget in the window."""
        ratio = selector(self.bad_ratio("service", window), matcher)
        return f"{ratio} / on ({', '.join(self.scope)}) (1 - {self.objective})"

    def share(self, error: str, call: str, labels: Sequence[str], window: str, ago: str = "") -> str:
        """Share of a model's calls (the series `call`) that ended as `error` within the window, which ends now or `ago`."""
        join = f"/ on ({', '.join(self.by_model)}) group_left ()"
        return f"{sum_by(labels, over(window, error, ago))}\n{join}\n({over(window, call, ago)} > 0)"

    def share_before_today(self, error: str, call: str, labels: Sequence[str]) -> str:
        """The share in the 7 days that ended a day ago. It is a ratio of two sums of events, not a mean of shares."""
        return self.share(self.tumbling_of(error), self.tumbling_of(call), labels, "7d", "1d")

    def tumbling_of(self, selected: str) -> str:
        """Applies `tumbling` to a selector with matchers."""
        metric, brace, rest = selected.partition("{")
        return self.tumbling(metric) + brace + rest
