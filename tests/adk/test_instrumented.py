"""What auto-instrumentation counts of ADK: once, and by the innermost layer that sees it.

Handed case: ins-double-spans-layers.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
from typing import Any

import pytest

from tests.adk.agents import nothing, run, said, tool_call
from tests.recovery.failures import with_status

genai_errors = pytest.importorskip("google.genai.errors")


def server_error() -> Exception:
    body = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "no"}}
    return genai_errors.ServerError(503, body)  # type: ignore[no-any-return]


async def test_a_healthy_call_of_a_model_that_no_sdk_adapter_sees(observed: Any) -> None:
    await run(said())
    assert (observed.outcomes(), observed.errors()) == ({"ok": 1}, {})


async def test_every_call_of_a_run_counts(observed: Any) -> None:
    outcome = await run(tool_call(), said())
    assert outcome.texts == ["hello"]
    assert observed.outcomes() == {"ok": 2}


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        (said(finish="SAFETY"), ("OUTPUT_BLOCKED", "safety")),
        (nothing("SAFETY", error_code="SAFETY"), ("OUTPUT_BLOCKED", "safety")),
        (nothing(None, error_code="SAFETY"), ("PROMPT_BLOCKED", "safety")),
        (said(finish="MAX_TOKENS"), ("TRUNCATED", "max_tokens")),
        (nothing("MALFORMED_FUNCTION_CALL", error_code="MALFORMED_FUNCTION_CALL"), ("TOOL_PROTOCOL", "malformed_call")),
        (nothing(), ("UNKNOWN", "empty_response")),
        (nothing(None), ("UNKNOWN", "empty_response")),
        (said("  \n "), ("UNKNOWN", "empty_response")),
        (nothing(None, error_code="JSON_PARSE_ERROR"), ("TOOL_PROTOCOL", "invalid_arguments")),
        (nothing(None, error_code="UNKNOWN_ERROR"), ("UNKNOWN", "unexpected_body")),
        (nothing(None, error_code="RESOURCE_EXHAUSTED"), ("RATE_LIMITED", "requests")),
    ],
)
async def test_in_band_verdicts(observed: Any, response: Any, verdict: tuple[str, str]) -> None:
    await run(response)
    assert observed.reasons() == {verdict: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.counts("llm_errors_total", "llm.error.channel") == {"in_band": 1}


async def test_an_exception_of_the_model_reaches_the_application_and_counts_once(observed: Any) -> None:
    error = server_error()
    outcome = await run(error)
    assert outcome.raised is error
    assert (observed.reasons(), observed.outcomes()) == ({("SERVER", "unavailable"): 1}, {"error": 1})


async def test_the_call_limit_counts_where_it_is_raised(observed: Any) -> None:
    outcome = await run(tool_call(), limit=1)
    assert type(outcome.raised).__name__ == "LlmCallsLimitExceededError"
    assert outcome.model.calls == 1
    assert observed.reasons() == {("CALL_BUDGET", "max_llm_calls"): 1}
    labels = ("gen_ai.operation.name", "gen_ai.request.model", "gen_ai.provider.name")
    assert observed.counts("llm_errors_total", *labels) == {("invoke_agent", "gemini-scripted", "gcp.gemini"): 1}
    calls = observed.counts("llm_calls_total", "gen_ai.operation.name", "llm.call.outcome")
    assert calls == {("generate_content", "ok"): 1, ("invoke_agent", "error"): 1}
    durations = observed.points("gen_ai.client.operation.duration")
    assert "invoke_agent" not in {labels["gen_ai.operation.name"] for labels, _ in durations}


async def test_streams_count_once_although_partial_responses_repeat_the_end(observed: Any) -> None:
    chunks = [said("he", partial=True, finish=None), said("llo", partial=True, finish="SAFETY"), said(finish="SAFETY")]
    await run(chunks, stream=True)
    assert (observed.reasons(), observed.outcomes()) == ({("OUTPUT_BLOCKED", "safety"): 1}, {"error": 1})


async def test_a_stream_that_breaks_after_a_chunk_is_not_retryable(observed: Any) -> None:
    await run([said("he", partial=True, finish=None), server_error()], stream=True)
    (log,) = observed.logs()
    assert log.attributes["llm.error.partial_output"] is True
    assert log.attributes["llm.error.retryable"] is False


async def test_a_caller_that_goes_away_cancels(observed: Any) -> None:
    async def hang() -> Any:
        raise asyncio.CancelledError

    with contextlib.suppress(asyncio.CancelledError):
        await run([hang])
    assert (observed.outcomes(), observed.errors()) == ({"cancelled": 1}, {})


SPANS = """
import asyncio, json
from opentelemetry import trace
from tests.conftest import make_telemetry
telemetry = make_telemetry()
trace.set_tracer_provider(telemetry.tracer_provider)
from llm_errors import LLMErrorsInstrumentor
from tests.adk.agents import run, said, tool_call
LLMErrorsInstrumentor().instrument(tracer_provider=telemetry.tracer_provider, strict=True)
asyncio.run(run(said(finish="SAFETY")))
asyncio.run(run(tool_call(), limit=1))
marked = [s for s in telemetry.spans() if "llm.error.class" in s.attributes]
print(json.dumps([[s.instrumentation_scope.name, s.name, s.attributes["llm.error.class"]] for s in marked]))
"""


def test_the_verdict_is_on_adk_s_own_span_and_on_no_other() -> None:
    done = subprocess.run([sys.executable, "-c", SPANS], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [
        ["gcp.vertex.agent", "generate_content gemini-scripted", "OUTPUT_BLOCKED"],
        ["gcp.vertex.agent", "invoke_agent helper", "CALL_BUDGET"],
    ]


BESIDE_A_PEER = SPANS.replace(
    "from llm_errors import",
    "from openinference.instrumentation.google_adk import GoogleADKInstrumentor\n"
    "GoogleADKInstrumentor().instrument(tracer_provider=telemetry.tracer_provider)\n"
    "from llm_errors import",
).replace("strict=True", "meter_provider=telemetry.meter_provider, strict=True")
"""OpenInference's instrumentation makes ADK's span of the agent the one of its model calls."""
BESIDE_A_PEER += """
print(json.dumps([telemetry.outcomes(), telemetry.errors()]))
print(json.dumps(sum(s.instrumentation_scope.name == "llm_errors" for s in telemetry.spans())))
"""


def test_beside_openinference_the_counts_are_the_same_and_the_class_is_on_its_span() -> None:
    done = subprocess.run([sys.executable, "-c", BESIDE_A_PEER], capture_output=True, text=True, check=True)
    spans, counts, ours = (json.loads(line) for line in done.stdout.splitlines()[-3:])
    assert spans == [
        ["gcp.vertex.agent", "invoke_agent helper", "OUTPUT_BLOCKED"],
        ["gcp.vertex.agent", "invoke_agent helper", "CALL_BUDGET"],
    ]
    assert counts == [{"ok": 1, "error": 2}, {"OUTPUT_BLOCKED": 1, "CALL_BUDGET": 1}]
    assert ours == 0


RECOVERED = """
import asyncio, json
from opentelemetry import trace
from tests.conftest import make_telemetry
telemetry = make_telemetry()
trace.set_tracer_provider(telemetry.tracer_provider)
from google.adk.plugins.base_plugin import BasePlugin
from llm_errors import LLMErrorsInstrumentor
from tests.adk.agents import run, said, tool_call
from tests.adk.test_instrumented import server_error

