"""dashscope over a real socket: failures that it returns, and those that it raises."""

import importlib
import itertools
import json

import pytest

from llm_errors import classify
from llm_errors.testing.provider import Reply

dashscope = pytest.importorskip("dashscope", reason="dashscope is not installed")

HELLO = [{"role": "user", "content": "hi"}]
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


class Client:
    """The SDK has no clients: its functions are told the address."""

    def __init__(self, url, asynchronous, key="k"):
        self.key, self.base, self.way = key, f"{url}/api/v1", asynchronous

    def call(self, api, **arguments):
        kind = getattr(dashscope, f"Aio{api}" if self.way else api)
        return kind.call(model="qwen-max", api_key=self.key, base_address=self.base, **arguments)

    def close(self):
        from dashscope.api_entities.http_request import close_shared_sync_session

        close_shared_sync_session()

    if hasattr(dashscope, "AioGeneration"):

        async def aclose(self):
            from dashscope.api_entities import aio_session

            await aio_session.close_shared_aio_session()


def make(url, asynchronous):
    return Client(url, asynchronous)


def chat(client, **more):
    return client.call("Generation", messages=HELLO, result_format="message", **more)


def stream(client):
    return chat(client, stream=True)


def part(content="hi", finish="null", **message):
    choice = {"finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return {"output": {"choices": [choice]}, "usage": {"input_tokens": 3, "output_tokens": 2}, "request_id": "r"}


def parts(*pieces, **more):
    return Reply(sse=[line for piece in pieces for line in ("data:" + json.dumps(piece), "")], **more)


def failure(status, code, message="m", **more):
    return Reply(status, json={"code": code, "message": message, "request_id": "r"}, **more)


END = part("", "stop")


@each_way
def test_an_answer_is_one_good_call_with_its_facts(play, asynchronous):
    seen = play(make, chat, Reply(json=part("hi", "stop")), asynchronous)
    assert seen.verdict == "ok"
    assert (seen.labels["gen_ai.provider.name"], seen.labels["gen_ai.request.model"]) == ("alibaba_cloud", "qwen-max")
    assert seen.attributes["gen_ai.usage.output_tokens"] == 2
    assert seen.attributes["gen_ai.response.finish_reasons"] == ("stop",)


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (chat, Reply(json={"output": {"text": "hi", "finish_reason": "stop"}}), "ok"),
        (chat, Reply(json=part("", "tool_calls", tool_calls=[{"function": {"name": "f", "arguments": "{}"}}])), "ok"),
        (chat, Reply(json=part("hi", "length")), "TRUNCATED/max_tokens"),
        (chat, Reply(json=part("", "stop")), "UNKNOWN/empty_response"),
        (chat, Reply(json={"request_id": "r"}), "UNKNOWN/unexpected_body"),
        (stream, parts(part(), END), "ok"),
        (stream, parts(part(), part("", "length")), "TRUNCATED/max_tokens"),
        (stream, parts(part()), "TRANSPORT/stream_cut"),
    ],
)
def test_how_an_answer_ended(play, call, reply, verdict, asynchronous):
    assert play(make, call, reply, asynchronous).verdict == verdict


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (failure(400, "InvalidParameter"), "BAD_REQUEST/invalid_parameter"),
        (failure(400, "DataInspectionFailed", "Input data may contain inappropriate content."),
         "PROMPT_BLOCKED/content_filter"),
        (failure(400, "DataInspectionFailed", "Output data may contain inappropriate content."),
         "OUTPUT_BLOCKED/content_filter"),
        (failure(400, "Arrearage"), "CALL_BUDGET/billing"),
        (failure(401, "InvalidApiKey"), "AUTH/invalid_key"),
        (failure(403, "AllocationQuota.FreeTierOnly"), "CALL_BUDGET/insufficient_quota"),
        (failure(403, "Model.AccessDenied"), "AUTH/permission_denied"),
        (failure(404, "ModelNotFound"), "NOT_FOUND/model"),
        (failure(429, "Throttling.RateQuota"), "RATE_LIMITED/requests"),
        (failure(429, "Throttling.AllocationQuota"), "RATE_LIMITED/tokens"),
        (failure(500, "InternalError"), "SERVER/internal"),
        (failure(503, "ModelUnavailable"), "SERVER/unavailable"),
    ],
)  # fmt: skip
def test_a_failure_that_the_sdk_returns_is_told_by_its_code(play, call, reply, verdict, asynchronous):
    seen = play(make, call, reply, asynchronous)
    assert (seen.verdict, seen.channel, seen.raised) == (verdict, "in_band", None)
    assert seen.status_code == reply.status


