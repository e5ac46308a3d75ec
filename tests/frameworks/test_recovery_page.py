"""The blocks of the recovery page for frameworks: each waits, falls back or gives up as the plan says."""

import re
from pathlib import Path
from typing import Any

import pytest

from llm_errors.testing import replies
from tests.frameworks.wire import ANSWER, MODEL, NO_RETRIES, counts, expected

PAGE = (Path(__file__).parents[2] / "src/llm_errors/docs/recovery.md").read_text()
SOON = replies.openai_error(
    429, "rate_limit_exceeded", "requests", "Rate limit reached", headers={"retry-after-ms": "1"}
)
WRONG_KEY = replies.openai_error(401, "invalid_api_key", "invalid_request_error", "Incorrect API key provided")
DOWN_NOW = replies.openai_error(503, None, "server_error", "overloaded", headers={"retry-after-ms": "1"})


def run_block(heading: str, **given: Any) -> dict[str, Any]:
    """The names that the block under a heading defines."""
    code = re.search(rf"## With {heading}\n.*?```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    exec(code[1], given)
    return given


async def outcome(coroutine: Any) -> Any:
    """What it returned or raised."""
    try:
        return await coroutine
    except Exception as raised:
        return raised


# --- langchain ---


def of_langchain(*urls: str) -> Any:
    langchain_openai = pytest.importorskip("langchain_openai")
    model, small = (
        langchain_openai.ChatOpenAI(model=MODEL, base_url=f"{url}/v1", api_key="k", max_retries=0) for url in urls
    )
    return run_block("langchain", model=model, small_model=small)["agent"]


def invoke(agent: Any) -> Any:
    try:
        return agent.invoke({"messages": [("user", "hi")]})
    except Exception as raised:
        return raised


def test_the_middleware_waits_and_asks_again(observed, provider):
    assert invoke(of_langchain(provider([SOON, ANSWER]).url, "http://127.0.0.1:9"))["messages"][-1].content == "hello"
    assert counts(observed) == expected(ok=1, failed=1, RATE_LIMITED__requests=1)


def test_the_middleware_raises_what_no_retry_helps(observed, provider):
    assert isinstance(invoke(of_langchain(provider([WRONG_KEY]).url, provider([ANSWER]).url)), Exception)
    assert counts(observed) == expected(failed=1, AUTH__invalid_key=1)


def test_the_middleware_asks_another_model_when_the_first_is_down(observed, provider):
    assert invoke(of_langchain(provider([DOWN_NOW]).url, provider([ANSWER]).url))["messages"][-1].content == "hello"
    assert observed.outcomes()["ok"] == 1


# --- pydantic-ai ---


def of_pydantic(*urls: str) -> Any:
    pytest.importorskip("pydantic_ai")
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model, small = (
        OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=AsyncOpenAI(base_url=f"{url}/v1", **NO_RETRIES)))
        for url in urls
    )
    return run_block("pydantic-ai", model=model, small_model=small)["agent"]


async def test_the_model_wrapper_waits_and_asks_again(observed, provider):
    result = await outcome(of_pydantic(provider([SOON, ANSWER]).url, provider([ANSWER]).url).run("hi"))
    assert result.output == "hello"
    assert counts(observed) == expected(ok=1, failed=1, RATE_LIMITED__requests=1)


async def test_the_model_wrapper_raises_what_no_retry_helps(observed, provider):
    raised = await outcome(of_pydantic(provider([WRONG_KEY]).url, provider([ANSWER]).url).run("hi"))
    assert isinstance(raised, Exception)
    assert counts(observed) == expected(failed=1, AUTH__invalid_key=1)


# --- openai-agents ---


def of_agents(url: str) -> Any:
    agents = pytest.importorskip("agents")
    from openai import AsyncOpenAI

    model = agents.OpenAIChatCompletionsModel(MODEL, AsyncOpenAI(base_url=f"{url}/v1", **NO_RETRIES))
    return run_block("openai-agents", model=model)["agent"]


async def test_the_retry_policy_waits_and_asks_again(observed, provider):
    agents = pytest.importorskip("agents")
    result = await outcome(agents.Runner.run(of_agents(provider([SOON, ANSWER]).url), "hi"))
    assert result.final_output == "hello"
    assert counts(observed) == expected(ok=1, failed=1, RATE_LIMITED__requests=1)


async def test_the_retry_policy_gives_up_on_what_no_retry_helps(observed, provider):
    agents = pytest.importorskip("agents")
    await outcome(agents.Runner.run(of_agents(provider([WRONG_KEY]).url), "hi"))
    assert counts(observed) == expected(failed=1, AUTH__invalid_key=1)
