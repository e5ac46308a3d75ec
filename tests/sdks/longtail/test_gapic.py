"""google-generativeai and vertexai's model classes over gRPC on a loopback socket, through the generated clients below them."""

import asyncio
import gc
from concurrent import futures
from contextlib import suppress

import pytest

from llm_errors.instrument import drainer

grpc = pytest.importorskip("grpc", reason="grpcio is not installed")
glm = pytest.importorskip("google.ai.generativelanguage_v1beta", reason="google-ai-generativelanguage is not installed")
genai = pytest.importorskip("google.generativeai", reason="google-ai-generativelanguage is not installed")
aip = pytest.importorskip("google.cloud.aiplatform_v1", reason="google.cloud.aiplatform is not installed")

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
pytestmark = pytest.mark.filterwarnings("ignore")
STOP, LENGTH, SAFETY = "STOP", "MAX_TOKENS", "SAFETY"


def answer(finish=STOP, text="hi", **more):
    parts = [{"text": text}] if text else []
    return {"candidates": [{"content": {"parts": parts}, "finish_reason": finish}], **more}


class Failing(Exception):
    """A status that the server gives instead of an answer, or of its next part."""

    def __init__(self, code, said="m"):
        super().__init__(said)
        self.code = code


SERVICES = {
    "gemini": ("google.ai.generativelanguage.v1beta.GenerativeService", glm),
    "vertex": ("google.cloud.aiplatform.v1.PredictionService", aip),
}


class Server:
    """A gRPC server of one API that plays a script: answers, lists of parts, statuses."""

    def __init__(self, api, script):
        service, types = SERVICES[api]
        self.answer, self.left = types.GenerateContentResponse, iter(script)
        handlers = {
            "GenerateContent": grpc.unary_unary_rpc_method_handler(self.whole, response_serializer=self.encode),
            "StreamGenerateContent": grpc.unary_stream_rpc_method_handler(self.stream, response_serializer=self.encode),
        }
        self.server = grpc.server(futures.ThreadPoolExecutor(2))
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def reply(self, entry, context):
        if isinstance(entry, Failing):
            context.abort(entry.code, str(entry))
        return self.answer(entry)

    def whole(self, request, context):
        return self.reply(next(self.left), context)

    def stream(self, request, context):
        for entry in next(self.left):
            yield self.reply(entry, context)

    def encode(self, message):
        return self.answer.serialize(message)


@pytest.fixture
def serve():
    """The address of a server that plays a script for one API."""
    servers = []

    def start(api, script):
        servers.append(Server(api, script))
        return servers[-1].address

    yield start
    for one in servers:
        one.server.stop(None)


def client(api, address, asynchronous):
    _, types = SERVICES[api]
    name = "GenerativeService" if api == "gemini" else "PredictionService"
    cls = getattr(types, f"{name}AsyncClient" if asynchronous else f"{name}Client")
    transport = cls.get_transport_class("grpc_asyncio" if asynchronous else "grpc")
    channel = (grpc.aio if asynchronous else grpc).insecure_channel(address)
    return cls(transport=transport(channel=channel, host=address))


def play(api, address, asynchronous, streamed):
    """One call; what it returned, or what it raised."""
    request = {"model": "models/gemini-x", "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}

    async def call_async():
        one = client(api, address, True)
        try:
            if not streamed:
                return await one.generate_content(request)
            return [part async for part in await one.stream_generate_content(request)]
        finally:
            await one.transport.close()

    def call():
        one = client(api, address, False)
        try:
            return list(one.stream_generate_content(request)) if streamed else one.generate_content(request)
        finally:
            one.transport.close()

    try:
        return asyncio.run(call_async()) if asynchronous else call()
    except Exception as exc:
        return exc


def verdict(observed):
    span = observed.span().attributes
    return f"{span['llm.error.class']}/{span['llm.error.reason']}" if "llm.error.class" in span else "ok"


@each_way
@pytest.mark.parametrize("api", SERVICES)
def test_an_answer_is_one_good_call(observed, serve, api, asynchronous):
    play(api, serve(api, [answer(usage_metadata={"prompt_token_count": 3})]), asynchronous, False)
    assert observed.outcomes() == {"ok": 1}
    span = observed.span().attributes
    assert span["gen_ai.provider.name"] == ("gcp.gemini" if api == "gemini" else "gcp.vertex_ai")
    assert (span["gen_ai.request.model"], span["gen_ai.usage.input_tokens"]) == ("gemini-x", 3)
    assert span["gen_ai.response.finish_reasons"] == ("STOP",)


CODES = grpc.StatusCode
WHOLE = [
    (answer(LENGTH), "TRUNCATED/max_tokens"),
    (answer(SAFETY, ""), "OUTPUT_BLOCKED/safety"),
    (answer(STOP, ""), "UNKNOWN/empty_response"),
    ({"prompt_feedback": {"block_reason": "SAFETY"}}, "PROMPT_BLOCKED/safety"),
    (Failing(CODES.INVALID_ARGUMENT), "BAD_REQUEST/invalid_parameter"),
    (Failing(CODES.UNAUTHENTICATED), "AUTH/invalid_key"),
    (Failing(CODES.PERMISSION_DENIED), "AUTH/permission_denied"),
    (Failing(CODES.NOT_FOUND), "NOT_FOUND/model"),
    (Failing(CODES.RESOURCE_EXHAUSTED), "RATE_LIMITED/requests"),
    (Failing(CODES.INTERNAL), "SERVER/internal"),
    (Failing(CODES.DEADLINE_EXCEEDED), "SERVER/deadline_exceeded"),
]


@each_way
@pytest.mark.parametrize("api", SERVICES)
@pytest.mark.parametrize(("reply", "wanted"), WHOLE, ids=range(len(WHOLE)))
def test_how_a_call_failed(observed, serve, api, reply, wanted, asynchronous):
    raised = play(api, serve(api, [reply]), asynchronous, False)
    assert verdict(observed) == wanted, raised


@each_way
@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ([answer(0), answer(STOP, "")], "ok"),
        ([answer(0), answer(LENGTH, "")], "TRUNCATED/max_tokens"),
        ([answer(0)], "TRANSPORT/stream_cut"),
        ([Failing(CODES.RESOURCE_EXHAUSTED)], "RATE_LIMITED/requests"),
        ([answer(0), Failing(CODES.INTERNAL)], "SERVER/internal"),
    ],
)
def test_how_a_stream_ended(observed, serve, parts, wanted, asynchronous):
    raised = play("gemini", serve("gemini", [parts]), asynchronous, True)
    assert verdict(observed) == wanted, raised
    if isinstance(parts[-1], Failing):
        assert observed.span().attributes.get("llm.error.partial_output", False) is (len(parts) > 1)