@each_way
def test_the_wait_is_read_from_the_headers_that_the_answer_keeps(play, asynchronous):
    seen = play(make, chat, failure(429, "Throttling", headers={"retry-after": "7"}), asynchronous)
    assert seen.retry_after == 7.0


@each_way
@pytest.mark.parametrize("call", [chat, stream], ids=["whole", "stream"])
def test_a_connection_that_the_server_closes_is_raised_after_a_hidden_attempt(play, call, asynchronous):
    closing = [Reply(action="close_at_once"), Reply(action="close_at_once")]
    seen = play(make, call, closing, asynchronous)
    assert (seen.verdict, seen.channel) == ("TRANSPORT/disconnected", "thrown")
    assert seen.retries == {"TRANSPORT": 1}


@each_way
def test_an_error_event_in_mid_stream(play, asynchronous):
    body = json.dumps({"code": "InternalError", "message": "m", "request_id": "r"})
    lines = ["data:" + json.dumps(part()), "", "event:error", ":HTTP_STATUS/500", "status:500", f"data:{body}", ""]
    seen = play(make, stream, Reply(sse=lines), asynchronous)
    assert (seen.verdict, seen.partial_output, seen.channel) == ("SERVER/internal", True, "in_band")


@each_way
def test_a_stream_that_the_server_cuts(play, asynchronous):
    seen = play(make, stream, parts(part(), action="cut_mid_stream"), asynchronous)
    assert (seen.verdict, seen.retryable) == ("TRANSPORT/disconnected", False)


