"""A small application per SDK, to be run under `opentelemetry-instrument`, and what the telemetry must say of each of its calls.

Each step is one call: its name is also the name of the model, on the span and the counts. The test plays the replies of the steps,
one after another, and the application makes the calls (`python -m tests.sdks.scripts SDK URL`).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from llm_errors.testing.provider import Reply


class Step(NamedTuple):
    """One call, the reply to it, and its outcome: `ok`, or class and reason."""

    name: str
    call: Callable[[Any, str], Any]
    reply: Reply
    outcome: str = "ok"


class Script(NamedTuple):
    """The package that must be installed, the client of a URL, and the steps. Not every SDK names a model as it is given one."""

    package: str
    client: Callable[[str], Any]
    steps: tuple[Step, ...]
    named: bool = True
    prefix: str = ""

    @property
    def models(self) -> list[str | None]:
        """The model of each step, as its span names it."""
        return [self.prefix + step.name if self.named else None for step in self.steps]


SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
HELLO = [{"role": "user", "content": "hi"}]
TOOL = {"type": "function", "function": {"name": "look", "description": "looks", "parameters": SCHEMA}}
_USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
_CALLED = {"id": "t", "type": "function", "function": {"name": "look", "arguments": '{"at": "x"}'}}
OVERLOADED = {"error": {"message": "m", "type": "server_error", "code": "server_error"}}


def _completion(kind: str, choice: Mapping[str, Any]) -> dict[str, Any]:
    whole = {"id": "c", "object": kind, "created": 1, "model": "m", "system_fingerprint": "f"}
    return {**whole, "choices": [{"index": 0, **choice}]}


def chat(content: str | None = "hi", finish: str = "stop", **message: Any) -> Reply:
    """A chat completion of OpenAI's kind."""
    said = {"role": "assistant", "content": content, **message}
    return Reply(json={**_completion("chat.completion", {"message": said, "finish_reason": finish}), "usage": _USAGE})


def called() -> Reply:
    """One with a call of a tool."""
    return chat(None, "tool_calls", tool_calls=[_CALLED])


def delta(content: str, finish: str | None = None) -> dict[str, Any]:
    """A chunk of a streamed one."""
    said = {"role": "assistant", "content": content}
    return _completion("chat.completion.chunk", {"delta": said, "finish_reason": finish})


def lines(*events: Any, done: bool = True, named: bool = False) -> Reply:
    """An event stream."""
    sent = [
        line for e in events for line in (*([f"event: {e['type']}"] if named else []), f"data: {json.dumps(e)}", "")
    ]
    return Reply(sse=[*sent, *(["data: [DONE]", ""] if done else [])])


def vectors() -> Reply:
    """Embeddings of OpenAI's kind."""
    data = [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}]
    return Reply(json={"id": "e", "object": "list", "model": "m", "data": data, "usage": _USAGE})


def error(status: int, **body: Any) -> Reply:
    """An error whose SDK must not wait for another attempt."""
    return Reply(status, json=body, headers={"x-should-retry": "false"})


def openai_like(create: Callable[..., Any], embed: Callable[[Any, str], Any] | None = None) -> tuple[Step, ...]:
    """The steps of an SDK with OpenAI's chat completions: `create` takes the client and the arguments of the call."""

    def asking(**more: Any) -> Callable[[Any, str], Any]:
        return lambda client, model: create(client, model=model, messages=HELLO, **more)

    schema = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA}}
    happy = (
        Step("plain", asking(), chat()),
        Step("stream", asking(stream=True), lines(delta("hi"), delta("", "stop"))),
        Step("tools", asking(tools=[TOOL]), called()),
        Step("structured", asking(response_format=schema), chat('{"at": "x"}')),
        *((Step("embeddings", embed, vectors()),) if embed else ()),
    )
    broken = lines(delta("hi"), OVERLOADED, done=False)
    return (
        *happy,
        Step("thrown", asking(), error(401, error={"message": "m", "code": "invalid_api_key"}), "AUTH/invalid_key"),
        Step("in-band", asking(), chat("hi", "length"), "TRUNCATED/max_tokens"),
        Step("mid-stream", asking(stream=True), broken, "SERVER/internal"),
    )
