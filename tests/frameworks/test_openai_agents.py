"""openai-agents: what is counted of its runs, alone and beside its instrumentations."""

import json
from typing import Any

import pytest

from tests.frameworks.wire import (
    ANSWER,
    BUSY,
    CUT_SHORT,
    DOWN,
    FILTERED,
    MODEL,
    NO_RETRIES,
    STREAM,
    counts,
    expected,
    marked,
    streamed_tool_call,
    tool_call,
)

agents = pytest.importorskip("agents")
openai = pytest.importorskip("openai")

from agents import retry_policies  # noqa: E402
from pydantic import BaseModel  # noqa: E402

from llm_errors.testing import replies  # noqa: E402


class Total(BaseModel):
    total: int


@agents.function_tool
def ping() -> str:
    """Answer."""
    return "pong"


@pytest.fixture(autouse=True)
def no_export() -> None:
    """The framework's own exporter would send its traces to its vendor."""
    agents.tracing.set_trace_processors([])


def agent(url: str, **options: Any) -> Any:
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", **NO_RETRIES)
    return agents.Agent("helper", model=agents.OpenAIChatCompletionsModel(MODEL, client), tools=[ping], **options)


async def run(helper: Any, **options: Any) -> Any:
    """What the run returned or raised."""
    try:
        return await agents.Runner.run(helper, "hi", **options)
    except Exception as raised:
        return raised


async def stream(helper: Any, **options: Any) -> Any:
    """The same of a streamed run."""
    result = agents.Runner.run_streamed(helper, "hi", **options)
    try:
        async for _ in result.stream_events():
            pass
    except Exception as raised:
        return raised
    return result


# --- calls ---


def test_a_plain_run(observed, provider):
    agents.Runner.run_sync(agent(provider([ANSWER]).url), "hi")
    assert counts(observed) == expected(ok=1)


async def test_an_async_run(observed, provider):
    assert (await run(agent(provider([ANSWER]).url))).final_output == "hello"
    assert counts(observed) == expected(ok=1)


async def test_a_streamed_run(observed, provider):
    assert (await stream(agent(provider([STREAM]).url))).final_output == "hello"
    assert counts(observed) == expected(ok=1)


async def test_a_tool_loop(observed, provider):
    await run(agent(provider([tool_call(), ANSWER]).url))
    assert counts(observed) == expected(ok=2)


async def test_a_streamed_tool_loop(observed, provider):
    await stream(agent(provider([streamed_tool_call(), STREAM]).url))
    assert counts(observed) == expected(ok=2)


# --- failures that the SDK below reports ---


@pytest.mark.parametrize("go", [run, stream])
async def test_what_the_sdk_raises_is_counted_once(observed, provider, go):
    assert isinstance(await go(agent(provider([BUSY]).url)), openai.RateLimitError)
    assert counts(observed) == expected(failed=1, RATE_LIMITED__requests=1)


async def test_an_in_band_failure_is_counted_once(observed, provider):
    await run(agent(provider([CUT_SHORT]).url))
    assert counts(observed) == expected(failed=1, TRUNCATED__max_tokens=1)


async def test_a_blocked_answer_that_the_framework_raises_for_is_counted_once(observed, provider):
    await run(agent(provider([FILTERED]).url))
    assert counts(observed) == expected(failed=1, OUTPUT_BLOCKED__content_filter=1)


# --- limits ---


@pytest.mark.parametrize(("go", "reply"), [(run, tool_call()), (stream, streamed_tool_call())])
async def test_max_turns_is_counted_once_per_run(observed, provider, go, reply):
    raised = await go(agent(provider([reply]).url), max_turns=2)
    assert isinstance(raised, agents.MaxTurnsExceeded)
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)


async def test_the_limit_has_the_labels_of_the_last_model_call(observed, provider):
    await run(agent(provider([tool_call()]).url), max_turns=1)
    labels = ("gen_ai.provider.name", "gen_ai.request.model", "gen_ai.operation.name")
    assert observed.counts("llm_errors_total", *labels) == {("openai", MODEL, "invoke_agent"): 1}


