"""The scripts, by SDK. SDKs are imported where a client is made: the test of one needs no other."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from llm_errors.testing import replies
from llm_errors.testing.provider import Reply
from tests.sdks.scripts import HELLO, SCHEMA, TOOL, Script, Step, lines, openai_like
from tests.sdks.scripts.longtail import LONG_TAIL


def _client(module: str, name: str, at: str = "base_url", **more: Any) -> Callable[[str], Any]:
    return lambda url: getattr(importlib.import_module(module), name)(**{"api_key": "k", at: url, **more})


def _create(client: Any, **given: Any) -> Any:
    return client.chat.completions.create(**given)


def _embed(client: Any, model: str) -> Any:
    return client.embeddings.create(model=model, input="hi")


# --- anthropic --------------------------------------------------------------------------------------------------------
def _message(**more: Any) -> Callable[[Any, str], Any]:
    return lambda client, model: client.messages.create(model=model, max_tokens=9, messages=HELLO, **more)


_LOOK = {"name": "look", "description": "looks", "input_schema": SCHEMA}
_USED = {"type": "tool_use", "id": "t", "name": "look", "input": {"at": "x"}}
_ANTHROPIC = (
    Step("plain", _message(), replies.anthropic_answer("hi")),
    Step("stream", _message(stream=True), replies.anthropic_stream(["hi"])),
    Step("tools", _message(tools=[_LOOK]),
         Reply(json={**replies.anthropic_answer("hi").json, "content": [_USED], "stop_reason": "tool_use"})),
    Step("thrown", _message(), replies.anthropic_error(401, "authentication_error", "m"), "AUTH/invalid_key"),
    Step("in-band", _message(), replies.anthropic_answer("hi", "max_tokens"), "TRUNCATED/max_tokens"),
    Step("mid-stream", _message(stream=True),
         replies.anthropic_stream(["hi"], error=replies.anthropic_error_body("overloaded_error", "m")),
         "SERVER/overloaded"),
)  # fmt: skip


# --- google-genai -----------------------------------------------------------------------------------------------------
def _gemini(url: str) -> Any:
    from google import genai

    return genai.Client(api_key="k", http_options={"base_url": url})


def _generate(method: str = "generate_content", **config: Any) -> Callable[[Any, str], Any]:
    return lambda client, model: getattr(client.models, method)(model=model, contents="hi", config=config or None)


_GEMINI_CALL = {"functionCall": {"name": "look", "args": {"at": "x"}}}
_GEMINI_TOOL = {"function_declarations": [{"name": "look", "description": "looks"}]}
_GEMINI = (
    Step("plain", _generate(), replies.gemini_answer("hi")),
    Step("stream", _generate("generate_content_stream"), replies.gemini_stream(["hi"])),
    Step("tools", _generate(tools=[_GEMINI_TOOL]),
         Reply(json={"candidates": [{"content": {"role": "model", "parts": [_GEMINI_CALL]}, "finishReason": "STOP"}]})),
    Step("structured", _generate(response_mime_type="application/json", response_json_schema=SCHEMA),
         replies.gemini_answer('{"at": "x"}')),
    Step("embeddings", lambda client, model: client.models.embed_content(model=model, contents="hi"),
         Reply(json={"embeddings": [{"values": [0.1]}], "embedding": {"values": [0.1]}})),
    Step("thrown", _generate(), replies.gemini_error(403, "PERMISSION_DENIED", "m"), "AUTH/permission_denied"),
    Step("in-band", _generate(), replies.gemini_answer("", "SAFETY"), "OUTPUT_BLOCKED/safety"),
    Step("mid-stream", _generate("generate_content_stream"),
         lines(replies.gemini_answer("hi", "").json, {"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}},
               done=False), "SERVER/unavailable"),
)  # fmt: skip


# --- the Speakeasy family ---------------------------------------------------------------------------------------------
def _mistral(url: str) -> Any:
    from importlib.metadata import version

    module = importlib.import_module("mistralai" if version("mistralai").startswith("1.") else "mistralai.client")
    return module.Mistral(api_key="k", server_url=url)


def _mistral_chat(client: Any, stream: bool = False, **given: Any) -> Any:
    return (client.chat.stream if stream else client.chat.complete)(**given)


def _mistral_embed(client: Any, model: str) -> Any:
    return client.embeddings.create(model=model, inputs=["hi"])


# --- cohere -----------------------------------------------------------------------------------------------------------
def _cohere(method: str = "chat", **more: Any) -> Callable[[Any, str], Any]:
    once = {"request_options": {"max_retries": 0}} if method == "chat" else {}
    return lambda client, model: getattr(client, method)(model=model, messages=HELLO, **more, **once)


def _cohere_embed(client: Any, model: str) -> Any:
    return client.embed(model=model, texts=["a"], input_type="search_query", embedding_types=["float"])


_COHERE_VECTORS = {"id": "e", "response_type": "embeddings_by_type", "texts": ["a"], "embeddings": {"float": [[0.1]]}}


def _said(finish: str = "COMPLETE", text: str = "hi", **message: Any) -> Reply:
    content = [{"type": "text", "text": text}] if text else []
    said = {"role": "assistant", "content": content, **message}
    return Reply(json={"id": "c", "finish_reason": finish, "message": said})


_BEGIN = {"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant"}}}
_TEXT = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "hi"}}}}
_COHERE_CALL = {"id": "t", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def _ended(finish: str, **more: Any) -> dict[str, Any]:
    return {"type": "message-end", "delta": {"finish_reason": finish, **more}}


_COHERE = (
    Step("plain", _cohere(), _said()),
    Step("stream", _cohere("chat_stream"), lines(_BEGIN, _TEXT, _ended("COMPLETE"), named=True, done=False)),
    Step("tools", _cohere(tools=[TOOL]), _said("TOOL_CALL", "", tool_calls=[_COHERE_CALL])),
    Step("structured", _cohere(response_format={"type": "json_object", "schema": SCHEMA}), _said(text='{"at": "x"}')),
    Step("embeddings", _cohere_embed, Reply(json=_COHERE_VECTORS)),
    Step("thrown", _cohere(), Reply(401, json={"message": "invalid api token"}), "AUTH/invalid_key"),
    Step("in-band", _cohere(), _said("MAX_TOKENS"), "TRUNCATED/max_tokens"),
    Step("mid-stream", _cohere("chat_stream"),
         lines(_BEGIN, _TEXT, _ended("ERROR", error="boom"), named=True, done=False), "SERVER/other"),
)  # fmt: skip


# --- ollama -----------------------------------------------------------------------------------------------------------
def _ollama(url: str) -> Any:
    return importlib.import_module("ollama").Client(host=url)


def _ask(**more: Any) -> Callable[[Any, str], Any]:
    return lambda client, model: client.chat(model=model, messages=HELLO, **more)


_AT = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}


def _line(content: str = "hi", reason: str = "stop", **message: Any) -> dict[str, Any]:
    return {**_AT, "message": {"role": "assistant", "content": content, **message}, "done": True, "done_reason": reason}


_PART = {**_AT, "message": {"role": "assistant", "content": "hi"}, "done": False}
_OLLAMA = (
    Step("plain", _ask(), Reply(json=_line())),
    Step("stream", _ask(stream=True), Reply(ndjson=[_PART, _line("")])),
    Step("tools", _ask(tools=[TOOL]),
         Reply(json=_line("", tool_calls=[{"function": {"name": "look", "arguments": {"at": "x"}}}]))),
    Step("structured", _ask(format=SCHEMA), Reply(json=_line('{"at": "x"}'))),
    Step("embeddings", lambda client, model: client.embed(model=model, input="hi"),
         Reply(json={"model": "m", "embeddings": [[0.1]]})),
    Step("thrown", _ask(), Reply(404, json={"error": "model 'thrown' not found"}), "NOT_FOUND/model"),
    Step("in-band", _ask(), Reply(json=_line("hi", "length")), "TRUNCATED/max_tokens"),
    Step("mid-stream", _ask(stream=True), Reply(ndjson=[_PART, {"error": "llama runner process has terminated"}]),
         "SERVER/model_error"),
)  # fmt: skip


# --- huggingface_hub --------------------------------------------------------------------------------------------------
def _hub(url: str) -> Any:
    return importlib.import_module("huggingface_hub").InferenceClient(base_url=url, token="hf_k")


def _hub_chat(client: Any, **given: Any) -> Any:
    return client.chat_completion(**given)


# --- AWS --------------------------------------------------------------------------------------------------------------
_TEXTS = [{"role": "user", "content": [{"text": "hi"}]}]


def _boto(url: str) -> Any:
    import botocore.session
    from botocore.config import Config

    config = Config(retries={"total_max_attempts": 1})
    session = botocore.session.Session()
    return session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config)


def _converse(client: Any, model: str) -> Any:
    return client.converse(modelId=model, messages=_TEXTS)


def _with_tool(client: Any, model: str) -> Any:
    tool = {"toolSpec": {"name": "look", "description": "looks", "inputSchema": {"json": SCHEMA}}}
    return client.converse(modelId=model, messages=_TEXTS, toolConfig={"tools": [tool]})


def _converse_stream(client: Any, model: str) -> Iterator[Any]:
    return iter(client.converse_stream(modelId=model, messages=_TEXTS)["stream"])


def _titan(client: Any, model: str) -> Any:
    return client.invoke_model(modelId=model, body=b'{"inputText": "hi"}')["body"].read()


def _converses(text: str = "hi", stop: str = "end_turn", **block: Any) -> Reply:
    content = [block or {"text": text}]
    usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    message = {"role": "assistant", "content": content}
    return Reply(json={"output": {"message": message}, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}})


_BEGUN = ("messageStart", {"role": "assistant"}, "event")
_PIECE = ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "hi"}}, "event")
_STOPPED = ("messageStop", {"stopReason": "end_turn"}, "event")
_FAILED = ("modelStreamErrorException", {"message": "m"}, "exception")
_BEDROCK = (
    Step("plain", _converse, _converses()),
    Step("stream", _converse_stream, Reply(eventstream=[_BEGUN, _PIECE, _STOPPED])),
    Step("tools", _with_tool, _converses(stop="tool_use", toolUse={"toolUseId": "t", "name": "look", "input": {}})),
    Step("embeddings", _titan, Reply(json={"embedding": [0.1], "inputTextTokenCount": 1})),
    Step("thrown", _converse,
         Reply(403, json={"message": "m"}, headers={"x-amzn-errortype": "AccessDeniedException"}),
         "AUTH/permission_denied"),
    Step("in-band", _converse, _converses(stop="max_tokens"), "TRUNCATED/max_tokens"),
    Step("mid-stream", _converse_stream, Reply(eventstream=[_BEGUN, _PIECE, _FAILED]), "SERVER/model_error"),
)  # fmt: skip


class _Aio:
    """A client of aiobotocore's for every call: it belongs to the loop that it was made in."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def converse(self, model: str, stream: bool = False) -> Any:
        """One call, and its stream read to the end."""
        import aiobotocore.session

        session = aiobotocore.session.get_session()
        made = session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url=self.url)
        async with made as client:
            if not stream:
                return await client.converse(modelId=model, messages=_TEXTS)
            answer = await client.converse_stream(modelId=model, messages=_TEXTS)
            return [event async for event in answer["stream"]]


