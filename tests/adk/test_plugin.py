"""`LlmErrorsPlugin`, each channel through a real agent and runner."""

from typing import Any

import pytest

from llm_errors import safety
from tests.adk.agents import ScriptedModel, nothing, run, said, tool_call
from tests.recovery.failures import with_code, with_status

from llm_errors.recovery.google_adk import DEGRADED, REFUSAL, LlmErrorsPlugin  # isort: skip

RATE_LIMITED, SERVER = with_status(429), with_status(503)
TIMEOUT, TRANSPORT = TimeoutError(), ConnectionResetError()
AUTH, NOT_FOUND, BAD_REQUEST = with_status(401), with_status(404), with_status(400)
FILTERED = with_code(400, "content_filter")


@pytest.mark.parametrize(
    ("script", "error_class"),
    [
        ([said(finish="SAFETY")], "OUTPUT_BLOCKED"),
        ([nothing(None, error_code="SAFETY")], "PROMPT_BLOCKED"),
        ([said(finish="MAX_TOKENS")], "TRUNCATED"),
        ([nothing()], "UNKNOWN"),
        ([SERVER], "SERVER"),
        ([AUTH], "AUTH"),
        ([tool_call(), RATE_LIMITED], "RATE_LIMITED"),
    ],
)
@pytest.mark.parametrize("substitute", [False, True])
async def test_the_class_is_stored_in_session_state(script: list[Any], error_class: str, substitute: bool) -> None:
    outcome = await run(*script, plugins=[LlmErrorsPlugin(substitute=substitute)])
    assert outcome.state["llm_error_class"] == error_class


async def test_a_spent_call_limit_is_stored_too() -> None:
    outcome = await run(tool_call(), limit=1, plugins=[LlmErrorsPlugin(substitute=True)])
    assert type(outcome.raised).__name__ == "LlmCallsLimitExceededError"
    assert outcome.state["llm_error_class"] == "CALL_BUDGET"


async def test_a_healthy_run_stores_nothing() -> None:
    outcome = await run(said(), plugins=[LlmErrorsPlugin()])
    assert "llm_error_class" not in outcome.state


async def test_the_key_can_be_chosen() -> None:
    outcome = await run(AUTH, plugins=[LlmErrorsPlugin(state_key="failure")])
    assert outcome.state["failure"] == "AUTH"


@pytest.mark.parametrize("failure", [RATE_LIMITED, SERVER, TIMEOUT, TRANSPORT])
async def test_by_default_everything_is_raised(failure: Exception) -> None:
    outcome = await run(failure, plugins=[LlmErrorsPlugin()])
    assert outcome.raised is failure


@pytest.mark.parametrize("failure", [RATE_LIMITED, SERVER, TIMEOUT, TRANSPORT])
async def test_a_provider_in_trouble_is_answered_with_the_degraded_text(failure: Exception) -> None:
    outcome = await run(failure, plugins=[LlmErrorsPlugin(substitute=True)])
    assert (outcome.raised, outcome.texts) == (None, [DEGRADED])


@pytest.mark.parametrize(
    "entry", [said("bad words", finish="SAFETY"), nothing(None, error_code="PROHIBITED_CONTENT"), FILTERED]
)
async def test_a_block_is_answered_with_the_refusal_text(entry: Any) -> None:
    model = ScriptedModel(model="openai/scripted", script=[entry])
    outcome = await run(model=model, plugins=[LlmErrorsPlugin(substitute=True)])
    assert (outcome.raised, outcome.texts) == (None, [REFUSAL])


@pytest.mark.parametrize("failure", [AUTH, NOT_FOUND, BAD_REQUEST, ValueError("a tool's own")])
async def test_what_the_owning_team_must_repair_is_always_raised(failure: Exception) -> None:
    outcome = await run(failure, plugins=[LlmErrorsPlugin(substitute=True)])
    assert outcome.raised is failure


