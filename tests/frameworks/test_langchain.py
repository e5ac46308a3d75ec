"""langchain-core, langgraph and langchain: what is counted of chains, graphs and agents, alone and beside a peer."""

import gc
import json
import weakref
from contextvars import Context, copy_context
from typing import Any

import pytest

from tests.frameworks.wire import (
    ANSWER,
    BUSY,
    CUT_SHORT,
    DOWN,
    FILTERED,
    MODEL,
    STREAM,
    counts,
    expected,
    marked,
    streamed_tool_call,
    tool_call,
)

pytest.importorskip("langchain_openai")
pytest.importorskip("langgraph")

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, ModelFallbackMiddleware, ToolCallLimitMiddleware
from langchain.agents.structured_output import StructuredOutputValidationError, ToolStrategy
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser, StrOutputParser
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel, ValidationError

from llm_errors.instrument.runs import RUN
from llm_errors.testing import replies

HI = {"messages": [("user", "hi")]}


class Total(BaseModel):
    """A sum."""

    total: int


@tool
def ping() -> str:
    """Answer."""
    return "pong"


def model(url: str) -> Any:
    return ChatOpenAI(model=MODEL, base_url=f"{url}/v1", api_key="k", max_retries=0, timeout=120.0)


def agent(url: str, *middleware: Any, **options: Any) -> Any:
    return create_agent(model(url), [ping], middleware=middleware, **options)


def invoke(chain: Any, given: Any = "hi", **options: Any) -> Any:
    """What it returned or raised."""
    try:
        return chain.invoke(given, **options)
    except Exception as raised:
        return raised


async def ainvoke(chain: Any, given: Any = "hi", **options: Any) -> Any:
    """The same, async."""
    try:
        return await chain.ainvoke(given, **options)
    except Exception as raised:
        return raised


def stream(chain: Any, given: Any = "hi", **options: Any) -> Any:
    """The same, streamed."""
    try:
        return list(chain.stream(given, **options))
    except Exception as raised:
        return raised


async def astream(chain: Any, given: Any = "hi", **options: Any) -> Any:
    """The same, streamed and async."""
    try:
        return [chunk async for chunk in chain.astream(given, **options)]
    except Exception as raised:
        return raised


async def done(outcome: Any) -> Any:
    """An outcome, of a coroutine or not."""
    return await outcome if hasattr(outcome, "__await__") else outcome


each_way = pytest.mark.parametrize(
    ("go", "reply"), [(invoke, ANSWER), (ainvoke, ANSWER), (stream, STREAM), (astream, STREAM)]
)

# --- chains ---


@each_way
async def test_a_chain_is_one_call(observed, provider, go, reply):
    await done(go(model(provider([reply]).url) | StrOutputParser()))
    assert counts(observed) == expected(ok=1)


@each_way
async def test_what_the_sdk_raises_is_counted_once(observed, provider, go, reply):
    await done(go(model(provider([BUSY]).url) | StrOutputParser()))
    assert counts(observed) == expected(failed=1, RATE_LIMITED__requests=1)


def test_an_in_band_failure_is_counted_once(observed, provider):
    invoke(model(provider([FILTERED]).url) | StrOutputParser())
    assert counts(observed) == expected(failed=1, OUTPUT_BLOCKED__content_filter=1)


@pytest.mark.parametrize("go", [invoke, ainvoke])
@pytest.mark.parametrize(
    "parser", [JsonOutputParser(), PydanticOutputParser(pydantic_object=Total)], ids=["json", "pydantic"]
)
async def test_an_answer_that_cannot_be_parsed_is_an_error_of_the_call(observed, provider, go, parser):
    raised = await done(go(model(provider([ANSWER]).url) | parser))
    assert isinstance(raised, OutputParserException)
    assert counts(observed) == expected(ok=1, TOOL_PROTOCOL__schema_mismatch=1)
    assert observed.counts("llm_errors_total", "gen_ai.operation.name") == {"chat": 1}


def test_a_cut_answer_that_cannot_be_parsed_is_truncated_and_no_mismatch(observed, provider):
    invoke(model(provider([CUT_SHORT]).url) | JsonOutputParser())
    assert counts(observed) == expected(failed=1, TRUNCATED__max_tokens=1)


