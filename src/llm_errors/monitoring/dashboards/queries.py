"""The queries of panels, over the series that the rules record; raw counters only where exemplars are wanted.

Ranges: `$__rate_interval` for shares, since weights cancel there; `$__range:1m` and `$__interval:5m` steps for exact
counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from llm_errors import semconv
from llm_errors.monitoring import promql
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import (
    CLASS,
    MODEL,
    OPERATION,
    OUTCOME,
    PROVIDER,
    REASON,
    Series,
    one_of,
    selector,
    sum_by,
)

IN_RANGE: Final = "$__range:1m"
PER_BAR: Final = "$__interval:5m"


VARIABLES: Final = frozenset(
    ("datasource", "traces", "logs", "service", "service_name", "environment", "provider", "model", "operation")
)
"""Variables of every dashboard; a label of one of these names gets another variable."""


@dataclass(frozen=True)
class Queries:
    """Panel queries of one tailoring."""

    options: Options

    @property
    def series(self) -> Series:
        """Names of the recorded series."""
        return Series(self.options)

    # --- what the variables select ---
    @property
    def of_service(self) -> str:
        """Matchers of the service and of the places where it runs."""
        return ",".join(f'{label}=~"${name}"' for label, name in self.scope)

    @property
    def scope(self) -> list[tuple[str, str]]:
        """The labels of a service in one place, each with its variable, in the order of choosing."""
        names = {self.options.service_label: "service", "deployment_environment_name": "environment"}
        places = [label for label in self.options.scope if label != self.options.service_label]
        own = ((label, f"{label}_label" if label in VARIABLES else label) for label in places)
        return [(label, names.get(label, name)) for label, name in (*own, (self.options.service_label, ""))]

    @property
    def of_model(self) -> tuple[str, ...]:
        """Matchers of service, provider and model."""
        return (self.of_service, f'{PROVIDER}=~"$provider"', f'{MODEL}=~"$model"')

    @property
    def of_call(self) -> tuple[str, ...]:
        """Matchers of all four variables."""
        return (*self.of_model, f'{OPERATION}=~"$operation"')

    def values(self, label: str, *matchers: str) -> str:
        """The values that a variable offers."""
        return f"label_values({selector(semconv.CALLS, *self.options.selectors, *matchers)}, {label})"

    # --- building blocks ---
    def errors(self, *matchers: str) -> str:
        """New errors in 5 minutes, as selected."""
        return selector(self.series.errors, *self.of_call, *matchers)

    def calls(self, *matchers: str) -> str:
        """New calls in 5 minutes, as selected."""
        return selector(self.series.calls, *self.of_call, *matchers)

    def share(self, classes: Sequence[str], by: Sequence[str], window: str = "$__rate_interval") -> str:
        """Share of all selected calls, split by labels of the errors."""
        errors = sum_by(by, promql.over(window, self.errors(one_of(CLASS, classes))))
        return f"{errors}\n/ on () group_left ()\n(sum({promql.over(window, self.calls())}) > 0)"

    def share_of_model(self, error: str, by: Sequence[str], window: str) -> str:
        """Share of each model's own calls, as the alerts compute it."""
        calls = selector(self.series.model_calls, *self.of_model)
        return self.series.share(error, calls, by, window)

    def total_share(self, classes: Sequence[str], window: str) -> str:
        """Share of all selected calls that ended in one of the classes; 0 without any."""
        errors = promql.over(window, self.errors(one_of(CLASS, classes)))
        calls = f"sum({promql.over(window, self.calls())})"
        return f"(sum({errors}) or 0 * {calls})\n/\n({calls} > 0)"

    def counted(self, classes: Sequence[str], by: Sequence[str], span: str = PER_BAR) -> str:
        """Exact number of new errors per bar, or within the range."""
        per_event = "" if span == PER_BAR else " / 5"
        return sum_by(by, f"sum_over_time({self.errors(one_of(CLASS, classes))}[{span}]){per_event}")

    # --- reliability ---
    def availability(self) -> str:
        """Availability over the budget's period."""
        return f"1 - {selector(self.series.bad_ratio('service', self.options.window), self.of_service)}"

    def budget(self) -> str:
        """What is left of the error budget."""
        return selector(self.series.budget, self.of_service)

    def succeeded(self) -> str:
        """Calls that succeeded, among those that the application did not cancel, over the budget's period."""
        return selector(self.series.succeeded, self.of_service)

    def burn_rate(self, window: str) -> str:
        """Burn rate over a window."""
        return self.series.burn_rate(window, self.of_service)

    def worst_models(self) -> str:
        """The models with the highest share of provider failures."""
        ratio = selector(self.series.bad_ratio("model", "1h"), *self.of_model)
        return f"topk(10, {ratio} > 0)"

    def model_events(self, series: str) -> str:
        """Calls or failures of the last hour per model, for those with failures."""
        ratio = selector(self.series.bad_ratio("model", "1h"), *self.of_model)
        counted = promql.events("1h", selector(series, *self.of_model))
        return f"round({counted}) and topk(10, {ratio} > 0)"

    def cancelled(self) -> str:
        """Cancelled share of each model's calls."""
        return self.share_of_model(self.calls(one_of(OUTCOME, (semconv.CANCELLED,))), self.series.by_model, "1h")

    def hidden_retries(self) -> str:
        """Failed attempts that an SDK's own retry hid, against calls."""
        retries = promql.over("$__rate_interval", selector(self.series.retries, *self.of_call))
        calls = promql.over("$__rate_interval", self.calls())
        return f"{sum_by((CLASS,), retries)}\n/ on () group_left ()\n(sum({calls}) > 0)"

    def latency(self) -> str:
        """Buckets of the duration of calls."""
        bucket = selector(promql.DURATION_BUCKET, *self.options.selectors, *self.of_call)
        return sum_by(("le",), f"increase({bucket}[$__rate_interval])")

    def traced_failures(self, classes: Sequence[str]) -> str:
        """Failures a minute from the raw counter, which carries exemplars."""
        raw = selector(semconv.ERRORS, *self.options.selectors, *self.of_call, one_of(CLASS, classes))
        return "60 * " + sum_by((CLASS,), f"rate({raw}[$__rate_interval])")

    # --- correctness and review ---
    def total(self, classes: Sequence[str]) -> str:
        """New errors in the range, 0 without any."""
        return f"round(sum(sum_over_time({self.errors(one_of(CLASS, classes))}[{IN_RANGE}])) / 5) or vector(0)"

    def listed(self, classes: Sequence[str]) -> str:
        """New errors in the range per model, class and reason."""
        return f"round({self.counted(classes, (*self.series.by_class, REASON), IN_RANGE)}) > 0"

    def seen(self, classes: Sequence[str], edge: str) -> str:
        """When a failure was first (`min`) or last (`max`) seen in the range, in milliseconds."""
        moments = f"timestamp({self.errors(one_of(CLASS, classes))} > 0)"
        by = ", ".join((*self.series.by_class, REASON))
        return f"{edge} by ({by}) ({edge}_over_time({moments}[{IN_RANGE}])) * 1000"

    def failing(self, error_class: str, code: int) -> str:
        """`code` while a class is fresh at a model, nothing otherwise."""
        fresh = sum_by((PROVIDER, MODEL, CLASS), self.errors(one_of(CLASS, (error_class,))))
        return f"({fresh} > 0) * 0 + {code}"

    def tool_and_overflow(self) -> tuple[str, str]:
        """The two shares among the correctness classes that are told only above a threshold."""
        tool = selector(self.series.class_errors, *self.of_model, one_of(CLASS, ("TOOL_PROTOCOL",)))
        overflow = self.errors(one_of(CLASS, ("BAD_REQUEST",)), one_of(REASON, ("context_overflow",)))
        by = self.series.by_class
        return self.share_of_model(tool, by, "1h"), self.share_of_model(overflow, by, "1h")

    # --- policy ---
    def policy_share(self, classes: Sequence[str]) -> str:
        """Share of each model's calls by class over the last hour."""
        error = selector(self.series.class_errors, *self.of_model, one_of(CLASS, classes))
        return self.share_of_model(error, self.series.by_class, "1h")

    def last_week(self, classes: Sequence[str]) -> str:
        """The hourly share by class, one week earlier."""
        errors = sum_by((CLASS,), f"sum_over_time({self.errors(one_of(CLASS, classes))}[1h] offset 7d)")
        return f"{errors}\n/ on () group_left ()\n(sum(sum_over_time({self.calls()}[1h] offset 7d)) > 0)"

    # --- overview ---
    def firing(self, *matchers: str) -> str:
        """Alerts of this package that fire, as `ALERTS` tells."""
        fires = selector("ALERTS", 'alertstate="firing"', 'alertname=~"LLM.+"', self.of_service, *matchers)
        labels = ("alertname", "severity", "view", *self.options.scope, PROVIDER, MODEL, CLASS)
        return f"max by ({', '.join(labels)}) ({fires})"

    def firing_ranked(self) -> str:
        """The same, with 3 for pages, 2 for tickets and 1 for the rest as value."""
        names = self.options.severities
        ranked = (
            f"{self.firing(one_of('severity', (names[name],)))} * {rank}" for name, rank in (("page", 3), ("ticket", 2))
        )
        return "\nor\n".join([*ranked, self.firing()])

    def calls_by_service(self) -> str:
        """Calls a second per service."""
        return f"{sum_by((self.options.service_label,), self.calls())} / 300"

    def failed_by_provider(self) -> str:
        """Share of each provider's calls that ended in any class."""
        by = (PROVIDER,)
        errors = sum_by(by, promql.over("$__rate_interval", self.errors()))
        return f"{errors}\n/\n({sum_by(by, promql.over('$__rate_interval', self.calls()))} > 0)"

    # --- logs ---
    def fingerprints(self) -> str:
        """LogQL: unclassified failures by fingerprint."""
        keys = ", ".join(
            map(semconv.prometheus_label, (semconv.ERROR_FINGERPRINT, semconv.PROVIDER, semconv.EXCEPTION_TYPE))
        )
        return f"topk(20, sum by ({keys}) (count_over_time({self._failures('UNKNOWN')} [$__range])))"

    def retry_after(self) -> str:
        """LogQL: the longest wait that a provider asked for, in seconds."""
        wait = semconv.prometheus_label(semconv.ERROR_RETRY_AFTER)
        by = ", ".join((PROVIDER, MODEL, CLASS))
        return f'max by ({by}) (max_over_time({self._failures("")} | {wait}!="" | unwrap {wait} [$__range]))'

    def _failures(self, error_class: str) -> str:
        matcher = f'="{error_class}"' if error_class else '!=""'
        return f'{{service_name=~"$service_name"}} | {CLASS}{matcher} | {PROVIDER}=~"$provider" | {MODEL}=~"$model"'
