"""pydantic-ai: what is counted of its runs, alone and beside the tracing that it has itself."""

from typing import Any

import pytest

from tests.frameworks.wire import (
    ANSWER,
    BUSY,
    CUT_SHORT,
    DOWN,
    MODEL,
    NO_RETRIES,
    STREAM,
    counts,
    expected,
    marked,
    streamed_tool_call,
    tool_call,
)

pytest.importorskip("pydantic_ai")
openai = pytest.importorskip("openai")

from pydantic import BaseModel  # noqa: E402
from pydantic_ai import Agent, UnexpectedModelBehavior, UsageLimitExceeded, UsageLimits  # noqa: E402
from pydantic_ai.exceptions import ModelHTTPError  # noqa: E402
from pydantic_ai.models.fallback import FallbackModel  # noqa: E402
from pydantic_ai.models.openai import OpenAIChatModel  # noqa: E402
from pydantic_ai.models.test import TestModel  # noqa: E402
from pydantic_ai.providers.openai import OpenAIProvider  # noqa: E402

from llm_errors.testing import replies  # noqa: E402


class Total(BaseModel):
    total: int


def ping() -> str:
    """Answer."""
    return "pong"


def model(url: str) -> Any:
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", **NO_RETRIES)
    return OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))


def agent(url: str, **options: Any) -> Any:
    return Agent(model(url), tools=[ping], name="helper", **options)


async def run(helper: Any, **options: Any) -> Any:
    """What the run returned or raised."""
    try:
        return await helper.run("hi", **options)
    except Exception as raised:
        return raised


async def stream(helper: Any, **options: Any) -> Any:
    """The same of a streamed run."""
    try:
        async with helper.run_stream("hi", **options) as result:
            return await result.get_output()
    except Exception as raised:
        return raised


# --- calls ---


def test_a_plain_run(observed, provider):
    assert agent(provider([ANSWER]).url).run_sync("hi").output == "hello"
    assert counts(observed) == expected(ok=1)


async def test_an_async_run(observed, provider):
    await run(agent(provider([ANSWER]).url))
    assert counts(observed) == expected(ok=1)


async def test_a_streamed_run(observed, provider):
    assert await stream(agent(provider([STREAM]).url)) == "hello"
    assert counts(observed) == expected(ok=1)


async def test_a_tool_loop(observed, provider):
    await run(agent(provider([tool_call(), ANSWER]).url))
    assert counts(observed) == expected(ok=2)


async def test_a_streamed_tool_loop(observed, provider):
    assert await stream(agent(provider([streamed_tool_call(), STREAM]).url)) == "hello"
    assert counts(observed) == expected(ok=2)


# --- failures that the SDK below reports ---


@pytest.mark.parametrize("go", [run, stream])
async def test_what_the_sdk_raises_is_counted_once(observed, provider, go):
    assert isinstance(await go(agent(provider([BUSY]).url)), ModelHTTPError)
    assert counts(observed) == expected(failed=1, RATE_LIMITED__requests=1)


async def test_an_in_band_failure_is_counted_once(observed, provider):
    await run(agent(provider([CUT_SHORT]).url))
    assert counts(observed) == expected(failed=1, TRUNCATED__max_tokens=1)


@pytest.mark.parametrize(("finish", "verdict"), [("length", "TRUNCATED__max_tokens"), ("content_filter", "OUTPUT_BLOCKED__content_filter")])  # fmt: skip
async def test_an_answer_without_content_that_the_framework_raises_for_is_counted_once(
    observed, provider, finish, verdict
):
    raised = await run(agent(provider([replies.openai_answer(None, finish)]).url))
    assert isinstance(raised, UnexpectedModelBehavior)
    assert counts(observed) == expected(failed=1, **{verdict: 1})


# --- limits ---


@pytest.mark.parametrize(("go", "reply"), [(run, tool_call()), (stream, streamed_tool_call())])
async def test_the_limit_of_requests_is_counted_once_per_run(observed, provider, go, reply):
    raised = await go(agent(provider([reply]).url), usage_limits=UsageLimits(request_limit=2))
    assert isinstance(raised, UsageLimitExceeded)
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_llm_calls=1)


async def test_the_limit_of_tokens_is_counted_once(observed, provider):
    reply = replies.openai_answer("hello")
    reply.json["usage"] = {"prompt_tokens": 30, "completion_tokens": 20, "total_tokens": 50}
    await run(agent(provider([reply]).url), usage_limits=UsageLimits(total_tokens_limit=10))
    assert counts(observed) == expected(ok=1, runs=1, CALL_BUDGET__token_limit=1)


async def test_the_limit_of_tool_calls_is_counted_once(observed, provider):
    await run(agent(provider([tool_call()]).url), usage_limits=UsageLimits(tool_calls_limit=1))
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__other=1)


async def test_the_limit_has_the_labels_of_the_last_model_call(observed, provider):
    await run(agent(provider([tool_call()]).url), usage_limits=UsageLimits(request_limit=1))
    labels = ("gen_ai.provider.name", "gen_ai.request.model", "gen_ai.operation.name")
    assert observed.counts("llm_errors_total", *labels) == {("openai", MODEL, "invoke_agent"): 1}


