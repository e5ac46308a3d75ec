"""Classifies a call when it ends, and passes the result to the span, the metrics, the log and the user's hook."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from opentelemetry.trace import Span

from llm_errors import semconv
from llm_errors.call import CallInfo, CallOutcome
from llm_errors.classify import decide, prepare, unreadable
from llm_errors.evidence import Classification, Evidence
from llm_errors.extract.redact import redact, redact_credentials
from llm_errors.safety import quietly, report_internal_error
from llm_errors.settings import FULL, NO_MESSAGE, Settings
from llm_errors.taxonomy import ErrorClass
from llm_errors.telemetry import spans
from llm_errors.telemetry.logs import FailureLog
from llm_errors.telemetry.metrics import Metrics

if TYPE_CHECKING:
    from llm_errors.rules._rule import Index

FailureHook = Callable[[Span | None, Classification, CallInfo], object]


class Recorder:
    """Implements `call.CallRecorder`, through which `instrument` reports calls."""

    def __init__(
        self,
        settings: Settings,
        spans_of: spans.Spans,
        metrics: Metrics,
        log: FailureLog | None,
        *,
        hook: FailureHook | None = None,
        own_rules: "Index | None" = None,
    ) -> None:
        self._settings, self._metrics, self._log = settings, metrics, log
        self.open, self.leave = spans_of.open, spans_of.leave
        self.agent_span, self.open_on, self.recovered = spans.agent_span, spans_of.open_on, spans.recovered
        self.enclosing_span = spans.enclosing_span
        self._hook, self._own_rules = hook, own_rules
        self._redaction = redact_credentials if settings.capture_message == FULL else redact

    def prepare(self) -> None:
        """Import the modules that the first failure needs.

        This runs when the application imports an SDK, because the import of an SDK takes longer than this one.
        """
        prepare()

    def retried(self, info: CallInfo, evidence: Evidence) -> None:
        """Count a failed attempt that the SDK retried by itself."""
        failure = self._verdict(evidence)
        if failure is not None:
            self._metrics.retried(info, failure.error_class.value)

    def close(self, scope: spans.Scope, ending: CallOutcome) -> None:
        """Record the end of a call. Each signal is guarded separately: the span must end even if another signal fails."""
        failure = None if ending.evidence is None else self._verdict(ending.evidence)
        attributes: dict[str, Any] = {}
        context, error_type = scope.context, None
        if failure is not None:
            at_least = {semconv.ERROR_CLASS: failure.error_class.value, semconv.ERROR_REASON: failure.reason}
            attributes = quietly("attributes", at_least, self._attributes, failure, ending)
            context = quietly("context", context, scope.settled_context)
            error_type = spans.error_type(ending.evidence, failure)
        try:
            self._metrics.ended(scope, ending, failure, error_type, context)
        except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every call
            report_internal_error("metrics", error)
        try:
            if failure is not None:
                quietly("log", None, self._log_failure, scope, ending, failure, attributes, context)
                if self._hook is not None:
                    quietly("failure_hook", None, self._hook, scope.span, failure, ending.info)
        finally:  # a hook may exit the process
            try:
                spans.write(scope, ending, attributes, failure, error_type)
            except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined too
                report_internal_error("span", error)

    def _verdict(self, evidence: Evidence) -> Classification | None:
        """The classification. If classifying raises, the failure is still reported, as UNKNOWN."""
        undecided: Classification | None = unreadable(evidence.channel)
        return quietly("decide", undecided, self._decide, evidence)

    def _decide(self, evidence: Evidence) -> Classification | None:
        return decide(evidence, own=self._own_rules, messages=self._settings.message_rules, redaction=self._redaction)

    def _attributes(self, failure: Classification, ending: CallOutcome) -> dict[str, Any]:
        """The `llm.error.*` attributes of the span and of the log record."""
        written: dict[str, Any] = {
            semconv.ERROR_CLASS: failure.error_class.value,
            semconv.ERROR_REASON: failure.reason,
            semconv.ERROR_CHANNEL: failure.channel,
            semconv.ERROR_EVIDENCE: failure.evidence,
            semconv.ERROR_RULE: failure.rule,
            semconv.ERROR_RETRYABLE: failure.retryable,
            semconv.ERROR_PARTIAL_OUTPUT: failure.partial_output,
        }
        if failure.retry_after is not None:
            written[semconv.ERROR_RETRY_AFTER] = failure.retry_after
        if failure.code:
            written[semconv.ERROR_CODE] = failure.code
        if failure.status_code is not None:
            written[semconv.ERROR_STATUS_CODE] = failure.status_code
        if failure.message and self._settings.capture_message != NO_MESSAGE:
            written[semconv.ERROR_MESSAGE] = failure.message
        if failure.error_class is ErrorClass.UNKNOWN and ending.evidence is not None:
            written[semconv.ERROR_FINGERPRINT] = fingerprint(ending.info.provider, ending.evidence)
        return written

    def _log_failure(
        self, scope: spans.Scope, ending: CallOutcome, failure: Classification, attributes: dict[str, Any], context: Any
    ) -> None:
        if self._log is None:
            return
        info = ending.info
        written = {semconv.PROVIDER: info.provider, semconv.OPERATION: info.operation, **scope.around, **attributes}
        if info.model:
            written[semconv.REQUEST_MODEL] = info.model[:256]
        if ending.evidence is not None and ending.evidence.exception_type:
            written[semconv.EXCEPTION_TYPE] = ending.evidence.exception_type
        self._log.emit(written, context)


def fingerprint(provider: str, evidence: Evidence) -> str:
    """A short stable hash of an UNKNOWN failure: provider, exception type, status, codes and finish reason, not the message."""
    from hashlib import sha256  # loads OpenSSL, which a process without an UNKNOWN failure may not need

    parts = (
        provider,
        evidence.exception_type,
        str(evidence.status or ""),
        "|".join(evidence.codes),
        evidence.finish_reason or evidence.block_reason,
    )
    return sha256("\x1f".join(parts).encode()).hexdigest()[:12]
