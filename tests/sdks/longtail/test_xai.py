"""xai-sdk over a real gRPC server: chats, whole, streamed and deferred, images and videos, sync and async."""

import asyncio
from concurrent import futures
from datetime import timedelta

import pytest

pytest.importorskip("xai_sdk")

import grpc
import xai_sdk
from opentelemetry import trace
from pydantic import BaseModel, ValidationError
from xai_sdk.chat import user
from xai_sdk.proto import (
    chat_pb2,
    chat_pb2_grpc,
    deferred_pb2,
    image_pb2,
    image_pb2_grpc,
    sample_pb2,
    usage_pb2,
    video_pb2,
    video_pb2_grpc,
)

from llm_errors import classify

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
STOP, LENGTH = sample_pb2.REASON_STOP, sample_pb2.REASON_MAX_LEN
DONE, PENDING, EXPIRED, FAILED = (getattr(deferred_pb2, n) for n in ("DONE", "PENDING", "EXPIRED", "FAILED"))
NO_WAIT = {"interval": timedelta(microseconds=1)}


class Answer(BaseModel):
    text: str


def usage(written=2, reasoned=0):
    return usage_pb2.SamplingUsage(prompt_tokens=3, completion_tokens=written, reasoning_tokens=reasoned)


def said(content="hi", finish=STOP, **more):
    message = chat_pb2.CompletionMessage(content=content, role=chat_pb2.ROLE_ASSISTANT, **more)
    output = chat_pb2.CompletionOutput(index=0, finish_reason=finish, message=message)
    return chat_pb2.GetChatCompletionResponse(id="c1", model="grok-4-x", outputs=[output], usage=usage())


def chunk(content="", finish=0):
    output = chat_pb2.CompletionOutputChunk(
        index=0, finish_reason=finish, delta=chat_pb2.Delta(content=content, role=chat_pb2.ROLE_ASSISTANT)
    )
    return chat_pb2.GetChatCompletionChunk(id="c1", model="grok-4-x", outputs=[output])


def state(status, response=None):
    return chat_pb2.GetDeferredCompletionResponse(status=status, response=response)


def tool_call(arguments):
    return chat_pb2.ToolCall(id="t", function=chat_pb2.FunctionCall(name="look", arguments=arguments))


class Fails(tuple):
    """A status of gRPC, its text, and trailing metadata, instead of an answer."""

    __slots__ = ()

    def __new__(cls, code, text="no", trailers=()):
        return super().__new__(cls, (code, text, trailers))


class Servicer(chat_pb2_grpc.ChatServicer, image_pb2_grpc.ImageServicer, video_pb2_grpc.VideoServicer):
    """Plays a script: an answer per request, or a list of chunks."""

    def __init__(self, script):
        self._script, self.requests = list(script), []

    def _next(self, request, context):
        self.requests.append(request)
        return self._play(self._script.pop(0) if len(self._script) > 1 else self._script[0], context)

    def _play(self, step, context):
        if isinstance(step, Fails):
            context.set_trailing_metadata(step[2])
            context.abort(*step[:2])
        return step

    GetCompletion = StartDeferredCompletion = GetDeferredCompletion = GenerateImage = GenerateVideo = ExtendVideo = (
        GetDeferredVideo
    ) = _next

    def GetCompletionChunk(self, request, context):
        self.requests.append(request)
        for step in self._script:
            yield self._play(step, context)


@pytest.fixture
def serve():
    """Start a server that plays a script; the result is its servicer, with the port."""
    started = []

    def start(*script):
        servicer, server = Servicer(script), grpc.server(futures.ThreadPoolExecutor(2))
        chat_pb2_grpc.add_ChatServicer_to_server(servicer, server)
        image_pb2_grpc.add_ImageServicer_to_server(servicer, server)
        video_pb2_grpc.add_VideoServicer_to_server(servicer, server)
        servicer.port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        started.append(server)
        return servicer

    yield start
    for server in started:
        server.stop(None)


def options(server):
    return {"api_key": "k", "api_host": f"127.0.0.1:{server.port}", "use_insecure_channel": True}


def chat(client):
    made = client.chat.create(model="grok-4")
    made.append(user("hi"))
    return made


def sample(client):
    return chat(client).sample()


def parse(client):
    return chat(client).parse(Answer)


def defer(client):
    return chat(client).defer(**NO_WAIT)


def image(client):
    return client.image.sample(prompt="a cat", model="grok-image")


def video(client):
    return client.video.generate(prompt="a cat", model="grok-video", **NO_WAIT)