def test_structured_output_off_the_schema_is_an_error_of_the_call(observed, provider):
    wrong = tool_call("Total", total="many")
    raised = invoke(model(provider([wrong]).url).with_structured_output(Total, method="function_calling"))
    assert isinstance(raised, ValidationError)
    assert counts(observed) == expected(ok=1, TOOL_PROTOCOL__schema_mismatch=1)


def test_structured_output_that_the_sdk_parses_is_counted_once(observed, provider):
    wrong = replies.openai_answer('{"total": "many"}')
    invoke(model(provider([wrong]).url).with_structured_output(Total, method="json_schema"))
    assert observed.reasons() == {("TOOL_PROTOCOL", "schema_mismatch"): 1}


def test_a_raw_answer_beside_the_parsing_error_is_counted_too(observed, provider):
    wrong = tool_call("Total", total="many")
    asked = model(provider([wrong]).url).with_structured_output(Total, method="function_calling", include_raw=True)
    assert isinstance(invoke(asked)["parsing_error"], ValidationError)
    assert counts(observed) == expected(ok=1, TOOL_PROTOCOL__schema_mismatch=1)


def test_an_error_of_the_application_in_a_chain_is_no_failure_of_a_model(observed, provider):
    def fail(_: Any) -> Any:
        return Total(total="many")

    assert isinstance(invoke(model(provider([ANSWER]).url) | RunnableLambda(fail)), ValidationError)
    assert counts(observed) == expected(ok=1)


def test_what_a_parser_says_is_never_exported(observed, provider):
    invoke(model(provider([replies.openai_answer("the secret")]).url) | JsonOutputParser())
    (log,) = observed.logs()
    assert "secret" not in json.dumps(dict(log.attributes)) + str(log.body)


@each_way
async def test_each_model_of_a_fallback_is_a_call(observed, provider, go, reply):
    chain = model(provider([DOWN]).url).with_fallbacks([model(provider([reply]).url)])
    await done(go(chain))
    assert counts(observed) == expected(ok=1, failed=1, SERVER__overloaded=1)


@pytest.mark.parametrize("go", [invoke, ainvoke])
async def test_each_attempt_of_with_retry_is_a_call(observed, provider, go):
    chain = model(provider([DOWN, ANSWER]).url).with_retry(wait_exponential_jitter=False)
    await done(go(chain))
    assert counts(observed) == expected(ok=1, failed=1, SERVER__overloaded=1)


# --- graphs and agents ---


@pytest.mark.parametrize("go", [invoke, ainvoke, stream, astream])
async def test_a_tool_loop(observed, provider, go):
    await done(go(agent(provider([tool_call(), ANSWER]).url), HI))
    assert counts(observed) == expected(ok=2)


async def test_a_tool_loop_of_streamed_answers(observed, provider):
    script = [streamed_tool_call(), STREAM]
    await astream(agent(provider(script).url), HI, stream_mode="messages")
    assert counts(observed) == expected(ok=2)


@pytest.mark.parametrize("go", [invoke, ainvoke, stream, astream])
async def test_the_recursion_limit_is_counted_once(observed, provider, go):
    raised = await done(go(agent(provider([tool_call()]).url), HI, config={"recursion_limit": 3}))
    assert isinstance(raised, GraphRecursionError)
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)
    labels = ("gen_ai.provider.name", "gen_ai.request.model", "gen_ai.operation.name")
    assert observed.counts("llm_errors_total", *labels) == {("openai", MODEL, "invoke_agent"): 1}


@pytest.mark.parametrize("go", [invoke, ainvoke])
async def test_a_limit_that_passes_through_a_graph_around_is_counted_once(observed, provider, go):
    inner = agent(provider([tool_call()]).url).with_config(recursion_limit=3)
    outer = StateGraph(MessagesState).add_node("inner", inner).add_edge(START, "inner").compile()
    assert isinstance(await done(go(outer, HI)), GraphRecursionError)
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__max_turns=1)


@pytest.mark.parametrize("go", [invoke, ainvoke])
@pytest.mark.parametrize("behaviour", ["error", "end"])
async def test_the_limit_of_model_calls_is_counted_once_whether_it_raises_or_not(observed, provider, go, behaviour):
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior=behaviour)
    await done(go(agent(provider([tool_call()]).url, limit), HI))
    assert counts(observed) == expected(ok=1, runs=1, CALL_BUDGET__max_llm_calls=1)
    assert observed.counts("llm_errors_total", "llm.error.channel") == {
        "thrown" if behaviour == "error" else "in_band": 1
    }


