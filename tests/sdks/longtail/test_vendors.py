"""watsonx, Replicate, Qianfan and Aleph Alpha over a real socket: answers of other shapes, jobs, and errors of other kinds."""

import json

import pytest
from opentelemetry import trace

from llm_errors.testing.provider import Reply

pytest.importorskip("pandas", reason="ibm-watsonx-ai is not installed")
"""qianfan puts a module of its own in pyarrow's place, with which pandas cannot be imported afterwards."""
HELLO = [{"role": "user", "content": "hi"}]
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
pytestmark = pytest.mark.filterwarnings("ignore")


class Opened:
    """A client that the conftest's player can close."""

    def __init__(self, client, asynchronous, aclose=None):
        self.client, self.way = client, asynchronous
        if asynchronous:
            self.aclose = aclose or self.nothing

    async def nothing(self):
        pass

    def close(self):
        pass


def choice(finish="stop", content="hi", part="message"):
    said = {"role": "assistant", "content": content}
    return {"id": "c", "model": "l", "choices": [{"index": 0, "finish_reason": finish, part: said}]}


def sse(*chunks, done=False, **more):
    lines = [line for chunk in chunks for line in ("data: " + json.dumps(chunk), "")]
    return Reply(sse=[*lines, *(["data: [DONE]", ""] if done else [])], **more)


def delta(content="hi", finish=None):
    return choice(finish, content, "delta")


# --- Aleph Alpha ---


def aleph(url, asynchronous):
    sdk = pytest.importorskip("aleph_alpha_client")
    if not asynchronous:
        return Opened(sdk.Client("k", host=url, total_retries=0), False)
    client = sdk.AsyncClient("k", host=url, total_retries=0)
    return Opened(client, True, client.close)


def aleph_chat(opened):
    sdk = pytest.importorskip("aleph_alpha_client")
    chat = pytest.importorskip("aleph_alpha_client.chat")
    return opened.client.chat(sdk.ChatRequest(model="l", messages=[chat.Message(chat.Role.User, "hi")]), "l")


def aleph_complete(opened):
    sdk = pytest.importorskip("aleph_alpha_client")
    return opened.client.complete(sdk.CompletionRequest(prompt=sdk.Prompt.from_text("hi")), model="l")


def aleph_stream(opened):
    sdk = pytest.importorskip("aleph_alpha_client")
    chat = pytest.importorskip("aleph_alpha_client.chat")
    asked = sdk.ChatRequest(model="l", messages=[chat.Message(chat.Role.User, "hi")])
    return opened.client.chat_with_streaming(asked, "l")


def completed(finish="end_of_text", text="hi"):
    made = [{"completion": text, "finish_reason": finish}]
    return Reply(
        json={"model_version": "l", "completions": made, "num_tokens_prompt_total": 1, "num_tokens_generated": 1}
    )


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (aleph_chat, Reply(json=choice()), "ok"),
        (aleph_chat, Reply(json=choice("length")), "TRUNCATED/max_tokens"),
        (aleph_chat, Reply(json=choice("content_filter")), "OUTPUT_BLOCKED/content_filter"),
        (aleph_complete, completed(), "ok"),
        (aleph_complete, completed("maximum_tokens"), "TRUNCATED/max_tokens"),
        (aleph_complete, completed(text=""), "UNKNOWN/empty_response"),
        (aleph_chat, Reply(400, json={"error": "m", "code": "INVALID_VALUE"}), "BAD_REQUEST/invalid_parameter"),
        (aleph_chat, Reply(401, json={"error": "m", "code": "UNAUTHENTICATED"}), "AUTH/invalid_key"),
        (aleph_chat, Reply(402, json={"error": "m", "code": "OUT_OF_CREDITS"}), "CALL_BUDGET/billing"),
        (aleph_chat, Reply(404, json={"error": "m"}), "NOT_FOUND/other"),
        (aleph_chat, Reply(429, json={"error": "m", "code": "TOO_MANY_REQUESTS"}), "RATE_LIMITED/requests"),
        (aleph_chat, Reply(503, json={"error": "m", "code": "QUEUE_FULL"}), "SERVER/unavailable"),
        (aleph_chat, Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    ],
)
def test_aleph_alpha(play, call, reply, verdict, asynchronous):
    seen = play(aleph, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.provider.name"]) == (verdict, "aleph_alpha"), (
        seen.raised,
        seen.attributes,
    )


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (sse(delta(), delta("", "stop"), done=True), "ok"),
        (sse(delta(), delta("", "length"), done=True), "TRUNCATED/max_tokens"),
        (sse(delta()), "TRANSPORT/stream_cut"),
        (sse(delta(), action="cut_mid_stream"), "TRANSPORT/disconnected"),
        (Reply(503, json={"error": "m"}), "SERVER/unavailable"),
    ],
)
def test_streams_of_aleph_alpha(play, reply, verdict):
    assert play(aleph, aleph_stream, reply, True).verdict == verdict


