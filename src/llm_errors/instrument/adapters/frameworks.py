"""Agent frameworks: limits that they enforce, and model answers that they cannot use. Only the framework detects these.

The adapters of the SDKs report the model calls themselves. Each row names a function of a framework that runs model calls
or enforces a limit, and the exceptions that count. This module has more than 120 lines because of the rows.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from llm_errors import providers
from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import causes, frameworks
from llm_errors.extract.answer import Answer, Chunks
from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.run_reports import Watched
from llm_errors.instrument.adapters.run_wrappers import (
    async_check,
    async_run,
    async_step,
    async_steps,
    check,
    constructed,
    entered,
    run,
    steps,
)
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Function, Target
from llm_errors.instrument.wrappers import Edge

INVOKE_AGENT: Final = "invoke_agent"
_OTHER: Final = "other"

Wrap = Callable[[Edge, Function], Function]


class _NoReader:
    """A framework's run is judged by its exceptions; its result is not read."""

    def whole(self, result: Any) -> Answer:
        """The result is never a failure."""
        return Answer()

    def chunks(self) -> Chunks:
        """A run has no chunks."""
        raise NotImplementedError


def _row(where: str, wrap: Wrap, limits: str = "", verdicts: str = "", **more: Any) -> Watched:
    """A row. `where` is `module:Class.function` or `module:function`."""
    module, _, path = where.partition(":")
    owner, _, attribute = path.rpartition(".")
    return Watched(
        module, owner, attribute, wrap, limits=tuple(limits.split()), verdicts=tuple(verdicts.split()), **more
    )


_AGENTS_LIMITS = (
    "MaxTurnsExceeded InputGuardrailTripwireTriggered OutputGuardrailTripwireTriggered"
    " ToolInputGuardrailTripwireTriggered ToolOutputGuardrailTripwireTriggered"
)

_GRAPH_LIMITS = "GraphRecursionError ModelCallLimitExceededError ToolCallLimitExceededError"
_OFF_THE_SCHEMA = "OutputParserException ValidationError"


def _always(fact: str) -> Callable[[Any, Any], str]:
    """A function that always returns this fact, because the patched function runs only if the limit is reached."""
    return lambda _, __: fact


def _steps_of_haystack(_: Any, result: Any) -> str:
    return "turn_limit" if text(field(result, "exit_reason"), 64) == "max_agent_steps" else ""


def _iterations_of_dspy(agent: Any, prediction: Any) -> str:
    """The fact if the trajectory used every allowed step, and the last one is not `finish`."""
    trajectory = field(prediction, "trajectory")
    most = field(agent, "max_iters")
    last = field(trajectory, f"tool_name_{most - 1}") if isinstance(most, int) else None
    return "turn_limit" if last is not None and last != "finish" else ""


def _stop_of_autogen(_: Any, item: Any) -> str:
    """The fact for the stop reason in the task result, which the stream yields last; an empty text if no limit stopped it."""
    reason = text(field(item, "stop_reason"), 256)
    return next((fact for words, fact in _AUTOGEN_STOPS if reason.startswith(words)), "")


_AUTOGEN_STOPS = (
    ("Maximum number of turns ", "turn_limit"),
    ("Maximum number of messages ", "turn_limit"),
    ("Token usage limit reached", "token_limit"),
)


def _stop_of_strands(_: Any, event: Any) -> str:
    """The fact for the stop reason in the agent's result, which the stream yields last; an empty text if it is no limit."""
    stop = text(field(field(event, "result"), "stop_reason"), 64)
    return _STRANDS_STOPS.get(stop, "")


_STRANDS_STOPS = {
    "limit_turns": "turn_limit",
    "limit_total_tokens": "token_limit",
    "limit_output_tokens": "token_limit",
}


def _stop_of_praison(agent: Any, _: Any) -> str:
    """The fact, if the agent has noted that its last loop reached the maximum number of steps."""
    return "turn_limit" if text(field(agent, "last_stop_reason"), 64) == "max_steps" else ""


def _end_of_praison(_: Any, result: Any) -> str:
    """The fact for the reason in the result of an autonomous run, whose budget limits money (`max_budget_usd`) or tokens."""
    reason = text(field(result, "completion_reason"), 64)
    if reason == "budget_exhausted":
        return "token_limit" if field(field(result, "metadata"), "max_budget_usd") is None else "spend_limit"
    return "turn_limit" if reason == "max_iterations" else ""


def _ended(fact: str) -> Callable[[Any, Any], str]:
    """A function that returns this fact if a middleware of langchain ends the run."""
    return lambda _, update: fact if field(update, "jump_to") == "end" else ""


