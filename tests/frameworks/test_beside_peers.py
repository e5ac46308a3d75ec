"""Each framework with a limit of its own, alone and beside one other instrumentation of it: the same counts, one span per model call.

OpenTelemetry, OpenInference and OpenLLMetry have no package for semantic-kernel and praisonaiagents. Semantic Kernel records spans
itself, and so does strands, whose OpenInference package rewrites them when they end. Frameworks with tests of their own beside a peer
are not here: openai-agents, pydantic-ai, claude-agent-sdk, google-adk, litellm.
"""

import asyncio
import inspect
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from llm_errors.testing import replies
from llm_errors.testing.provider import Script
from tests.frameworks.agents import (
    agno_agent,
    alone,
    counted,
    crew,
    dspy_model,
    dspy_step,
    haystack_agent,
    in_a_workflow,
    kernel_answer,
    of_haystack,
    of_haystack_async,
    ping,
    smolagent,
    strand,
    team,
)
from tests.frameworks.wire import (
    ANSWER,
    MODEL,
    NO_RETRIES,
    STREAM,
    counts,
    expected,
    marked,
    streamed_tool_call,
    tool_call,
)

REFUSED = replies.openai_error(401, "invalid_api_key", "invalid_request_error", "Incorrect API key provided")
PEER = "openinference.instrumentation"
CALL_KINDS = {"openinference.span.kind": ("LLM",), "gen_ai.operation.name": ("chat",)}
"""Attributes of the span of a model call, of llm-errors or of a peer."""

NO_CALL = "OpenAI._prepare_chat_with_tools"
"""What OpenInference records as a call of a model, too, although it only prepares one."""


