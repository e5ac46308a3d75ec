"""Makes an answer, an error or an exception of one value, and classifies it as a call would."""

import inspect
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from llm_errors import classify
from llm_errors.classify import decide
from llm_errors.evidence import Classification, Evidence
from llm_errors.extract import orq, results, vellum
from llm_errors.extract.answer import Answer, InDialect, Reader
from llm_errors.extract.letta import LETTA
from llm_errors.extract.tasks import TASKS
from llm_errors.extract.tgi import TextGenerationReader
from llm_errors.extract.vendors import REKA, REPLICATE, TWELVELABS

Probe = Callable[[str], Classification | None]
"""From a value to its classification; None if the call is healthy."""

FALLBACKS = (
    *("common.fallback.", "common.finish.unrecognised", "common.unexpected_body", "common.unreadable"),
    "google.block.unrecognised",
)
"""Beginnings of the ids of rules that decide what no other rule knows."""
STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 501, 502, 503, 504, 520, 529)
_SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}


def is_decided(verdict: Classification | None) -> bool:
    """Whether a rule decided, and not a fallback. A healthy answer is decided."""
    return verdict is None or not verdict.rule.startswith(FALLBACKS)


def of(answer: Answer) -> Classification | None:
    """The classification of an answer that was read."""
    return answer.suspicion and decide(answer.suspicion)


def _answer(reader: Reader, make: Callable[[str], dict[str, Any]]) -> Probe:
    return lambda value: of(reader.whole(make(value)))


def chat(dialect: str) -> Probe:
    """A choice of a chat completion with this finish reason."""
    said = {"role": "assistant", "content": "hi"}
    return _answer(
        InDialect(results.CHAT, dialect), lambda v: {"choices": [{"index": 0, "message": said, "finish_reason": v}]}
    )


def code(dialect: str) -> Probe:
    """An error with this code, in an answer that names no status."""
    return lambda v: decide(Evidence(dialect=dialect, codes=(v,), embedded=True))


messages = _answer(
    results.MESSAGES, lambda v: {"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": v}
)
response_status = _answer(results.RESPONSES, lambda v: {"status": v, "output": [_SAID]})
response_reason = _answer(
    results.RESPONSES, lambda v: {"status": "incomplete", "incomplete_details": {"reason": v}, "output": [_SAID]}
)
_SPOKEN = [{"type": "message", "content": [{"type": "output_audio", "transcript": "hi"}]}]
realtime_status = _answer(results.REALTIME, lambda v: {"status": v, "output": _SPOKEN})


def realtime_reason(value: str) -> Classification | None:
    """A reason in the details of a realtime response. Those of a cancelled one are no failures; the names of statuses repeat it."""
    status = "cancelled" if value in ("turn_detected", "client_cancelled") else "incomplete"
    status = value if value in ("completed", "cancelled", "failed") else status
    return of(results.REALTIME.whole({"status": status, "status_details": {"reason": value}, "output": _SPOKEN}))


def live_turn(value: str) -> Classification | None:
    """A reason with which a turn of a Live session ends."""
    content = SimpleNamespace(
        model_turn={"parts": [{"text": "hi"}]},
        output_transcription=None,
        interrupted=None,
        turn_complete=True,
        turn_complete_reason=value,
    )
    chunks = results.LIVE.chunks()
    chunks.chunk(SimpleNamespace(server_content=content, tool_call=None, usage_metadata=None))
    return of(chunks.end())


run_status = _answer(results.RUNS, lambda v: {"status": v})
gemini_finish = _answer(
    results.GENERATE_CONTENT,
    lambda v: {"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finish_reason": v}]},
)
gemini_block = _answer(results.GENERATE_CONTENT, lambda v: {"prompt_feedback": {"block_reason": v}})
interaction = _answer(
    results.INTERACTIONS, lambda v: {"id": "i", "status": v, "steps": [{"type": "text", "text": "hi"}]}
)
cohere = _answer(
    results.COHERE, lambda v: {"id": "i", "message": {"content": [{"type": "text", "text": "hi"}]}, "finish_reason": v}
)
cohere_v1 = _answer(results.COHERE_V1, lambda v: {"text": "hi", "finish_reason": v})
generated_text = _answer(
    TextGenerationReader(), lambda v: {"generated_text": "hi", "details": {"finish_reason": v, "generated_tokens": 1}}
)
prediction = _answer(REPLICATE, lambda v: {"id": "p", "status": v})
task = _answer(TASKS, lambda v: {"id": "t", "status": v})
reka = _answer(REKA, lambda v: {"responses": [{"finish_reason": v, "message": {"role": "assistant", "content": "hi"}}]})
twelvelabs = _answer(TWELVELABS, lambda v: {"data": "hi", "finish_reason": v})
agent_task = _answer(orq.AGENT, lambda v: {"id": "t", "kind": "task", "status": {"state": v}})
orq_finish = _answer(orq.AGENT, lambda v: {"output": [{"parts": [{"kind": "text", "text": "hi"}]}], "finish_reason": v})
vellum_code = _answer(vellum.PROMPT, lambda v: {"state": "REJECTED", "error": {"code": v, "message": "m"}})
vellum_finish = _answer(
    vellum.PROMPT,
    lambda v: {"state": "FULFILLED", "outputs": [{"type": "STRING", "value": "hi"}], "meta": {"finish_reason": v}},
)
agent_stop = _answer(LETTA, lambda v: {"messages": [], "stop_reason": {"stop_reason": v}})
agent_run = _answer(LETTA, lambda v: {"id": "r", "agent_id": "a", "status": "failed", "stop_reason": v})
converse = _answer(
    results.CONVERSE,
    lambda v: {"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}}, "stopReason": v},
)


def raised(cls: type[Exception]) -> Iterator[Classification | None]:
    """What an exception of this class is: by the class alone, or else with each status or an error that it may carry."""
    by_class, kept = classify(_made(cls)), _kept(cls)
    if not is_decided(by_class) and kept & {"status_code", "response", "raw_response", "code"}:
        yield from (classify(_with_status(cls, status)) for status in STATUSES)
    elif not is_decided(by_class) and "body" in kept:
        yield classify(_with_error(cls))
    else:
        yield by_class


def _made(cls: type[Exception]) -> Exception:
    try:
        return cls(body={"message": "m"})  # cohere's set their status when they are made
    except Exception:
        return cls.__new__(cls)


def _kept(cls: type[Exception]) -> set[str]:
    """What an object of the class holds, as its constructor and its annotations say."""
    named: set[str] = set()
    for base in cls.__mro__:
        if base.__module__ != "builtins":
            named |= {*inspect.get_annotations(base), *_parameters(base)}
    return named


def _parameters(cls: type) -> list[str]:
    try:
        return list(inspect.signature(cls.__init__).parameters)
    except (TypeError, ValueError):
        return []


def _with_status(cls: type[Exception], status: int) -> Exception:
    made = cls.__new__(cls)
    response = SimpleNamespace(status_code=status, headers={})
    for name, value in (("status_code", status), ("response", response), ("raw_response", response)):
        try:
            setattr(made, name, value)
        except AttributeError:  # a property that reads another of them
            continue
    return made


def _with_error(cls: type[Exception]) -> Exception:
    made = cls.__new__(cls)
    made.body = {"type": "rate_limit_error", "message": "m"}  # type: ignore[attr-defined]
    return made
