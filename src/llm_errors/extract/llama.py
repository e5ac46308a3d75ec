"""Reads answers of Meta's Llama API, which are a message or a stream of events. Both are converted to chat completions."""

from typing import Any

from llm_errors.extract.fields import field, items, text
from llm_errors.extract.openai_chat import ChatReader
from llm_errors.extract.reshaped import Reshaped, chat


def _whole(result: Any) -> Any:
    message = field(result, "completion_message")
    if message is None:
        return None
    content = field(message, "content")
    written = content if isinstance(content, str | list) else field(content, "text")
    tools, used = field(message, "tool_calls"), _tokens(result)
    return chat(field(message, "stop_reason"), written, tools=tools, usage=used, answer_id=field(result, "id"))


def _chunk(chunk: Any) -> Any:
    event = field(chunk, "event")
    if event is None:
        return None
    delta = field(event, "delta")
    tools = [delta] if text(field(delta, "type"), 16) == "tool_call" else None
    used, answer_id = _tokens(event), field(chunk, "id")
    return chat(
        field(event, "stop_reason"), field(delta, "text"), tools=tools, streamed=True, usage=used, answer_id=answer_id
    )


def _tokens(holder: Any) -> tuple[Any, Any]:
    """The token counts as integers. Meta sends them as floating-point numbers in a list of metrics."""
    counted = {text(field(m, "metric"), 64): field(m, "value") for m in items(field(holder, "metrics"))[:16]}
    found = (counted.get(f"num_{which}_tokens") for which in ("prompt", "completion"))
    read, written = (int(value) if isinstance(value, int | float) else None for value in found)
    return read, written


LLAMA = Reshaped(ChatReader(), _whole, _chunk)
