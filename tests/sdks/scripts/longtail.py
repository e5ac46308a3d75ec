"""The scripts of SDKs that few use. They make a good call and failures of each kind: raised, inside an answer, in mid-stream."""

import importlib
from collections.abc import Callable
from typing import Any

from llm_errors.testing.provider import Reply
from tests.sdks.scripts import HELLO, OVERLOADED, Script, Step, chat, delta, error, lines, openai_like, vectors

Call = Callable[[Any, str], Any]
REFUSED = error(401, error={"message": "m", "code": "invalid_api_key"})
AUDIO = Reply(text="RIFF....", headers={"content-type": "audio/mpeg"})
QUOTA = Reply(json={"error": {"code": "quota_exceeded", "message": "m"}})
SPENT = "CALL_BUDGET/insufficient_quota"


def _client(module: str, name: str, key: str = "api_key", at: str = "base_url", **more: Any) -> Callable[[str], Any]:
    return lambda url: getattr(importlib.import_module(module), name)(**{key: "k", at: url, **more})


def _chats(client: Any, **given: Any) -> Any:
    return client.chat.completions.create(**given)


def _steps(
    call: Call, good: Reply, *more: Step, refused: Reply = REFUSED, verdict: str = "AUTH/invalid_key"
) -> tuple[Step, ...]:
    return Step("plain", call, good), Step("thrown", call, refused, verdict), *more


def _ends(call: Call, reply: Reply, outcome: str = "TRUNCATED/max_tokens") -> Step:
    return Step("in-band", call, reply, outcome)


def _breaks(call: Call, reply: Reply, outcome: str) -> Step:
    return Step("mid-stream", call, reply, outcome)


def _cut(reply: Reply) -> Reply:
    return Reply(text=reply.text, sse=reply.sse, ndjson=reply.ndjson, headers=reply.headers, action="cut_mid_stream")


# --- llama-api, llama-stack, zeroentropy, cartesia, runwayml, letta, parallel: Stainless, with answers of their own -------
def _llama(stop: str = "stop") -> Reply:
    said = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "stop_reason": stop}
    return Reply(json={"id": "a", "completion_message": said})


_LLAMA_PIECE = {"event": {"event_type": "progress", "delta": {"type": "text", "text": "hi"}}}


def _cartesia(client: Any, model: str) -> Any:
    voice, wav = {"mode": "id", "id": "v"}, {"container": "wav", "encoding": "pcm_s16le", "sample_rate": 8000}
    return client.tts.generate(model_id=model, transcript="hi", voice=voice, output_format=wav)


def _cartesia_events(client: Any, model: str) -> Any:
    voice, raw = {"mode": "id", "id": "v"}, {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000}
    return client.tts.generate_sse(model_id=model, transcript="hi", voice=voice, output_format=raw)


_CARTESIA_CHUNK = {"type": "chunk", "data": "AAAA", "done": False, "status_code": 206, "step_time": 1.0}
_CARTESIA_ERROR = {
    "type": "error",
    "done": True,
    "status_code": 429,
    "error_code": "concurrency_limited",
    "message": "m",
}


def _runway(client: Any, model: str) -> Any:
    return client.image_to_video.create(model=model, prompt_image="https://x/y.png", ratio="1280:720", duration=5)


def _letta(client: Any, model: str) -> Any:
    return client.agents.messages.create("agent-1", messages=HELLO, override_model=model)


def _letta_stream(client: Any, model: str) -> Any:
    return client.agents.messages.create("agent-1", messages=HELLO, override_model=model, streaming=True)


_SAID = {"message_type": "assistant_message", "id": "m", "date": "2026-01-01T00:00:00Z", "content": "hi"}


def _stopped(reason: str = "end_turn") -> Reply:
    used = {"message_type": "usage_statistics", "prompt_tokens": 3, "completion_tokens": 2}
    return Reply(
        json={"messages": [_SAID], "stop_reason": {"message_type": "stop_reason", "stop_reason": reason}, "usage": used}
    )


