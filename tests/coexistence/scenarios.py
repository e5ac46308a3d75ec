"""The calls of an application and what goes wrong in them: per API a client, one call each way, and replies on the wire."""

import base64
import functools
import importlib
import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from llm_errors.testing.provider import Reply

from .peers import ANTHROPIC, BEDROCK, COHERE, GOOGLE, INVOKE, MISTRAL, OLLAMA, OPENAI, RESPONSES


@dataclass(frozen=True)
class Scenario:
    """One reply and the class it has to get; empty for a healthy one."""

    name: str
    streamed: bool
    reply: Reply
    error_class: str = ""

    def __str__(self) -> str:
        return self.name


def _sse(*events: Any, named: bool = False, done: bool = False) -> list[str]:
    lines: list[str] = []
    for event in events:
        lines += [f"event: {event['type']}"] if named else []
        lines += [f"data: {json.dumps(event)}", ""]
    return [*lines, "data: [DONE]", ""] if done else lines


def _replies(
    healthy: Any,
    in_band: tuple[Any, str],
    stream: Sequence[Any],
    bad_stream: tuple[Sequence[Any], str],
    quota: tuple[int, Any, str],
    **form: bool,
) -> tuple[Scenario, ...]:
    cut = len(_sse(*stream[:2], named=form.get("named", False)))
    events = _sse(*stream, **form)
    return (
        Scenario("plain", False, Reply(json=healthy)),
        Scenario("plain-thrown", False, Reply(quota[0], json=quota[1]), quota[2]),
        Scenario("plain-in-band", False, Reply(json=in_band[0]), in_band[1]),
        Scenario("stream", True, Reply(sse=events)),
        Scenario("stream-thrown", True, Reply(quota[0], json=quota[1]), quota[2]),
        Scenario("stream-in-band", True, Reply(sse=_sse(*bad_stream[0], **form)), bad_stream[1]),
        Scenario("stream-cut", True, Reply(sse=events[:cut], action="cut_mid_stream"), "TRANSPORT"),
    )


# --- openai chat ---------------------------------------------------------------------------------------------------------


def _completion(content: str | None, finish: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }  # fmt: skip


def _chunk(content: str, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"role": "assistant", "content": content}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


_CHAT = _replies(
    _completion("hello", "stop"),
    (_completion("hel", "length"), "TRUNCATED"),
    [_chunk("hel"), _chunk("lo"), _chunk("", "stop")],
    ([_chunk("hel"), _chunk("", "content_filter")], "OUTPUT_BLOCKED"),
    (429, {"error": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "spent"}}, "CALL_BUDGET"),
    done=True,
)


# --- openai responses ----------------------------------------------------------------------------------------------------


def _response(status: str, **extra: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": "hello", "annotations": []}
    item = {"id": "i1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "r1", "object": "response", "created_at": 1, "model": "m", "status": status, "output": [item],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "usage": {
            "input_tokens": 3, "output_tokens": 2, "total_tokens": 5,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        },
        **extra,
    }  # fmt: skip


def _delta(text: str, number: int) -> dict[str, Any]:
    where = {"item_id": "i1", "output_index": 0, "content_index": 0, "logprobs": []}
    return {"type": "response.output_text.delta", "delta": text, "sequence_number": number, **where}


_CREATED = {
    "type": "response.created",
    "sequence_number": 0,
    "response": _response("in_progress", output=[], usage=None),
}
_FAILED = _response("failed", error={"code": "server_error", "message": "broken"}, output=[])
_RESPONSES = _replies(
    _response("completed"),
    (_response("incomplete", incomplete_details={"reason": "max_output_tokens"}), "TRUNCATED"),
    [
        _CREATED,
        _delta("hello", 1),
        {"type": "response.completed", "sequence_number": 2, "response": _response("completed")},
    ],
    ([_CREATED, _delta("hel", 1), {"type": "response.failed", "sequence_number": 2, "response": _FAILED}], "SERVER"),
    (401, {"error": {"code": "invalid_api_key", "type": "invalid_request_error", "message": "wrong"}}, "AUTH"),
    named=True,
)


# --- anthropic -----------------------------------------------------------------------------------------------------------


def _message(stop: str | None, *content: Any) -> dict[str, Any]:
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": list(content),
        "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2},
    }  # fmt: skip


