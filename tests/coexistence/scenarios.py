"""The calls of an application and what goes wrong in them: per API a client, one call each way, and replies on the wire."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llm_errors.testing.provider import Reply

from .peers import ANTHROPIC, GOOGLE, OPENAI, RESPONSES


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

SCENARIOS = {OPENAI: _CHAT, RESPONSES: _RESPONSES, ANTHROPIC: _ANTHROPIC, GOOGLE: _GOOGLE}


# --- the application's calls -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What the application saw."""

    texts: tuple[str, ...]
    raised: str


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
            return Outcome(tuple(seen), type(error).__name__)
        return Outcome(tuple(seen), "")

    async def call_async(self, streamed: bool) -> Outcome:
        """One call of the async client."""
        seen: list[str] = []
        try:
            async with self._client(asynchronous=True) as client:
                result = await self._start(client, streamed)
                if streamed:
                    async for piece in result:
                        seen.append(str(_said(piece)))
                else:
                    seen.append(str(_said(result)))
        except Exception as error:
            return Outcome(tuple(seen), type(error).__name__)
        return Outcome(tuple(seen), "")

    def _client(self, *, asynchronous: bool) -> Any:
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

    def _start(self, client: Any, streamed: bool) -> Any:
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
    return piece.model_dump(exclude={"sdk_http_response": True, "id": True, "response": {"id"}})