async def run(server, call, asynchronous, read=None):
    """Make one call. The result is what it returned and what it raised."""
    try:
        if asynchronous:
            async with xai_sdk.AsyncClient(**options(server)) as client:
                if read is not None:
                    return await read(call(client)), None
                return await call(client), None
        with xai_sdk.Client(**options(server)) as client:
            return (call(client) if read is None else read(call(client))), None
    except Exception as exc:
        return None, exc


def all_of(chunks):
    return [content for _, part in chunks for content in [part.content]]


async def all_of_async(chunks):
    return [part.content async for _, part in chunks]


async def stream(server, asynchronous):
    return await run(server, lambda c: chat(c).stream(), asynchronous, all_of_async if asynchronous else all_of)


@each_way
async def test_an_answer_is_one_good_call_with_its_facts(asynchronous, serve, observed):
    result, raised = await run(serve(said()), sample, asynchronous)
    assert (raised, result.content) == (None, "hi")
    assert observed.outcomes() == {"ok": 1}
    span = observed.span()
    assert span.name == "chat grok-4"
    assert span.attributes["gen_ai.provider.name"] == "x_ai"
    assert span.attributes["gen_ai.response.model"] == "grok-4-x"
    assert span.attributes["gen_ai.response.id"] == "c1"
    assert span.attributes["gen_ai.usage.output_tokens"] == 2
    assert span.attributes["gen_ai.response.finish_reasons"] == ("REASON_STOP",)


@each_way
async def test_a_stream_is_one_good_call(asynchronous, serve, observed):
    result, raised = await stream(serve(chunk("h"), chunk("i"), chunk("", STOP)), asynchronous)
    assert (raised, "".join(result)) == (None, "hi")
    assert observed.outcomes() == {"ok": 1}
    assert observed.span().attributes["gen_ai.request.stream"] is True


@each_way
@pytest.mark.parametrize(
    ("call", "answer", "reason"),
    [
        (sample, said(finish=LENGTH), ("TRUNCATED", "max_tokens")),
        (sample, said(finish=sample_pb2.REASON_MAX_CONTEXT), ("TRUNCATED", "context_window")),
        (sample, said(finish=sample_pb2.REASON_TIME_LIMIT), ("TRUNCATED", "other")),
        (sample, said(""), ("UNKNOWN", "empty_response")),
        (sample, said("", sample_pb2.REASON_TOOL_CALLS, tool_calls=[tool_call('{"at": ')]), ("TOOL_PROTOCOL", "invalid_arguments")),
        (image, image_pb2.ImageResponse(images=[image_pb2.GeneratedImage(url="u", respect_moderation=False)]),
         ("OUTPUT_BLOCKED", "image_safety")),
        (image, image_pb2.ImageResponse(), ("UNKNOWN", "empty_response")),
    ],
)  # fmt: skip
async def test_a_failure_inside_a_good_response(asynchronous, call, answer, reason, serve, observed):
    await run(serve(answer), call, asynchronous)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.channel"] == "in_band"


@each_way
async def test_tool_calls_and_images_are_good_answers(asynchronous, serve, observed):
    await run(serve(said("", sample_pb2.REASON_TOOL_CALLS, tool_calls=[tool_call("{}")])), sample, asynchronous)
    picture = image_pb2.GeneratedImage(url="u", respect_moderation=True)
    await run(serve(image_pb2.ImageResponse(images=[picture], model="i")), image, asynchronous)
    assert observed.counts("llm_calls_total", "gen_ai.operation.name", "llm.call.outcome") == {
        ("chat", "ok"): 1,
        ("generate_content", "ok"): 1,
    }


C = grpc.StatusCode
ERRORS = [
    (Fails(C.UNAUTHENTICATED), ("AUTH", "invalid_key")),
    (Fails(C.PERMISSION_DENIED), ("AUTH", "permission_denied")),
    (Fails(C.PERMISSION_DENIED, "Your team has no credits"), ("CALL_BUDGET", "billing")),
    (Fails(C.NOT_FOUND, "The model grok-9 does not exist"), ("NOT_FOUND", "model")),
    (Fails(C.INVALID_ARGUMENT), ("BAD_REQUEST", "invalid_parameter")),
    (Fails(C.INVALID_ARGUMENT, "This model's maximum prompt length is 131072"), ("BAD_REQUEST", "context_overflow")),
    (Fails(C.FAILED_PRECONDITION), ("BAD_REQUEST", "failed_precondition")),
    (Fails(C.OUT_OF_RANGE), ("BAD_REQUEST", "invalid_parameter")),
    (Fails(C.UNIMPLEMENTED), ("BAD_REQUEST", "unsupported")),
    (Fails(C.RESOURCE_EXHAUSTED), ("RATE_LIMITED", "requests")),
    (Fails(C.DEADLINE_EXCEEDED), ("SERVER", "deadline_exceeded")),
    (Fails(C.INTERNAL), ("SERVER", "internal")),
    (Fails(C.UNKNOWN), ("SERVER", "internal")),
    (Fails(C.DATA_LOSS), ("SERVER", "internal")),
    (Fails(C.ABORTED), ("SERVER", "conflict")),
    (Fails(C.ALREADY_EXISTS), ("SERVER", "conflict")),
    (Fails(C.CANCELLED), ("UNKNOWN", "other")),
]


