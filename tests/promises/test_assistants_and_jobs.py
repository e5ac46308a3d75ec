"""Runs of assistants, resumed streams, and long-running operations: what ends badly counts once per id."""

import json
from importlib.util import find_spec
from inspect import signature

import pytest

from llm_errors import classify
from llm_errors.testing.provider import Reply
from tests.promises.wire import RESPONSES, WHOLE

openai = pytest.importorskip("openai")
pytestmark = [
    pytest.mark.filterwarnings("ignore:The Assistants API is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The generate_videos method with:DeprecationWarning"),
]
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


def run(name, status, **more):
    return {
        "id": name, "object": "thread.run", "created_at": 1, "thread_id": "t", "assistant_id": "a", "status": status,
        "model": "gpt-x", "instructions": "", "tools": [], "metadata": {}, "parallel_tool_calls": True, **more,
    }  # fmt: skip


FAILED = {"last_error": {"code": "rate_limit_exceeded", "message": "no"}}
ENDS = [
    ({"status": "failed", **FAILED}, ("RATE_LIMITED", "requests")),
    ({"status": "failed", "last_error": {"code": "server_error", "message": "no"}}, ("SERVER", "internal")),
    (
        {"status": "failed", "last_error": {"code": "invalid_prompt", "message": "no"}},
        ("PROMPT_BLOCKED", "prohibited_content"),
    ),
    ({"status": "failed"}, ("SERVER", "other")),
    ({"status": "expired"}, ("TIMEOUT", "provider")),
    ({"status": "incomplete", "incomplete_details": {"reason": "max_completion_tokens"}}, ("TRUNCATED", "max_tokens")),
    ({"status": "incomplete", "incomplete_details": {"reason": "max_prompt_tokens"}}, ("CALL_BUDGET", "token_limit")),
    ({"status": "strange"}, ("UNKNOWN", "unrecognised_finish_reason")),
    ({"status": "cancelled"}, None),
    ({"status": "completed"}, None),
    ({"status": "requires_action"}, None),
]


@pytest.fixture
async def client_of():
    """Make a client of openai; closed after the test."""
    made = []

    def make(server, asynchronous):
        client = (openai.AsyncOpenAI if asynchronous else openai.OpenAI)(
            api_key="k", base_url=server.url, max_retries=0
        )
        made.append((client, asynchronous))
        return client

    yield make
    for client, asynchronous in made:
        await done(client.close(), asynchronous)


def resumes(responses):
    """Skip the test if the SDK cannot resume a stream."""
    if "stream" not in signature(type(responses).retrieve).parameters:
        pytest.skip("only a newer major of the SDK resumes streams")


async def done(result, asynchronous):
    return await result if asynchronous else result


@each_way
@pytest.mark.parametrize(("end", "reason"), ENDS)
async def test_a_run_that_is_polled_counts_its_end_once(
    asynchronous, end, reason, client_of, provider, observed, request
):
    name = request.node.name
    ended = Reply(json=run(name, **end))
    server = provider([Reply(json=run(name, "queued")), Reply(json=run(name, "in_progress")), ended, ended])
    runs = client_of(server, asynchronous).beta.threads.runs
    await done(runs.create(thread_id="t", assistant_id="a", model="gpt-x"), asynchronous)
    for _ in range(3):
        await done(runs.retrieve(name, thread_id="t"), asynchronous)
    assert observed.counts("llm_calls_total", "gen_ai.operation.name", "llm.call.outcome") == {
        ("invoke_agent", "ok"): 1
    }
    assert observed.reasons() == ({} if reason is None else {reason: 1})
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == ({} if reason is None else {"gpt-x": 1})
    verdict = classify(run(name, **end))
    assert (verdict and (verdict.error_class.value, verdict.reason)) == reason


@each_way
async def test_the_helper_that_polls_is_seen_too(asynchronous, client_of, provider, observed):
    name = f"run_helper_{asynchronous}"
    server = provider([Reply(json=run(name, "queued")), Reply(json=run(name, "failed", **FAILED))])
    runs = client_of(server, asynchronous).beta.threads.runs
    await done(runs.create_and_poll(thread_id="t", assistant_id="a", poll_interval_ms=1), asynchronous)
    assert observed.outcomes() == {"ok": 1}
    assert observed.reasons() == {("RATE_LIMITED", "requests"): 1}


def event(name, data):
    return [f"event: {name}", f"data: {json.dumps(data)}", ""]


def streamed(*events):
    lines = [line for name, data in events for line in event(name, data)]
    return Reply(sse=[*lines, "event: done", "data: [DONE]", ""])


@each_way
@pytest.mark.parametrize(("end", "reason"), [ENDS[0], ENDS[4], ENDS[5], ENDS[9]])
async def test_a_streamed_run_is_one_call_and_is_not_told_again(
    asynchronous, end, reason, client_of, provider, observed, request
):
    name = request.node.name
    last = (f"thread.run.{end['status']}", run(name, **end))
    server = provider([streamed(("thread.run.created", run(name, "queued")), last), Reply(json=run(name, **end))])
    runs = client_of(server, asynchronous).beta.threads.runs
    stream = await done(runs.create(thread_id="t", assistant_id="a", stream=True), asynchronous)
    if asynchronous:
        assert [e.event async for e in stream][-1] == last[0]
    else:
        assert [e.event for e in stream][-1] == last[0]
    await done(runs.retrieve(name, thread_id="t"), asynchronous)
    assert observed.outcomes() == {"ok" if reason is None else "error": 1}
    assert observed.reasons() == ({} if reason is None else {reason: 1})


