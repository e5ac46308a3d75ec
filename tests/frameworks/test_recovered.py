"""A failure that a framework retries or falls back from, and that a later call makes good, is marked on the span around both."""

from typing import Any

import pytest

from llm_errors.testing import replies
from llm_errors.testing.provider import Reply
from tests.frameworks.wire import ANSWER, BUSY, DOWN, MODEL, NO_RETRIES, STREAM, counts, marked, tool_call

RECOVERED = "llm.error.recovered"


@pytest.fixture
def request_span(observed: Any) -> Any:
    """The span of an application that encloses all attempts."""
    return observed.tracer_provider.get_tracer("application").start_as_current_span("request")


async def done(outcome: Any) -> Any:
    """An outcome, of a coroutine or not."""
    return await outcome if hasattr(outcome, "__await__") else outcome


async def collected(chunks: Any) -> list[Any]:
    """The chunks of an async stream."""
    return [chunk async for chunk in chunks]


# --- langchain ---


def chat(url: str) -> Any:
    return pytest.importorskip("langchain_openai").ChatOpenAI(
        model=MODEL, base_url=f"{url}/v1", api_key="k", max_retries=0, timeout=120.0
    )


LANGCHAIN = {
    "invoke": (lambda chain: chain.invoke("hi"), ANSWER),
    "ainvoke": (lambda chain: chain.ainvoke("hi"), ANSWER),
    "stream": (lambda chain: list(chain.stream("hi")), STREAM),
    "astream": (lambda chain: collected(chain.astream("hi")), STREAM),
}


@pytest.mark.parametrize("way", LANGCHAIN)
async def test_a_fallback_of_langchain(observed, provider, request_span, way):
    go, reply = LANGCHAIN[way]
    chain = chat(provider([DOWN]).url).with_fallbacks([chat(provider([reply]).url)])
    with request_span:
        await done(go(chain))
    assert counts(observed).errors == {"SERVER/overloaded": 1}
    assert marked(observed, RECOVERED) == {"request": True}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_retry_of_langchain(observed, provider, request_span, way):
    chain = chat(provider([DOWN, ANSWER]).url).with_retry(wait_exponential_jitter=False)
    with request_span:
        await done(LANGCHAIN[way][0](chain))
    assert marked(observed, RECOVERED) == {"request": True}


def test_a_fallback_of_langchain_that_fails_too_recovers_nothing(observed, provider, request_span):
    chain = chat(provider([DOWN]).url).with_fallbacks([chat(provider([BUSY]).url)])
    with request_span, pytest.raises(Exception, match="overloaded"):
        chain.invoke("hi")
    assert marked(observed, RECOVERED) == {}


def test_two_calls_of_an_application_recover_nothing_for_each_other(observed, provider, request_span):
    with request_span:
        with pytest.raises(Exception, match="overloaded"):
            chat(provider([DOWN]).url).invoke("hi")
        chat(provider([ANSWER]).url).invoke("hi")
    assert marked(observed, RECOVERED) == {}


# --- instructor ---


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
async def test_a_retry_of_instructor(observed, provider, request_span, asynchronous):
    """Its default retries answers; a strategy of tenacity retries failures as well."""
    instructor = pytest.importorskip("instructor")
    import openai
    import tenacity
    from pydantic import BaseModel

    class Total(BaseModel):
        total: int

    url = provider([DOWN, tool_call("Total", total=3)]).url
    of_sdk = (openai.AsyncOpenAI if asynchronous else openai.OpenAI)(base_url=f"{url}/v1", **NO_RETRIES)
    retrying = (tenacity.AsyncRetrying if asynchronous else tenacity.Retrying)(stop=tenacity.stop_after_attempt(2))
    asked = {"model": MODEL, "messages": [{"role": "user", "content": "hi"}], "response_model": Total}
    with request_span:
        await done(instructor.from_openai(of_sdk).chat.completions.create(**asked, max_retries=retrying))
    assert counts(observed).errors == {"SERVER/overloaded": 1}
    assert marked(observed, RECOVERED) == {"request": True}


# --- dspy ---


@pytest.mark.parametrize("engine", ["litellm", "lm15"])
async def test_a_retry_of_dspy(observed, provider, request_span, monkeypatch, engine):
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    dspy = pytest.importorskip("dspy")
    said = replies.openai_answer("[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]")
    busy = Reply(503, json=DOWN.json, headers={"retry-after": "0"})
    url = provider([busy, said]).url
    model = dspy.LM(f"openai/{MODEL}", api_base=f"{url}/v1", api_key="k", num_retries=1, cache=False, engine=engine)
    with request_span, dspy.context(lm=model):
        dspy.Predict("question -> answer")(question="hi")
    assert counts(observed).errors == {"SERVER/overloaded": 1}
    assert marked(observed, RECOVERED) == {"request": True}


# --- agno ---


@pytest.mark.parametrize("way", ["run", "arun"])
async def test_a_retry_of_agno(observed, provider, request_span, way):
    pytest.importorskip("agno")
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat

    url = provider([DOWN, ANSWER]).url
    model = OpenAIChat(id=MODEL, base_url=f"{url}/v1", api_key="k", max_retries=0, retries=1, delay_between_retries=0)
    with request_span:
        await done(getattr(Agent(model=model, telemetry=False), way)("hi"))
    assert counts(observed).errors == {"SERVER/overloaded": 1}
    assert marked(observed, RECOVERED) == {"request": True}


# --- strands ---


async def test_a_retry_of_strands(observed, provider, request_span):
    strands = pytest.importorskip("strands")
    from strands.models.openai import OpenAIModel

    url = provider([BUSY, STREAM]).url
    model = OpenAIModel(client_args={"base_url": f"{url}/v1", "api_key": "k", "max_retries": 0}, model_id=MODEL)
    strategy = strands.ModelRetryStrategy(max_attempts=2, initial_delay=0, max_delay=0)
    with request_span:
        await strands.Agent(model=model, retry_strategy=strategy, callback_handler=None).invoke_async("hi")
    assert counts(observed).errors == {"RATE_LIMITED/requests": 1}
    assert marked(observed, RECOVERED) == {"request": True}