@pytest.mark.parametrize("behaviour", ["error", "end"])
def test_the_limit_of_tool_calls_is_counted_once_whether_it_raises_or_not(observed, provider, behaviour):
    limit = ToolCallLimitMiddleware(run_limit=1, exit_behavior=behaviour)
    invoke(agent(provider([tool_call()]).url, limit), HI)
    assert counts(observed) == expected(ok=2, runs=1, CALL_BUDGET__other=1)


def test_structured_output_of_an_agent_off_the_schema_is_an_error_of_the_last_call(observed, provider):
    strategy = ToolStrategy(Total, handle_errors=False)
    raised = invoke(agent(provider([tool_call("Total", total="many")]).url, response_format=strategy), HI)
    assert isinstance(raised, StructuredOutputValidationError)
    assert counts(observed) == expected(ok=1, TOOL_PROTOCOL__schema_mismatch=1)


def test_structured_output_of_an_agent_that_fits_the_second_time_is_no_error(observed, provider):
    script = [tool_call("Total", total="many"), tool_call("Total", total=3)]
    result = invoke(agent(provider(script).url, response_format=ToolStrategy(Total)), HI)
    assert result["structured_response"] == Total(total=3)
    assert counts(observed) == expected(ok=2)


def test_each_model_of_a_fallback_middleware_is_a_call(observed, provider):
    fallback = ModelFallbackMiddleware(model(provider([ANSWER]).url))
    invoke(agent(provider([DOWN]).url, fallback), HI)
    assert counts(observed) == expected(ok=1, failed=1, SERVER__overloaded=1)


# --- beside OpenTelemetry's instrumentation of langchain ---

OFFICIAL = "opentelemetry.instrumentation.genai.langchain:LangChainInstrumentor"


@pytest.mark.parametrize("go", [invoke, ainvoke, stream, astream])
async def test_beside_a_peer_the_limit_is_counted_once(beside, provider, go):
    telemetry = beside(OFFICIAL)
    await done(go(agent(provider([tool_call()]).url, name="helper"), HI, config={"recursion_limit": 3}))
    assert counts(telemetry).calls == {"chat ok": 2, "invoke_agent error": 1}
    assert counts(telemetry).errors == {"CALL_BUDGET/max_turns": 1}
    assert counts(telemetry).spans == {}
    assert marked(telemetry, "llm.error.class") == {"invoke_agent helper": "CALL_BUDGET"}


def test_beside_a_peer_a_fallback_that_helps_marks_the_span_around_the_attempts(beside, provider):
    telemetry = beside(OFFICIAL)
    fallback = ModelFallbackMiddleware(model(provider([ANSWER]).url))
    invoke(agent(provider([DOWN]).url, fallback, name="helper"), HI)
    assert counts(telemetry).errors == {"SERVER/overloaded": 1}
    assert marked(telemetry, "llm.error.recovered") == {"invoke_agent helper": True}


def test_runs_that_begin_each_other_are_not_kept(observed):
    """A task has a copy of the context in which it began, and with it the run, which may have ended long ago."""
    contexts: list[Context] = []
    depths: list[int] = []

    def depth(run: Any) -> int:
        return 0 if run is None else 1 + depth(run.parent)

    def begin(_: str) -> str:
        depths.append(depth(RUN.get()))
        contexts.append(copy_context())
        return "x"

    chain = RunnableLambda(begin) | StrOutputParser()
    chain.invoke("x")
    for _ in range(10):
        contexts.pop().run(chain.invoke, "x")
    assert depths == [1] + [2] * 10


class Odd(Exception):
    """An exception that the application throws into a stream."""


async def thrown(parts: Any) -> Any:
    """A weak reference to an exception that was thrown into a stream, and caught."""
    asynchronous = hasattr(parts, "athrow")
    await parts.__anext__() if asynchronous else next(parts)
    odd = Odd()
    kept = weakref.ref(odd)
    try:
        await parts.athrow(odd) if asynchronous else parts.throw(odd)
    except Odd:
        del odd
    return kept


@pytest.mark.parametrize("method", ["stream", "astream"])
async def test_no_cycle_keeps_an_exception_that_was_thrown_into_a_stream(observed, method):
    gc.collect()
    gc.disable()
    try:
        kept = await thrown(getattr(FakeListChatModel(responses=["ab"]), method)("hi"))
        assert kept() is None
    finally:
        gc.enable()