def test_hidden_retries_of_aleph_alpha_are_counted(play):
    sdk = pytest.importorskip("aleph_alpha_client")
    script = [Reply(503, headers={"retry-after": "0"}), Reply(json=choice())]
    seen = play(lambda url, way: Opened(sdk.Client("k", host=url, total_retries=2), way), aleph_chat, script)
    assert (seen.verdict, seen.retries) == ("ok", {"SERVER": 1})


# --- Qianfan ---


def qianfan(kind, url, asynchronous, **more):
    sdk = pytest.importorskip("qianfan")
    config = sdk.get_config()
    config.BASE_URL, config.ACCESS_TOKEN, config.DISABLE_EB_SDK = url, "t", True
    return Opened(getattr(sdk, kind)(endpoint="l", **more), asynchronous)


def qianfan_chat(opened, **more):
    do = opened.client.ado if opened.way else opened.client.do
    return do(messages=HELLO, retry_count=1, **more)


def qianfan_stream(opened):
    return qianfan_chat(opened, stream=True)


def qianfan_embed(opened):
    return (opened.client.ado if opened.way else opened.client.do)(texts=["hi"], retry_count=1)


def result(text="hi", **more):
    used = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return {"id": "r", "object": "chat.completion", "created": 1, "result": text, "usage": used, **more}


def refused(code, said="m"):
    return Reply(json={"error_code": code, "error_msg": said})