async def test_a_truncated_answer_is_left_alone() -> None:
    outcome = await run(said("half of it", finish="MAX_TOKENS"), plugins=[LlmErrorsPlugin(substitute=True)])
    assert outcome.texts == ["half of it"]


async def test_the_texts_are_settings() -> None:
    plugin = LlmErrorsPlugin(substitute=True, refusal_text="No.", degraded_text="Later.")
    assert (await run(SERVER, plugins=[plugin])).texts == ["Later."]
    assert (await run(said(finish="SAFETY"), plugins=[plugin])).texts == ["No."]


async def test_streamed_output_is_followed_by_the_refusal_text() -> None:
    chunks = [said("ba", partial=True, finish=None), said("bad", finish="SAFETY")]
    outcome = await run(chunks, stream=True, plugins=[LlmErrorsPlugin(substitute=True)])
    assert outcome.texts[-1] == REFUSAL
    assert outcome.state["llm_error_class"] == "OUTPUT_BLOCKED"


async def test_an_exception_inside_the_plugin_never_breaks_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: Any, **_more: Any) -> Any:
        raise RuntimeError("the plugin's own")

    safety.configure(strict=False, count=None)
    plugin = LlmErrorsPlugin(substitute=True)
    for name in ("_begin", "_answered", "_raised", "_agent_failed", "_event"):
        monkeypatch.setattr(plugin, name, broken)
    assert (await run(said(), plugins=[plugin])).texts == ["hello"]
    assert (await run(SERVER, plugins=[plugin])).raised is SERVER


async def test_nothing_is_kept_of_a_run_that_is_over() -> None:
    plugin = LlmErrorsPlugin()
    await run(tool_call(), said(), plugins=[plugin])
    await run(SERVER, plugins=[plugin])
    assert plugin._runs == {}


# --- telemetry -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plugin_telemetry", [True, False])
async def test_beside_the_instrumentor_nothing_is_doubled(observed: Any, plugin_telemetry: bool) -> None:
    plugin = LlmErrorsPlugin(telemetry=plugin_telemetry)
    await run(said(finish="SAFETY"), plugins=[plugin])
    await run(tool_call(), limit=1, plugins=[plugin])
    assert observed.errors() == {"OUTPUT_BLOCKED": 1, "CALL_BUDGET": 1}
    assert observed.outcomes() == {"error": 2, "ok": 1}


@pytest.fixture
def alone(telemetry: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The plugin's own telemetry goes to the providers of the test."""
    from llm_errors import instrumentor

    build = instrumentor.build_recorder
    providers = {n: getattr(telemetry, n) for n in ("tracer_provider", "meter_provider", "logger_provider")}
    monkeypatch.setattr(instrumentor, "build_recorder", lambda settings, given: build(settings, {**given, **providers}))
    return telemetry


@pytest.mark.parametrize(
    ("script", "limit", "errors", "outcomes"),
    [
        ([said()], 0, {}, {"ok": 1}),
        ([said(finish="SAFETY")], 0, {"OUTPUT_BLOCKED": 1}, {"error": 1}),
        ([SERVER], 0, {"SERVER": 1}, {"error": 1}),
        ([tool_call(), AUTH], 0, {"AUTH": 1}, {"ok": 1, "error": 1}),
        ([nothing()], 0, {"UNKNOWN": 1}, {"ok": 1}),
        ([tool_call()], 1, {"CALL_BUDGET": 1}, {"ok": 1, "error": 1}),
    ],
)
async def test_without_the_instrumentor_the_plugin_counts(
    alone: Any, script: list[Any], limit: int, errors: dict[str, int], outcomes: dict[str, int]
) -> None:
    await run(*script, limit=limit, plugins=[LlmErrorsPlugin()])
    assert (alone.errors(), alone.outcomes()) == (errors, outcomes)


async def test_telemetry_can_be_switched_off(alone: Any) -> None:
    await run(SERVER, plugins=[LlmErrorsPlugin(telemetry=False)])
    assert alone.outcomes() == {}