async def test_a_limit_that_passes_through_an_agent_around_is_counted_once(observed, provider):
    inner = agent(provider([tool_call()]).url)
    outer = agent(provider([tool_call("delegate")]).url)

    @outer.tool_plain
    async def delegate() -> str:
        """Ask another."""
        return (await inner.run("hi", usage_limits=UsageLimits(request_limit=1))).output

    assert isinstance(await run(outer), UsageLimitExceeded)
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_llm_calls=1)


# --- answers that the framework cannot use ---


async def test_an_answer_that_never_fits_the_schema_is_one_error_of_the_last_call(observed, provider):
    wrong = tool_call("final_result", total="many")
    raised = await run(agent(provider([wrong]).url, output_type=Total))
    assert isinstance(raised, UnexpectedModelBehavior)
    assert counts(observed) == expected(ok=2, TOOL_PROTOCOL__schema_mismatch=1)
    assert observed.counts("llm_errors_total", "gen_ai.operation.name") == {"chat": 1}


async def test_an_answer_that_fits_the_second_time_is_no_error(observed, provider):
    script = [tool_call("final_result", total="many"), tool_call("final_result", total=3)]
    assert (await run(agent(provider(script).url, output_type=Total))).output == Total(total=3)
    assert counts(observed) == expected(ok=2)


async def test_a_model_without_a_call_below_is_counted_with_its_run(observed):
    helper = Agent(TestModel(call_tools=[], custom_output_text="x"), name="helper")

    @helper.output_validator
    def refuse(_: str) -> str:
        from pydantic_ai import ModelRetry

        raise ModelRetry("no")

    await run(helper)
    assert counts(observed) == expected(runs=1, TOOL_PROTOCOL__schema_mismatch=1)


# --- fallback ---


@pytest.mark.parametrize(("go", "reply"), [(run, ANSWER), (stream, STREAM)])
async def test_each_model_of_a_fallback_is_a_call(observed, provider, go, reply):
    both = FallbackModel(model(provider([DOWN]).url), model(provider([reply]).url))
    await go(Agent(both, name="helper"))
    assert counts(observed) == expected(ok=1, failed=1, SERVER__overloaded=1)


# --- beside the framework's own tracing ---


@pytest.fixture
def traced(telemetry: Any, instrument: Any) -> Any:
    """Agents that record spans, as Agent.instrument_all makes them."""
    from pydantic_ai.models.instrumented import InstrumentationSettings

    Agent.instrument_all(InstrumentationSettings(tracer_provider=telemetry.tracer_provider))
    instrument()
    yield telemetry
    Agent.instrument_all(False)


async def test_the_limit_is_on_the_framework_s_span_of_the_agent(traced, provider):
    await run(agent(provider([tool_call()]).url), usage_limits=UsageLimits(request_limit=1))
    assert counts(traced).calls == {"chat ok": 1, "invoke_agent error": 1}
    assert counts(traced).spans == {}
    assert marked(traced, "llm.error.class") == {"invoke_agent helper": "CALL_BUDGET"}


async def test_the_answer_off_the_schema_is_on_the_framework_s_span_of_the_agent(traced, provider):
    await run(agent(provider([tool_call("final_result", total="many")]).url, output_type=Total))
    assert counts(traced).errors == {"TOOL_PROTOCOL/schema_mismatch": 1}
    assert counts(traced).spans == {}
    assert marked(traced, "llm.error.class") == {"invoke_agent helper": "TOOL_PROTOCOL"}


async def test_what_the_sdk_raises_is_on_the_framework_s_span_of_the_model_call(traced, provider):
    await run(agent(provider([BUSY]).url))
    assert counts(traced) == expected(failed=1, alone=True, RATE_LIMITED__requests=1)
    assert marked(traced, "llm.error.class") == {f"chat {MODEL}": "RATE_LIMITED"}


async def test_a_fallback_that_helps_marks_the_spans_around_the_attempts(traced, provider):
    both = FallbackModel(model(provider([DOWN]).url), model(provider([ANSWER]).url))
    await run(Agent(both, name="helper"))
    assert counts(traced) == expected(ok=1, failed=1, alone=True, SERVER__overloaded=1)
    assert marked(traced, "llm.error.recovered") == {"invoke_agent helper": True, f"chat {MODEL}": True}


async def test_a_fallback_that_helps_a_stream_marks_the_span_around_the_attempts(traced, provider):
    both = FallbackModel(model(provider([DOWN]).url), model(provider([STREAM]).url))
    assert await stream(Agent(both, name="helper")) == "hello"
    assert counts(traced) == expected(ok=1, failed=1, alone=True, SERVER__overloaded=1)
    assert marked(traced, "llm.error.recovered") == {f"chat {MODEL}": True}


async def iterated(helper: Any, **options: Any) -> Any:
    """What a run raised that the application drives step by step."""
    try:
        async with helper.iter("hi", **options) as steps:
            async for _ in steps:
                pass
    except Exception as raised:
        return raised


async def test_a_run_that_the_application_iterates_is_seen(observed, provider):
    raised = await iterated(agent(provider([tool_call()]).url), usage_limits=UsageLimits(request_limit=1))
    assert isinstance(raised, UsageLimitExceeded)
    assert counts(observed) == expected(ok=1, runs=1, CALL_BUDGET__max_llm_calls=1)
