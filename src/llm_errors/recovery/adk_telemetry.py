"""Counts the calls that ADK's callbacks report, unless `LLMErrorsInstrumentor` is active and counts them itself.

This module records counters and log records but no spans, because the span of the model call is no longer current in a
callback.
"""

from time import perf_counter
from typing import Any

from llm_errors import providers
from llm_errors.call import CallInfo, CallOutcome
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions
from llm_errors.extract.adk import LlmResponseReader, provider_of
from llm_errors.extract.answer import Answer
from llm_errors.safety import quietly

_ROW = providers.sdk("google-adk")
_READER = LlmResponseReader()


class Telemetry:
    """Records calls with the global OpenTelemetry providers, which are looked up when the first call has ended."""

    def __init__(self) -> None:
        self._recorder: Any = None

    def ended(self, model: str, started: float, outcome: Answer | Exception, counted: bool) -> None:
        """Record the end of a model call. If the call has been counted before, record only a failure."""
        if isinstance(outcome, Exception) or outcome.suspicion is not None or not counted:
            self._record(_info("generate_content", model), started, outcome, counted)

    def refused(self, model: str, error: Exception) -> None:
        """Record that a run has reached its call limit. The error counts as a failed call of the agent."""
        self._record(_info("invoke_agent", model), perf_counter(), error, False)

    def _record(self, info: CallInfo, started: float, outcome: Answer | Exception, counted: bool) -> None:
        recorder = self._active()
        scope = recorder.open(info) if recorder is not None else None
        if scope is None:
            return
        if isinstance(outcome, Exception):
            answer, cancelled = Answer(), exceptions.is_cancellation(outcome)
            evidence = None if cancelled else quietly("failure", Evidence(), _read, outcome, info)
        else:
            answer, cancelled, evidence = outcome, False, outcome.suspicion
        duration = perf_counter() - started
        recorder.close(scope, CallOutcome(info, evidence, cancelled, answer, duration, 0.0, None, 0, counted))
        recorder.leave(scope)

    def _active(self) -> Any:
        """The recorder, or None while the instrumentor observes the calls itself."""
        from llm_errors.instrumentor import LLMErrorsInstrumentor, build_recorder
        from llm_errors.settings import read

        if LLMErrorsInstrumentor().is_instrumented_by_opentelemetry:
            return None
        if self._recorder is None:
            self._recorder, _ = build_recorder(read({"spans": "off"}), {})
        return self._recorder


def _info(operation: str, model: str) -> CallInfo:
    return CallInfo(
        sdk=_ROW.name,
        distribution=_ROW.distribution,
        dialect=_ROW.dialect,
        provider=provider_of(model),
        operation=operation,
        model=model or None,
        stream=False,
        address=None,
        port=None,
        reader=_READER,
    )


def _read(error: Exception, info: CallInfo) -> Evidence:
    return exceptions.read(exceptions.first_failure(error), info.dialect, info.provider)
