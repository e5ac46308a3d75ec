"""Four APIs of three SDKs behind one face: what the provider says, how a client is made, how a call is made."""

import gc
import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from llm_errors.testing.provider import Reply

CHAT, RESPONSES, MESSAGES, GEMINI = "chat", "responses", "messages", "gemini"
APIS = (CHAT, RESPONSES, MESSAGES, GEMINI)
STAINLESS = (CHAT, RESPONSES, MESSAGES)
SDK = {CHAT: "openai", RESPONSES: "openai", MESSAGES: "anthropic", GEMINI: "google.genai"}
PATIENCE = 300.0
"""Seconds that a busy machine may take over anything that happens by itself."""
ASK = [{"role": "user", "content": "hello"}]


# --- what the provider says ---


def _message(*content: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "out_1",
        "type": "message",
        "role": "assistant",
        "status": "completed" if content else "in_progress",
        "content": list(content),
    }


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def _response(status: str, *output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m-1",
        "status": status,
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if status == "in_progress" else {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
        **more,
    }


WHOLE: dict[str, Any] = {
    CHAT: {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "one two"}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    },
    RESPONSES: _response("completed", _message(_output_text("one two"))),
    MESSAGES: {
        "id": "a1",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [{"type": "text", "text": "one two"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 2},
    },
    GEMINI: {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": "one two"}]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
        "modelVersion": "m-1",
        "responseId": "g1",
    },
}
"""A healthy answer of each API."""


def _chat_chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [choice]}


def _gemini_chunk(text: str, **more: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0, **more}
    return {"candidates": [candidate], "modelVersion": "m-1", "responseId": "g1"}


