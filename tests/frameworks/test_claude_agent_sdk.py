"""claude-agent-sdk over its real transport and a process that plays a script: one call of `invoke_agent` per query."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.frameworks.wire import Counts, counts, marked

sdk = pytest.importorskip("claude_agent_sdk")

MODEL = "claude-sonnet-5"
PROCESS = (Path(__file__).parent / "claude_process.py").read_text()


def said(**more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "model": MODEL, "content": [{"type": "text", "text": "hello"}]}
    return {"type": "assistant", "session_id": "s", "message": message, "parent_tool_use_id": None, **more}


def result(subtype: str = "success", **more: Any) -> dict[str, Any]:
    ended = {"type": "result", "subtype": subtype, "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1}
    return {**ended, "is_error": subtype != "success", "session_id": "s", "result": "hello", **more}


def rejected(seconds: float) -> dict[str, Any]:
    info = {"status": "rejected", "resetsAt": int(time.time() + seconds), "rateLimitType": "five_hour"}
    return {"type": "rate_limit_event", "rate_limit_info": info, "uuid": "u", "session_id": "s"}


@pytest.fixture
def options(tmp_path: Path) -> Any:
    """Options for a process that plays the turns."""

    def make(*turns: list[Any], **more: Any) -> Any:
        command = tmp_path / "claude"
        command.write_text(f"#!{sys.executable}\n{PROCESS}")
        command.chmod(0o755)
        (tmp_path / "claude.json").write_text(json.dumps(turns))
        return sdk.ClaudeAgentOptions(cli_path=command, model=MODEL, **more)

    return make


async def ask(chosen: Any) -> Any:
    """The messages of a query, or what it raised."""
    try:
        return [message async for message in sdk.query(prompt="hi", options=chosen)]
    except Exception as raised:
        return raised


def one(outcome: str, **errors: int) -> Counts:
    spans = {"invoke_agent": 1}
    return Counts({f"invoke_agent {outcome}": 1}, {k.replace("__", "/"): n for k, n in errors.items()}, 0, spans)


async def test_a_query_is_one_call(observed, options):
    messages = await ask(options([said(), said(), result()]))
    assert type(messages[-1]).__name__ == "ResultMessage"
    assert counts(observed) == one("ok")
    labels = ("gen_ai.provider.name", "gen_ai.request.model")
    assert observed.counts("llm_calls_total", *labels) == {("anthropic", MODEL): 1}


async def test_a_process_that_calls_another_cloud_is_of_its_provider(observed, options):
    await ask(options([said(), result()], env={"CLAUDE_CODE_USE_BEDROCK": "1"}))
    assert observed.counts("llm_calls_total", "gen_ai.provider.name") == {"aws.bedrock": 1}


API_ERROR = 'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}'


@pytest.mark.parametrize(
    ("messages", "verdict"),
    [
        ([result("error_max_turns")], "CALL_BUDGET__max_turns"),
        ([result("error_max_budget_usd")], "CALL_BUDGET__other"),
        ([result("error_max_structured_output_retries")], "TOOL_PROTOCOL__schema_mismatch"),
        ([said(error="authentication_failed"), result(is_error=True)], "AUTH__invalid_key"),
        ([said(error="billing_error"), result(is_error=True)], "CALL_BUDGET__billing"),
        ([said(error="rate_limit"), result(is_error=True)], "RATE_LIMITED__requests"),
        ([said(error="server_error"), result(is_error=True)], "SERVER__internal"),
        ([said(error="unknown"), result(is_error=True, api_error_status=529)], "SERVER__overloaded"),
        ([said(error="invalid_request"), result(is_error=True, result=API_ERROR)], "BAD_REQUEST__context_overflow"),
        ([result(stop_reason="max_tokens")], "TRUNCATED__max_tokens"),
        ([result(stop_reason="refusal")], "OUTPUT_BLOCKED__refusal"),
        ([result("error_during_execution")], "UNKNOWN__unexpected_body"),
        ([said(), 0], "TRANSPORT__stream_cut"),
    ],
)
async def test_the_messages_of_a_query_tell_its_class(observed, options, messages, verdict):
    await ask(options(messages))
    assert counts(observed) == one("error", **{verdict: 1})
    assert observed.counts("llm_errors_total", "llm.error.channel") == {"in_band": 1}


async def test_the_exit_of_the_process_after_an_error_result_is_no_second_failure(observed, options):
    assert isinstance(await ask(options([result("error_max_turns"), 1])), sdk.ProcessError)
    assert counts(observed) == one("error", CALL_BUDGET__max_turns=1)


async def test_what_the_process_says_after_the_result_is_no_other_query(observed, options):
    hook = {"type": "system", "subtype": "hook_started", "hook_event": "SessionEnd"}
    task = {"type": "system", "subtype": "task_updated", "task_id": "t", "patch": {}}
    messages = await ask(options([said(), result(), hook, task, rejected(60), 0]))
    assert len(messages) == 5
    assert counts(observed) == one("ok")


async def test_messages_that_are_read_in_one_go_are_one_call_per_query(observed, options):
    task = {"type": "system", "subtype": "task_updated", "task_id": "t", "patch": {}}
    turns = [said(), result(), task], [said(), result("error_max_turns"), 0]
    async with sdk.ClaudeSDKClient(options(*turns)) as client:
        await client.query("hi")
        await client.query("hi")
        async for _ in client.receive_messages():
            pass
    assert counts(observed).calls == {"invoke_agent ok": 1, "invoke_agent error": 1}
    assert counts(observed).errors == {"CALL_BUDGET/max_turns": 1}


async def test_a_failure_that_the_process_retried_is_none_of_the_query(observed, options):
    await ask(options([rejected(60), said(error="rate_limit"), said(), result()]))
    assert counts(observed) == one("ok")


async def test_a_rejected_rate_limit_says_when_to_come_back(observed, options):
    await ask(options([rejected(600), result(is_error=True)]))
    assert counts(observed) == one("error", RATE_LIMITED__requests=1)
    assert 0 < observed.span().attributes["llm.error.retry_after"] <= 600


async def test_a_process_that_dies_is_a_thrown_failure(observed, options):
    assert isinstance(await ask(options([said(), 3])), sdk.ProcessError)
    assert counts(observed) == one("error", TRANSPORT__disconnected=1)


async def test_a_command_that_does_not_exist_is_a_thrown_failure(observed):
    raised = await ask(sdk.ClaudeAgentOptions(cli_path="/nonexistent/claude"))
    assert isinstance(raised, sdk.CLINotFoundError)
    assert counts(observed) == one("error", NOT_FOUND__resource=1)


async def test_a_query_that_the_application_leaves_is_cancelled(observed, options):
    messages = sdk.query(prompt="hi", options=options([said(), result()]))
    async for _ in messages:
        break
    await messages.aclose()
    await asyncio.get_running_loop().shutdown_asyncgens()  # the SDK leaves its inner generators to the loop
    assert counts(observed).calls == {"invoke_agent cancelled": 1}


async def test_each_query_of_a_client_is_one_call(observed, options):
    turns = [said(), result()], [said(), result("error_max_turns")]
    async with sdk.ClaudeSDKClient(options(*turns)) as client:
        for _ in turns:
            await client.query("hi")
            async for _ in client.receive_response():
                pass
    assert counts(observed).calls == {"invoke_agent ok": 1, "invoke_agent error": 1}
    assert counts(observed).errors == {"CALL_BUDGET/max_turns": 1}


async def test_a_query_that_was_interrupted_is_cancelled(observed, options):
    ended = result("error_during_execution", terminal_reason="aborted_streaming")
    async with sdk.ClaudeSDKClient(options([said(), ended])) as client:
        await client.query("hi")
        async for _ in client.receive_response():
            pass
    assert counts(observed).calls == {"invoke_agent cancelled": 1}


OPENINFERENCE = "openinference.instrumentation.claude_agent_sdk:ClaudeAgentSDKInstrumentor"


async def test_beside_a_peer_the_class_is_on_its_span_and_there_is_none_of_ours(beside, options):
    telemetry = beside(OPENINFERENCE)
    await ask(options([said(), result("error_max_turns")]))
    assert counts(telemetry) == Counts({"invoke_agent error": 1}, {"CALL_BUDGET/max_turns": 1})
    assert marked(telemetry, "llm.error.class") == {"ClaudeAgentSDK.query": "CALL_BUDGET"}