class AnswersInstead(BasePlugin):
    async def on_model_error_callback(self, *, callback_context, llm_request, error):
        return tool_call()

LLMErrorsInstrumentor().instrument(tracer_provider=telemetry.tracer_provider, strict=True)
for script in ([server_error(), said()], [said(), server_error()]):
    asyncio.run(run(*script, plugins=[AnswersInstead("instead")], limit=2))
spans = [s for s in telemetry.spans() if s.name.startswith("invoke_agent")]
print(json.dumps([s.attributes.get("llm.error.recovered") for s in spans]))
"""


def test_a_failure_that_a_later_call_makes_good_is_recovered_on_the_span_of_the_agent() -> None:
    done = subprocess.run([sys.executable, "-c", RECOVERED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [True, None]


SAMPLED_OUT = """
import asyncio, json, os, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON
from tests.conftest import make_telemetry
telemetry = make_telemetry()
telemetry.tracer_provider.sampler = ALWAYS_ON  # whatever the parent
if sys.argv[1] == "sampled out":
    trace.set_tracer_provider(TracerProvider(sampler=ALWAYS_OFF))
from llm_errors import LLMErrorsInstrumentor
from llm_errors.testing.provider import Provider, Reply
from tests.adk.agents import run, said, tool_call
from tests.adk.test_instrumented import answer, gemini, run_and_close

