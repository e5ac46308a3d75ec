"""praisonaiagents: limits of its agents, over openai's SDK and over litellm. It shares the environment of google-adk."""

from typing import Any

import pytest

from llm_errors.testing import replies
from tests.frameworks.agents import counted
from tests.frameworks.wire import ANSWER, STREAM, counts, expected, streamed_tool_call, tool_call

REFUSED = replies.openai_error(401, "invalid_api_key", "invalid_request_error", "Incorrect API key provided")

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

    def make(url: str, road: str = "openai", autonomy: Any = None, **limits: Any) -> Any:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        address = {"base_url": f"{url}/v1", "api_key": "k"} if road == "litellm" else {}
        model = "openai/gpt-5-mini" if road == "litellm" else "gpt-5-mini"
        return praison.Agent(name="helper", instructions="Help.", llm=model, tools=[ping], output="silent",
                             autonomy=autonomy, execution=praison.ExecutionConfig(**limits), **address)  # fmt: skip

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


each_autonomous_way = pytest.mark.parametrize("way", ["run_autonomous", "run_autonomous_async"])


@each_autonomous_way
@pytest.mark.parametrize(
    ("road", "limit", "reason"),
    [
        ("openai", {"max_iterations": 1}, "max_turns"),
        ("litellm", {"max_iterations": 1}, "max_turns"),
        ("openai", {"max_tokens": 5}, "token_limit"),  # over litellm the agent does not know what it spent
        ("openai", {"max_budget_usd": 1e-9}, "spend_limit"),
    ],
)
async def test_the_limit_of_an_autonomous_run_is_counted_once(observed, provider, agent, way, road, limit, reason):
    helper = agent(provider([counted(tool_call()), counted(ANSWER)]).url, road, autonomy=limit)
    result = await done(getattr(helper, way)("hi", completion_promise="DONE"))
    assert result.completion_reason == ("max_iterations" if reason == "max_turns" else "budget_exhausted")
    assert counts(observed).errors == {f"CALL_BUDGET/{reason}": 1}
    assert counts(observed).calls["invoke_agent error"] == 1


@each_autonomous_way
async def test_an_autonomous_run_that_finishes_reaches_no_limit(observed, provider, agent, way):
    said = replies.openai_answer("<promise>DONE</promise>")
    helper = agent(
        provider([counted(tool_call()), counted(said)]).url, autonomy={"max_iterations": 3, "max_tokens": 99}
    )
    assert (await done(getattr(helper, way)("hi", completion_promise="DONE"))).success
    assert counts(observed) == expected(ok=2)


@each_road
def test_a_stream_is_one_call(observed, provider, agent, road):
    assert "".join(agent(provider([STREAM]).url, road).iter_stream("hi")) == "hello"
    assert counts(observed) == expected(ok=1)


def test_a_tool_in_a_stream_and_the_answer_after_it_are_two_calls(observed, provider, agent):
    """After it, the agent offers no tools any more, so that a stream over openai's SDK has no limit of steps."""
    helper = agent(provider([streamed_tool_call(), STREAM]).url, max_steps=1)
    assert "".join(helper.iter_stream("hi")) == "hello"
    assert counts(observed) == expected(ok=2)


@each_road
def test_each_request_for_a_stream_that_is_refused_is_one_failure(observed, provider, agent, road):
    """The agent asks again, without a stream; over litellm twice."""
    server = provider([REFUSED])
    try:
        parts = list(agent(server.url, road).iter_stream("hi"))
    except Exception:
        parts = []
    assert parts == []
    requests = len(server.requests)
    assert counts(observed) == expected(failed=requests, AUTH__invalid_key=requests)