TABLE: Final[dict[str, tuple[Watched, ...]]] = {
    "openai-agents": (
        _row("agents.run:AgentRunner.run", async_run, _AGENTS_LIMITS, "ModelBehaviorError"),
        _row("agents.agent_output:AgentOutputSchema.validate_json", check, "", "ModelBehaviorError"),
        _row("agents.run:start_streaming", async_run, _AGENTS_LIMITS, "ModelBehaviorError"),
        _row("agents.run_internal.run_loop:get_response_with_retry", async_run),
        _row("agents.run_internal.run_loop:stream_response_with_retry", async_steps),
        # The exception is created in every run that reaches the limit, even if the application's error handler replaces it.
        _row("agents.exceptions:MaxTurnsExceeded.__init__", constructed, "MaxTurnsExceeded", elsewhere=("agents.result",)),
    ),
    "pydantic-ai": (
        _row("pydantic_ai.run:AgentRun.next", async_step, "UsageLimitExceeded", "UnexpectedModelBehavior"),
        # The application reads a stream outside of `AgentRun.next`.
        _row("pydantic_ai.usage:UsageLimits.check_before_request", check, "UsageLimitExceeded"),
        _row("pydantic_ai.usage:UsageLimits.check_before_tool_call", check, "UsageLimitExceeded"),
        _row("pydantic_ai.usage:UsageLimits.check_tokens", check, "UsageLimitExceeded"),
        _row("pydantic_ai.models.fallback:FallbackModel.request", async_run),
        _row("pydantic_ai.models.fallback:FallbackModel.request_stream", entered),
    ),
    "instructor": (
        _row("instructor.v2.core.patch:retry_sync_v2", run, "", "InstructorRetryException"),
        _row("instructor.v2.core.patch:retry_async_v2", async_run, "", "InstructorRetryException"),
    ),
    "langchain-core": (
        # In these functions, the agent's span is current. In the functions that they call, a model call's span may be current.
        _row("langchain_core.language_models.chat_models:BaseChatModel.invoke", run),
        _row("langchain_core.language_models.chat_models:BaseChatModel.ainvoke", async_run),
        _row("langchain_core.language_models.chat_models:BaseChatModel.stream", steps),
        _row("langchain_core.language_models.chat_models:BaseChatModel.astream", async_steps),
        _row("langchain_core.runnables.base:RunnableSequence.invoke", run),
        _row("langchain_core.runnables.base:RunnableSequence.ainvoke", async_run),
        _row("langchain_core.runnables.base:RunnableSequence.transform", steps),
        _row("langchain_core.runnables.base:RunnableSequence.atransform", async_steps),
        _row("langchain_core.runnables.fallbacks:RunnableWithFallbacks.invoke", run),
        _row("langchain_core.runnables.fallbacks:RunnableWithFallbacks.ainvoke", async_run),
        _row("langchain_core.runnables.fallbacks:RunnableWithFallbacks.stream", steps),
        _row("langchain_core.runnables.fallbacks:RunnableWithFallbacks.astream", async_steps),
        _row("langchain_core.runnables.retry:RunnableRetry.invoke", run),
        _row("langchain_core.runnables.retry:RunnableRetry.ainvoke", async_run),
        _row("langchain_core.output_parsers.base:BaseOutputParser.invoke", check, "", _OFF_THE_SCHEMA),
        _row("langchain_core.output_parsers.base:BaseOutputParser.ainvoke", async_check, "", _OFF_THE_SCHEMA),
        _row("langchain_core.output_parsers.base:BaseGenerationOutputParser.invoke", check, "", _OFF_THE_SCHEMA),
        _row("langchain_core.output_parsers.base:BaseGenerationOutputParser.ainvoke", async_check, "", _OFF_THE_SCHEMA),
    ),
    "langgraph": (
        # Other instrumentations end the agent's span before the exception leaves the graph.
        _row("langgraph.errors:GraphRecursionError.__init__", constructed, "GraphRecursionError"),
        _row("langgraph.pregel.main:Pregel.stream", steps, _GRAPH_LIMITS, "StructuredOutputError"),
        _row("langgraph.pregel.main:Pregel.astream", async_steps, _GRAPH_LIMITS, "StructuredOutputError"),
    ),
    "smolagents": (
        _row("smolagents.agents:MultiStepAgent._run_stream", steps),
        # The exception is recorded as the last step of a run, and not raised.
        _row("smolagents.utils:AgentMaxStepsError.__init__", constructed, "AgentMaxStepsError"),
    ),
    "haystack": (
        _row("haystack.core.pipeline.pipeline:Pipeline.run", run, "PipelineMaxComponentRuns"),
        _row("haystack.core.pipeline.pipeline:Pipeline.run_async_generator", async_steps, "PipelineMaxComponentRuns"),
        _row("haystack.components.agents.agent:Agent.run", run),
        _row("haystack.components.agents.agent:Agent.run_async", async_run),
        # The function creates the result of a run, while the agent's span of another instrumentation is still current.
        _row("haystack.components.agents.agent:_public_outputs", check, in_band=_steps_of_haystack),
    ),
    "agno": (
        _row("agno.models.base:Model.response", run),
        _row("agno.models.base:Model.aresponse", async_run),
        _row("agno.models.base:Model.response_stream", steps),
        _row("agno.models.base:Model.aresponse_stream", async_steps),
        _row("agno.models.base:Model.create_tool_call_limit_error_result", check, in_band=_always("other_limit")),
    ),
    "autogen": (
        _row("autogen_agentchat.teams._group_chat._base_group_chat:BaseGroupChat.run_stream", async_steps,
             in_band=_stop_of_autogen),
    ),
    "semantic-kernel": (
        _row("semantic_kernel.connectors.ai.chat_completion_client_base"
             ":ChatCompletionClientBase.get_chat_message_contents", async_run),
        _row("semantic_kernel.connectors.ai.open_ai.services.open_ai_chat_completion_base"
             ":OpenAIChatCompletionBase._reset_function_choice_settings", check, in_band=_always("turn_limit")),
    ),
    "dspy": (
        _row("dspy.predict.predict:Predict.forward", run, "", "AdapterParseError"),
        _row("dspy.predict.predict:Predict.aforward", async_run, "", "AdapterParseError"),
        _row("dspy.predict.react:ReAct.forward", run, in_band=_iterations_of_dspy),
        _row("dspy.predict.react:ReAct.aforward", async_run, in_band=_iterations_of_dspy),
    ),
    "llama-index": (
        # A single agent, and a workflow of several agents. Their steps run in tasks that `run` creates.
        *(row for where in ("base_agent:BaseWorkflowAgent", "multi_agent_workflow:AgentWorkflow") for row in (
            _row(f"llama_index.core.agent.workflow.{where}.run", run),
            _row(f"llama_index.core.agent.workflow.{where}.parse_agent_output", async_check, "WorkflowRuntimeError"),
            _row(f"llama_index.core.agent.workflow.{where}._generate_early_stopping_response", async_check,
                 in_band=_always("turn_limit"), optional=True),
        )),
    ),
    "crewai": (
        _row("crewai.crew:Crew.kickoff", run),
        _row("crewai.crew:Crew.akickoff", async_run),
        _row("crewai.agents.agent_executor:handle_max_iterations_exceeded", check, in_band=_always("turn_limit")),
    ),
    "strands": (
        _row("strands.agent.agent:Agent.stream_async", async_steps, "", "StructuredOutputException",
             in_band=_stop_of_strands),
    ),
    "praisonaiagents": (
        _row("praisonaiagents.agent.chat_mixin:ChatMixin._chat_impl", run, in_band=_stop_of_praison),
        _row("praisonaiagents.agent.chat_mixin:ChatMixin._achat_impl", async_run, in_band=_stop_of_praison),
        _row("praisonaiagents.agent.agent:Agent.run_autonomous", run, in_band=_end_of_praison),
        _row("praisonaiagents.agent.agent:Agent.run_autonomous_async", async_run, in_band=_end_of_praison),
        # The agent catches the exception and returns None.
        _row("praisonaiagents.errors:BudgetExceededError.__init__", constructed, "BudgetExceededError"),
    ),
    "langchain": (
        _row("langchain.agents.middleware.model_call_limit:ModelCallLimitMiddleware.before_model", check,
             _GRAPH_LIMITS, in_band=_ended("call_limit")),
        _row("langchain.agents.middleware.tool_call_limit:ToolCallLimitMiddleware.after_model", check,
             _GRAPH_LIMITS, in_band=_ended("other_limit")),
    ),
}  # fmt: skip
"""Framework in `providers` -> its rows."""