@pytest.mark.parametrize(("failure", "reason"), ERRORS)
async def test_a_status_of_grpc(failure, reason, serve, observed):
    _, raised = await run(serve(failure), sample, False)
    assert isinstance(raised, grpc.RpcError)
    assert observed.reasons() == {reason: 1}
    assert observed.outcomes() == {"error": 1}
    attributes = observed.span().attributes
    assert attributes["llm.error.code"] == failure[0].name
    assert attributes["llm.error.channel"] == "thrown"
    assert classify(raised, provider="x_ai").message == failure[1]


@each_way
async def test_an_error_says_when_to_come_back(asynchronous, serve, observed):
    _, raised = await run(serve(Fails(C.RESOURCE_EXHAUSTED, "slow", (("retry-after", "7"),))), sample, asynchronous)
    assert isinstance(raised, grpc.RpcError)
    assert observed.reasons() == {("RATE_LIMITED", "requests"): 1}
    assert observed.span().attributes["llm.error.retry_after"] == 7


@each_way
async def test_attempts_that_the_channel_hides_are_one_call(asynchronous, serve, observed):
    server = serve(Fails(C.UNAVAILABLE, "busy"))
    await run(server, sample, asynchronous)
    assert len(server.requests) == 5
    assert observed.outcomes() == {"error": 1}
    assert observed.reasons() == {("SERVER", "unavailable"): 1}


async def test_a_server_that_is_not_there(serve, observed):
    server = serve(said())
    server.port = 1
    await run(server, sample, False)
    assert observed.reasons() == {("TRANSPORT", "connection_refused"): 1}


@each_way
async def test_an_error_in_mid_stream_has_partial_output(asynchronous, serve, observed):
    _, raised = await stream(serve(chunk("h"), Fails(C.INTERNAL)), asynchronous)
    assert isinstance(raised, grpc.RpcError)
    assert observed.reasons() == {("SERVER", "internal"): 1}
    assert observed.span().attributes["llm.error.partial_output"] is True


@each_way
@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        ([chunk("h"), chunk("", LENGTH)], ("TRUNCATED", "max_tokens")),
        ([chunk("h")], ("TRANSPORT", "stream_cut")),
        ([chunk("", STOP)], ("UNKNOWN", "empty_response")),
    ],
)
async def test_a_failure_in_a_stream(asynchronous, chunks, reason, serve, observed):
    await stream(serve(*chunks), asynchronous)
    assert observed.reasons() == {reason: 1}


@each_way
async def test_a_stream_that_its_caller_leaves_is_cancelled(asynchronous, serve, observed):
    server = serve(chunk("h"), chunk("i"), chunk("", STOP))
    if asynchronous:
        async with xai_sdk.AsyncClient(**options(server)) as client:
            chunks = chat(client).stream()
            await chunks.__anext__()
            await chunks.aclose()
            for _ in range(10):  # the loop closes the generators that the SDK dropped
                await asyncio.sleep(0)
    else:
        with xai_sdk.Client(**options(server)) as client:
            chunks = chat(client).stream()
            next(chunks)
            chunks.close()
    assert observed.outcomes() == {"cancelled": 1}


async def test_a_task_that_is_cancelled_cancels_its_call(serve, observed):
    async with xai_sdk.AsyncClient(**{**options(serve(said())), "api_host": "127.0.0.1:1"}) as client:
        task = asyncio.create_task(sample(client))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert observed.outcomes() == {"cancelled": 1}


@each_way
async def test_an_answer_that_does_not_fit_its_schema(asynchronous, serve, observed):
    _, raised = await run(serve(said('{"other": 1}')), parse, asynchronous)
    assert isinstance(raised, ValidationError)
    assert observed.reasons() == {("TOOL_PROTOCOL", "schema_mismatch"): 1}
    assert sum(observed.outcomes().values()) == 1


