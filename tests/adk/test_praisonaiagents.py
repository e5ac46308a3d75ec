"""praisonaiagents: limits of its agents, over openai's SDK and over litellm. It shares the environment of google-adk."""

from typing import Any

import pytest

from tests.frameworks.wire import ANSWER, counts, expected, tool_call

pytestmark = pytest.mark.filterwarnings("ignore")  # of the frameworks about each other


def ping() -> str:
    """Answer."""
    return "pong"


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An agent that calls models through openai's SDK, or through litellm if it is given an address."""
    for name, value in {"OPENAI_API_KEY": "k", "PRAISONAI_TELEMETRY_DISABLED": "true", "DO_NOT_TRACK": "true",
                        "LITELLM_LOCAL_MODEL_COST_MAP": "True"}.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    praison = pytest.importorskip("praisonaiagents")

    def make(url: str, road: str = "openai", **limits: Any) -> Any:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        address = {"base_url": f"{url}/v1", "api_key": "k"} if road == "litellm" else {}
        model = "openai/gpt-5-mini" if road == "litellm" else "gpt-5-mini"
        return praison.Agent(name="helper", instructions="Help.", llm=model, tools=[ping], output="silent",
                             execution=praison.ExecutionConfig(**limits), **address)  # fmt: skip

    return make


async def done(outcome: Any) -> Any:
    """An outcome, of a coroutine or not."""
    return await outcome if hasattr(outcome, "__await__") else outcome


each_road = pytest.mark.parametrize("road", ["openai", "litellm"])
each_way = pytest.mark.parametrize("way", ["chat", "achat"])


@each_way
@each_road
async def test_an_agent_that_finishes_reaches_no_limit(observed, provider, agent, road, way):
    await done(getattr(agent(provider([tool_call(), ANSWER]).url, road, max_steps=4), way)("hi"))
    assert counts(observed).errors == {}
    assert set(counts(observed).calls) == {"chat ok"}


@each_way
@each_road
async def test_the_steps_are_counted_once(observed, provider, agent, road, way):
    helper = agent(provider([tool_call()]).url, road, max_steps=2)
    await done(getattr(helper, way)("hi"))
    assert helper.last_stop_reason == "max_steps"
    assert counts(observed).errors == {"CALL_BUDGET/max_turns": 1}
    assert counts(observed).calls["invoke_agent error"] == 1


@each_way
async def test_a_limit_is_of_one_run_only(observed, provider, agent, way):
    helper = agent(provider([tool_call(), tool_call(), ANSWER]).url, max_steps=2)
    await done(getattr(helper, way)("hi"))
    await done(getattr(helper, way)("hi"))
    assert counts(observed) == expected(ok=3, runs=1, CALL_BUDGET__max_turns=1)


@each_way
async def test_a_budget_is_counted_once_although_the_agent_catches_it(observed, provider, agent, way):
    server = provider([ANSWER])
    assert await done(getattr(agent(server.url, max_budget=1e-9), way)("hi")) is None
    assert counts(observed) == expected(runs=1, CALL_BUDGET__spend_limit=1)
    assert not server.requests