_LETTA_ERROR = {"message_type": "error_message", "error_type": "llm_timeout", "message": "m", "run_id": "r"}


def _parallel(client: Any, model: str) -> Any:
    return client.task_run.create(input="hi", processor=model)


def _run(status: str = "queued", **more: Any) -> Reply:
    return Reply(
        json={"run_id": "r", "interaction_id": "i", "is_active": True, "processor": "p", "status": status, **more}
    )


# --- the Fern family --------------------------------------------------------------------------------------------------
def _environment(package: str, kind: str, *names: str) -> Callable[[str], Any]:
    return lambda url: getattr(importlib.import_module(package), kind)(**dict.fromkeys(names, url))


def _fern(
    module: str, name: str, key: str = "api_key", environment: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    def make(url: str) -> Any:
        where = {"base_url": url} if environment is None else {"environment": environment(url)}
        return getattr(importlib.import_module(module), name)(**{key: "k"}, **where)

    return make


ONCE: dict[str, Any] = {"request_options": {"max_retries": 0}}
_ENCODED = {"format": "mp3", "sample_rate": 48000}
_GENERATION = {
    "audio": "AAAA",
    "duration": 1.0,
    "file_size": 4,
    "generation_id": "g",
    "snippets": [],
    "encoding": _ENCODED,
}
_VIDEO = {"type": "url", "url": "https://x/y.mp4"}


def _reka(finish: str | None = "stop", part: str = "message") -> dict[str, Any]:
    used = {"input_tokens": 3, "output_tokens": 2}
    return {
        "id": "c",
        "model": "m",
        "responses": [{"finish_reason": finish, part: {"role": "assistant", "content": "hi"}}],
        "usage": used,
    }


def _read(finish: str = "stop") -> Reply:
    return Reply(json={"id": "c", "data": "hi", "finish_reason": finish, "usage": {"output_tokens": 2}})


def _vellum(state: str = "FULFILLED", **more: Any) -> dict[str, Any]:
    return {"execution_id": "e", "state": state, "outputs": [{"type": "STRING", "value": "hi"}], **more}


_REJECTED = {"execution_id": "e", "state": "REJECTED", "error": {"code": "PROVIDER_ERROR", "message": "m"}}
_STREAMING = {"execution_id": "e", "state": "STREAMING", "output_index": 0, "output": {"type": "STRING", "value": "hi"}}


# --- SDKs that are written by hand ------------------------------------------------------------------------------------
def _azure(url: str) -> Any:
    from azure.ai.inference import ChatCompletionsClient
    from azure.core.credentials import AzureKeyCredential

    return ChatCompletionsClient(url, AzureKeyCredential("k"), retry_total=0)


def _ai21(client: Any, **given: Any) -> Any:
    messages = [importlib.import_module("ai21.models.chat").UserMessage(content="hi")]
    return client.chat.completions.create(**{**given, "messages": messages})


def _voyage(client: Any, model: str) -> Any:
    return client.embed(["hi"], model)


def _replicate(client: Any, model: str) -> Any:
    return client.run(f"o/{model}", {"prompt": "hi"})


def _prediction(status: str = "succeeded", **more: Any) -> Reply:
    made = {"id": "p", "model": "o/n", "version": "v", "status": status, "input": {}, "output": "hi", "logs": ""}
    return Reply(201, json={**made, "urls": {}, **more})


def _dashscope(url: str) -> Any:
    def call(model: str, **more: Any) -> Any:
        kind = importlib.import_module("dashscope").Generation
        return kind.call(
            model=model, api_key="k", base_address=f"{url}/api/v1", messages=HELLO, result_format="message", **more
        )

    return call


def _tongyi(content: str = "hi", finish: str = "stop") -> dict[str, Any]:
    choice = {"finish_reason": finish, "message": {"role": "assistant", "content": content}}
    return {"output": {"choices": [choice]}, "request_id": "r"}


def _qianfan(url: str) -> Any:
    sdk = importlib.import_module("qianfan")
    config = sdk.get_config()
    config.BASE_URL, config.ACCESS_TOKEN, config.DISABLE_EB_SDK = url, "t", True
    return lambda model, **more: sdk.ChatCompletion(endpoint=model, version="1").do(
        messages=HELLO, retry_count=1, **more
    )


def _ernie(text: str = "hi", **more: Any) -> dict[str, Any]:
    return {"id": "r", "object": "chat.completion", "created": 1, "result": text, **more}


def _aleph(url: str) -> Any:
    return importlib.import_module("aleph_alpha_client").Client("k", host=url, total_retries=0)


def _aleph_chat(client: Any, model: str) -> Any:
    sdk, chats = importlib.import_module("aleph_alpha_client"), importlib.import_module("aleph_alpha_client.chat")
    return client.chat(sdk.ChatRequest(model=model, messages=[chats.Message(chats.Role.User, "hi")]), model)


def _giga(url: str) -> Any:
    return importlib.import_module("gigachat").GigaChat(base_url=f"{url}/v1", access_token="k")


def _fish(client: Any, model: str) -> Any:
    return client.tts.convert(text="hi", model=model)


def _gemini(url: str) -> Any:
    sdk = importlib.import_module("google.generativeai")
    sdk.configure(api_key="k", transport="rest", client_options={"api_endpoint": url})
    return sdk


def _generate(sdk: Any, model: str) -> Any:
    return sdk.GenerativeModel(f"models/{model}").generate_content("hi", request_options={"retry": None})


def _candidate(finish: str = "STOP") -> Reply:
    return Reply(json={"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": finish}]})