def test_a_run_that_continues_with_the_output_of_a_tool_is_a_call(client_of, provider, observed):
    server = provider([Reply(json=run("run_tool", "queued"))])
    client_of(server, False).beta.threads.runs.submit_tool_outputs("run_tool", thread_id="t", tool_outputs=[])
    assert observed.counts("llm_calls_total", "gen_ai.operation.name") == {"invoke_agent": 1}


def test_the_runs_of_an_evaluation_are_no_calls(client_of, provider, observed):
    client = client_of(provider([Reply(json={"id": "e", "status": "failed"})]), False)
    if not hasattr(client, "evals"):
        pytest.skip("only a newer major of the SDK evaluates")
    client.evals.runs.create("eval_1", data_source={"type": "jsonl", "source": {"type": "file_id", "id": "f"}})
    assert observed.outcomes() == {}


def response(name, status, **more):
    output = WHOLE[RESPONSES]["output"] if status == "completed" else []
    return {**WHOLE[RESPONSES], "id": name, "background": True, "status": status, "output": output, **more}


def resumed(name, status, **more):
    last = {"type": f"response.{status}", "sequence_number": 2, "response": response(name, status, **more)}
    first = {"type": "response.created", "sequence_number": 1, "response": response(name, "in_progress")}
    return Reply(sse=[line for e in (first, last) for line in event(e["type"], e)])


@each_way
@pytest.mark.parametrize("status", ["failed", "completed"])
async def test_a_background_response_whose_stream_is_resumed_counts_once(
    asynchronous, status, client_of, provider, observed
):
    name = f"resp_resumed_{asynchronous}_{status}"
    more = {"error": {"code": "server_error", "message": "no"}} if status == "failed" else {}
    again = Reply(json=response(name, status, **more))
    server = provider([Reply(json=response(name, "queued")), *[resumed(name, status, **more)] * 2, again])
    responses = client_of(server, asynchronous).responses
    resumes(responses)
    await done(responses.create(model="m", input="x", background=True), asynchronous)
    for _ in range(2):
        stream = await done(responses.retrieve(name, stream=True), asynchronous)
        kinds = [e.type async for e in stream] if asynchronous else [e.type for e in stream]
        assert kinds[-1] == f"response.{status}"
    await done(responses.retrieve(name), asynchronous)
    assert observed.outcomes() == {"ok": 1}
    assert observed.reasons() == ({("SERVER", "internal"): 1} if status == "failed" else {})
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == ({"m": 1} if status == "failed" else {})


def test_a_resumed_stream_that_its_caller_leaves_is_no_call(client_of, provider, observed):
    server = provider([resumed("resp_left", "completed")])
    responses = client_of(server, False).responses
    resumes(responses)
    stream = responses.retrieve("resp_left", stream=True)
    next(iter(stream))
    stream.close()
    assert observed.outcomes() == observed.errors() == {}


OPERATION = "projects/p/locations/l/publishers/google/models/veo/operations/op"
VIDEO = {"videos": [{"gcsUri": "gs://u"}]}
BLOCKED = {"raiMediaFilteredCount": 1, "raiMediaFilteredReasons": ["no"]}


@each_way
@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ({"error": {"code": 8, "message": "quota"}}, ("RATE_LIMITED", "requests")),
        ({"error": {"code": 13, "message": "no"}}, ("SERVER", "internal")),
        ({"response": BLOCKED}, ("OUTPUT_BLOCKED", "image_safety")),
        ({"response": VIDEO}, None),
    ],
)
async def test_a_video_of_gemini_is_one_call_and_its_failure_counts_once(
    asynchronous, end, reason, provider, observed, request
):
    genai = pytest.importorskip("google.genai")
    name = f"{OPERATION}_{request.node.name}"
    ended = Reply(json={"name": name, "done": True, **end})
    server = provider([Reply(json={"name": name}), Reply(json={"name": name, "done": False}), ended, ended])
    client = genai.Client(vertexai=True, api_key="k", http_options={"base_url": server.url})
    client = client.aio if asynchronous else client
    operation = await done(client.models.generate_videos(model="veo", prompt="a cat"), asynchronous)
    for _ in range(3):
        operation = await done(client.operations.get(operation), asynchronous)
    assert observed.counts("llm_calls_total", "gen_ai.operation.name", "llm.call.outcome") == {
        ("generate_content", "ok"): 1
    }
    assert observed.reasons() == ({} if reason is None else {reason: 1})
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == ({} if reason is None else {"veo": 1})


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("JOB_STATE_FAILED", ("SERVER", "other")),
        ("JOB_STATE_EXPIRED", ("TIMEOUT", "provider")),
        ("JOB_STATE_SUCCEEDED", None),
    ],
)
def test_a_batch_of_gemini_that_fails_as_a_whole_counts_once(state, reason, provider, observed):
    genai = pytest.importorskip("google.genai")
    if find_spec("google.genai._gaos") is None:
        pytest.skip("only a newer major of the SDK")
    name = f"batches/{state}"
    said = {"name": name, "metadata": {"state": state.replace("JOB", "BATCH")}}
    client = genai.Client(api_key="k", http_options={"base_url": provider([Reply(json=said)]).url})
    for _ in range(2):
        client.batches.get(name=name)
    assert observed.outcomes() == {}
    assert observed.reasons() == ({} if reason is None else {reason: 1})
