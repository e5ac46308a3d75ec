"""The counters and histograms of model calls. A call and its error are counted at the same time, and only once."""

from typing import Any
from weakref import WeakKeyDictionary

from opentelemetry import metrics, trace
from opentelemetry.metrics import Histogram, Meter, MeterProvider

from llm_errors import semconv
from llm_errors.call import CallInfo, CallOutcome
from llm_errors.evidence import Classification
from llm_errors.telemetry import peers
from llm_errors.telemetry.durations import BUCKETS, TOKEN_BUCKETS, Durations, DurationsOfAll
from llm_errors.telemetry.labels import Labels
from llm_errors.telemetry.spans import Scope
from llm_errors.telemetry.tally import Counted, Total
from llm_errors.version import __version__

_CALL = (semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.OPERATION)
_FAILURE = (semconv.ERROR_CLASS, semconv.ERROR_REASON, semconv.ERROR_CHANNEL)
CALLS = Counted(semconv.CALLS, "{call}", "Model calls that have ended, by outcome.", (*_CALL, semconv.OUTCOME))
ERRORS = Counted(semconv.ERRORS, "{error}", "Failed model calls, by class and reason.", (*_CALL, *_FAILURE))
RETRIES = Counted(
    semconv.RETRIES, "{retry}", "Failed attempts that the SDK's own retry hid.", (*_CALL, semconv.ERROR_CLASS)
)
COUNTERS = (CALLS, ERRORS, RETRIES)
"""The counters of calls, with their attributes."""


class Metrics:
    """The instruments of llm-errors.

    `observable` selects observable counters for calls, errors and retries. It is true only for a MeterProvider of the
    OpenTelemetry SDK, which reads each sum once per collection. All three counters are of the same kind, so that a
    temporality preference treats them the same way.
    """

    def __init__(self, meter: Meter, observable: bool) -> None:
        self._calls = Total(meter, observable, CALLS, self._collected)
        self._errors = Total(meter, observable, ERRORS)
        self._retries = Total(meter, observable, RETRIES)
        self._own = meter.create_counter(semconv.INSTRUMENTATION_ERRORS, "{error}", "Failures of this instrumentation.")
        self._duration = meter.create_histogram(
            semconv.DURATION, "s", "GenAI operation duration.", explicit_bucket_boundaries_advisory=BUCKETS
        )
        self._first_chunk = meter.create_histogram(
            semconv.FIRST_CHUNK,
            "s",
            "Time to the first chunk of a stream.",
            explicit_bucket_boundaries_advisory=BUCKETS,
        )
        self._tokens = meter.create_histogram(
            semconv.TOKEN_USAGE,
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=TOKEN_BUCKETS,
        )
        self.token_usage = False
        """Whether the token histogram is recorded: the setting `token_usage`."""
        self._durations = DurationsOfAll(*_CALL, semconv.SERVER_ADDRESS, semconv.ERROR_TYPE)
        self._first_chunks = DurationsOfAll(*_CALL, semconv.SERVER_ADDRESS)
        self._token_labels = Labels(dict, *_CALL, semconv.SERVER_ADDRESS, semconv.TOKEN_TYPE)

    def _collected(self) -> None:
        self._durations.collected()
        self._first_chunks.collected()

    def ended(
        self, scope: Scope, ending: CallOutcome, failure: Classification | None, error_type: str | None, context: Any
    ) -> None:
        """Count a call and its error. If a nested call was counted already, count the error only.

        The duration is not recorded if another instrumentation records it, or if the operation is not a model call.
        """
        info = ending.info
        provider, model, operation = info.provider, info.model, info.operation
        if not ending.counted:
            outcome = semconv.CANCELLED if ending.cancelled else semconv.OK if failure is None else semconv.ERROR
            tally = self._calls.tally
            if tally is not None:  # the body of `add`, inlined because it runs for every call
                calls = tally[provider, model, operation, outcome]
                next(calls.steps)
                if calls.exemplar is None:
                    calls.offer(scope.span or trace.get_current_span(context))
            else:
                self._calls.add((provider, model, operation, outcome), scope.span, context)
            if not scope.measured and operation in peers.MODEL_OPERATIONS:
                where = (provider, model, operation, info.address)
                self._measure(
                    self._duration,
                    self._durations[provider, model, operation, info.address, error_type],
                    ending.duration,
                    scope,
                    context,
                )
                if ending.time_to_first_chunk is not None:
                    known = self._first_chunks[where]
                    self._measure(self._first_chunk, known, ending.time_to_first_chunk, scope, context)
                if self.token_usage:
                    self._count_tokens(ending, context)
        if failure is not None:
            error_class, reason, channel = failure.error_class.value, failure.reason, failure.channel
            self._errors.add((provider, model, operation, error_class, reason, channel), scope.span, context)

    def _measure(self, histogram: Histogram, known: Durations, seconds: float, scope: Scope, context: Any) -> None:
        offered = context if self._calls.tally is None else known.context(seconds, scope.span, context)
        histogram.record(seconds, known.attributes, offered)

    def _count_tokens(self, ending: CallOutcome, context: Any) -> None:
        info, answer = ending.info, ending.answer
        for kind, tokens in ((semconv.INPUT, answer.input_tokens), (semconv.OUTPUT, answer.output_tokens)):
            if tokens is not None and tokens >= 0:
                labels = self._token_labels[info.provider, info.model, info.operation, info.address, kind]
                self._tokens.record(tokens, labels, context)

    def retried(self, info: CallInfo, error_class: str) -> None:
        """Count a failed attempt that the SDK retried."""
        self._retries.add((info.provider, info.model, info.operation, error_class), None, None)

    def failed_ourselves(self, place: str) -> None:
        """Count an internal error of llm-errors."""
        self._own.add(1, {semconv.PLACE: place})


_MADE: WeakKeyDictionary[MeterProvider, Metrics] = WeakKeyDictionary()
_SDK = "opentelemetry.sdk.metrics"
"""The module of the OpenTelemetry SDK's MeterProvider, which reads each observable counter once per collection."""
_STAND_IN = "_ProxyMeterProvider"
"""The class of the placeholder that OpenTelemetry's API returns until the application sets the global provider."""


def metrics_of(given: MeterProvider | None) -> Metrics:
    """The instruments of the given provider, or of the global one.

    Existing instruments are reused, because the OpenTelemetry SDK does not read a second observable counter of the same name.
    """
    current = metrics.get_meter_provider()
    provider = current if given is None else given
    kind = type(provider)
    observable = kind.__module__.startswith(_SDK)
    if not observable and kind.__name__ != _STAND_IN:
        return _made(provider, observable=False)
    found = _MADE.get(provider)
    if found is None and provider is current:
        found = next((m for p, m in _MADE.items() if type(p).__name__ == _STAND_IN), None)
    if found is None:
        found = _made(provider, observable)
    _MADE[provider] = found
    return found


def _made(provider: MeterProvider, observable: bool) -> Metrics:
    return Metrics(provider.get_meter(semconv.SCOPE, __version__, schema_url=semconv.SCHEMA_URL), observable)