CHATS = [
    (qianfan_chat, Reply(json=result(finish_reason="normal")), "ok"),
    (qianfan_chat, Reply(json=result(is_truncated=True)), "TRUNCATED/max_tokens"),
    (qianfan_chat, Reply(json=result(finish_reason="content_filter")), "OUTPUT_BLOCKED/content_filter"),
    (qianfan_chat, Reply(json=result(need_clear_history=True)), "PROMPT_BLOCKED/content_filter"),
    (qianfan_chat, Reply(json=result("")), "UNKNOWN/empty_response"),
    (qianfan_chat, refused(17), "RATE_LIMITED/daily_quota"),
    (qianfan_chat, refused(18), "RATE_LIMITED/requests"),
    (qianfan_chat, refused(19), "CALL_BUDGET/insufficient_quota"),
    (qianfan_chat, refused(336003), "BAD_REQUEST/invalid_parameter"),
    (qianfan_chat, refused(336100), "SERVER/overloaded"),
    (qianfan_chat, refused(336502), "RATE_LIMITED/tokens"),
    (qianfan_chat, refused(336005), "NOT_FOUND/model"),
    (qianfan_chat, Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    (qianfan_stream, sse(result(is_end=False), result("", is_end=True)), "ok"),
    (
        qianfan_stream,
        sse(result(is_end=False), result("", is_end=True, finish_reason="length")),
        "TRUNCATED/max_tokens",
    ),
    (qianfan_stream, sse(result(is_end=False)), "TRANSPORT/stream_cut"),
    (qianfan_stream, refused(336100), "SERVER/overloaded"),
    (qianfan_stream, sse(result(is_end=False), action="cut_mid_stream"), "TRANSPORT/disconnected"),
]


@each_way
@pytest.mark.parametrize(("call", "reply", "verdict"), CHATS, ids=range(len(CHATS)))
def test_qianfan(play, call, reply, verdict, asynchronous):
    seen = play(lambda url, way: qianfan("ChatCompletion", url, way, version="1"), call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.provider.name"]) == (verdict, "baidu"), (seen.raised, seen.attributes)


@each_way
def test_embeddings_of_qianfan(play, asynchronous):
    reply = Reply(json={"data": [{"embedding": [0.1], "index": 0}], "usage": {"total_tokens": 1}})
    seen = play(lambda url, way: qianfan("Embedding", url, way), qianfan_embed, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", "embeddings")


# --- Replicate ---


def replicate(url, asynchronous):
    return Opened(pytest.importorskip("replicate").Client(api_token="k", base_url=url), asynchronous)


def run(opened):
    client = opened.client
    return (client.async_run if opened.way else client.run)("o/n", {"prompt": "hi"})


def create(opened):
    predictions = opened.client.predictions
    return (predictions.async_create if opened.way else predictions.create)(version="v", input={"prompt": "hi"})


def prediction(status="succeeded", **more):
    made = {"id": "p", "model": "o/n", "version": "v", "status": status, "input": {}, "output": "hi", "logs": ""}
    return Reply(201, json={**made, "urls": {}, **more})


def problem(status, detail="m"):
    return Reply(status, json={"title": "t", "detail": detail, "status": status})


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (run, prediction(), "ok"),
        (run, prediction("failed", error="CUDA out of memory"), "SERVER/model_error"),
        (run, prediction("failed", error="NSFW content detected. Try running it again."), "OUTPUT_BLOCKED/safety"),
        (run, prediction("canceled", output=None), "cancelled"),
        (run, prediction("succeeded", output=None), "UNKNOWN/empty_response"),
        (run, prediction("processing", output=None), "ok"),
        (run, [prediction("starting", output=None), prediction("canceled", output=None)], "cancelled"),
        (run, problem(401, "Unauthenticated"), "AUTH/invalid_key"),
        (run, problem(402, "Insufficient credit"), "CALL_BUDGET/billing"),
        (run, problem(404), "NOT_FOUND/other"),
        (run, problem(422, "Invalid version"), "BAD_REQUEST/invalid_parameter"),
        (run, problem(429, "Request was throttled."), "RATE_LIMITED/requests"),
        (run, Reply(503, text="<html>"), "SERVER/unavailable"),
        (run, Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (create, prediction("starting", output=None), "ok"),
        (create, prediction("failed", error="boom"), "SERVER/model_error"),
        (create, problem(429), "RATE_LIMITED/requests"),
    ],
)
def test_replicate(play, call, reply, verdict, asynchronous):
    seen = play(replicate, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.provider.name"]) == (verdict, "replicate"), (seen.raised, seen.attributes)


def test_a_prediction_that_fails_while_it_is_polled_is_an_error_of_the_call_that_made_it(observed, provider):
    states = [prediction("starting", id="polled"), *[prediction("failed", id="polled", error="boom")] * 2]
    server = provider(states)
    client = replicate(server.url, False).client
    made = client.predictions.create(version="v", input={})
    made.reload()
    made.reload()
    assert sum(point.value for _, point in observed.points("llm_calls_total")) == 1
    assert sum(point.value for _, point in observed.points("llm_errors_total")) == 1


async def test_a_stream_with_wrong_arguments_leaves_nothing_current(observed):
    sdk = pytest.importorskip("aleph_alpha_client")
    async with sdk.AsyncClient("k", host="http://127.0.0.1:9") as client:
        with pytest.raises(TypeError):
            await client.chat_with_streaming(model="l").__anext__()
    assert not trace.get_current_span().is_recording()
    assert observed.counts("llm_calls_total", "llm.call.outcome") == {"error": 1}


# --- watsonx ---


def watsonx(url, asynchronous, retries=0):
    sdk = pytest.importorskip("ibm_watsonx_ai")
    httpx = pytest.importorskip("httpx")
    models = pytest.importorskip("ibm_watsonx_ai.foundation_models")

    class Plain(httpx.HTTPTransport):
        """The SDK insists on https; the loopback server has no certificate."""

        def handle_request(self, request):
            if request.method == "GET":  # what it asks while it is made
                about = {
                    "entity": {"name": "p", "compute": [], "storage": {"type": "assetfiles"}, "settings": {}},
                    "metadata": {"guid": "p"},
                }
                return httpx.Response(200, json={"version": "5.2.0", **about}, request=request)
            request.url = request.url.copy_with(scheme="http")
            return super().handle_request(request)

    class AsyncPlain(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request):
            request.url = request.url.copy_with(scheme="http")
            return await super().handle_async_request(request)

    credentials = sdk.Credentials(url=url.replace("http:", "https:"), token="t", instance_id="openshift", version="5.2")
    client = sdk.APIClient(
        credentials,
        project_id="p",
        httpx_client=httpx.Client(transport=Plain()),
        async_httpx_client=httpx.AsyncClient(transport=AsyncPlain()),
    )
    model = models.ModelInference(
        model_id="l", api_client=client, project_id="p", validate=False, max_retries=retries, delay_time=0
    )
    return Opened(model, asynchronous)


def watsonx_chat(opened):
    return (opened.client.achat if opened.way else opened.client.chat)(messages=HELLO)


def watsonx_stream(opened):
    return (opened.client.achat_stream if opened.way else opened.client.chat_stream)(messages=HELLO)


def watsonx_generate(opened):
    return (opened.client.agenerate if opened.way else opened.client.generate)(prompt="hi")


def generated(stop="eos_token", text="hi"):
    told = {"generated_text": text, "stop_reason": stop, "input_token_count": 3, "generated_token_count": 2}
    return Reply(json={"model_id": "l", "created_at": "x", "results": [told]})


def errors(status, code):
    return Reply(status, json={"errors": [{"code": code, "message": "m"}], "trace": "t", "status_code": status})


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (watsonx_chat, Reply(json=choice()), "ok"),
        (watsonx_chat, Reply(json=choice("length")), "TRUNCATED/max_tokens"),
        (watsonx_generate, generated(), "ok"),
        (watsonx_generate, generated("max_tokens"), "TRUNCATED/max_tokens"),
        (watsonx_generate, generated("token_limit"), "TRUNCATED/context_window"),
        (watsonx_generate, generated(text=""), "UNKNOWN/empty_response"),
        (watsonx_chat, errors(400, "invalid_request_entity"), "BAD_REQUEST/invalid_parameter"),
        (watsonx_chat, errors(401, "authentication_token_not_valid"), "AUTH/invalid_key"),
        (watsonx_chat, errors(403, "token_quota_reached"), "CALL_BUDGET/insufficient_quota"),
        (watsonx_chat, errors(404, "model_not_supported"), "NOT_FOUND/model"),
        (watsonx_chat, errors(429, "rate_limit_reached_requests"), "RATE_LIMITED/requests"),
        (watsonx_chat, errors(500, "downstream_request_failed"), "SERVER/upstream"),
        (watsonx_chat, Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (watsonx_stream, sse(delta(), delta("", "stop")), "ok"),
        (watsonx_stream, sse(delta(), delta("", "length")), "TRUNCATED/max_tokens"),
        (watsonx_stream, sse(delta()), "TRANSPORT/stream_cut"),
        (watsonx_stream, errors(404, "model_not_supported"), "NOT_FOUND/model"),
        (watsonx_stream, sse(delta(), action="cut_mid_stream"), "TRANSPORT/disconnected"),
    ],
)
def test_watsonx(play, call, reply, verdict, asynchronous):
    seen = play(watsonx, call, reply, asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.provider.name"]) == (verdict, "ibm.watsonx.ai"), (
        seen.raised,
        seen.attributes,
    )


@pytest.mark.parametrize("one_by_one", [False, True], ids=["list", "one by one"])
@pytest.mark.parametrize(
    ("replies", "verdict"),
    [
        ([generated(), generated()], "ok"),
        ([generated("max_tokens"), generated()], "TRUNCATED/max_tokens"),
        ([generated(), generated("max_tokens")], "TRUNCATED/max_tokens"),
        ([generated(), errors(404, "model_not_supported")], "NOT_FOUND/model"),
    ],
)
def test_the_answers_to_several_prompts_of_watsonx_are_one_call(play, replies, verdict, one_by_one):
    def generate(opened):
        found = opened.client.generate(prompt=["a", "b"], async_mode=one_by_one, concurrency_limit=1)
        return list(found)

    assert play(watsonx, generate, replies).verdict == verdict


@each_way
def test_an_error_event_of_watsonx_in_mid_stream(play, asynchronous):
    body = {"errors": [{"code": "downstream_request_failed", "message": "m"}], "status_code": 500}
    lines = ["data: " + json.dumps(delta()), "", "event: error", "data: " + json.dumps(body), ""]
    seen = play(watsonx, watsonx_stream, Reply(sse=lines), asynchronous)
    assert (seen.verdict, seen.partial_output) == ("SERVER/upstream", True)


def test_hidden_retries_of_watsonx_are_counted(play):
    # (Its async client closes a failed response like a sync one, which raises.)
    script = [errors(503, "unavailable"), Reply(json=choice())]
    seen = play(lambda url, way: watsonx(url, way, 2), watsonx_chat, script)
    assert (seen.verdict, seen.retries) == ("ok", {"SERVER": 1})
