"""The only place where PromQL is written (panels: `dashboards/queries.py`): recorded series, the counting base, and
shares, windows and minimums over it.

**Counting.** `rate` and `increase` need two samples, so they miss a series that is born non-zero (the first failure
of a fresh process) and a short job altogether. Every number here rests on one exact count instead, per series, before
anything is summed: the events of the last 5 minutes, as last value in them minus last value before them, or the whole
value where there is no smaller one before (born, or restarted). A series counts for 5 minutes even if it lived for
one sample only.

**Look-back.** "Before" reaches 1 h back. A gap in a series shorter than that is no birth: a Prometheus that replays
its log takes minutes, a broken link between application and Collector often half an hour, and with 15 minutes each
series that returns unchanged would page. Measured with Prometheus 3 at a scrape interval of 15 s, samples read per
series and evaluation: 120 with 15 min, 180 with 30 min, 300 with 1 h, 540 with 2 h. The past is read once; the plain
form with three branches reads it three times (183, 363, 723, 1443). 1,500 series cost 450,000 samples and about 40 ms
each 15 s.

**Windows.** Counts are recorded each 15 s, and each event is in 20 of them, so sums over time are used as ratios
only. Where a number of events matters a subquery with a step that divides 5 minutes counts each event equally often,
whatever the interval.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from llm_errors import semconv
from llm_errors.taxonomy import HANDLING, Availability, ErrorClass, View

PROVIDER: Final = semconv.prometheus_label(semconv.PROVIDER)
MODEL: Final = semconv.prometheus_label(semconv.REQUEST_MODEL)
OPERATION: Final = semconv.prometheus_label(semconv.OPERATION)
OUTCOME: Final = semconv.prometheus_label(semconv.OUTCOME)
CLASS: Final = semconv.prometheus_label(semconv.ERROR_CLASS)
REASON: Final = semconv.prometheus_label(semconv.ERROR_REASON)
CHANNEL: Final = semconv.prometheus_label(semconv.ERROR_CHANNEL)
DURATION_BUCKET: Final = semconv.prometheus_label(semconv.DURATION) + "_seconds_bucket"

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


def _indented(expression: str) -> str:
    return "\n".join(f"  {line}" for line in expression.splitlines())


def _alternatives(values: Iterable[str]) -> str:
    return "|".join(value.replace(".", "[.]") for value in values)


def selector(metric: str, *matchers: str) -> str:
    """A series selector; empty matchers are left out."""
    kept = ",".join(matcher for matcher in matchers if matcher)
    return f"{metric}{{{kept}}}" if kept else metric


def sum_by(labels: Sequence[str], expression: str) -> str:
    """The sum by labels."""
    inner = f"\n{_indented(expression)}\n" if "\n" in expression else expression
    return f"sum by ({', '.join(labels)}) ({inner})"


def over(window: str, series: str) -> str:
    """Weight of events within the window: only good for ratios of two of them."""
    return f"sum_over_time({series}[{window}])"


def events(window: str, series: str) -> str:
    """Exact number of events within the window, of a series that counts 5 minutes."""
    if window == "5m":
        return series
    if window.endswith("d"):
        return f"sum_over_time({series}[{window}:5m])"
    return f"sum_over_time({series}[{window}:1m]) / 5"


def new_events(series: str) -> str:
    """Events of the last 5 minutes per raw counter series, births, restarts, gaps and short lives included."""
    now = f"last_over_time({series}[5m])"
    before = f"last_over_time({series}[{LOOK_BACK}] offset 5m)"
    return f"({now} - ({before} <= {now}))\n  or\n{now}"


@dataclass(frozen=True)
class Series:
    """Names of the recorded series and queries over them, for one service label and one budget period."""

    service: str = "job"
    window: str = "30d"

    @property
    def by_model(self) -> tuple[str, ...]:
        """Labels of what is told about a model."""
        return (self.service, PROVIDER, MODEL)

    @property
    def by_class(self) -> tuple[str, ...]:
        """Labels of what is told about a class at a model."""
        return (*self.by_model, CLASS)

    def name(self, level: str, what: str) -> str:
        """`level` is `service`, `model`, `class` or `attributes`: the labels that a recorded series keeps."""
        prefix = {
            "service": "",
            "model": "_provider_model",
            "class": "_provider_model_class",
            "attributes": "_attributes",
        }
        return f"{self.service}{prefix[level]}:{what}"

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
        return f"{ratio} / on ({self.service}) (1 - {self.objective})"

    def share(self, error: str, call: str, labels: Sequence[str], window: str) -> str:
        """Share of a model's calls (`call`, recorded per model) that ended as `error` within the window."""
        join = f"/ on ({', '.join(self.by_model)}) group_left ()"
        return f"{sum_by(labels, over(window, error))}\n{join}\n({over(window, call)} > 0)"

    def weekly_share(self, error: str, call: str, labels: Sequence[str]) -> str:
        """The share of the last 7 days: of sums of events, not a mean of shares."""
        return self.share(self.tumbling_of(error), self.tumbling_of(call), labels, "7d")

    def tumbling_of(self, selected: str) -> str:
        """`tumbling` for a selector with matchers."""
        metric, brace, rest = selected.partition("{")
        return self.tumbling(metric) + brace + rest
