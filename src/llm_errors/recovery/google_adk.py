"""`LlmErrorsPlugin`: an ADK application that wants to act on failures of its models, not only to see them counted.

    from llm_errors.recovery.google_adk import LlmErrorsPlugin

    app = App(name="shop", root_agent=agent, plugins=[LlmErrorsPlugin(substitute=True)])

It records the class of the last failure in the session's state (`llm_error_class`). With `substitute` the user gets a
polite text in place of a blocked answer or of a provider in trouble; what the owning team must repair is always raised.
An exception inside the plugin never breaks the run. Needs google-adk.
"""

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from llm_errors.classify import classify, decide
from llm_errors.evidence import Classification
from llm_errors.extract.adk import EMPTY_CODES, LlmResponseReader
from llm_errors.extract.answer import Answer
from llm_errors.instrument.adapters.adk import provider_of
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
    """One model call of an agent."""

    model: str
    started: float
    told: bool = False


@dataclass
class _Run:
    """What is known of one invocation: each agent's model call, and the verdict that awaits its event."""

    calls: dict[str, _Call] = field(default_factory=dict)
    verdicts: dict[str, Classification] = field(default_factory=dict)


class LlmErrorsPlugin(BasePlugin):  # type: ignore[misc]
    """Records failures of models in session state, and with `substitute` answers in their place.

    `refusal_text` stands for blocked prompts and answers, `degraded_text` for RATE_LIMITED, SERVER, TRANSPORT and
    TIMEOUT. Everything else, AUTH, NOT_FOUND and BAD_REQUEST above all, is raised as it is. `telemetry` counts calls
    and failures where `LLMErrorsInstrumentor` is not active; where it is, it has counted them already.
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
        """Judge an answer; in place of one that is blocked or broken, the text for it."""
        return quietly("adk_plugin", None, self._answered, callback_context, llm_response)

    async def on_model_error_callback(
        self, *, callback_context: Any, llm_request: Any, error: Exception
    ) -> LlmResponse | None:
        """Judge a raised error; in place of one that the user can only wait out, the text for it."""
        return quietly("adk_plugin", None, self._raised, callback_context, error)

    async def on_agent_error_callback(self, *, agent: Any, callback_context: Any, error: Exception) -> None:
        """A spent call limit is raised before any model is called: this is the first callback that sees it."""
        quietly("adk_plugin", None, self._agent_failed, callback_context, agent, error)

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Write the verdict into the event's state delta, the one way that stores it for every kind of failure."""
        quietly("adk_plugin", None, self._event, event)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Forget the run."""
        self._runs.pop(invocation_context.invocation_id, None)

    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        """Forget the run."""
        self._runs.pop(invocation_context.invocation_id, None)

    # --- what they do -----------------------------------------------------------------------------------------------

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
        # Whether an answer is empty ADK says on the event: in a stream only it knows which response is the last.
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
        refused = adk_telemetry.ADK.refused(agent, error)
        verdict = classify(error) if refused is not None else None
        if refused is None or verdict is None:
            return
        self._run(context.invocation_id).verdicts[context.agent_name] = verdict
        if self._telemetry is not None:
            self._telemetry.refused(refused, error)

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
        """Count the call with its first outcome; of a later one only a failure is news."""
        call = run.calls.setdefault(agent, _Call("", perf_counter()))
        if self._telemetry is not None:
            self._telemetry.ended(call.model, call.started, outcome, call.told)
        call.told = True