@pytest.mark.parametrize(("go", "reply"), [(run, tool_call()), (stream, streamed_tool_call())])
async def test_max_turns_that_the_application_handles_is_counted_once(observed, provider, go, reply):
    handlers = {"max_turns": lambda _: agents.RunErrorHandlerResult(final_output="enough")}
    result = await go(agent(provider([reply]).url), max_turns=1, error_handlers=handlers)
    assert result.final_output == "enough"
    assert counts(observed) == expected(ok=1, runs=1, CALL_BUDGET__max_turns=1)


async def test_a_limit_that_passes_through_an_agent_around_is_counted_once(observed, provider):
    inner = agent(provider([tool_call()]).url).as_tool("inner", "Help.", max_turns=1, failure_error_function=None)
    outer = agent(provider([tool_call("inner", input="hi")]).url)
    outer.tools = [inner]
    await run(outer)
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)


async def test_two_runs_that_reach_their_limits_are_two(observed, provider):
    for _ in range(2):
        await run(agent(provider([tool_call()]).url), max_turns=1)
    assert counts(observed) == expected(ok=2, runs=2, CALL_BUDGET__max_turns=2)


async def test_an_exception_that_an_application_creates_is_no_limit(observed):
    agents.MaxTurnsExceeded("mine")
    assert counts(observed).calls == {}


def tripped(kind: str, **options: Any) -> Any:
    async def refuse(*_: Any) -> Any:
        return agents.GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    if kind == "input":
        return {"input_guardrails": [agents.InputGuardrail(refuse, **options)]}
    return {"output_guardrails": [agents.OutputGuardrail(refuse)]}


@pytest.mark.parametrize(("go", "reply"), [(run, ANSWER), (stream, STREAM)])
async def test_an_input_guardrail_before_the_call_is_a_blocked_prompt(observed, provider, go, reply):
    raised = await go(agent(provider([reply]).url, **tripped("input", run_in_parallel=False)))
    assert isinstance(raised, agents.InputGuardrailTripwireTriggered)
    assert counts(observed) == expected(runs=1, PROMPT_BLOCKED__guardrail=1)
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == {MODEL: 1}


@pytest.mark.parametrize(("go", "reply"), [(run, ANSWER), (stream, STREAM)])
async def test_an_output_guardrail_is_a_blocked_answer(observed, provider, go, reply):
    raised = await go(agent(provider([reply]).url, **tripped("output")))
    assert isinstance(raised, agents.OutputGuardrailTripwireTriggered)
    assert counts(observed) == expected(ok=1, runs=1, OUTPUT_BLOCKED__guardrail=1)


def guarded(kind: str) -> Any:
    """A tool whose guardrail ends the run."""

    def refuse(_: Any) -> Any:
        return agents.ToolGuardrailFunctionOutput.raise_exception()

    if kind == "input":
        return agents.function_tool(lambda: "pong", name_override="ping", tool_input_guardrails=[
            agents.ToolInputGuardrail(refuse)])  # fmt: skip
    return agents.function_tool(lambda: "pong", name_override="ping", tool_output_guardrails=[
        agents.ToolOutputGuardrail(refuse)])  # fmt: skip


TOOL_GUARDRAILS = {"input": "OUTPUT_BLOCKED__guardrail", "output": "PROMPT_BLOCKED__guardrail"}
"""What the model gives to a tool is its output; what a tool returns is part of the next prompt."""


@pytest.mark.parametrize(("go", "reply"), [(run, tool_call()), (stream, streamed_tool_call())])
@pytest.mark.parametrize("kind", TOOL_GUARDRAILS)
async def test_a_guardrail_of_a_tool_is_counted_once(observed, provider, go, reply, kind):
    helper = agent(provider([reply]).url)
    helper.tools = [guarded(kind)]
    raised = await go(helper)
    assert type(raised).__name__ == f"Tool{kind.capitalize()}GuardrailTripwireTriggered"
    assert counts(observed) == expected(ok=1, runs=1, **{TOOL_GUARDRAILS[kind]: 1})


# --- answers that the framework cannot use ---


