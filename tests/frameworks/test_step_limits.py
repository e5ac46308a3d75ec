"""Limits of frameworks that end a run, or go on without tools, and mostly raise nothing; and answers that dspy cannot parse."""

from typing import Any

import pytest

from llm_errors.testing import replies
from tests.frameworks.agents import (
    agno_agent,
    alone,
    counted,
    crew,
    done,
    dspy_model,
    dspy_step,
    haystack_agent,
    in_a_workflow,
    kernel_answer,
    llama_agent,
    of_haystack,
    of_haystack_async,
    ping,
    smolagent,
    strand,
    team,
)
from tests.frameworks.wire import ANSWER, BUSY, DOWN, MODEL, STREAM, counts, expected, streamed_tool_call, tool_call

LABELS = ("gen_ai.provider.name", "gen_ai.request.model", "gen_ai.operation.name")


# --- smolagents ---


def test_smolagents_that_finishes_reaches_no_limit(observed, provider):
    assert (
        smolagent(provider([counted(tool_call()), counted(tool_call("final_answer", answer="hello"))]).url, 5).run("hi")
        == "hello"
    )
    assert counts(observed) == expected(ok=2)


def test_the_steps_of_smolagents_are_counted_once(observed, provider):
    smolagent(provider([counted(tool_call()), counted(tool_call()), counted(ANSWER)]).url, 2).run("hi")
    assert counts(observed) == expected(ok=3, runs=1, CALL_BUDGET__max_turns=1)
    assert observed.counts("llm_errors_total", *LABELS) == {("openai", MODEL, "invoke_agent"): 1}


def test_what_the_sdk_raises_below_smolagents_is_counted_once(observed, provider):
    with pytest.raises(Exception, match="Rate limit"):
        smolagent(provider([BUSY]).url, 2).run("hi")
    assert counts(observed) == expected(failed=1, RATE_LIMITED__requests=1)


# --- haystack ---


@pytest.mark.parametrize("go", [of_haystack, of_haystack_async])
async def test_a_haystack_agent_that_finishes_reaches_no_limit(observed, provider, go):
    await done(go(haystack_agent(provider([tool_call(), ANSWER]).url, 5)))
    assert counts(observed) == expected(ok=2)


@pytest.mark.parametrize("go", [of_haystack, of_haystack_async])
async def test_the_steps_of_a_haystack_agent_are_counted_once(observed, provider, go):
    await done(go(haystack_agent(provider([tool_call()]).url, 2)))
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)
    assert observed.counts("llm_errors_total", *LABELS) == {("openai", MODEL, "invoke_agent"): 1}


def test_the_runs_of_a_haystack_component_are_counted_once(observed):
    haystack = pytest.importorskip("haystack")
    from haystack.components.joiners import BranchJoiner

    @haystack.component
    class Again:
        @haystack.component.output_types(again=int)
        def run(self, number: int, first: int = 0) -> dict[str, int]:
            return {"again": number + 1}

    loop = haystack.Pipeline(max_runs_per_component=2)
    loop.add_component("merge", BranchJoiner(int))
    loop.add_component("again", Again())
    loop.connect("merge", "again.number")
    loop.connect("again.again", "merge")
    with pytest.raises(haystack.core.errors.PipelineMaxComponentRuns):
        loop.run({"merge": {"value": 1}})
    haystack.component.registry.pop(
        f"{Again.__module__}.{Again.__name__}"
    )  # where instrumentations look for components
    assert counts(observed) == expected(runs=1, CALL_BUDGET__max_turns=1)


# --- agno ---


@pytest.mark.parametrize("way", ["run", "arun"])
async def test_the_tool_calls_of_agno_are_counted_once(observed, provider, way):
    helper = agno_agent(provider([tool_call(), tool_call(), tool_call(), ANSWER]).url, tool_call_limit=1)
    await done(getattr(helper, way)("hi"))
    assert counts(observed) == expected(ok=4, runs=1, CALL_BUDGET__other=1)


def test_agno_within_its_limit_reaches_none(observed, provider):
    agno_agent(provider([tool_call(), ANSWER]).url, tool_call_limit=1).run("hi")
    assert counts(observed) == expected(ok=2)


# --- autogen ---


async def test_the_turns_of_autogen_are_counted_once(observed, provider):
    await team(provider([ANSWER]).url, max_turns=2).run(task="hi")
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)
    assert observed.counts("llm_errors_total", *LABELS) == {("openai", MODEL, "invoke_agent"): 1}


async def test_the_tokens_of_autogen_are_counted_once(observed, provider):
    pytest.importorskip("autogen_agentchat")
    from autogen_agentchat.conditions import TokenUsageTermination

    await team(provider([counted(ANSWER)]).url, termination_condition=TokenUsageTermination(10)).run(task="hi")
    assert counts(observed) == expected(ok=1, runs=1, CALL_BUDGET__token_limit=1)


async def test_another_end_of_an_autogen_team_is_no_limit(observed, provider):
    pytest.importorskip("autogen_agentchat")
    from autogen_agentchat.conditions import TextMentionTermination

    await team(provider([ANSWER]).url, termination_condition=TextMentionTermination("hello", ["helper"])).run(task="hi")
    assert counts(observed) == expected(ok=1)