@each_way
async def test_an_answer_that_was_cut_off_does_not_fit_for_that_reason(asynchronous, serve, observed):
    await run(serve(said('{"text": ', LENGTH)), parse, asynchronous)
    assert observed.reasons() == {("TRUNCATED", "max_tokens"): 1}
    assert observed.outcomes() == {"error": 1}


@each_way
async def test_an_answer_that_fits_its_schema_is_one_good_call(asynchronous, serve, observed):
    (_, parsed), _ = await run(serve(said('{"text": "hi"}')), parse, asynchronous)
    assert parsed.text == "hi"
    assert observed.outcomes() == {"ok": 1}


def job(name):
    return deferred_pb2.StartDeferredResponse(request_id=name)


def watched(status, error=None, moderated=True):
    response = video_pb2.VideoResponse(model="grok-video")
    if error is not None:
        response.error.code, response.error.message = error
    elif status == DONE:
        response.video.url, response.video.respect_moderation = "u", moderated
    return video_pb2.GetDeferredVideoResponse(status=status, response=response)


@each_way
@pytest.mark.parametrize(
    ("call", "states", "reason"),
    [
        (defer, [state(PENDING), state(DONE, said())], None),
        (defer, [state(DONE, said(finish=LENGTH))], ("TRUNCATED", "max_tokens")),
        (defer, [state(PENDING), state(EXPIRED)], ("TIMEOUT", "provider")),
        (defer, [Fails(C.NOT_FOUND)], ("NOT_FOUND", "model")),
        (video, [watched(PENDING), watched(DONE)], None),
        (video, [watched(FAILED, ("internal_error", "no"))], ("SERVER", "internal")),
        (video, [watched(FAILED, ("content_moderation", "no"))], ("PROMPT_BLOCKED", "moderation")),
        (video, [watched(FAILED, ("new", "no"))], ("SERVER", "other")),
        (video, [watched(FAILED)], ("SERVER", "other")),
        (video, [watched(EXPIRED)], ("TIMEOUT", "provider")),
        (video, [watched(DONE, moderated=False)], ("OUTPUT_BLOCKED", "image_safety")),
    ],
)
async def test_a_deferred_job_is_one_call_and_its_failure_counts_once(
    asynchronous, call, states, reason, serve, observed, request
):
    await run(serve(job(request.node.name), *states), call, asynchronous)
    assert observed.outcomes() == {"ok": 1}
    assert observed.reasons() == ({} if reason is None else {reason: 1})
    model = "grok-4" if call is defer else "grok-video"
    assert observed.counts("llm_calls_total", "gen_ai.request.model") == {model: 1}
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == ({} if reason is None else {model: 1})


def test_a_job_that_is_asked_for_again_tells_of_its_failure_once(serve, observed):
    with xai_sdk.Client(**options(serve(watched(EXPIRED)))) as client:
        for _ in range(3):
            client.video.get("v-again")
    assert observed.reasons() == {("TIMEOUT", "provider"): 1}
    assert observed.outcomes() == {}


def test_a_job_that_does_not_begin_is_a_failed_call(serve, observed):
    with xai_sdk.Client(**options(serve(Fails(C.RESOURCE_EXHAUSTED)))) as client, pytest.raises(grpc.RpcError):
        client.video.start(prompt="a cat", model="grok-video")
    assert observed.outcomes() == {"error": 1}


def test_the_sdk_s_own_span_takes_the_class(serve, telemetry, instrument, monkeypatch):
    from xai_sdk.sync import chat as chats

    instrument()
    monkeypatch.setattr(chats, "tracer", telemetry.tracer_provider.get_tracer("xai_sdk.sync.chat"))
    with xai_sdk.Client(**options(serve(Fails(C.RESOURCE_EXHAUSTED)))) as client, pytest.raises(grpc.RpcError):
        sample(client)
    span = telemetry.span()
    assert span.name == "chat.sample grok-4"
    assert span.attributes["llm.error.class"] == "RATE_LIMITED"
    assert isinstance(trace.get_current_span(), trace.NonRecordingSpan)


def test_clients_and_chats_that_were_made_before_are_observed_and_left_alone_afterwards(serve, telemetry, instrument):
    with xai_sdk.Client(**options(serve(said()))) as client:
        instrumentor = instrument()
        sample(client)
        instrumentor.uninstrument()
        sample(client)
        instrument()
        sample(client)
    assert sum(telemetry.outcomes().values()) == 2
