"""The counters and the duration histogram of CONTRACT: call and error counted once, together."""

from typing import Any

from opentelemetry.metrics import Meter

from llm_errors import semconv
from llm_errors.adapters._protocol import CallInfo
from llm_errors.adapters._sink import Ending
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

    def ended(
        self, ending: Ending, failure: Classification | None, error_type: str | None, context: Any, measured: bool
    ) -> None:
        """Count a call, and its error with it; the error alone if a layer below has counted the call.

        A duration that a peer has `measured` is not recorded again.
        """
        info = ending.info
        provider, model, operation = info.provider, info.model, info.operation
        if not ending.counted:
            outcome = semconv.CANCELLED if ending.cancelled else semconv.OK if failure is None else semconv.ERROR
            self._calls.add(1, self._call_labels[provider, model, operation, outcome], context)
            if not measured:
                labels = self._duration_labels[provider, model, operation, info.address, error_type]
                self._duration.record(ending.duration, labels, context)
        if failure is not None:
            error_class, reason, channel = failure.error_class.value, failure.reason, failure.channel
            self._errors.add(1, self._error_labels[provider, model, operation, error_class, reason, channel], context)

    def retried(self, info: CallInfo, error_class: str) -> None:
        """Count a hidden attempt."""
        self._retries.add(1, self._retry_labels[info.provider, info.model, info.operation, error_class])

    def failed_ourselves(self, place: str) -> None:
        """Count a failure of our own."""
        self._own.add(1, {semconv.PLACE: place})