@pytest.mark.parametrize(("go", "reply"), [(run, ANSWER), (stream, STREAM)])
async def test_an_answer_off_the_schema_is_an_error_of_the_last_call(observed, provider, go, reply):
    raised = await go(agent(provider([reply]).url, output_type=Total))
    assert isinstance(raised, agents.ModelBehaviorError)
    assert counts(observed) == expected(ok=1, TOOL_PROTOCOL__schema_mismatch=1)
    assert observed.counts("llm_errors_total", "gen_ai.operation.name") == {"chat": 1}


async def test_an_answer_that_was_cut_is_truncated_and_no_mismatch(observed, provider):
    cut = replies.openai_answer('{"total": ', "length")
    await run(agent(provider([cut]).url, output_type=Total))
    assert counts(observed) == expected(failed=1, TRUNCATED__max_tokens=1)


async def test_a_tool_that_does_not_exist_is_an_unexpected_call(observed, provider):
    await run(agent(provider([tool_call("nothing")]).url))
    assert counts(observed) == expected(ok=1, TOOL_PROTOCOL__unexpected_call=1)


async def test_what_a_framework_says_is_never_exported(observed, provider):
    secret = replies.openai_answer("not json, but secret")
    await run(agent(provider([secret]).url, output_type=Total))
    (log,) = observed.logs()
    assert "secret" not in json.dumps(dict(log.attributes)) + str(log.body)


# --- retries ---


def retrying() -> Any:
    policy = retry_policies.http_status([503])
    backoff = agents.ModelRetryBackoffSettings(initial_delay=0.0, max_delay=0.0, jitter=False)
    return agents.ModelSettings(retry=agents.ModelRetrySettings(max_retries=1, policy=policy, backoff=backoff))


async def test_each_attempt_of_the_framework_s_retry_is_a_call(observed, provider):
    result = await run(agent(provider([DOWN, ANSWER]).url, model_settings=retrying()))
    assert result.final_output == "hello"
    assert counts(observed) == expected(ok=1, failed=1, SERVER__overloaded=1)


# --- beside instrumentations of the framework ---

OFFICIAL = "opentelemetry.instrumentation.genai.openai_agents:OpenAIAgentsInstrumentor"
OPENINFERENCE = "openinference.instrumentation.openai_agents:OpenAIAgentsInstrumentor"
AGENT = {OFFICIAL: "invoke_agent helper", OPENINFERENCE: "helper"}
INNERMOST = {OFFICIAL: "invoke_agent helper", OPENINFERENCE: "turn"}
"""Around the attempts of one answer."""
each_peer = pytest.mark.parametrize("peer", [OFFICIAL, OPENINFERENCE])


@each_peer
async def test_the_limit_is_on_the_peer_s_span_of_the_agent(beside, provider, peer):
    telemetry = beside(peer)
    await run(agent(provider([tool_call()]).url), max_turns=1)
    assert counts(telemetry).errors == {"CALL_BUDGET/max_turns": 1}
    assert counts(telemetry).calls == {"chat ok": 1, "invoke_agent error": 1}
    assert "invoke_agent" not in counts(telemetry).spans
    assert marked(telemetry, "llm.error.class") == {AGENT[peer]: "CALL_BUDGET"}


@each_peer
async def test_the_answer_off_the_schema_is_on_the_peer_s_span_of_the_agent(beside, provider, peer):
    telemetry = beside(peer)
    await run(agent(provider([ANSWER]).url, output_type=Total))
    assert counts(telemetry).errors == {"TOOL_PROTOCOL/schema_mismatch": 1}
    assert marked(telemetry, "llm.error.class") == {INNERMOST[peer]: "TOOL_PROTOCOL"}


@each_peer
async def test_a_retry_that_helps_marks_the_span_around_the_attempts(beside, provider, peer):
    telemetry = beside(peer)
    await run(agent(provider([DOWN, ANSWER]).url, model_settings=retrying()))
    assert counts(telemetry).errors == {"SERVER/overloaded": 1}
    assert marked(telemetry, "llm.error.recovered") == {INNERMOST[peer]: True}


@each_peer
async def test_a_run_that_fails_after_all_has_recovered_from_nothing(beside, provider, peer):
    telemetry = beside(peer)
    await run(agent(provider([DOWN]).url, model_settings=retrying()))
    assert counts(telemetry).errors == {"SERVER/overloaded": 2}
    assert marked(telemetry, "llm.error.recovered") == {}