_LIMITS: Final = frozenset(name for rows in TABLE.values() for row in rows for name in row.limits)


class Framework(Adapter):
    """The adapter of every framework in the table."""

    def targets(self) -> Iterator[Target]:
        """The rows of the framework."""
        yield from TABLE[self.row.name]

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a run with the model of its agent. The agent is the object of the method, or an argument."""
        model = next(
            (m for agent in (instance, *args[:1], kwargs.get("starting_agent")) if (m := _model_of(agent))), ""
        )
        return self.info(operation=INVOKE_AGENT, model=model, provider=_provider_of(model), reader=_NoReader())

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence from the class only, because the text of the exception may repeat what a user or a model wrote."""
        names = causes.names(exc)
        limit = any(name.rpartition(".")[2] in _LIMITS for name in names)
        facts = frameworks.facts(exc, names) or frozenset(() if limit else ("off_the_schema",))
        return Evidence(provider=call.info.provider, exceptions=(names,), facts=facts)


def _model_of(agent: Any) -> str:
    """The name of an agent's model. The attribute `model` or `llm` of the agent is the name, or an object that has it."""
    model = field(agent, "model", "llm")
    return text(model, 256) if isinstance(model, str) else text(field(model, "model", "model_name", "model_id"), 256)


def _provider_of(model: str) -> str:
    """The provider of a model, from the model's name or from a prefix such as `openai:` or `openai/`."""
    prefix = model.replace("/", ":").partition(":")[0]
    found = providers.provider_of_model(model) or providers.provider(prefix)
    return _OTHER if found is None else found.name
