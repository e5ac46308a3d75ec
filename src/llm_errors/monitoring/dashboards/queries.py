"""Builds the queries of the panels. They read recorded series only, so a dashboard over 30 days is cheap.

**Steps.** A step is the time between two points of a graph. If it is at most 5 minutes, the graph reads the counts of 5
minutes directly. If it is longer, the graph adds up the counts that are recorded every 5 minutes, so that no event between
two points is missed.

**Absence is not 0.** A class without any failure has no series. If calls are counted, the query then returns a series or a
row named "no failures". If no calls are counted, the query returns nothing, and the panel shows "no data".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from llm_errors import semconv
from llm_errors.monitoring import promql
from llm_errors.monitoring.alerts._alert import RULE_SET
from llm_errors.monitoring.dashboards import links
from llm_errors.monitoring.options import Burn, Options
from llm_errors.monitoring.pipeline import Pipeline
from llm_errors.monitoring.promql import (
    CLASS,
    DURATION_METRIC,
    FIRST_CHUNK_METRIC,
    MODEL,
    OPERATION,
    PROVIDER,
    REASON,
    Series,
    one_of,
    selector,
    sum_by,
)

IN_RANGE: Final = "$__range"
PER_BAR: Final = "$__interval"
NOTHING: Final = "no failures"
"""The name of the series that is shown if calls are counted and no call failed."""
_LONG_STEP_MS: Final = 300_000


VARIABLES: Final = frozenset(
    ("datasource", "traces", "logs", "service", "service_name", "environment", "provider", "model", "operation")
)
"""The variables of every dashboard. If a user's label has one of these names, its variable gets a suffix."""


