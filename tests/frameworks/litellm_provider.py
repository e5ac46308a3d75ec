"""What the providers behind litellm answer, and one call of litellm over each of its roads: an SDK, or its own HTTP handler."""

import json
import os
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import asks the network for prices
litellm = pytest.importorskip("litellm")
litellm.suppress_debug_info = True
litellm.telemetry = False

from llm_errors.testing.provider import Reply  # noqa: E402

ASK = [{"role": "user", "content": "hello"}]
OPENAI, ANTHROPIC, GEMINI, BEDROCK = "openai/m", "anthropic/m", "gemini/m", "bedrock/converse/m"
MODELS = (OPENAI, ANTHROPIC, GEMINI)
VENDOR = {OPENAI: "openai", ANTHROPIC: "anthropic", GEMINI: "gcp.gemini", BEDROCK: "aws.bedrock"}
IN_BAND = {
    (OPENAI, "length"): "TRUNCATED/max_tokens",
    (OPENAI, "content_filter"): "OUTPUT_BLOCKED/content_filter",
    (ANTHROPIC, "refusal"): "OUTPUT_BLOCKED/refusal",
    (ANTHROPIC, "max_tokens"): "TRUNCATED/max_tokens",
    (ANTHROPIC, "model_context_window_exceeded"): "TRUNCATED/context_window",
    (GEMINI, "MALFORMED_FUNCTION_CALL"): "TOOL_PROTOCOL/malformed_call",
    (GEMINI, "SAFETY"): "OUTPUT_BLOCKED/safety",
    (GEMINI, "RECITATION"): "OUTPUT_BLOCKED/recitation",
}
"""Finish reasons in the provider's own words. litellm makes three of all of them, or `stop`; dspy knows five."""


def whole(model: str, text: str = "one two", finish: str = "") -> dict[str, Any]:
    """An answer of a provider."""
    if model == OPENAI:
        choice = {"index": 0, "finish_reason": finish or "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        return {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m-1",
            "choices": [choice],
            "usage": usage,
        }
    if model == ANTHROPIC:
        content = [{"type": "text", "text": text}] if text else []
        usage = {"input_tokens": 3, "output_tokens": 2}
        return {"id": "a1", "type": "message", "role": "assistant", "model": "m-1", "content": content,
                "stop_reason": finish or "end_turn", "stop_sequence": None, "usage": usage}  # fmt: skip
    if model == GEMINI:
        parts = {"content": {"role": "model", "parts": [{"text": text}]}} if text else {}
        usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
        return {"candidates": [{**parts, "finishReason": finish or "STOP", "index": 0}], "usageMetadata": usage,
                "modelVersion": "m-1", "responseId": "g1"}  # fmt: skip
    message = {"role": "assistant", "content": [{"text": text}] if text else []}
    usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    return {
        "output": {"message": message},
        "stopReason": finish or "end_turn",
        "usage": usage,
        "metrics": {"latencyMs": 1},
    }


def events(model: str, finish: str = "", *, end: bool = True) -> list[dict[str, Any]]:
    """The events of a stream. Without an end, it stops after the text."""
    if model == OPENAI:
        deltas = [({"role": "assistant", "content": "one "}, None), ({"content": "two"}, None), ({}, finish or "stop")]
        return [
            {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m-1",
             "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
            for delta, reason in deltas[: 3 if end else 2]
        ]  # fmt: skip
    if model == ANTHROPIC:
        begin = {**whole(model, ""), "stop_reason": None}
        delta = {"stop_reason": finish or "end_turn", "stop_sequence": None}
        said: list[dict[str, Any]] = [
            {"type": "message_start", "message": begin},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "one "}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "two"}},
        ]
        last = [{"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 2}}, {"type": "message_stop"}]  # fmt: skip
        return said + (last if end else [])
    first, last_one = whole(model, "one "), whole(model, "two", finish)
    del first["candidates"][0]["finishReason"]
    if not end:
        del last_one["candidates"][0]["finishReason"]
    return [first, last_one]


def lines(model: str, said: list[dict[str, Any]], *, end: bool = True) -> list[str]:
    """Server-sent events."""
    out: list[str] = []
    for event in said:
        if model == ANTHROPIC:
            out.append(f"event: {event['type']}")
        out += [f"data: {json.dumps(event)}", ""]
    return [*out, "data: [DONE]", ""] if model == OPENAI and end else out


def streamed(model: str, finish: str = "") -> Reply:
    """A whole stream."""
    return Reply(sse=lines(model, events(model, finish)), chunked=True)


def error(model: str, status: int, kind: str, message: str = "m") -> Reply:
    """An error of a provider."""
    if model == ANTHROPIC:
        return Reply(status=status, json={"type": "error", "error": {"type": kind, "message": message}})
    if model == GEMINI:
        return Reply(status=status, json={"error": {"code": status, "message": message, "status": kind}})
    return Reply(status=status, json={"error": {"message": message, "type": "t", "code": kind}})


def given(model: str, url: str, **more: Any) -> dict[str, Any]:
    """The arguments of a call."""
    base = {OPENAI: f"{url}/v1", GEMINI: f"{url}/v1beta"}.get(model, url)
    return {"model": model, "messages": ASK, "api_base": base, "api_key": "k", "timeout": 30, "max_retries": 0, **more}
