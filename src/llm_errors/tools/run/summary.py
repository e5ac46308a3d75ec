"""Computes the numbers of a report from the telemetry that has arrived."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from llm_errors import semconv
from llm_errors.taxonomy import ACCOUNT_BUDGET_REASONS, HANDLING, Availability, ErrorClass, HandlingRule, View
from llm_errors.tools.review import occurrences
from llm_errors.tools.run.telemetry import Failure, Telemetry


@dataclass(frozen=True)
class ClassRow:
    """The failures of one class by reason. `rule` says who is notified."""

    rule: HandlingRule
    reasons: Counter[str]
    calls: int
    """The number of all calls of the report. The share of the class is `count / calls`."""
    in_band: Counter[str] = field(default_factory=Counter)
    """Reason -> the number of failures that arrived inside a successful response."""

    @property
    def told(self) -> list[str]:
        """A text for each reason, the most frequent first: the reason, its number, and how many of them were `in_band`."""
        return [f"{reason} {count}{self._channel(reason, count)}" for reason, count in self.reasons.most_common()]

    def _channel(self, reason: str, count: int) -> str:
        inside = self.in_band[reason]
        if not inside:
            return ""
        return f" {semconv.IN_BAND}" if inside == count else f" ({inside} {semconv.IN_BAND})"

    @property
    def error_class(self) -> ErrorClass:
        """The class of these failures."""
        return self.rule.error_class

    @property
    def count(self) -> int:
        """The number of failures."""
        return sum(self.reasons.values())

    @property
    def severity(self) -> str:
        """`page`, `ticket` or `info`.

        CALL_BUDGET is a page if the budget of the account is exhausted, and a ticket if only a limit of the application is.
        """
        if self.error_class is ErrorClass.CALL_BUDGET and not set(self.reasons) & set(ACCOUNT_BUDGET_REASONS):
            return "ticket"
        return self.rule.severity


@dataclass(frozen=True)
class ModelRow:
    """The calls of one model, or of all models together."""

    provider: str
    model: str
    ok: int
    failed: dict[ErrorClass, int]

    @property
    def calls(self) -> int:
        """The number of calls that ended with an answer or a failure, not including cancelled calls."""
        return self.ok + sum(self.failed.values())

    @property
    def availability(self) -> float | None:
        """1 - bad / valid, or None if there are no valid calls.

        Bad calls are calls that consume the error budget. Valid calls are all calls except blocked ones.
        """
        valid = self.calls - self._total(Availability.LEFT_OUT)
        return (valid - self._total(Availability.BAD)) / valid if valid else None

    @property
    def success(self) -> float | None:
        """The share of calls that ended with an answer, or None if there are no calls."""
        return self.ok / self.calls if self.calls else None

    def share(self, error_class: ErrorClass) -> float | None:
        """The share of calls that failed with this class, or None if there are no calls."""
        return self.failed.get(error_class, 0) / self.calls if self.calls else None

    def _total(self, kind: Availability) -> int:
        return sum(n for c, n in self.failed.items() if HANDLING[c].availability is kind)


@dataclass
class Summary:
    """Contains all numbers of a report."""

    calls: int = 0
    """The number of calls that ended with an answer or a failure."""
    cancelled: int = 0
    """The number of calls that the application cancelled."""
    in_band: int = 0
    """The number of failures that arrived inside a successful response."""
    classes: list[ClassRow] = field(default_factory=list)
    models: list[ModelRow] = field(default_factory=list)
    everything: ModelRow = field(default_factory=lambda: ModelRow("", "", 0, {}))
    retries: Counter[str] = field(default_factory=Counter)
    """Class -> the number of failed attempts that the SDKs' own retries hid."""
    rescued: int = 0
    failed_anyway: int = 0
    examples: list[Failure] = field(default_factory=list)
    """An example of each class: the first failure that has a trace, or else the first failure."""
    unknown: list[occurrences.Group] = field(default_factory=list)
    """The failures that no rule recognises, grouped by fingerprint."""
    processes: int = 0

    @property
    def failed(self) -> int:
        """The number of all failures."""
        return sum(row.count for row in self.classes)

    def of_view(self, view: View) -> list[ClassRow]:
        """The rows of the classes in a view. A class without failures has no row."""
        return [row for row in self.classes if row.rule.view is view]


