"""Reads answers of orq.ai's deployments and agents, converted to chat completions. Its router sends chat completions itself."""

from typing import Any

from llm_errors.extract.answer import Answer, suspect
from llm_errors.extract.fields import field, items, text
from llm_errors.extract.openai_chat import ChatReader
from llm_errors.extract.reshaped import Reshaped, chat
from llm_errors.extract.tasks import FAILED_CODE

_CHAT = ChatReader()


def _used(result: Any) -> tuple[Any, Any]:
    used = field(result, "usage")
    return field(used, "prompt_tokens"), field(used, "completion_tokens")


def _deployment(streamed: bool) -> Any:
    def shape(result: Any) -> Any:
        first = next(iter(items(field(result, "choices"))), None)
        if first is None:
            return None
        said = field(first, "message")
        ended = not streamed or field(result, "is_final") is True
        return chat(
            field(first, "finish_reason") or ("stop" if ended else None),
            field(said, "content", "url"),
            tools=field(said, "tool_calls"),
            streamed=streamed,
            usage=_used(result),
            model=field(result, "model"),
            answer_id=field(result, "id"),
        )

    return shape


class DeploymentReader(Reshaped):
    """Reads answers of deployments. A deployment may also accept a call and return nothing, which is healthy."""

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        return Answer() if result is None else super().whole(result)


def _parts(messages: Any) -> list[Any]:
    return [part for message in items(messages)[-4:] for part in items(field(message, "parts"))]


def _agent(result: Any) -> Any:
    output = field(result, "output")
    if output is None:
        return None
    return chat(
        field(result, "finish_reason") or "stop",
        "parts" if _parts(output) or field(result, "finish_reason") is None else None,  # the agent may still run
        tools=field(result, "pending_tool_calls"),
        usage=_used(result),
        model=field(result, "model"),
        answer_id=field(result, "id"),
    )


_ENDS = ("response.done", "event.agents.inactive")
_ERRORS = ("response.failed", "event.agents.errored", "agents.error", "agents.timeout")
_WRITES = ("part.delta", "part.done", "event.agents.thought", "event.agents.message-created")


def _agent_event(event: Any) -> Any:
    kind, data = text(field(event, "type"), 32), field(event, "data")
    if kind in _ERRORS:
        code = "timeout" if kind == "agents.timeout" else field(data, "code")
        if isinstance(code, float) and code.is_integer():  # the SDK converts every number to a float
            code = int(code)
        return {"error": {"code": code, "message": field(data, "error", "message")}}
    if kind not in _ENDS:
        return chat(None, "part" if kind in _WRITES else None, streamed=True) if kind else None
    return chat(
        field(data, "finish_reason", "finishReason") or "stop",
        field(data, "last_message", "lastMessage"),
        tools=field(data, "pending_tool_calls", "pendingToolCalls"),
        streamed=True,
        usage=_used(data),
    )


class AgentReader(Reshaped):
    """Reads the answer of an agent, or the task that an agent continues in the background."""

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        if text(field(result, "kind"), 8) != "task":
            return super().whole(result)
        status = field(result, "status")
        state, told = text(field(status, "state"), 32), _parts([field(status, "message")])
        said = next((text(field(part, "error")) for part in told if field(part, "error") is not None), "")
        found = None
        if state in _FAILED:
            found = suspect("openai", codes=(FAILED_CODE,), finish_reason=state, message=said)
        elif state not in (*_OPEN, "completed"):
            found = suspect("openai", "unnatural_finish", finish_reason=state)
        return Answer(found, id=text(field(result, "id"), 256), finish_reasons=() if state in _OPEN else (state,))


_FAILED = ("failed", "rejected")
_OPEN = ("submitted", "working", "input-required", "auth-required", "canceled")
"""States of a task that has neither failed nor completed. A task that the caller cancelled has not failed."""


DEPLOYMENT = DeploymentReader(_CHAT, _deployment(False), _deployment(True))
AGENT = AgentReader(_CHAT, _agent, _agent_event)