_PLACE = {"item_id": "out_1", "output_index": 0, "content_index": 0}
_EVENTS: dict[str, list[dict[str, Any]]] = {
    CHAT: [
        _chat_chunk({"role": "assistant", "content": "one "}),
        _chat_chunk({"content": "two"}),
        _chat_chunk({}, "stop"),
    ],
    RESPONSES: [
        {"type": "response.created", "response": _response("in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": _message()},
        {"type": "response.content_part.added", **_PLACE, "part": _output_text("")},
        {"type": "response.output_text.delta", **_PLACE, "delta": "one ", "logprobs": []},
        {"type": "response.output_text.delta", **_PLACE, "delta": "two", "logprobs": []},
        {"type": "response.output_text.done", **_PLACE, "text": "one two", "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": _message(_output_text("one two"))},
        {"type": "response.completed", "response": WHOLE[RESPONSES]},
    ],
    MESSAGES: [
        {"type": "message_start", "message": {**WHOLE[MESSAGES], "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "one "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "two"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 2},
        },
        {"type": "message_stop"},
    ],
    GEMINI: [_gemini_chunk("one "), _gemini_chunk("two"), _gemini_chunk("", finishReason="STOP")],
}
for _number, _event in enumerate(_EVENTS[RESPONSES]):
    _event["sequence_number"] = _number

CHUNKS = {api: len(events) for api, events in _EVENTS.items()}
"""How many chunks the application gets of a whole stream."""
FIRST_TEXT = {CHAT: 1, RESPONSES: 4, MESSAGES: 3, GEMINI: 1}
"""How many chunks have come when the first text is there."""


def events(api: str) -> list[dict[str, Any]]:
    """The events of a healthy stream."""
    return list(_EVENTS[api])


def lines(api: str, said: Iterable[dict[str, Any]], end: bool = True) -> list[str]:
    """Server-sent events as lines; chat ends with a marker."""
    out: list[str] = []
    for event in said:
        if api in (RESPONSES, MESSAGES):
            out.append(f"event: {event['type']}")
        out += [f"data: {json.dumps(event)}", ""]
    return [*out, "data: [DONE]", ""] if end and api == CHAT else out


def whole(api: str, **changes: Any) -> Reply:
    """A healthy answer, or one with top-level fields changed."""
    return Reply(json={**WHOLE[api], **changes})


def streamed(api: str, said: Sequence[dict[str, Any]] | None = None, **options: Any) -> Reply:
    """A healthy stream, or the one that is given."""
    return Reply(sse=lines(api, events(api) if said is None else said, not options), **options)


def cut(api: str) -> Reply:
    """The connection breaks after the first text."""
    return streamed(api, events(api)[: FIRST_TEXT[api]], action="cut_mid_stream")


def stalled(api: str, after: int | None = None) -> Reply:
    """Silence after the first text, until the provider's `release` is set; then the rest comes."""
    seen = FIRST_TEXT[api] if after is None else after
    said = events(api)
    return Reply(sse=lines(api, said), pause_before=len(lines(api, said[:seen], False)))


GOOGLE_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def failure(api: str, status: int, code: str = "", message: str = "no", **headers: str) -> Reply:
    """An error answer in the dialect of the API."""
    error: dict[str, Any] = {"message": message}
    if api == GEMINI:
        error.update(code=status, status=code or GOOGLE_STATUS[status])
    else:
        error.update(type=code or "some_error", code=code or None)
    body = {"type": "error", "error": error} if api == MESSAGES else {"error": error}
    return Reply(status, json=body, headers={k.replace("_", "-"): v for k, v in headers.items()})


# --- clients ---


class Clients:
    """Makes clients, and closes them in the end."""

    def __init__(self) -> None:
        self._made: list[Any] = []

    def __call__(self, api: str, url: str, is_async: bool = False, **options: Any) -> Any:
        client = make_client(api, url, is_async, **options)
        self._made.append((api, is_async, client))
        return client

    def close(self) -> None:
        for _, is_async, client in self._made:
            if not is_async:
                (client.close if hasattr(client, "close") else bool)()

    async def aclose(self) -> None:
        for api, is_async, client in self._made:
            if not is_async:
                continue
            if api == GEMINI:
                await client.aio.aclose()
            else:
                await client.close()


def make_client(api: str, url: str, is_async: bool = False, retries: int = 0, **options: Any) -> Any:
    """A client of the API's SDK. Google's has both halves in one."""
    sdk = pytest.importorskip(SDK[api])
    if api == GEMINI:
        # `attempts=1` also switches the unasked retry of the aiohttp transport off
        retry = {"attempts": retries + 1, "initial_delay": 0.001, "max_delay": 0.002, "jitter": 0.001}
        return sdk.Client(api_key="k", http_options={"base_url": url, "retry_options": retry, **options})
    base = url if api == MESSAGES else f"{url}/v1"
    name = ("Async" if is_async else "") + ("Anthropic" if api == MESSAGES else "OpenAI")
    return getattr(sdk, name)(**{"base_url": base, "api_key": "k", "max_retries": retries, **options})


def method(api: str, client: Any, raw: str = "") -> Callable[..., Any]:
    """`create` or its equal, bound; `raw` may be `with_raw_response` or `with_streaming_response`."""
    if api == GEMINI:
        return client.models.generate_content
    resource = {
        CHAT: lambda: client.chat.completions,
        RESPONSES: lambda: client.responses,
        MESSAGES: lambda: client.messages,
    }[api]()
    return (getattr(resource, raw) if raw else resource).create


def asked(api: str, **more: Any) -> dict[str, Any]:
    """The arguments of a small request."""
    if api == GEMINI:
        return {"model": "m", "contents": "hello", **more}
    if api == RESPONSES:
        return {"model": "m", "input": "hello", **more}
    limit = {"max_tokens": 9} if api == MESSAGES else {}
    return {"model": "m", "messages": ASK, **limit, **more}


def call(api: str, client: Any, **more: Any) -> Any:
    """One plain call; awaitable for an async client (Google: pass `client.aio`)."""
    return method(api, client)(**asked(api, **more))


def stream(api: str, client: Any, **more: Any) -> Any:
    """One streamed call; awaitable for an async client (Google: pass `client.aio`)."""
    if api == GEMINI:
        return client.models.generate_content_stream(**asked(api, **more))
    return method(api, client)(**asked(api, stream=True, **more))


def half(api: str, client: Any) -> Any:
    """The async half of an async client."""
    return client.aio if api == GEMINI else client


def text(api: str, result: Any) -> str:
    """The text of a whole answer."""
    if api == CHAT:
        return str(result.choices[0].message.content)
    return str(
        {RESPONSES: lambda: result.output_text, MESSAGES: lambda: result.content[0].text, GEMINI: lambda: result.text}[
            api
        ]()
    )


# --- waiting ---


def until(condition: Callable[[], Any]) -> Any:
    """The condition's value once it is true; fails after some seconds."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        threading.Event().wait(0.002)
    return value


def collected(condition: Callable[[], Any]) -> Any:
    """The same, with a garbage collection before each look."""

    def look() -> Any:
        for generation in range(3):
            gc.collect(generation)
            if value := condition():
                return value
        return None

    return until(look)