def summarise(telemetry: Telemetry) -> Summary:
    """Compute the numbers from what has arrived so far."""
    ended = telemetry.counts(semconv.CALLS, semconv.OUTCOME)
    calls = ended[(semconv.OK,)] + ended[(semconv.ERROR,)]
    classes = list(_classes(telemetry, calls))
    models = list(_models(telemetry))
    return Summary(
        calls=calls,
        cancelled=ended[(semconv.CANCELLED,)],
        in_band=telemetry.counts(semconv.ERRORS, semconv.ERROR_CHANNEL)[(semconv.IN_BAND,)],
        classes=classes,
        models=models,
        everything=ModelRow("", "", ended[(semconv.OK,)], {row.error_class: row.count for row in classes}),
        retries=Counter({n: c for (n,), c in telemetry.counts(semconv.RETRIES, semconv.ERROR_CLASS).items()}),
        rescued=telemetry.rescued,
        failed_anyway=telemetry.failed_anyway,
        examples=[_example(failures) for row in classes if (failures := telemetry.failures(row.error_class.value))],
        unknown=_unknown(telemetry),
        processes=len(telemetry.processes),
    )


def _classes(telemetry: Telemetry, calls: int) -> Iterator[ClassRow]:
    labels = (semconv.ERROR_CLASS, semconv.ERROR_REASON, semconv.ERROR_CHANNEL)
    reasons: dict[str, Counter[str]] = {}
    in_band: dict[str, Counter[str]] = {}
    for (name, reason, channel), count in telemetry.counts(semconv.ERRORS, *labels).items():
        reasons.setdefault(name, Counter())[reason] += count
        if channel == semconv.IN_BAND:
            in_band.setdefault(name, Counter())[reason] += count
    for rule in HANDLING.values():
        name = rule.error_class.value
        if name in reasons:
            yield ClassRow(rule, reasons[name], calls, in_band.get(name, Counter()))


def _models(telemetry: Telemetry) -> Iterator[ModelRow]:
    ended = telemetry.counts(semconv.CALLS, semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.OUTCOME)
    failed = telemetry.counts(semconv.ERRORS, semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.ERROR_CLASS)
    for provider, model in sorted({(p, m) for p, m, _ in (*ended, *failed)}, key=lambda pair: pair[::-1]):
        ok = ended[(provider, model, semconv.OK)]
        of_class = {c: n for c in ErrorClass if (n := failed[(provider, model, c.value)])}
        yield ModelRow(provider, model, ok, of_class)


def _example(failures: list[Failure]) -> Failure:
    return next((failure for failure in failures if failure.trace_id), failures[0])


def _unknown(telemetry: Telemetry) -> list[occurrences.Group]:
    failures = telemetry.failures(ErrorClass.UNKNOWN.value)
    return occurrences.groups(
        occurrences.Occurrence(f.at, f.trace_id, f.span_id, _lists(f.attributes))
        for f in failures
        if f.attributes.get(semconv.ERROR_FINGERPRINT)
    )


def _lists(attributes: Any) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in attributes.items()}


def as_json(summary: Summary, telemetry: Telemetry, run: dict[str, Any]) -> dict[str, Any]:
    """The report as plain data for JSON. `run` is the result of `Run.as_json`. Shares are numbers from 0 to 1."""
    return {
        "run": {**run, "processes": summary.processes},
        "calls": {
            "total": summary.calls + summary.cancelled,
            "ok": summary.everything.ok,
            "failed": summary.failed,
            "cancelled": summary.cancelled,
        },
        "failures": {
            "thrown": summary.failed - summary.in_band,
            "in_band": summary.in_band,
            "classes": [_class_json(row) for row in summary.classes],
        },
        "availability": summary.everything.availability,
        "models": [_model_json(row) for row in summary.models],
        "hidden_retries": {
            "attempts": dict(summary.retries),
            "rescued": summary.rescued,
            "failed_anyway": summary.failed_anyway,
        },
        "examples": [failure_json(failure) for failure in summary.examples],
        "unknown": [group.report() for group in summary.unknown],
        "timeline": [{"at": moment(s), **dict(counts)} for s, counts in sorted(telemetry.timeline.items())],
    }


def _class_json(row: ClassRow) -> dict[str, Any]:
    return {
        "class": row.error_class.value,
        "view": row.rule.view.value,
        "count": row.count,
        "share": row.count / row.calls if row.calls else None,
        "reasons": dict(row.reasons.most_common()),
        "channels": {"thrown": row.count - sum(row.in_band.values()), "in_band": sum(row.in_band.values())},
        "notifies": row.rule.audience,
        "severity": row.severity,
        "advice": row.rule.advice,
    }


def _model_json(row: ModelRow) -> dict[str, Any]:
    return {
        "provider": row.provider,
        "model": row.model,
        "calls": row.calls,
        "ok": row.ok,
        "failures": {c.value: n for c, n in row.failed.items()},
        "availability": row.availability,
        "success": row.success,
    }


def failure_json(failure: Failure) -> dict[str, Any]:
    """A failure and its attributes as plain data for JSON."""
    return {
        "class": failure.error_class,
        "at": moment(failure.at),
        "trace_id": failure.trace_id,
        "span_id": failure.span_id,
        "attributes": _lists(failure.attributes),
    }


def moment(seconds: float) -> str:
    """A time in UTC, in ISO format."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