# --- semantic-kernel ---


async def test_the_automatic_calls_of_semantic_kernel_are_counted_once(observed, provider):
    await kernel_answer(provider([tool_call("tools-ping"), tool_call("tools-ping"), ANSWER]).url, 2)
    assert counts(observed) == expected(ok=3, runs=1, CALL_BUDGET__max_turns=1)


async def test_semantic_kernel_within_its_limit_reaches_none(observed, provider):
    await kernel_answer(provider([tool_call("tools-ping"), ANSWER]).url, 5)
    assert counts(observed) == expected(ok=2)


# --- crewai ---


def test_the_iterations_of_crewai_are_counted_once(observed, provider, monkeypatch):
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "false")
    script = provider(lambda request: tool_call() if "tools" in (request.json() or {}) else ANSWER)
    crew(script.url, 2).kickoff()
    assert counts(observed).errors == {"CALL_BUDGET/max_turns": 1}
    assert counts(observed).calls["invoke_agent error"] == 1


# --- strands ---


async def test_the_turns_of_strands_are_counted_once(observed, provider):
    result = await strand(provider([streamed_tool_call()]).url).invoke_async("hi", limits={"turns": 2})
    assert result.stop_reason == "limit_turns"
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)


async def test_structured_output_that_strands_never_gets_is_one_error_of_the_last_call(observed, provider):
    """It forces the model to call the tool of the schema once; the model answers with words again."""
    pytest.importorskip("strands")
    from pydantic import BaseModel

    class Total(BaseModel):
        total: int

    with pytest.raises(Exception) as raised:
        await strand(provider([STREAM]).url).invoke_async("hi", structured_output_model=Total)
    assert type(raised.value).__name__ == "StructuredOutputException"
    assert counts(observed) == expected(ok=2, TOOL_PROTOCOL__schema_mismatch=1)
    assert observed.counts("llm_errors_total", "gen_ai.operation.name") == {"chat": 1}


# --- llama-index ---


each_workflow = pytest.mark.parametrize("make", [alone, in_a_workflow])


@each_workflow
async def test_an_agent_of_llama_index_that_finishes_reaches_no_limit(observed, provider, make):
    await make(provider([tool_call(), ANSWER]).url).run("hi", max_iterations=5)
    assert counts(observed) == expected(ok=2)


@each_workflow
async def test_the_iterations_of_llama_index_are_counted_once(observed, provider, make):
    with pytest.raises(Exception, match="Max iterations of 2 reached"):
        await make(provider([tool_call()]).url).run("hi", max_iterations=2)
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)
    assert observed.counts("llm_errors_total", *LABELS) == {("openai", "gpt-4o-mini", "invoke_agent"): 1}


@each_workflow
async def test_the_iterations_of_llama_index_are_counted_if_a_last_call_ends_the_run(observed, provider, make):
    script = [tool_call(), tool_call(), ANSWER]
    await make(provider(script).url).run("hi", max_iterations=2, early_stopping_method="generate")
    assert counts(observed) == expected(ok=3, runs=1, CALL_BUDGET__max_turns=1)


async def test_the_iterations_of_a_react_agent_of_llama_index_are_counted_once(observed, provider):
    thought = replies.openai_answer("Thought: I need a tool.\nAction: ping\nAction Input: {}")
    with pytest.raises(Exception, match="Max iterations of 2 reached"):
        await llama_agent(provider([thought]).url, "ReActAgent").run("hi", max_iterations=2)
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)


async def test_what_the_sdk_raises_below_llama_index_is_counted_once(observed, provider):
    with pytest.raises(Exception, match="Rate limit"):
        await alone(provider([BUSY]).url).run("hi")
    assert counts(observed) == expected(failed=1, RATE_LIMITED__requests=1)


# --- dspy ---


def predict(model: Any, signature: str) -> Any:
    """What dspy returned or raised."""
    import dspy

    try:
        with dspy.context(lm=model):
            return dspy.Predict(signature)(question="hi")
    except Exception as raised:
        return raised


@pytest.mark.parametrize("engine", ["litellm", "lm15"])
def test_an_answer_that_dspy_cannot_parse_is_one_error_of_the_last_call(observed, provider, engine):
    raised = predict(dspy_model(provider([ANSWER]).url, engine), "question -> total: int")
    assert type(raised).__name__ == "AdapterParseError"
    calls = observed.outcomes()["ok"]
    assert counts(observed) == expected(ok=calls, TOOL_PROTOCOL__schema_mismatch=1)


def test_what_the_sdk_raises_below_dspy_is_counted_once(observed, provider):
    predict(dspy_model(provider([DOWN]).url), "question -> answer")
    assert counts(observed) == expected(failed=1, SERVER__overloaded=1)


def test_the_iterations_of_dspy_are_counted_once(observed, provider):
    model = dspy_model(provider([dspy_step()]).url)
    import dspy

    with dspy.context(lm=model):
        dspy.ReAct("question -> answer", tools=[ping], max_iters=2)(question="hi")
    assert counts(observed) == expected(ok=3, runs=1, CALL_BUDGET__max_turns=1)