_TEXT = {"type": "text", "text": "hello"}
_BEGIN = [
    {"type": "message_start", "message": _message(None)},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
]
_END = [
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    },
    {"type": "message_stop"},
]
_OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
_ANTHROPIC = _replies(
    _message("end_turn", _TEXT),
    (_message("refusal", _TEXT), "OUTPUT_BLOCKED"),
    [*_BEGIN, *_END],
    ([*_BEGIN, _OVERLOADED], "SERVER"),
    (529, _OVERLOADED, "SERVER"),
    named=True,
)


# --- google --------------------------------------------------------------------------------------------------------------


def _generated(text: str, finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": [{"text": text}]}}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
    ended = {"finishReason": finish} if finish else {}
    return {"candidates": [{**candidate, **ended}], "usageMetadata": usage, "modelVersion": "m", "responseId": "g1"}


_GOOGLE = _replies(
    _generated("hello", "STOP"),
    (_generated("", "SAFETY"), "OUTPUT_BLOCKED"),
    [_generated("hel", None), _generated("lo", None), _generated("!", "STOP")],
    ([_generated("hel", None), _generated("", "MAX_TOKENS")], "TRUNCATED"),
    (429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "busy"}}, "RATE_LIMITED"),
)

# --- bedrock -------------------------------------------------------------------------------------------------------------


def _conversed(stop: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"text": "hello"}]}
    usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    return {"output": {"message": message}, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}}


def _frames(*events: tuple[str, Any], **form: Any) -> Reply:
    return Reply(eventstream=[(name, payload, "event") for name, payload in events], **form)


def _streamed(stop: str) -> list[tuple[str, Any]]:
    usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    return [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "hello"}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": stop}),
        ("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}),
    ]


_THROTTLED = Reply(429, json={"message": "busy"}, headers={"x-amzn-errortype": "ThrottlingException"})
_BEDROCK = (
    Scenario("plain", False, Reply(json=_conversed("end_turn"))),
    Scenario("plain-thrown", False, _THROTTLED, "RATE_LIMITED"),
    Scenario("plain-in-band", False, Reply(json=_conversed("guardrail_intervened")), "OUTPUT_BLOCKED"),
    Scenario("stream", True, _frames(*_streamed("end_turn"))),
    Scenario("stream-thrown", True, _THROTTLED, "RATE_LIMITED"),
    Scenario("stream-in-band", True, _frames(*_streamed("max_tokens")), "TRUNCATED"),
    Scenario("stream-cut", True, _frames(*_streamed("end_turn")[:2], action="cut_mid_stream"), "TRANSPORT"),
)


# --- bedrock: InvokeModel, with the answers of Claude ----------------------------------------------------------------------


def _piece(event: Any) -> tuple[str, Any]:
    return "chunk", {"bytes": base64.b64encode(json.dumps(event).encode()).decode()}


def _invoked(stop: str) -> list[tuple[str, Any]]:
    ended = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}}
    counts = {"inputTokenCount": 3, "outputTokenCount": 2, "invocationLatency": 1, "firstByteLatency": 1}
    last = {"type": "message_stop", "amazon-bedrock-invocationMetrics": counts}
    return [_piece(event) for event in (*_BEGIN, _END[0], ended, last)]


_INVOKE = (
    Scenario("plain", False, Reply(json=_message("end_turn", _TEXT))),
    Scenario("plain-thrown", False, _THROTTLED, "RATE_LIMITED"),
    Scenario("plain-in-band", False, Reply(json=_message("max_tokens", _TEXT)), "TRUNCATED"),
    Scenario("stream", True, _frames(*_invoked("end_turn"))),
    Scenario("stream-thrown", True, _THROTTLED, "RATE_LIMITED"),
    Scenario("stream-in-band", True, _frames(*_invoked("max_tokens")), "TRUNCATED"),
    Scenario("stream-cut", True, _frames(*_invoked("end_turn")[:3], action="cut_mid_stream"), "TRANSPORT"),
)


# --- mistral, whose answers are those of openai's chat -------------------------------------------------------------------

_MISTRAL = _replies(
    _completion("hello", "stop"),
    (_completion("hel", "length"), "TRUNCATED"),
    [_chunk("hel"), _chunk("lo"), _chunk("", "stop")],
    ([_chunk("hel"), _chunk("", "length")], "TRUNCATED"),
    (401, {"message": "Unauthorized", "request_id": "r"}, "AUTH"),
    done=True,
)


