"""`LlmErrorsPlugin` lets an ADK application react to failures of its models.

    from llm_errors.recovery.google_adk import LlmErrorsPlugin

    app = App(name="shop", root_agent=agent, plugins=[LlmErrorsPlugin(substitute=True)])

It writes the class of the last failure into the session state (`llm_error_class`). With `substitute`, the user receives a
polite text instead of a blocked answer or an error of the provider. Failures that the owning team must fix are always raised.
An exception inside the plugin never ends the run. The plugin needs google-adk.
"""

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from llm_errors.classify import classify, decide
from llm_errors.evidence import Classification
from llm_errors.extract.adk import EMPTY_CODES, LlmResponseReader, is_call_limit, model_of, provider_of
from llm_errors.extract.answer import Answer
from llm_errors.recovery import adk_telemetry
from llm_errors.safety import quietly
from llm_errors.taxonomy import ErrorClass

STATE_KEY = "llm_error_class"
REFUSAL = "I cannot help with this request. Please rephrase it."
DEGRADED = "I am not able to answer at the moment. Please try again in a few minutes."

_REFUSED = frozenset((ErrorClass.PROMPT_BLOCKED, ErrorClass.OUTPUT_BLOCKED))
_IN_TROUBLE = frozenset((ErrorClass.RATE_LIMITED, ErrorClass.SERVER, ErrorClass.TRANSPORT, ErrorClass.TIMEOUT))
_READER = LlmResponseReader()


@dataclass
class _Call:
    """A model call of an agent. `counted` is true once the call has been recorded."""

    model: str
    started: float
    counted: bool = False


@dataclass
class _Run:
    """The state of one ADK invocation. Both dictionaries have the names of agents as keys.

    `calls` contains the current model call of an agent, and `verdicts` the classification to write into its next event.
    """

    calls: dict[str, _Call] = field(default_factory=dict)
    verdicts: dict[str, Classification] = field(default_factory=dict)


class LlmErrorsPlugin(BasePlugin):  # type: ignore[misc]
    """Writes the class of a model's failure into the session state. With `substitute`, it also replaces failures by a text.

    `refusal_text` replaces blocked prompts and answers. `degraded_text` replaces failures of the classes RATE_LIMITED, SERVER,
    TRANSPORT and TIMEOUT. Other errors, above all AUTH, NOT_FOUND and BAD_REQUEST, are raised unchanged. With `telemetry`, the
    plugin counts calls and failures, but only while `LLMErrorsInstrumentor`, which counts them itself, is not active.
    """

    def __init__(
        self,
        *,
        name: str = "llm_errors",
        substitute: bool = False,
        refusal_text: str = REFUSAL,
        degraded_text: str = DEGRADED,
        state_key: str = STATE_KEY,
        telemetry: bool = True,
    ) -> None:
        super().__init__(name=name)
        self._substitute, self._state_key = substitute, state_key
        self._texts = {**dict.fromkeys(_REFUSED, refusal_text), **dict.fromkeys(_IN_TROUBLE, degraded_text)}
        self._telemetry = adk_telemetry.Telemetry() if telemetry else None
        self._runs: dict[str, _Run] = {}

    # --- ADK's callbacks: none of them may raise, and all but the two that substitute return None -------------------

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Note that a model call begins."""
        quietly("adk_plugin", None, self._begin, callback_context, llm_request)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> LlmResponse | None:
        """Classify an answer. If it is a failure that `substitute` covers, return the text that replaces it."""
        return quietly("adk_plugin", None, self._answered, callback_context, llm_response)

    async def on_model_error_callback(
        self, *, callback_context: Any, llm_request: Any, error: Exception
    ) -> LlmResponse | None:
        """Classify a raised error. If `substitute` covers its class, return the text that replaces it."""
        return quietly("adk_plugin", None, self._raised, callback_context, error)

    async def on_agent_error_callback(self, *, agent: Any, callback_context: Any, error: Exception) -> None:
        """Record that the call limit is reached. ADK raises this error before it calls a model: no other callback sees it."""
        quietly("adk_plugin", None, self._agent_failed, callback_context, agent, error)

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Write the class into the state delta of the event. Only this way stores it for all kinds of failures."""
        quietly("adk_plugin", None, self._event, event)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Forget the state of a run that has ended."""
        self._runs.pop(invocation_context.invocation_id, None)

    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        """Forget the state of a run that has failed."""
        self._runs.pop(invocation_context.invocation_id, None)

    # --- what the callbacks do --------------------------------------------------------------------------------------

    def _run(self, invocation_id: str) -> _Run:
        return self._runs.setdefault(invocation_id, _Run())

    def _begin(self, context: Any, request: Any) -> None:
        run = self._run(context.invocation_id)
        run.calls[context.agent_name] = _Call(str(request.model or ""), perf_counter())

    def _answered(self, context: Any, response: Any) -> LlmResponse | None:
        if response.partial:
            return None
        run = self._run(context.invocation_id)
        answer = _READER.whole(response)
        # ADK reports an empty answer on the event, because only ADK knows which response of a stream is the last.
        if answer.suspicion is None or "empty" in answer.suspicion.facts:
            self._tell(run, context.agent_name, Answer())
            return None
        self._tell(run, context.agent_name, answer)
        return self._judged(run, context.agent_name, decide(answer.suspicion))

    def _raised(self, context: Any, error: Exception) -> LlmResponse | None:
        run = self._run(context.invocation_id)
        call = run.calls.get(context.agent_name)
        verdict = classify(error, provider=provider_of(call.model if call else ""))
        self._tell(run, context.agent_name, error)
        return self._judged(run, context.agent_name, verdict)

    def _judged(self, run: _Run, agent: str, verdict: Classification | None) -> LlmResponse | None:
        if verdict is None:
            return None
        run.verdicts[agent] = verdict
        text = self._texts.get(verdict.error_class) if self._substitute else None
        if text is None:
            return None
        said = types.Content(role="model", parts=[types.Part(text=text)])
        return LlmResponse(content=said, custom_metadata={self._state_key: verdict.error_class.value})

    def _agent_failed(self, context: Any, agent: Any, error: Exception) -> None:
        verdict = classify(error) if is_call_limit(error) else None
        if verdict is None:
            return
        self._run(context.invocation_id).verdicts[context.agent_name] = verdict
        if self._telemetry is not None:
            self._telemetry.refused(model_of(agent), error)

    def _event(self, event: Any) -> None:
        run = self._runs.get(event.invocation_id)
        if event.partial or run is None:
            return
        verdict = run.verdicts.pop(event.author, None)
        if verdict is None and event.error_code and str(event.error_code) in EMPTY_CODES:
            verdict = self._empty(run, event)
        if verdict is not None:
            event.actions.state_delta[self._state_key] = verdict.error_class.value

    def _empty(self, run: _Run, event: Any) -> Classification | None:
        answer = _READER.whole(event)
        if answer.suspicion is None:
            return None
        self._tell(run, event.author, answer)
        return decide(answer.suspicion)

    def _tell(self, run: _Run, agent: str, outcome: Answer | Exception) -> None:
        """Record the first outcome of the call as a call. Later outcomes are recorded only if they are failures."""
        call = run.calls.setdefault(agent, _Call("", perf_counter()))
        if self._telemetry is not None:
            self._telemetry.ended(call.model, call.started, outcome, call.counted)
        call.counted = True