@pytest.mark.parametrize(
    ("parts", "reads", "outcome"),
    [
        ([answer(0), answer(STOP, "")], 3, "ok"),
        ([answer(0), answer(STOP, "")], 2, "ok"),
        ([answer(0), answer(STOP, "")], 1, "cancelled"),
        ([answer(0)], 2, "TRANSPORT/stream_cut"),
        ([answer(0), Failing(CODES.INTERNAL)], 2, "SERVER/internal"),
    ],
    ids=["to its end", "to its last part", "in part", "until it is cut", "until it fails"],
)
def test_a_stream_that_is_read_part_by_part(observed, serve, parts, reads, outcome):
    async def read(one):
        try:
            stream = await one.stream_generate_content({"model": "models/gemini-x"})
            for _ in range(reads):
                await stream.read()
        finally:
            await one.transport.close()

    address = serve("gemini", [parts])

    async def call():
        await read(client("gemini", address, True))

    with suppress(Exception):
        asyncio.run(call())
    gc.collect()
    drainer.finish()
    ((labels, point),) = observed.points("llm_calls_total")
    assert point.value == 1
    assert (verdict(observed) if labels["llm.call.outcome"] == "error" else labels["llm.call.outcome"]) == outcome


def test_a_server_that_is_not_there(observed):
    one = client("vertex", "127.0.0.1:1", False)
    with pytest.raises(Exception, match="refused"):
        one.generate_content({"model": "models/gemini-x"}, retry=None, timeout=20)
    assert verdict(observed) == "SERVER/unavailable"
    one.transport.close()


def test_hidden_retries_are_counted(observed, serve, monkeypatch):
    retry = pytest.importorskip("google.api_core.retry.retry_base")
    monkeypatch.setattr(retry.random, "uniform", lambda least, most: 0)
    play("gemini", serve("gemini", [Failing(CODES.UNAVAILABLE), answer()]), False, False)
    assert (verdict(observed), observed.retries()) == ("ok", {"SERVER": 1})


def test_a_stream_that_the_application_drops_is_cancelled(observed, serve):
    one = client("gemini", serve("gemini", [[answer(0), answer(STOP, "")]]), False)
    left = one.stream_generate_content({"model": "models/gemini-x"})
    next(left)
    del left
    gc.collect()
    assert observed.outcomes() == {"cancelled": 1}
    one.transport.close()


def test_google_generativeai_calls_through_them(observed, serve):
    model = genai.GenerativeModel("gemini-x")
    model._client = client("gemini", serve("gemini", [answer(SAFETY, ""), [answer(0), answer(STOP, "")]]), False)
    model.generate_content("hi")
    assert [part.text for part in model.generate_content("hi", stream=True) if part.parts] == ["hi"]
    assert observed.outcomes() == {"error": 1, "ok": 1}


def test_vertexai_calls_through_them(observed, serve, monkeypatch):
    models = pytest.importorskip("vertexai.generative_models")
    vertexai = pytest.importorskip("vertexai")
    credentials = pytest.importorskip("google.auth.credentials").AnonymousCredentials()
    vertexai.init(project="p", location="us-central1", credentials=credentials)
    one = client("vertex", serve("vertex", [answer(LENGTH)]), False)
    model = models.GenerativeModel("gemini-x")
    monkeypatch.setattr(type(model), "_prediction_client", property(lambda self: one))
    with suppress(AttributeError, TypeError):  # the class may want an answer of the API's beta version
        model.generate_content("hi")
    assert observed.outcomes() == {"error": 1}