def _watsonx(url: str) -> Any:
    import httpx

    sdk, models = importlib.import_module("ibm_watsonx_ai"), importlib.import_module("ibm_watsonx_ai.foundation_models")

    class Plain(httpx.HTTPTransport):
        """The SDK insists on https, and asks for its project while it is made."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.method == "GET":
                about = {"entity": {"name": "p", "compute": [], "storage": {"type": "assetfiles"}, "settings": {}}}
                return httpx.Response(
                    200, json={"version": "5.2.0", **about, "metadata": {"guid": "p"}}, request=request
                )
            request.url = request.url.copy_with(scheme="http")
            return super().handle_request(request)

    where = {"url": url.replace("http:", "https:"), "token": "t", "instance_id": "openshift", "version": "5.2"}
    client = sdk.APIClient(sdk.Credentials(**where), project_id="p", httpx_client=httpx.Client(transport=Plain()))
    given = {"api_client": client, "project_id": "p", "validate": False, "max_retries": 0}
    return lambda model: models.ModelInference(model_id=model, **given)


def _vertex(url: str) -> Any:
    from google.auth.credentials import AnonymousCredentials

    client = importlib.import_module("google.cloud.aiplatform_v1").PredictionServiceClient
    return client(transport="rest", credentials=AnonymousCredentials(), client_options={"api_endpoint": url})


def _predict(client: Any, model: str) -> Any:
    contents = [{"role": "user", "parts": [{"text": "hi"}]}]
    path = f"projects/p/locations/l/publishers/google/models/{model}"
    return client.generate_content({"model": path, "contents": contents}, retry=None)


LONG_TAIL = {
    "perplexity": Script("perplexity", _client("perplexity", "Perplexity", max_retries=0), openai_like(_chats)),
    "sambanova": Script("sambanova", _client("sambanova", "SambaNova", max_retries=0), openai_like(_chats)),
    "portkey": Script("portkey_ai", _client("portkey_ai", "Portkey", provider="openai", max_retries=0), openai_like(_chats)),
    "zhipuai": Script("zhipuai", _client("zhipuai", "ZhipuAI", max_retries=0), openai_like(_chats)),
    "zai": Script("zai", _client("zai", "ZaiClient", max_retries=0), openai_like(_chats)),
    "volcengine": Script("volcenginesdkarkruntime", _client("volcenginesdkarkruntime", "Ark", max_retries=0), openai_like(_chats)),
    "orq": Script("orq_ai_sdk", _client("orq_ai_sdk", "Orq", at="server_url"), openai_like(lambda c, **given: c.router.chat.completions.create(**given))),
    "azure-inference": Script(
        "azure.ai.inference",
        _azure,
        # A schema is an object of the SDK's own, and it does not pass on an error in a stream: the end is missing.
        tuple(
            s._replace(outcome="TRANSPORT/stream_cut") if s.name == "mid-stream" else s
            for s in openai_like(lambda client, **given: client.complete(**given))
            if s.name != "structured"
        ),
    ),
    "ai21": Script("ai21", _client("ai21", "AI21Client", at="api_host"), openai_like(_ai21)),
    "sarvam": Script(
        "sarvamai",
        _fern("sarvamai", "SarvamAI", "api_subscription_key", _environment("sarvamai.environment", "SarvamAIEnvironment", "base", "creative", "production")),
        openai_like(lambda client, **given: client.chat.completions(**given)),
    ),
    "llama-stack": Script(
        "llama_stack_client",
        _client("llama_stack_client", "LlamaStackClient", max_retries=0),
        _steps(lambda c, model: _chats(c, model=model, messages=HELLO), chat(), _ends(lambda c, model: _chats(c, model=model, messages=HELLO), chat("hi", "length"))),
    ),
    "llama-api": Script(
        "llama_api_client",
        _client("llama_api_client", "LlamaAPIClient", max_retries=0),
        _steps(
            lambda c, model: _chats(c, model=model, messages=HELLO),
            _llama(),
            _ends(lambda c, model: _chats(c, model=model, messages=HELLO), _llama("length")),
            _breaks(lambda c, model: _chats(c, model=model, messages=HELLO, stream=True), _cut(lines(_LLAMA_PIECE, done=False)), "TRANSPORT/disconnected"),
        ),
    ),
    "zeroentropy": Script(
        "zeroentropy",
        _client("zeroentropy", "ZeroEntropy", max_retries=0),
        _steps(
            lambda c, model: c.models.rerank(model=model, query="q", documents=["a"]),
            Reply(json={"results": [{"index": 0, "relevance_score": 0.5}]}),
            _ends(lambda c, model: c.models.rerank(model=model, query="q", documents=["a"]), Reply(json={"results": []}), "UNKNOWN/empty_response"),
        ),
    ),
    "cartesia": Script(
        "cartesia",
        _client("cartesia", "Cartesia", max_retries=0),
        _steps(
            _cartesia,
            AUDIO,
            _ends(_cartesia_events, lines(_CARTESIA_ERROR, done=False), "RATE_LIMITED/concurrency"),
            _breaks(_cartesia_events, lines(_CARTESIA_CHUNK, _CARTESIA_ERROR, done=False), "RATE_LIMITED/concurrency"),
        ),
    ),
    "runwayml": Script(
        "runwayml",
        _client("runwayml", "RunwayML", max_retries=0),
        _steps(_runway, Reply(json={"id": "t"}), _ends(_runway, Reply(json={"id": "u", "status": "FAILED", "failure": "m"}), "SERVER/model_error")),
    ),
    "letta": Script(
        "letta_client",
        _client("letta_client", "Letta", max_retries=0),
        _steps(_letta, _stopped(), _ends(_letta, _stopped("max_steps"), "CALL_BUDGET/max_turns"), _breaks(_letta_stream, lines(_SAID, _LETTA_ERROR, done=False), "TIMEOUT/provider")),
    ),
    "parallel": Script(
        "parallel",
        _client("parallel", "Parallel", max_retries=0),
        _steps(_parallel, _run(), _ends(_parallel, _run("failed", error={"message": "m", "ref_id": "f"}), "SERVER/model_error")),
    ),
    "reka": Script(
        "reka",
        _fern("reka.client", "Reka"),
        _steps(
            lambda c, model: c.chat.create(model=model, messages=HELLO, **ONCE),
            Reply(json=_reka()),
            _ends(lambda c, model: c.chat.create(model=model, messages=HELLO), Reply(json=_reka("length"))),
            _breaks(lambda c, model: c.chat.create_stream(model=model, messages=HELLO), _cut(lines(_reka(None, "chunk"), done=False)), "TRANSPORT/disconnected"),
        ),
    ),
    "elevenlabs": Script(
        "elevenlabs",
        _fern("elevenlabs.client", "ElevenLabs"),
        _steps(
            lambda c, model: c.text_to_speech.convert("v", text="hi", model_id=model),
            AUDIO,
            _ends(lambda c, model: c.text_to_speech.convert("v", text="hi", model_id=model), QUOTA, SPENT),
            _breaks(lambda c, model: c.text_to_speech.convert("v", text="hi", model_id=model), _cut(Reply(text="RIFF" * 1024, headers=AUDIO.headers)), "TRANSPORT/disconnected"),
        ),
    ),
    "deepgram": Script(
        "deepgram",
        _fern("deepgram", "DeepgramClient", environment=_environment("deepgram.environment", "DeepgramClientEnvironment", "base", "production", "agent", "agent_rest")),
        _steps(
            lambda c, model: c.speak.v1.audio.generate(text="hi", model=model),
            AUDIO,
            _ends(lambda c, model: c.speak.v1.audio.generate(text="hi", model=model), QUOTA, SPENT),
            _breaks(lambda c, model: c.speak.v1.audio.generate(text="hi", model=model), _cut(Reply(text="RIFF")), "TRANSPORT/disconnected"),
        ),
    ),
    "hume": Script(
        "hume",
        _fern("hume", "HumeClient"),
        _steps(
            lambda c, _: c.tts.synthesize_json(utterances=[], **ONCE),
            Reply(json={"generations": [_GENERATION], "request_id": "r"}),
            _ends(lambda c, _: c.tts.synthesize_file(utterances=[]), QUOTA, SPENT),
            _breaks(lambda c, _: c.tts.synthesize_file(utterances=[]), _cut(Reply(text="RIFF")), "TRANSPORT/disconnected"),
        ),
        named=False,
    ),
    "twelvelabs": Script(
        "twelvelabs",
        _fern("twelvelabs", "TwelveLabs"),
        _steps(
            lambda c, model: c.analyze(video=_VIDEO, prompt="hi", model_name=model, **ONCE),
            _read(),
            _ends(lambda c, model: c.analyze(video=_VIDEO, prompt="hi", model_name=model), _read("length")),
            _breaks(lambda c, model: c.analyze_stream(video=_VIDEO, prompt="hi", model_name=model), _cut(Reply(ndjson=[{"event_type": "text_generation", "text": "hi"}])), "TRANSPORT/disconnected"),
        ),
    ),
    "vellum": Script(
        "vellum",
        _fern("vellum", "Vellum", environment=_environment("vellum.client", "VellumEnvironment", "default", "predict", "documents")),
        _steps(
            lambda c, model: c.execute_prompt(inputs=[], prompt_deployment_name=model, **ONCE),
            Reply(json=_vellum()),
            _ends(lambda c, model: c.execute_prompt(inputs=[], prompt_deployment_name=model), Reply(json=_REJECTED), "SERVER/upstream"),
            _breaks(lambda c, model: c.execute_prompt_stream(inputs=[], prompt_deployment_name=model), Reply(ndjson=[_STREAMING, _REJECTED]), "SERVER/upstream"),
        ),
    ),
    "voyageai": Script(
        "voyageai",
        _client("voyageai", "Client", max_retries=0),
        _steps(_voyage, vectors(), _ends(_voyage, Reply(json={"data": [], "usage": {"total_tokens": 1}}), "UNKNOWN/empty_response")),
    ),
    "replicate": Script(
        "replicate",
        _client("replicate", "Client", "api_token"),
        _steps(
            _replicate,
            _prediction(),
            Step("failed", _replicate, _prediction("failed", error="CUDA out of memory"), "SERVER/model_error"),
            refused=Reply(401, json={"title": "t", "detail": "Unauthenticated", "status": 401}),
        ),
        prefix="o/",
    ),
    "dashscope": Script(
        "dashscope",
        _dashscope,
        _steps(
            lambda call, model: call(model),
            Reply(json=_tongyi()),
            _ends(lambda call, model: call(model), Reply(json=_tongyi("hi", "length"))),
            _breaks(lambda call, model: call(model, stream=True), lines(_tongyi(finish="null"), done=False), "TRANSPORT/stream_cut"),
            refused=Reply(401, json={"code": "InvalidApiKey", "message": "m", "request_id": "r"}),
        ),
    ),
    "qianfan": Script(
        "qianfan",
        _qianfan,
        _steps(
            lambda call, model: call(model),
            Reply(json=_ernie(finish_reason="normal")),
            _ends(lambda call, model: call(model), Reply(json=_ernie(is_truncated=True))),
            _breaks(lambda call, model: call(model, stream=True), lines(_ernie(is_end=False), done=False), "TRANSPORT/stream_cut"),
            refused=Reply(json={"error_code": 336005, "error_msg": "m"}),
            verdict="NOT_FOUND/model",
        ),
    ),
    "aleph-alpha": Script("aleph_alpha_client", _aleph, _steps(_aleph_chat, chat(), _ends(_aleph_chat, chat("hi", "length")))),
    "gigachat": Script(
        "gigachat",
        _giga,
        _steps(
            lambda c, model: c.chat({"model": model, "messages": HELLO}),
            chat(),
            _ends(lambda c, model: c.chat({"model": model, "messages": HELLO}), chat("hi", "length")),
            _breaks(lambda c, model: c.stream({"model": model, "messages": HELLO}), lines(delta("hi"), OVERLOADED, done=False), "SERVER/internal"),
        ),
    ),
    "fish-audio": Script("fishaudio", _client("fishaudio", "FishAudio"), _steps(_fish, AUDIO, _ends(_fish, QUOTA, SPENT))),
    "google-generativeai": Script(
        "google.generativeai",
        _gemini,
        _steps(_generate, _candidate(), _ends(_generate, _candidate("MAX_TOKENS")),
               refused=Reply(403, json={"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "m"}}),
               verdict="AUTH/permission_denied"),
    ),
    "vertexai": Script(
        "google.cloud.aiplatform",
        _vertex,
        _steps(_predict, _candidate(), _ends(_predict, _candidate("MAX_TOKENS")),
               refused=Reply(403, json={"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "m"}}),
               verdict="AUTH/permission_denied"),
    ),
    "watsonx": Script(
        "ibm_watsonx_ai",
        _watsonx,
        _steps(
            lambda of, model: of(model).chat(messages=HELLO),
            chat(),
            _ends(lambda of, model: of(model).chat(messages=HELLO), chat("hi", "length")),
            _breaks(lambda of, model: of(model).chat_stream(messages=HELLO), lines(delta("hi"), done=False), "TRANSPORT/stream_cut"),
            refused=Reply(401, json={"errors": [{"code": "authentication_token_expired", "message": "m"}], "trace": "t", "status_code": 401}),
            verdict="AUTH/expired",
        ),
    ),
}  # fmt: skip
"""The scripts. xai-sdk, which speaks gRPC only, has none: its own tests call it through a server of that kind."""