@dataclass(frozen=True)
class Case:
    """What the provider says, what must be counted for it, and which spans must have a class beside the peer."""

    script: Script
    counted: Any
    marked: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A framework and a peer. `ours`: the peer makes no spans of model calls, so they are those of llm-errors."""

    name: str
    needs: tuple[str, ...]
    peer: str
    go: Callable[[str, int], Any]
    answers: Case
    refused: Case
    limit: Case
    ours: bool = False

    def run(self, case: Case, url: str) -> None:
        """Run the agent in a context of its own, because peers leave spans of failed runs current."""
        copy_context().run(self._run, case, url)

    def _run(self, case: Case, url: str) -> None:
        """The limit is 2 where it is to be reached."""
        try:
            outcome = self.go(url, 2 if case is self.limit else 5)
            if inspect.isawaitable(outcome):
                asyncio.run(as_coroutine(outcome))
        except Exception:
            if case is self.answers:
                raise


async def as_coroutine(outcome: Any) -> Any:
    return await outcome


CALLS = expected(ok=2)
DENIED = expected(failed=1, AUTH__invalid_key=1)
TURNS = expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)
LAST = expected(ok=3, runs=1, CALL_BUDGET__max_turns=1)
"""The limit, after which a last call ends the run."""


async def llama(url: str, limit: int) -> Any:
    return await alone(url).run("hi", max_iterations=limit)


async def llamas(url: str, limit: int) -> Any:
    return await in_a_workflow(url).run("hi", max_iterations=limit)


async def teamwork(url: str, limit: int) -> Any:
    from autogen_agentchat.conditions import TextMentionTermination

    # A team has no other end than a limit or a condition.
    ends = {"max_turns": 2} if limit == 2 else {"termination_condition": TextMentionTermination("hello", ["helper"])}
    return await team(url, **ends).run(task="hi")


def react(engine: str) -> Callable[[str, int], Any]:
    def go(url: str, limit: int) -> Any:
        model = dspy_model(url, engine)
        import dspy

        with dspy.context(lm=model):
            return dspy.ReAct("question -> answer", tools=[ping], max_iters=limit)(question="hi")

    return go


def graph(way: str) -> Callable[[str, int], Any]:
    def go(url: str, limit: int) -> Any:
        from langchain.agents import create_agent
        from langchain_openai import ChatOpenAI

        agent = create_agent(ChatOpenAI(model=MODEL, base_url=f"{url}/v1", **NO_RETRIES), [ping], name="helper")
        given = {"messages": [("user", "hi")]}, {"recursion_limit": 2 * limit - 1}
        return list(agent.stream(*given, stream_mode="messages")) if way == "stream" else getattr(agent, way)(*given)

    return go


def validated(asynchronous: bool) -> Callable[[str, int], Any]:
    def go(url: str, limit: int) -> Any:
        import instructor
        import openai
        from pydantic import BaseModel

        class Total(BaseModel):
            total: int

        cls = openai.AsyncOpenAI if asynchronous else openai.OpenAI
        client = instructor.from_openai(cls(base_url=f"{url}/v1", **NO_RETRIES))
        said = [{"role": "user", "content": "hi"}]
        return client.chat.completions.create(model=MODEL, messages=said, response_model=Total, max_retries=limit - 1)

    return go


async def turns(url: str, limit: int) -> Any:
    return await strand(url).invoke_async("hi", limits={"turns": limit})


LOOP, LOOP_STREAM = [tool_call(), ANSWER], [streamed_tool_call(), STREAM]
SMOL = [counted(tool_call()), counted(tool_call("final_answer", answer="hello"))]
AGNO = Case([tool_call(), tool_call(), tool_call(), ANSWER], expected(ok=4, runs=1, CALL_BUDGET__other=1))
DSPY = Case([dspy_step()], LAST, {"ReAct.forward": "CALL_BUDGET"})
KERNEL = tool_call("tools-ping")
HAYSTACK = ("haystack.components.agents", "haystack.components.generators.chat")
LLAMA = ("llama_index.core.agent.workflow", "llama_index.llms.openai")
GRAPH = ("langchain.agents", "langchain_openai")


def refused(span: str, **more: Any) -> Case:
    return Case([REFUSED], more.get("counted", DENIED), {span: "AUTH"} if span else {})


def agno(way: str) -> Row:
    span = {"run": "OpenAIChat.invoke", "arun": "OpenAIChat.ainvoke"}[way]
    return Row(
        f"agno-{way}", ("agno",), f"{PEER}.agno:AgnoInstrumentor",
        lambda url, limit: getattr(agno_agent(url, tool_call_limit=limit - 1), way)("hi"),
        Case(LOOP, CALLS), refused(span), replace(AGNO, marked={f"Agent.{way}": "CALL_BUDGET"}),
    )  # fmt: skip


def haystack(go: Any) -> Row:
    way = "run_async" if go is of_haystack_async else "run"
    return Row(
        f"haystack-{way}", HAYSTACK, f"{PEER}.haystack:HaystackInstrumentor",
        lambda url, limit: go(haystack_agent(url, limit)),
        Case(LOOP, CALLS), refused(f"OpenAIChatGenerator.{way}"), Case([tool_call()], TURNS, {f"Agent.{way}": "CALL_BUDGET"}),
    )  # fmt: skip


ROWS = (
    Row("smolagents", ("smolagents",), f"{PEER}.smolagents:SmolagentsInstrumentor",
        lambda url, limit: smolagent(url, limit).run("hi"),
        Case(SMOL, CALLS), refused("OpenAIModel.generate"),
        Case([SMOL[0], SMOL[0], counted(ANSWER)], LAST, {"ToolCallingAgent.run": "CALL_BUDGET"})),
    haystack(of_haystack), haystack(of_haystack_async),
    agno("run"), agno("arun"),
    Row("autogen", ("autogen_agentchat",), f"{PEER}.autogen_agentchat:AutogenAgentChatInstrumentor", teamwork,
        Case([ANSWER], expected(ok=1)), refused("OpenAIChatCompletionClient.create"),
        Case([ANSWER], TURNS, {"RoundRobinGroupChat.run_stream": "CALL_BUDGET"})),
    *(Row(f"dspy-{engine}", ("dspy",), f"{PEER}.dspy:DSPyInstrumentor", react(engine),
          Case([dspy_step(), dspy_step("finish"), dspy_step()], expected(ok=3)), refused("LM.__call__"), DSPY)
      for engine in ("litellm", "lm15")),
    # The spans of this peer are never current: callbacks make them.
    *(Row(f"langchain-{way}", GRAPH, f"{PEER}.langchain:LangChainInstrumentor", graph(way),
          Case(LOOP_STREAM if way == "stream" else LOOP, CALLS), refused(""),
          Case([streamed_tool_call() if way == "stream" else tool_call()], TURNS, {f"invoke_agent {MODEL}": "CALL_BUDGET"}))
      for way in ("invoke", "ainvoke", "stream")),
    Row("semantic-kernel", ("semantic_kernel",), "itself", lambda url, limit: kernel_answer(url, limit),
        Case([KERNEL, ANSWER], CALLS), refused(f"chat {MODEL}"),
        Case([KERNEL, KERNEL, ANSWER], LAST, {f"invoke_agent {MODEL}": "CALL_BUDGET"})),
    *(Row(f"llama-index-{name}", LLAMA, f"{PEER}.llama_index:LlamaIndexInstrumentor", go,
          Case(LOOP, CALLS), refused("OpenAI.achat"), Case([tool_call()], TURNS, {span: "CALL_BUDGET"}))
      for name, go, span in (("agent", llama, "BaseWorkflowAgent.parse_agent_output"),
                             ("workflow", llamas, "AgentWorkflow.parse_agent_output"))),
    Row("crewai", ("crewai",), f"{PEER}.crewai:CrewAIInstrumentor",
        lambda url, limit: crew(url, limit).kickoff(),
        Case([ANSWER], expected(ok=1)), refused(f"chat {MODEL}"),
        Case(lambda request: tool_call() if "tools" in (request.json() or {}) else ANSWER, LAST,
             {"r._execute_core": "CALL_BUDGET"}), ours=True),
    *(Row(f"instructor-{name}", ("instructor",), f"{PEER}.instructor:InstructorInstrumentor", validated(name == "async"),
          Case([tool_call("Total", total=3)], expected(ok=1)), refused(f"chat {MODEL}"),
          Case([tool_call("Total", total="many")], expected(ok=2, TOOL_PROTOCOL__schema_mismatch=1), {span: "TOOL_PROTOCOL"}),
          ours=True)
      for name, span in (("sync", "instructor.create"), ("async", "instructor.async_create"))),
    Row("strands", ("strands",), "itself", turns, Case(LOOP_STREAM, CALLS), refused("chat"),
        Case([streamed_tool_call()], TURNS, {"invoke_agent Strands Agents": "CALL_BUDGET"})),
)  # fmt: skip
each = pytest.mark.parametrize(("row", "case"), [
    pytest.param(row, getattr(row, case), id=f"{row.name}-{case}") for row in ROWS for case in ("answers", "refused", "limit")
])  # fmt: skip


def of_calls(telemetry: Any) -> int:
    """How many spans there are of model calls."""
    found = [s for s in telemetry.spans() if any(s.attributes.get(name) in kinds for name, kinds in CALL_KINDS.items())]
    return sum(span.name != NO_CALL for span in found)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Row], None]:
    """Import the framework, before a peer looks for it."""
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "false")

    def check(row: Row) -> None:
        for module in row.needs:
            pytest.importorskip(module)

    return check


@pytest.fixture
def recorded(beside: Any, telemetry: Any, instrument: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[Row], Any]:
    """Switch on the peer of a row, or the spans that the framework makes itself."""

    def start(row: Row) -> Any:
        if row.peer != "itself":
            return beside(row.peer)
        tracer = telemetry.tracer_provider.get_tracer(row.name)
        if row.name == "strands":
            from openinference.instrumentation.strands_agents import StrandsAgentsToOpenInferenceProcessor
            from strands.telemetry.tracer import Tracer

            telemetry.tracer_provider.add_span_processor(StrandsAgentsToOpenInferenceProcessor())
            own = Tracer()
            own.tracer = tracer
            monkeypatch.setattr("strands.telemetry.tracer._tracer_instance", own)
        else:
            from semantic_kernel.utils.telemetry.model_diagnostics import decorators

            monkeypatch.setattr(decorators, "tracer", tracer)
            monkeypatch.setattr(decorators.MODEL_DIAGNOSTICS_SETTINGS, "enable_otel_diagnostics", True)
        instrument()
        return telemetry

    return start


@each
def test_alone(installed, observed, provider, row, case):
    installed(row)
    row.run(case, provider(case.script).url)
    assert counts(observed) == case.counted


@each
def test_beside_a_peer_the_counts_are_the_same(installed, recorded, provider, row, case):
    installed(row)
    telemetry = recorded(row)
    row.run(case, provider(case.script).url)
    assert replace(counts(telemetry), spans=case.counted.spans) == case.counted


@each
def test_beside_a_peer_each_model_call_has_one_span(installed, recorded, provider, row, case):
    installed(row)
    telemetry = recorded(row)
    row.run(case, provider(case.script).url)
    assert of_calls(telemetry) == case.counted.spans["chat"]
    assert counts(telemetry).spans.get("chat", 0) == (case.counted.spans["chat"] if row.ours else 0)


@each
def test_beside_a_peer_the_class_is_on_the_span_that_it_concerns(installed, recorded, provider, row, case):
    installed(row)
    telemetry = recorded(row)
    row.run(case, provider(case.script).url)
    assert marked(telemetry, "llm.error.class") == case.marked