LLMErrorsInstrumentor().instrument(
    tracer_provider=telemetry.tracer_provider, meter_provider=telemetry.meter_provider,
    logger_provider=telemetry.logger_provider, strict=True)
asyncio.run(run(said(finish="SAFETY")))
asyncio.run(run(tool_call(), limit=1))
os.environ["GOOGLE_API_KEY"] = "k"
servers = []
asyncio.run(run_and_close(gemini(answer("MAX_TOKENS", "he"), lambda script: servers.append(Provider(script)) or servers[0])))
servers[0].close()
headers = [name.lower() for request in servers[0].requests for name in request.headers]
spans = sorted(s.name for s in telemetry.spans())
print(json.dumps([telemetry.outcomes(), telemetry.errors(), len(telemetry.logs()), spans, "traceparent" in headers]))
"""


@pytest.mark.parametrize(
    ("spans_of_adk", "spans"),
    [
        ("sampled out", []),
        (
            "of no provider",
            ["generate_content gemini-scripted"] * 2 + ["generate_content gemini-x", "invoke_agent gemini-scripted"],
        ),
    ],
)
def test_no_span_of_ours_takes_the_place_of_one_of_adk_s_that_is_sampled_out(
    spans_of_adk: str, spans: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SAMPLED_OUT, spans_of_adk], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outcomes, errors, logs, found, traced = json.loads(done.stdout.splitlines()[-1])
    assert outcomes == {"error": 3, "ok": 1}
    assert errors == {"OUTPUT_BLOCKED": 1, "CALL_BUDGET": 1, "TRUNCATED": 1}
    assert (logs, found, traced) == (3, spans, False)


# --- layers --------------------------------------------------------------------------------------------------------


def gemini(answer: dict[str, Any], provider: Any, status: int = 200) -> Any:
    """ADK's own Gemini model, over google-genai, over a socket."""
    from google.adk.models.google_llm import Gemini

    from llm_errors.testing.provider import Reply

    return Gemini(model="gemini-x", base_url=provider([Reply(status, json=answer)]).url)


async def run_and_close(model: Any) -> Any:
    """A run, and then what ADK leaves to the garbage collector."""
    outcome = await run(model=model)
    await model.api_client.aio.aclose()
    model.api_client.close()
    return outcome


def answer(finish: str, text: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content, "finishReason": finish, "index": 0}], "modelVersion": "g"}


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "k")


@pytest.mark.usefixtures("key")
async def test_what_google_genai_reports_is_not_doubled(observed: Any, provider: Any) -> None:
    await run_and_close(gemini(answer("SAFETY", "no"), provider))
    assert (observed.reasons(), observed.outcomes()) == ({("OUTPUT_BLOCKED", "safety"): 1}, {"error": 1})


@pytest.mark.usefixtures("key")
async def test_what_google_genai_raises_is_not_doubled(observed: Any, provider: Any) -> None:
    error = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "no"}}
    outcome = await run_and_close(gemini(error, provider, 400))
    assert outcome.raised is not None
    assert (observed.errors(), observed.outcomes()) == ({"BAD_REQUEST": 1}, {"error": 1})


@pytest.mark.usefixtures("key")
async def test_an_empty_answer_that_only_adk_sees_is_added_once(observed: Any, provider: Any) -> None:
    outcome = await run_and_close(gemini(answer("STOP", "   "), provider))
    assert [e.error_code for e in outcome.events] == ["MODEL_RETURNED_NO_CONTENT"]
    assert observed.reasons() == {("UNKNOWN", "empty_response"): 1}
    assert observed.outcomes() == {"ok": 1}


async def test_uninstrument_restores_the_classes(instrument: Any) -> None:
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow

    before = vars(InvocationContext)["increment_llm_call_count"], vars(BaseLlmFlow)["_run_and_handle_error"]
    instrumentor = instrument()
    assert vars(BaseLlmFlow)["_run_and_handle_error"] is not before[1]
    instrumentor.uninstrument()
    assert (
        vars(InvocationContext)["increment_llm_call_count"],
        vars(BaseLlmFlow)["_run_and_handle_error"],
    ) == before


async def test_other_errors_of_the_counter_are_none_of_ours(observed: Any) -> None:
    from llm_errors import providers
    from llm_errors.instrument.adapters.adk import GoogleAdk

    assert GoogleAdk(providers.sdk("google-adk")).refused(object(), with_status(500)) is None