# --- cohere --------------------------------------------------------------------------------------------------------------


def _coherent(finish: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}
    usage = {"tokens": {"input_tokens": 3, "output_tokens": 2}}
    return {"id": "c1", "finish_reason": finish, "message": message, "usage": usage}


_COHERE_BEGIN = [
    {"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant"}}},
    {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "hello"}}}},
]


def _cohere_end(finish: str) -> dict[str, Any]:
    usage = {"tokens": {"input_tokens": 3, "output_tokens": 2}}
    return {"type": "message-end", "delta": {"finish_reason": finish, "usage": usage}}


_COHERE = _replies(
    _coherent("COMPLETE"),
    (_coherent("MAX_TOKENS"), "TRUNCATED"),
    [*_COHERE_BEGIN, _cohere_end("COMPLETE")],
    ([*_COHERE_BEGIN, _cohere_end("MAX_TOKENS")], "TRUNCATED"),
    (401, {"message": "invalid api token"}, "AUTH"),
    named=True,
)


# --- ollama --------------------------------------------------------------------------------------------------------------


def _line(said: str, reason: str = "") -> dict[str, Any]:
    ended = {"done_reason": reason, "prompt_eval_count": 3, "eval_count": 2} if reason else {}
    message = {"role": "assistant", "content": said}
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": bool(reason), **ended}


_MISSING = Reply(404, json={"error": "model 'm' not found"})
_OLLAMA = (
    Scenario("plain", False, Reply(json=_line("hello", "stop"))),
    Scenario("plain-thrown", False, _MISSING, "NOT_FOUND"),
    Scenario("plain-in-band", False, Reply(json=_line("hello", "length")), "TRUNCATED"),
    Scenario("stream", True, Reply(ndjson=[_line("hel"), _line("lo"), _line("", "stop")])),
    Scenario("stream-thrown", True, _MISSING, "NOT_FOUND"),
    Scenario("stream-in-band", True, Reply(ndjson=[_line("hello"), _line("", "length")]), "TRUNCATED"),
    Scenario("stream-cut", True, Reply(ndjson=[_line("hello")], action="cut_mid_stream"), "TRANSPORT"),
)

SCENARIOS = {
    OPENAI: _CHAT, RESPONSES: _RESPONSES, ANTHROPIC: _ANTHROPIC, GOOGLE: _GOOGLE,
    BEDROCK: _BEDROCK, INVOKE: _INVOKE, MISTRAL: _MISTRAL, COHERE: _COHERE, OLLAMA: _OLLAMA,
}  # fmt: skip


# --- the application's calls -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What the application saw."""

    texts: tuple[str, ...]
    raised: str
    message: str = field(default="", compare=False)


