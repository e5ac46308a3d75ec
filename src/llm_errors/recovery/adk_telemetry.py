"""Counts what ADK's callbacks see where no instrumentation does. Where the instrumentor is active it stays silent.

No spans: in a callback the model call's own span is not current any more. Counters and log records only.
"""

from time import perf_counter
from typing import Any

from llm_errors import providers
from llm_errors.call import CallInfo
from llm_errors.extract.answer import Answer
from llm_errors.instrument.adapters.adk import GoogleAdk
from llm_errors.instrument.invocation import Invocation

ADK = GoogleAdk(providers.sdk("google-adk"))


class Telemetry:
    """The counters and the log, made from the global providers when the first call has ended."""

    def __init__(self) -> None:
        self._recorder: Any = None

    def ended(self, model: str, started: float, outcome: Answer | Exception, counted: bool) -> None:
        """A model call ended; one that has been `counted` can only add a failure."""
        if isinstance(outcome, Exception) or outcome.suspicion is not None or not counted:
            self._settle(ADK.facts("generate_content", model, False), started, outcome, counted)

    def refused(self, info: CallInfo, error: Exception) -> None:
        """A run's call limit is spent."""
        self._settle(info, perf_counter(), error, False)

    def _settle(self, info: CallInfo, started: float, outcome: Answer | Exception, counted: bool) -> None:
        recorder = self._active()
        scope = recorder.open(info) if recorder is not None else None
        if scope is None:
            return
        call = Invocation(ADK, info, recorder, scope)
        call.counted = counted
        call.since(started, None)
        if isinstance(outcome, Exception):
            call.failed(outcome)
        else:
            call.settle(outcome)
        call.leave()

    def _active(self) -> Any:
        """The recorder; None while the instrumentor observes the calls itself."""
        from llm_errors.instrumentor import LLMErrorsInstrumentor, build_recorder
        from llm_errors.settings import read

        if LLMErrorsInstrumentor().is_instrumented_by_opentelemetry:
            return None
        if self._recorder is None:
            self._recorder, _ = build_recorder(read({"spans": "off"}), {})
        return self._recorder