@each_way
@pytest.mark.parametrize(
    ("api", "arguments", "output", "verdict", "operation"),
    [
        ("TextReRank", {"query": "q", "documents": ["a"]}, {"results": [{"index": 0, "relevance_score": 0.5}]}, "ok",
         "rerank"),
        ("TextReRank", {"query": "q", "documents": ["a"]}, {"results": []}, "UNKNOWN/empty_response", "rerank"),
        ("MultiModalConversation", {"messages": HELLO},
         {"choices": [{"finish_reason": "stop", "message": {"content": [{"text": "hi"}]}}]}, "ok", "chat"),
    ],
)  # fmt: skip
def test_other_services(play, api, arguments, output, verdict, operation, asynchronous):
    seen = play(make, lambda c: c.call(api, **arguments), Reply(json={"output": output, "usage": {}}), asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == (verdict, operation)


def test_embeddings(play):
    vectors = {"output": {"embeddings": [{"embedding": [0.1], "text_index": 0}]}, "usage": {"total_tokens": 1}}
    seen = play(make, lambda c: c.call("TextEmbedding", input="hi"), Reply(json=vectors))
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", "embeddings")


@each_way
def test_a_call_without_a_key_is_refused_before_a_request(play, asynchronous, monkeypatch):
    monkeypatch.setattr(dashscope, "api_key", None)
    monkeypatch.setattr(dashscope, "api_key_file_path", None)
    seen = play(lambda url, way: Client(url, way, None), chat, Reply(json=END), asynchronous)
    assert (seen.verdict, seen.provider.requests) == ("AUTH/missing_key", [])


@pytest.fixture
def keyless(monkeypatch):
    monkeypatch.setattr(dashscope, "api_key", None)
    monkeypatch.setattr(dashscope, "api_key_file_path", None)


@pytest.mark.parametrize(
    "call",
    [
        lambda: dashscope.ImageSynthesis.fetch("t"),
        lambda: dashscope.ImageSynthesis.list(),
        lambda: dashscope.Files.list(),
        lambda: dashscope.Tokenization.call("qwen-max", prompt="hi"),
    ],
    ids=["fetch", "list", "files", "tokens"],
)
def test_what_is_no_model_call_counts_nothing_without_a_key(observed, keyless, call):
    with pytest.raises(Exception, match="api key"):
        call()
    assert observed.outcomes() == {}


def test_a_call_without_a_key_has_its_model(observed, keyless):
    with pytest.raises(Exception, match="api key"):
        dashscope.ImageSynthesis.async_call("wanx", "a cat")
    ((labels, _),) = observed.points("llm_calls_total")
    assert labels["gen_ai.request.model"] == "wanx"


TASKS = map("dashscope-task-{}".format, itertools.count())
"""What was said of a task once is not said again in the same process."""


def task(status, task_id, **more):
    return Reply(json={"output": {"task_id": task_id, "task_status": status, **more}, "request_id": "r"})


def counted(observed):
    ((labels, point),) = observed.points("llm_errors_total")
    calls = sum(p.value for _, p in observed.points("llm_calls_total"))
    return (
        f"{labels['llm.error.class']}/{labels['llm.error.reason']}",
        labels["gen_ai.request.model"],
        point.value,
        calls,
    )


def test_a_task_that_fails_after_it_was_accepted_is_an_error_of_the_call_that_began_it(observed, provider, monkeypatch):
    one = next(TASKS)
    broken = task("FAILED", one, code="DataInspectionFailed", message="Input data may contain inappropriate content.")
    monkeypatch.setattr(
        dashscope,
        "base_http_api_url",
        provider([task("PENDING", one), task("RUNNING", one), broken, broken]).url + "/api/v1",
    )
    begun = dashscope.ImageSynthesis.async_call("wanx", "a cat", api_key="k")
    for _ in range(3):
        dashscope.ImageSynthesis.fetch(begun, api_key="k")
    assert counted(observed) == ("PROMPT_BLOCKED/content_filter", "wanx", 1, 1)


async def test_an_async_task_that_fails(observed, provider, monkeypatch):
    one = next(TASKS)
    broken = task("FAILED", one, code="InternalError", message="m")
    monkeypatch.setattr(
        dashscope, "base_http_api_url", provider([task("PENDING", one), broken, broken]).url + "/api/v1"
    )
    kind = importlib.import_module("dashscope.aigc.image_synthesis").AioImageSynthesis
    begun = await kind.async_call("wanx", "a cat", api_key="k")
    for _ in range(2):
        await kind.fetch(begun, api_key="k")
    await make("", True).aclose()
    assert counted(observed) == ("SERVER/internal", "wanx", 1, 1)


def test_a_task_that_succeeds_or_cannot_be_asked_for_adds_nothing(observed, provider, monkeypatch):
    one = next(TASKS)
    lost = Reply(404, json={"code": "TaskNotFound", "message": "m"})
    monkeypatch.setattr(
        dashscope,
        "base_http_api_url",
        provider([task("PENDING", one), lost, task("SUCCEEDED", one, results=[{"url": "u"}])]).url + "/api/v1",
    )
    begun = dashscope.ImageSynthesis.async_call("wanx", "a cat", api_key="k")
    for _ in range(2):
        dashscope.ImageSynthesis.fetch(begun, api_key="k")
    assert observed.outcomes() == {"ok": 1}
    assert observed.points("llm_errors_total") == []


def test_a_stream_that_the_application_leaves_is_cancelled(observed, provider):
    left = stream(make(provider([parts(part(), action="hang_mid_stream")]).url, False))
    next(left)
    left.close()
    assert observed.outcomes() == {"cancelled": 1}


def test_classify_reads_what_the_sdk_returns():
    told = {"status_code": 429, "code": "Throttling.RateQuota", "message": "m", "output": None, "usage": None}
    assert classify(told).error_class == "RATE_LIMITED"
