"""What the provider says to a framework, and what a run of it must have left in the telemetry."""

import json
from dataclasses import dataclass, field
from typing import Any

from llm_errors.testing import replies
from llm_errors.testing.provider import Reply

MODEL = "gpt-5-mini"
NO_RETRIES = {"api_key": "k", "max_retries": 0, "timeout": 120.0}
"""Arguments of openai's client."""

ANSWER = replies.openai_answer("hello")
STREAM = replies.openai_stream(["hel", "lo"])
BUSY = replies.openai_error(429, "rate_limit_exceeded", "requests", "Rate limit reached")
DOWN = replies.openai_error(503, None, "server_error", "The server is overloaded")
CUT_SHORT = replies.openai_answer("hel", "length")
FILTERED = replies.openai_answer(None, "content_filter")


def tool_call(name: str = "ping", **arguments: Any) -> Reply:
    """The model calls a tool."""
    call = replies.openai_call(name, json.dumps(arguments))
    return replies.openai_answer(None, "tool_calls", tool_calls=[call])


def streamed_tool_call(name: str = "ping", **arguments: Any) -> Reply:
    """The same in a stream."""
    call = {"index": 0, **replies.openai_call(name, json.dumps(arguments))}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    deltas = [({"role": "assistant", "tool_calls": [call]}, None), ({}, "tool_calls")]
    chunks = [{**head, "choices": [{"index": 0, "delta": d, "finish_reason": f}]} for d, f in deltas]
    return Reply(sse=[*(line for c in chunks for line in (f"data: {json.dumps(c)}", "")), "data: [DONE]", ""])


@dataclass(frozen=True)
class Counts:
    """What a test expects: calls by operation and outcome, errors by class and reason, hidden retries, spans of llm-errors."""

    calls: dict[str, int]
    errors: dict[str, int] = field(default_factory=dict)
    retries: int = 0
    spans: dict[str, int] = field(default_factory=dict)


def counts(observed: Any) -> Counts:
    """What was counted."""
    calls = observed.counts("llm_calls_total", "gen_ai.operation.name", "llm.call.outcome")
    spans: dict[str, int] = {}
    for span in observed.spans():
        if span.instrumentation_scope.name == "llm_errors":
            operation = span.attributes["gen_ai.operation.name"]
            spans[operation] = spans.get(operation, 0) + 1
    return Counts(
        {" ".join(key): n for key, n in calls.items()},
        {"/".join(key): n for key, n in observed.reasons().items()},
        sum(observed.retries().values()),
        spans,
    )


def expected(
    ok: int = 0, failed: int = 0, runs: int = 0, alone: bool = False, retries: int = 0, **errors: int
) -> Counts:
    """Counts without a peer: each chat call and each run that reached a limit has a span of llm-errors.

    `errors` are named `CLASS__reason`.
    """
    calls = {"chat ok": ok, "chat error": failed, "invoke_agent error": runs}
    spans = {"chat": ok + failed, "invoke_agent": runs}
    return Counts(
        {name: n for name, n in calls.items() if n},
        {name.replace("__", "/"): n for name, n in errors.items()},
        retries,
        {} if alone else {name: n for name, n in spans.items() if n},
    )


def marked(telemetry: Any, attribute: str) -> dict[str, Any]:
    """The spans that have an attribute, by name."""
    return {s.name: s.attributes[attribute] for s in telemetry.spans() if attribute in s.attributes}
