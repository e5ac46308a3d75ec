"""The counters and the duration histogram of CONTRACT: call and error counted once, together."""

from typing import Any

from opentelemetry.metrics import Meter

from llm_errors import semconv
from llm_errors.adapters._protocol import CallInfo
from llm_errors.evidence import Classification
from llm_errors.telemetry.labels import Labels

_CALL = (semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.OPERATION)
_BUCKETS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""The GenAI conventions' advice for `gen_ai.client.operation.duration`."""


class Metrics:
    """The package's instruments."""

    def __init__(self, meter: Meter) -> None:
        self._calls = meter.create_counter(semconv.CALLS, "{call}", "Model calls that have ended, by outcome.")
        self._errors = meter.create_counter(semconv.ERRORS, "{error}", "Failed model calls, by class and reason.")
        self._retries = meter.create_counter(
            semconv.RETRIES, "{retry}", "Failed attempts that the SDK's own retry hid."
        )
        self._own = meter.create_counter(semconv.INSTRUMENTATION_ERRORS, "{error}", "Failures of this instrumentation.")
        self._duration = meter.create_histogram(
            semconv.DURATION, "s", "GenAI operation duration.", explicit_bucket_boundaries_advisory=_BUCKETS
        )
        self._call_labels = Labels(*_CALL, semconv.OUTCOME)
        self._error_labels = Labels(*_CALL, semconv.ERROR_CLASS, semconv.ERROR_REASON, semconv.ERROR_CHANNEL)
        self._retry_labels = Labels(*_CALL, semconv.ERROR_CLASS)
        self._duration_labels = Labels(*_CALL, semconv.SERVER_ADDRESS, semconv.ERROR_TYPE)
        self._ports: dict[tuple[int, int | None], Any] = {}

    def ended(
        self, info: CallInfo, outcome: str, failure: Classification | None, context: Any, counted: bool = False
    ) -> None:
        """Count a call, and its error with it; the error alone if a layer below has `counted` the call."""
        provider, model, operation = info.provider, info.model, info.operation
        if not counted:
            self._calls.add(1, self._call_labels.of(provider, model, operation, outcome), context)
        if failure is not None:
            labels = self._error_labels.of(
                provider, model, operation, failure.error_class.value, failure.reason, failure.channel
            )
            self._errors.add(1, labels, context)

    def took(self, info: CallInfo, seconds: float, error_type: str | None, context: Any) -> None:
        """Record a call's duration."""
        labels = self._duration_labels.of(info.provider, info.model, info.operation, info.address, error_type)
        self._duration.record(seconds, labels, context)

    def retried(self, info: CallInfo, error_class: str) -> None:
        """Count a hidden attempt."""
        self._retries.add(1, self._retry_labels.of(info.provider, info.model, info.operation, error_class))

    def failed_ourselves(self, place: str) -> None:
        """Count a failure of our own."""
        self._own.add(1, {semconv.PLACE: place})
