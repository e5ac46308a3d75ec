"""Writes answers and errors in the wire formats of OpenAI, Anthropic and Gemini, plain and streamed.

This module needs the standard library only.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from llm_errors.testing.provider import Reply

SOON: Final = {"retry-after-ms": "20"}
"""A header that asks the OpenAI and Anthropic SDKs to retry after 20 ms, so that tests and the demo need not wait."""

Fields = Mapping[str, Any]


# --- OpenAI: chat completions -----------------------------------------------------------------------------------------
def openai_answer(content: str | None, finish: str = "stop", **message: Any) -> Reply:
    """A whole answer of OpenAI. Keywords add fields to the message, such as `tool_calls` and `refusal`."""
    content_message = {"role": "assistant", "content": content, **message}
    return Reply(json={**_completion("chat.completion"), "choices": [_choice("message", content_message, finish)]})


def openai_stream(words: Iterable[str], finish: str | None = "stop", **how: Any) -> Reply:
    """A streamed answer of OpenAI. Keywords are fields of the `Reply`, such as `action`.

    With `finish=None` the stream stops without an end.
    """
    deltas = [_choice("delta", {"content": word}, None) for word in words]
    if finish is not None:
        deltas.append(_choice("delta", {}, finish))
    chunks = [{**_completion("chat.completion.chunk"), "choices": [delta]} for delta in deltas]
    end = ["data: [DONE]", ""] if finish is not None else []
    return Reply(sse=[*_data_lines(chunks), *end], **how)


def openai_error(status: int, code: str | None, kind: str, message: str, **how: Any) -> Reply:
    """An error of OpenAI. Keywords are fields of the `Reply`, such as `headers`."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return Reply(status, json={"error": error}, **how)


def openai_call(name: str, arguments: str) -> Fields:
    """A tool call for the message of `openai_answer`. `arguments` is a JSON text."""
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


def _completion(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "gpt-5-mini"}


def _choice(part: str, content: Fields, finish: str | None) -> Fields:
    return {"index": 0, part: content, "finish_reason": finish}


# --- Anthropic: messages ----------------------------------------------------------------------------------------------
def anthropic_answer(text: str, stop: str = "end_turn") -> Reply:
    """A whole answer of Anthropic."""
    content = [{"type": "text", "text": text}] if text else []
    return Reply(json={**_message(content), "stop_reason": stop})


def anthropic_stream(words: Iterable[str], stop: str | None = "end_turn", error: Fields | None = None) -> Reply:
    """A streamed answer of Anthropic. If `error` is given, the stream ends with this error event instead of a regular end."""
    start: Fields = {"type": "message_start", "message": {**_message([]), "stop_reason": None}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    deltas = [_anthropic_delta(word) for word in words]
    if error is not None:
        return Reply(sse=_event_lines([start, block, *deltas, error]))
    end: Fields = {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 9},
    }
    tail = [{"type": "content_block_stop", "index": 0}, end, {"type": "message_stop"}]
    return Reply(sse=_event_lines([start, block, *deltas, *tail]))


def anthropic_error(status: int, kind: str, message: str, **how: Any) -> Reply:
    """An error of Anthropic. Keywords are fields of the `Reply`, such as `headers`."""
    return Reply(status, json=anthropic_error_body(kind, message), **how)


def anthropic_error_body(kind: str, message: str) -> Fields:
    """The JSON of an error of Anthropic, which can be a body or an event of a stream."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def _message(content: Sequence[Fields]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": content,
        "stop_sequence": None,
        "usage": {"input_tokens": 21, "output_tokens": 1},
    }


def _anthropic_delta(word: str) -> Fields:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}


# --- Gemini: generateContent ------------------------------------------------------------------------------------------
def gemini_answer(text: str, finish: str = "STOP") -> Reply:
    """A whole answer of Gemini."""
    return Reply(json=_generated(text, finish))


def gemini_stream(words: Iterable[str], finish: str = "STOP") -> Reply:
    """A streamed answer of Gemini. The last chunk contains the finish reason and no text."""
    return Reply(sse=_data_lines([*(_generated(word, None) for word in words), _generated("", finish)]))


def gemini_blocked(reason: str) -> Reply:
    """The answer of Gemini to a blocked prompt. It contains a block reason and no candidate."""
    return Reply(json={"promptFeedback": {"blockReason": reason}, "modelVersion": "gemini-3-flash"})


def gemini_error(status: int, name: str, message: str, details: Iterable[Fields] = ()) -> Reply:
    """An error of Gemini."""
    error = {"code": status, "message": message, "status": name, "details": list(details)}
    return Reply(status, json={"error": error})


def _generated(text: str, finish: str | None) -> Fields:
    content = {"role": "model", "parts": [{"text": text}]} if text else {"role": "model"}
    candidate = {"index": 0, "content": content, **({"finishReason": finish} if finish else {})}
    return {"candidates": [candidate], "modelVersion": "gemini-3-flash", "responseId": "r1"}


# --- server-sent events -----------------------------------------------------------------------------------------------
def _data_lines(chunks: Iterable[Fields]) -> list[str]:
    return [line for chunk in chunks for line in (f"data: {json.dumps(chunk)}", "")]


def _event_lines(events: Iterable[Fields]) -> list[str]:
    return [line for e in events for line in (f"event: {e['type']}", f"data: {json.dumps(e)}", "")]