@dataclass(frozen=True)
class Queries:
    """Builds the queries of the panels for the given options."""

    options: Options

    @property
    def series(self) -> Series:
        """The names of the recorded series for these options."""
        return Series(self.options)

    # --- what the variables select ---
    @property
    def of_service(self) -> str:
        """Matchers for the chosen services, and for the labels that tell where they run."""
        return ",".join(f'{label}=~"${name}"' for label, name in self.scope)

    @property
    def scope(self) -> list[tuple[str, str]]:
        """Pairs of a label that identifies a service and its variable, in the order of the menus."""
        names = {self.options.service_label: "service", "deployment_environment_name": "environment"}
        places = [label for label in self.options.scope if label != self.options.service_label]
        own = ((label, f"{label}_label" if label in VARIABLES else label) for label in places)
        return [(label, names.get(label, name)) for label, name in (*own, (self.options.service_label, ""))]

    @property
    def of_model(self) -> tuple[str, ...]:
        """Matchers for the chosen services, providers and models."""
        return (self.of_service, f'{PROVIDER}=~"$provider"', f'{MODEL}=~"$model"')

    @property
    def of_call(self) -> tuple[str, ...]:
        """Matchers for the chosen services, providers, models and operations."""
        return (*self.of_model, f'{OPERATION}=~"$operation"')

    def values(self, label: str, *matchers: str) -> str:
        """The query for the values that a variable offers."""
        return f"label_values({selector(self.series.calls, *matchers)}, {label})"

    @property
    def set_matcher(self) -> str:
        """A matcher that selects the alerts of this rule set."""
        return f'{RULE_SET}="{self.options.name}"'

    # --- building blocks ---
    def errors(self, *matchers: str) -> str:
        """New errors in 5 minutes, of the calls that the variables select."""
        return selector(self.series.errors, *self.of_call, *matchers)

    def calls(self, *matchers: str) -> str:
        """New calls in 5 minutes, of the calls that the variables select."""
        return selector(self.series.calls, *self.of_call, *matchers)

    def at_each_step(self, selected: str) -> str:
        """Events of the last 5 minutes, or of the whole step of the graph if the step is longer."""
        long = f"sum_over_time({self.series.tumbling_of(selected)}[$__interval])"
        step = "on () (vector($__interval_ms)"
        return f"({selected} and {step} < {_LONG_STEP_MS}))\nor\n({long} and {step} >= {_LONG_STEP_MS}))"

    def or_nothing(self, expression: str, calls: str, label: str = CLASS) -> str:
        """The expression, or, if it has no result but `calls` has, a series with the value 0 and the name `NOTHING`."""
        return f'{expression}\nor on ()\nlabel_replace(0 * {calls}, "{label}", "{NOTHING}", "", "")'

    def share(self, classes: Sequence[str], by: Sequence[str]) -> str:
        """Share of all selected calls that failed with these classes, at each step, for each value of the labels `by`."""
        errors = sum_by(by, self.at_each_step(self.errors(one_of(CLASS, classes))))
        calls = f"sum(\n{promql.indented(self.at_each_step(self.calls()))}\n)"
        return self.or_nothing(f"{errors}\n/ on () group_left ()\n({calls} > 0)", f"{calls}")

    def share_of_model(self, error: str, by: Sequence[str], window: str) -> str:
        """Share of each model's calls that ended in the error. Alerts compute the share in the same way."""
        calls = selector(self.series.model_calls, *self.of_model)
        return self.series.share(error, calls, by, window)

    def counted(self, classes: Sequence[str], by: Sequence[str]) -> str:
        """Exact number of new errors in each bar of a graph."""
        errors = f"sum_over_time({self.series.tumbling_of(self.errors(one_of(CLASS, classes)))}[{PER_BAR}])"
        return self.or_nothing(sum_by(by, errors), f"sum(sum_over_time({self._tumbling_calls()}[{PER_BAR}]))", by[0])

    def _tumbling_calls(self) -> str:
        return self.series.tumbling_of(self.calls())

    def listed(self, classes: Sequence[str]) -> str:
        """New errors in the range of the dashboard, per model, class and reason.

        Errors that are not yet in the steps of 5 minutes are taken from the counts of the last 5 minutes.
        """
        by, errors = (*self.series.by_class, REASON), self.errors(one_of(CLASS, classes))
        in_range = sum_by(by, f"sum_over_time({self.series.tumbling_of(errors)}[{IN_RANGE}])")
        found = f"{in_range} > 0\nor\n{sum_by(by, errors)} > 0"
        return self.linked(self.or_nothing(found, f"sum(sum_over_time({self._tumbling_calls()}[{IN_RANGE}]))"))

    def ranked(self, expression: str, kind: str) -> str:
        """Add the label `slot`, which is the rank of the service, provider or model (`kind`) at the end of the range."""
        on = f"on ({', '.join(self.series.ranked_by[kind])})"
        slots = f"{self.series.slot(kind)} @ end()"
        inner = promql.indented(expression)
        return f"(\n{inner}\n)\n* {on} group_left (slot) {slots}\nor\n(\n{inner}\n)\nunless {on} {slots}"

    def linked(self, expression: str) -> str:
        """Add the hidden labels from which the links in the rows of a table are made."""
        return links.with_service_filters(expression, self.options.service_label)

    # --- reliability ---
    def availability(self) -> str:
        """Availability over the period of the error budget."""
        return f"1 - {self._latest(self.series.bad_ratio('service', self.options.window))}"

    def budget(self) -> str:
        """The share of the error budget that is left."""
        return self._latest(self.series.budget)

    def budget_over_time(self) -> str:
        """The share of the error budget that is left, as a line for each service."""
        return self.ranked(selector(self.series.budget, self.of_service), "service")

    def succeeded(self) -> str:
        """Share of calls that succeeded over the period of the error budget, not including cancelled calls."""
        return self._latest(self.series.succeeded)

    def _latest(self, series: str) -> str:
        """The last value of a series that is recorded every 5 minutes.

        A plain query may find no value, because Prometheus does not return values that are older than 5 minutes.
        """
        return f"last_over_time({selector(series, self.of_service)}[15m])"

    def burn_rate(self, burn: Burn) -> str:
        """Burn rate over the long window of an alert."""
        return self.ranked(self.series.burn_rate(burn.long, self.of_service), "service")

    def worst_models(self) -> str:
        """The models with the highest share of provider failures, with the labels for links to traces and logs."""
        ratio = selector(self.series.bad_ratio("model", "1h"), *self.of_model)
        calls = f"sum({promql.over('1h', selector(self.series.valid('model'), *self.of_model))}) > 0"
        return self.linked(self.or_nothing(f"topk(10, {ratio} > 0)", f"({calls})", MODEL))

    def model_events(self, series: str) -> str:
        """Number of events of the series (calls or failures) in the last hour, for each model with failures."""
        ratio = selector(self.series.bad_ratio("model", "1h"), *self.of_model)
        counted = promql.events("1h", selector(series, *self.of_model))
        return self.linked(f"round({counted}) and topk(10, {ratio} > 0)")

    def cancelled(self, window: str) -> str:
        """Share of each model's calls that was cancelled. The alert compares the same series with the week before today."""
        share = selector(self.series.cancelled_share(window), *self.of_model)
        return self.or_nothing(self.ranked(share, "model"), self._model_calls(), MODEL)

    def rate_limited(self, error_class: str, window: str) -> str:
        """Share of each model's calls that the provider rejected because of a rate limit."""
        error = selector(self.series.class_errors, *self.of_model, one_of(CLASS, (error_class,)))
        share = self.share_of_model(error, self.series.by_class, window)
        return self.or_nothing(self.ranked(share, "model"), self._model_calls(), MODEL)

    def _model_calls(self) -> str:
        return f"sum({selector(self.series.model_calls, *self.of_model)})"

    def hidden_retries(self) -> str:
        """Number of failed attempts per call that were hidden by the SDKs' own retries."""
        retries = promql.over("$__rate_interval", selector(self.series.retries, *self.of_call))
        calls = f"sum({promql.over('$__rate_interval', self.calls())})"
        return self.or_nothing(f"{sum_by((CLASS,), retries)}\n/ on () group_left ()\n({calls} > 0)", calls)

    def latency(self, quantile: float) -> str:
        """Quantile of the duration of calls, by model."""
        return self._quantile(quantile, DURATION_METRIC)

    def first_chunk(self, quantile: float) -> str:
        """Quantile of the time to the first chunk of streams, by model."""
        return self._quantile(quantile, FIRST_CHUNK_METRIC)

    def _quantile(self, quantile: float, metric: str) -> str:
        by = (PROVIDER, MODEL)
        classic = sum_by((*by, "le"), selector(self.series.buckets(metric), *self.of_model))
        native = sum_by(by, selector(self.series.native(metric), *self.of_model))
        found = "\nor\n".join(f"histogram_quantile({quantile}, {histogram}) >= 0" for histogram in (classic, native))
        return self.ranked(found, "model")

    def failures_a_minute(self, classes: Sequence[str]) -> str:
        """New failures per minute, by class."""
        failures = sum_by((CLASS,), self.errors(one_of(CLASS, classes)))
        return self.or_nothing(f"{failures} / 5", f"sum({self.calls()})")

    def deployments(self) -> str:
        """Versions of the chosen services that were first seen in the last 5 minutes."""
        return selector(self.series.deployed, self.of_service)

    # --- correctness and review ---
    def total(self, classes: Sequence[str]) -> str:
        """Number of new errors in the range. It is 0 only if calls were counted, else there is no result."""
        errors = f"sum(sum_over_time({self.series.tumbling_of(self.errors(one_of(CLASS, classes)))}[{IN_RANGE}]))"
        return f"{errors}\nor\n0 * sum(sum_over_time({self._tumbling_calls()}[{IN_RANGE}]))"

    def seen(self, classes: Sequence[str], series: str) -> str:
        """When the failures in the range were first or last seen (`series`), in milliseconds.

        A failure in the range may have been seen first before the range.
        """
        last = selector(self.series.last_seen, *self.of_model, one_of(CLASS, classes))
        when = selector(series, *self.of_model, one_of(CLASS, classes))
        by = ", ".join((*self.series.by_class, REASON))
        return self.linked(f"max by ({by}) ({when} and {last} > time() - $__range_s) * 1000")

    def failing(self, error_class: str, code: int) -> str:
        """Returns the value `code` for each model while calls to it fail with the class, and otherwise no series."""
        errors = self.at_each_step(self.errors(one_of(CLASS, (error_class,))))
        return self.linked(f"({sum_by(self.series.by_class, errors)} > 0) * 0 + {code}")

    def none_failing(self, classes: Sequence[str], code: int) -> str:
        """Returns the value `code` while calls are counted and no call fails with one of the classes."""
        errors = f"sum(\n{promql.indented(self.at_each_step(self.errors(one_of(CLASS, classes))))}\n) > 0"
        return f"0 * sum({self.calls()}) + {code}\nunless on ()\n({errors})"

    def tool_and_overflow(self) -> tuple[str, str]:
        """The shares of calls with TOOL_PROTOCOL and with a context overflow, whose alerts need a share above a threshold."""
        tool = selector(self.series.class_errors, *self.of_model, one_of(CLASS, ("TOOL_PROTOCOL",)))
        overflow = self.errors(one_of(CLASS, ("BAD_REQUEST",)), one_of(REASON, ("context_overflow",)))
        shares = (self.share_of_model(error, self.series.by_class, "1h") for error in (tool, overflow))
        tools, overflows = (self.ranked(share, "model") for share in shares)
        return tools, overflows

    # --- policy ---
    def recorded_share(self, classes: Sequence[str], window: str) -> str:
        """Share of each model's calls by class. The alerts compare the same series with the week before today."""
        return self.ranked(selector(self.series.class_share(window), *self.of_model, one_of(CLASS, classes)), "model")

    def hourly_share(self, classes: Sequence[str], ago: str = "") -> str:
        """Share of all selected calls by class, over an hour that ends now or `ago`."""
        errors = promql.over("1h", self.series.tumbling_of(self.errors(one_of(CLASS, classes))), ago)
        calls = f"sum({promql.over('1h', self._tumbling_calls(), ago)}) > 0"
        return f"{sum_by((CLASS,), errors)}\n/ on () group_left ()\n({calls})"

    def total_share(self, classes: Sequence[str], window: str) -> str:
        """Share of all selected calls that ended in one of the classes. It is 0 only if calls were counted."""
        errors = f"sum({promql.over(window, self.errors(one_of(CLASS, classes)))})"
        calls = f"sum({promql.over(window, self.calls())})"
        return f"({errors} or 0 * {calls})\n/\n({calls} > 0)"

    def blocked_callers(self, classes: Sequence[str]) -> str:
        """Number of blocked calls in the range, for the ten callers (service and operation) with the most blocked calls."""
        by = (*self.series.scope, OPERATION)
        blocked = sum_by(
            by, f"sum_over_time({self.series.tumbling_of(self.errors(one_of(CLASS, classes)))}[{IN_RANGE}])"
        )
        calls = f"sum(sum_over_time({self._tumbling_calls()}[{IN_RANGE}]))"
        return self.or_nothing(f"topk(10, {blocked} > 0)", calls, OPERATION)

    def blocked_share(self, classes: Sequence[str]) -> str:
        """Share of calls in the range that was blocked, for the ten callers with the most blocked calls."""
        by = (*self.series.scope, OPERATION)
        blocked = sum_by(
            by, f"sum_over_time({self.series.tumbling_of(self.errors(one_of(CLASS, classes)))}[{IN_RANGE}])"
        )
        calls = sum_by(by, f"sum_over_time({self._tumbling_calls()}[{IN_RANGE}])")
        return f"topk(10, {blocked} > 0) / {calls}"

    def truncated(self, classes: Sequence[str], window: str) -> str:
        """Share of calls whose answer was cut off, for each model and operation."""
        by = (PROVIDER, MODEL, OPERATION)
        errors = sum_by(by, promql.over(window, self.errors(one_of(CLASS, classes))))
        calls = sum_by(by, promql.over(window, self.calls()))
        return self.ranked(f"({errors} or 0 * {calls})\n/\n({calls} > 0)", "model")

    # --- overview ---
    def firing(self, *matchers: str) -> str:
        """The alerts of this rule set that fire. They are read from Prometheus' series `ALERTS`."""
        fires = selector(
            "ALERTS", 'alertstate="firing"', 'alertname=~"LLM.+"', self.set_matcher, self.of_service, *matchers
        )
        labels = ("alertname", "severity", "view", *self.options.scope, PROVIDER, MODEL, CLASS)
        return f"max by ({', '.join(labels)}) ({fires})"

    def firing_ranked(self, boards: Sequence[tuple[str, Sequence[str]]]) -> str:
        """The alerts that fire, with the value 3 for pages, 2 for tickets and 1 for others, and a label for their dashboard.

        `boards` are pairs of a dashboard's uid and the alerts that it explains. If calls are counted and nothing fires, the
        result is a row with the value 0."""
        names = self.options.severities
        ranked = (
            f"{self.firing(one_of('severity', (names[name],)))} * {rank}" for name, rank in (("page", 3), ("ticket", 2))
        )
        calls = f"sum({selector(self.series.valid('service'), self.of_service)})"
        found = self.or_nothing("\nor\n".join([*ranked, self.firing()]), calls, "alertname")
        return self._explained(found.replace(NOTHING, "nothing fires"), boards)

    def firing_since(self, boards: Sequence[tuple[str, Sequence[str]]]) -> str:
        """The time at which each firing alert began, in milliseconds since 1970."""
        since = selector("ALERTS_FOR_STATE", 'alertname=~"LLM.+"', self.set_matcher, self.of_service)
        labels = ("alertname", "severity", "view", *self.options.scope, PROVIDER, MODEL, CLASS)
        found = f"min by ({', '.join(labels)}) ({since}) * 1000\nand on ({', '.join(labels)})\n{self.firing()}"
        return self._explained(found, boards)

    def _explained(self, expression: str, boards: Sequence[tuple[str, Sequence[str]]]) -> str:
        for uid, alerts in boards:
            expression = f'label_replace(\n{expression},\n"board", "{uid}", "alertname", "{"|".join(alerts)}")'
        return self.linked(expression)

    def calls_by_service(self) -> str:
        """Calls per second, by service."""
        return self.ranked(f"{sum_by(self.series.scope, self.calls())} / 300", "service")

    def failed_by_provider(self) -> str:
        """Share of each provider's calls that failed, whatever the class."""
        by = (PROVIDER,)
        errors = sum_by(by, self.at_each_step(self.errors()))
        calls = sum_by(by, self.at_each_step(self.calls()))
        return self.ranked(f"({errors}\nor\n0 * {calls})\n/\n({calls} > 0)", "provider")

    def lost_by_collectors(self, what: str) -> str:
        """Number of items that Collectors lost in one way (`what`) in the last 5 minutes, per Collector and component."""
        pipeline = Pipeline(self.options)
        return f'label_replace({pipeline.lost_recently(what)}, "problem", "{what}", "", "")'

    def queues_of_collectors(self) -> str:
        """The share of each Collector's queues that is in use."""
        return Pipeline(self.options).queue

    def evaluation(self) -> str:
        """Duration of the evaluation of each rule group, as a share of its interval."""
        return self.series.group_busy

    # --- logs ---
    def fingerprints(self) -> str:
        """LogQL for the number of unclassified failures by fingerprint."""
        keys = ", ".join(
            map(semconv.prometheus_label, (semconv.ERROR_FINGERPRINT, semconv.PROVIDER, semconv.EXCEPTION_TYPE))
        )
        return f"topk(20, sum by ({keys}) (count_over_time({self._failures('UNKNOWN')} [$__range])))"

    def retry_after(self) -> str:
        """LogQL for the longest wait that a provider asked for, in seconds."""
        wait = semconv.prometheus_label(semconv.ERROR_RETRY_AFTER)
        by = ", ".join((PROVIDER, MODEL, CLASS))
        return f'max by ({by}) (max_over_time({self._failures("")} | {wait}!="" | unwrap {wait} [$__range]))'

    def _failures(self, error_class: str) -> str:
        matcher = f'="{error_class}"' if error_class else '!=""'
        return f'{{service_name=~"$service_name"}} | {CLASS}{matcher} | {PROVIDER}=~"$provider" | {MODEL}=~"$model"'

    # --- traces ---
    def failed_spans(self, classes: Sequence[str]) -> str:
        """TraceQL for the spans of calls that failed with one of the classes."""
        conditions = (
            f'span.{semconv.ERROR_CLASS} =~ "{"|".join(classes)}"',
            'resource.service.name =~ "$service_name"',
            f'span.{semconv.PROVIDER} =~ "$provider"',
            f'span.{semconv.REQUEST_MODEL} =~ "$model"',
        )
        shown = ", ".join(
            (f"span.{semconv.ERROR_CLASS}", f"span.{semconv.ERROR_REASON}", f"span.{semconv.REQUEST_MODEL}")
        )
        return f"{{ {' && '.join(conditions)} }} | select({shown})"