def _aio(step: Step) -> Step:
    is_stream = step.reply.eventstream is not None
    return step._replace(call=lambda client, model: client.converse(model, is_stream))


SCRIPTS = {
    "openai": Script("openai", _client("openai", "OpenAI", max_retries=0), openai_like(_create, _embed)),
    "anthropic": Script("anthropic", _client("anthropic", "Anthropic", max_retries=0), _ANTHROPIC),
    "google-genai": Script("google.genai", _gemini, _GEMINI),
    "groq": Script("groq", _client("groq", "Groq", max_retries=0), openai_like(_create, _embed)),
    "together": Script("together", _client("together", "Together", max_retries=0), openai_like(_create, _embed)),
    "cerebras": Script("cerebras.cloud.sdk",
                       _client("cerebras.cloud.sdk", "Cerebras", max_retries=0, warm_tcp_connection=False),
                       openai_like(_create)),
    "writer": Script("writerai", _client("writerai", "Writer", max_retries=0),
                     openai_like(lambda client, **given: client.chat.chat(**given))),
    "fireworks": Script("fireworks", _client("fireworks", "Fireworks", max_retries=0), openai_like(_create)),
    "mistral": Script("mistralai", _mistral, openai_like(_mistral_chat, _mistral_embed)),
    "openrouter": Script("openrouter", _client("openrouter", "OpenRouter", "server_url"),
                         openai_like(lambda client, **given: client.chat.send(**given))),
    "cohere": Script("cohere", _client("cohere", "ClientV2"), _COHERE),
    "ollama": Script("ollama", _ollama, _OLLAMA),
    "huggingface": Script("huggingface_hub", _hub, openai_like(_hub_chat)),
    "botocore": Script("botocore", _boto, _BEDROCK),
    "aiobotocore": Script("aiobotocore", _Aio,
                          tuple(_aio(step) for step in _BEDROCK if step.name not in ("tools", "embeddings"))),
    **LONG_TAIL,
}  # fmt: skip
