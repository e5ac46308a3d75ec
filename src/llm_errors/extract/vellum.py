"""Reads answers of Vellum's prompts and workflows, converted to chat completions. Their state tells whether they failed."""

from typing import Any

from llm_errors.extract.fields import field, is_object, items, text
from llm_errors.extract.openai_chat import ChatReader
from llm_errors.extract.reshaped import Reshaped, chat

_FULFILLED, _REJECTED = "FULFILLED", "REJECTED"
_CANCELLED = ("WORKFLOW_CANCELLED", "NODE_CANCELLED")
"""Codes of a workflow that was cancelled, which is no failure."""


def _finish(meta: Any) -> str:
    """The finish reason. If it was not requested, it is absent and counts as `stop`.

    `UNKNOWN`, which Vellum writes for a reason that it has no name for, counts as `stop` too.
    """
    finish = text(field(meta, "finish_reason"), 64)
    return "stop" if finish in ("", "UNKNOWN") else finish.lower()


def _error(told: Any) -> dict[str, Any]:
    return {"error": {"code": field(told, "code"), "message": field(told, "message")}}


def _value(output: Any) -> Any:
    """The value of an output, which may be a text, a function that the model calls, a thought, or media."""
    return field(output, "value")


def _state(streamed: bool) -> Any:
    def shape(result: Any) -> Any:
        state = text(field(result, "state"), 16)
        if not state:
            return None
        outputs, told = items(field(result, "outputs")), field(result, "error")
        failed = [_value(one) for one in outputs if text(field(one, "type"), 16) == "ERROR"]
        if state == _REJECTED and text(field(told, "code"), 64) not in _CANCELLED:
            return _error(told)
        if failed:
            return _error(failed[0])
        ended, meta = state in (_FULFILLED, _REJECTED), field(result, "meta")
        used = field(meta, "usage")
        said = "value" if state == _REJECTED or any(map(_value, outputs)) or _value(field(result, "output")) else None
        return chat(
            _finish(meta) if ended else None,
            said,
            streamed=streamed,
            usage=(field(used, "input_token_count"), field(used, "output_token_count")),
            model=field(meta, "model_name"),
            answer_id=field(result, "execution_id", "id"),
        )

    return shape


_whole, _event = _state(False), _state(True)


def _workflow(result: Any) -> Any:
    return _whole(field(result, "data"))


def _workflow_event(event: Any) -> Any:
    """Convert an event of a workflow. Events of its nodes only count as content: they do not tell how the workflow ends."""
    kind = text(field(event, "type"), 16)
    return _event(field(event, "data")) if kind == "WORKFLOW" else chat(None, "node", streamed=True) if kind else None


def _generated(result: Any) -> Any:
    """Convert the first result of several requests, or the only result in an event of a stream."""
    delta = field(result, "delta")
    first = next(iter(items(field(result, "results"))), delta)
    if not is_object(first):
        return None
    told, data = field(first, "error"), field(first, "data")
    if told is not None:  # it has only a message, from the provider of the model
        return {"error": {"code": "PROVIDER_ERROR", "message": field(told, "message")}}
    done = field(data, "completion") or next(iter(items(field(data, "completions"))), None)
    finish = None if delta is not None and field(done, "finish_reason") is None else _finish(done)
    return chat(finish, field(done, "text"), streamed=delta is not None, answer_id=field(done, "id"))


_CHAT = ChatReader()
PROMPT, WORKFLOW = Reshaped(_CHAT, _whole, _event), Reshaped(_CHAT, _workflow, _workflow_event)
GENERATED = Reshaped(_CHAT, _generated, _generated)