class _Closing:
    """A client that has no context of its own, or one that a call cannot be made through."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __enter__(self) -> Any:
        return self.client

    def __exit__(self, *_: Any) -> None:
        close = getattr(self.client, "close", None) or self.client._client.close
        close()

    async def __aenter__(self) -> Any:
        return self.client

    async def __aexit__(self, *_: Any) -> None:
        await self.client._client.aclose()


@functools.cache
def _session() -> Any:
    """A session of boto3, which loads the model of a service once."""
    return importlib.import_module("boto3").Session()


def _bedrock(url: str, asynchronous: bool) -> Any:
    from botocore.config import Config

    config = Config(retries={"total_max_attempts": 1, "mode": "standard"})
    made = _session().client("bedrock-runtime", endpoint_url=url, region_name="us-east-1", config=config)
    return _Closing(made)


def _mistral(url: str, asynchronous: bool) -> Any:
    of_one = version("mistralai").startswith("1.")
    return importlib.import_module("mistralai" if of_one else "mistralai.client").Mistral(api_key="k", server_url=url)


def _cohere(url: str, asynchronous: bool) -> Any:
    import cohere

    return (cohere.AsyncClientV2 if asynchronous else cohere.ClientV2)(api_key="k", base_url=url)


def _ollama(url: str, asynchronous: bool) -> Any:
    import ollama

    return _Closing((ollama.AsyncClient if asynchronous else ollama.Client)(host=url))


_SAID = [{"role": "user", "content": "hi"}]


def _converse(client: Any, streamed: bool) -> Any:
    asked = {"modelId": "anthropic.m", "messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    return client.converse_stream(**asked)["stream"] if streamed else client.converse(**asked)


def _invoke(client: Any, streamed: bool) -> Any:
    body = json.dumps({"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": _SAID})
    asked = {"modelId": "anthropic.claude-3-haiku-20240307-v1:0", "body": body}
    if streamed:
        return client.invoke_model_with_response_stream(**asked)["body"]
    return {"body": client.invoke_model(**asked)["body"].read()}


def _ask_cohere(client: Any, streamed: bool) -> Any:
    once = {"request_options": {"max_retries": 0}}
    return (client.chat_stream if streamed else client.chat)(model="m", messages=_SAID, **once)


def _ask_ollama(client: Any, streamed: bool) -> Any:
    return client.chat(model="m", messages=_SAID, stream=streamed)


_MISTRAL_METHODS = {
    (False, False): "complete",
    (False, True): "complete_async",
    (True, False): "stream",
    (True, True): "stream_async",
}
_MAKE = {BEDROCK: _bedrock, INVOKE: _bedrock, MISTRAL: _mistral, COHERE: _cohere, OLLAMA: _ollama}
_ASK = {BEDROCK: _converse, INVOKE: _invoke, COHERE: _ask_cohere, OLLAMA: _ask_ollama}


class Application:
    """Calls one API at a URL, and notes what comes back."""

    def __init__(self, api: str, url: str) -> None:
        self._api, self._url = api, url

    def call(self, streamed: bool) -> Outcome:
        """One call of the sync client."""
        seen: list[str] = []
        try:
            with self._client(asynchronous=False) as client:
                result = self._start(client, streamed)
                for piece in result if streamed else [result]:
                    seen.append(str(_said(piece)))
        except Exception as error:
            return Outcome(tuple(seen), type(error).__name__, str(error))
        return Outcome(tuple(seen), "")

    async def call_async(self, streamed: bool) -> Outcome:
        """One call of the async client."""
        seen: list[str] = []
        try:
            async with self._client(asynchronous=True) as client:
                result = self._start(client, streamed, asynchronous=True)
                if inspect.isawaitable(result):  # a stream of cohere's is none
                    result = await result
                if streamed:
                    async for piece in result:
                        seen.append(str(_said(piece)))
                else:
                    seen.append(str(_said(result)))
        except Exception as error:
            return Outcome(tuple(seen), type(error).__name__, str(error))
        return Outcome(tuple(seen), "")

    def _client(self, *, asynchronous: bool) -> Any:
        if self._api in _MAKE:
            return _MAKE[self._api](self._url, asynchronous)
        if self._api == GOOGLE:
            from google import genai

            client = genai.Client(api_key="k", http_options=genai.types.HttpOptions(base_url=self._url))
            return client.aio if asynchronous else client
        if self._api == ANTHROPIC:
            import anthropic

            made = anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic
            return made(base_url=self._url, api_key="k", max_retries=0)
        import openai

        of_openai = openai.AsyncOpenAI if asynchronous else openai.OpenAI
        return of_openai(base_url=self._url + "/v1", api_key="k", max_retries=0)

    def _start(self, client: Any, streamed: bool, *, asynchronous: bool = False) -> Any:
        if self._api == MISTRAL:
            return getattr(client.chat, _MISTRAL_METHODS[streamed, asynchronous])(model="m", messages=_SAID)
        if self._api in _ASK:
            return _ASK[self._api](client, streamed)
        if self._api == GOOGLE:
            models = client.models
            method = models.generate_content_stream if streamed else models.generate_content
            return method(model="gemini-m", contents="hi")
        said = [{"role": "user", "content": "hi"}]
        stream = {"stream": True} if streamed else {}
        if self._api == ANTHROPIC:
            return client.messages.create(model="m", max_tokens=9, messages=said, **stream)
        if self._api == RESPONSES:
            return client.responses.create(model="m", input="hi", **stream)
        return client.chat.completions.create(model="m", messages=said, **stream)


def _said(piece: Any) -> Any:
    """Everything of an answer or a chunk but ids and HTTP headers, as plain data."""
    if isinstance(piece, dict):
        return {key: value for key, value in piece.items() if key != "ResponseMetadata"}
    return piece.model_dump(exclude={"sdk_http_response": True, "id": True, "response": {"id"}})
