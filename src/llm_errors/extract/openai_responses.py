"""Reads answers of the Responses API of the openai dialect, whole or as a stream of events."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import (
    Answer,
    Identity,
    embedded_error,
    identity,
    suspect,
    unexpected,
    usage,
)
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, is_json, items, text

DIALECT = "openai"
RUNNING = frozenset(("in_progress", "queued"))
_BY_CALLER = "steered"
"""The reason of an incomplete answer that the caller replaced with another request."""
_TERMINAL = frozenset(("response.completed", "response.failed", "response.incomplete", "response.cancelled", "error"))


class ResponsesReader:
    """Reads answers with `output` and `status`."""

    def whole(self, result: Any) -> Answer:
        """Read the status, the error and every output item."""
        status = text(field(result, "status"), 64) if not isinstance(result, str | bytes) else ""
        output = field(result, "output")
        if not status and not isinstance(output, list | tuple):
            return unexpected(DIALECT, result)
        reason = text(field(field(result, "incomplete_details"), "reason"), 64)
        tokens = usage(field(result, "usage"), "input_tokens", "output_tokens")
        return Answer(
            _judge(result, status, reason, items(output)),
            **identity(result),
            finish_reasons=(reason or status or "error",),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
        )

    def chunks(self) -> "ResponsesChunks":
        """Return a state that reads a streamed answer."""
        return ResponsesChunks(self)


def _judge(result: Any, status: str, reason: str, output: list[Any]) -> Evidence | None:
    error = field(result, "error")
    if error is not None:
        return embedded_error(DIALECT, error if isinstance(error, str) else {"error": error}, status)
    if status == "incomplete" and reason != _BY_CALLER:
        facts = ["unnatural_finish", *(["only_reasoning"] if _only_reasoning(output) else [])]
        return suspect(DIALECT, *facts, finish_reason=reason or status)
    if status in RUNNING or status in ("cancelled", "incomplete"):  # a job still runs, or the caller ended the answer
        return None
    if status not in ("completed", ""):
        return suspect(DIALECT, "unnatural_finish", finish_reason=status)
    facts = _item_facts(output)
    if facts:
        return suspect(DIALECT, *facts, finish_reason=status)
    return None if _has_content(output) else suspect(DIALECT, "empty", finish_reason=status)


def _only_reasoning(output: list[Any]) -> bool:
    return bool(output) and not _has_content(output) and text(field(output[0], "type"), 64) == "reasoning"


def _item_facts(output: list[Any]) -> list[str]:
    facts = []
    for item in output:
        if any(text(field(part, "type")) == "refusal" for part in items(field(item, "content"))):
            facts.append("refusal")
        arguments = field(item, "arguments") if text(field(item, "type")) == "function_call" else None
        if isinstance(arguments, str) and arguments.strip() and not is_json(arguments):
            facts.append("invalid_arguments")
    return facts


def _has_content(output: list[Any]) -> bool:
    """Whether any item is anything other than reasoning or an empty message."""
    for item in output:
        kind = text(field(item, "type"))
        if kind == "message":
            if any(
                field(part, "text", "refusal", "type") not in (None, "", "output_text")
                for part in items(field(item, "content"))
            ):
                return True
        elif kind != "reasoning":
            return True
    return False


class ResponsesChunks:
    """The state of one stream of Responses events. Only the content of the terminal event is read."""

    __slots__ = ("_answer", "_content", "_identity", "_reader", "_refusal", "_seen", "done")

    def __init__(self, reader: ResponsesReader) -> None:
        self.done = False
        self._reader = reader
        self._answer: Answer | None = None
        self._identity: Identity = {}
        self._content = self._refusal = self._seen = False

    def chunk(self, chunk: Any) -> bool:
        """Read the type of one event, and the content of the terminal event, which is the last one."""
        kind = getattr(chunk, "type", None) if type(chunk) is not dict else chunk.get("type")
        self._seen = True
        if kind == "response.output_text.delta":
            self._content = True
        elif not isinstance(kind, str):
            self._untyped(chunk)
        elif kind in _TERMINAL:
            self._terminal(kind, chunk)
        elif kind == "response.created":
            self._identity = identity(field(chunk, "response"))
        elif kind == "response.refusal.delta":
            self._refusal = True
        elif kind == "response.output_item.done" and not self._content:
            self._content = _has_content([field(chunk, "item")])
        return self.done

    def _untyped(self, chunk: Any) -> None:
        """Read an event without a type, which may be an error of a compatible server."""
        error = told_error(chunk)
        if error is not None:
            self._failed(error)

    def _terminal(self, kind: str, chunk: Any) -> None:
        self.done = True
        if kind == "error":
            self._failed(chunk)
        else:
            self._answer = self._reader.whole(field(chunk, "response"))

    def _failed(self, raw: Any) -> None:
        self.done = True
        error = embedded_error(DIALECT, raw, "error")
        self._answer = Answer(error, **self._identity, finish_reasons=("error",))

    def end(self) -> Answer:
        """The answer in the terminal event. Without such an event, the answer is a refusal, is cut off, or is empty."""
        answer = self._answer
        if answer is not None and not (self._content and answer.suspicion and "empty" in answer.suspicion.facts):
            return answer
        if answer is not None:  # the terminal event does not repeat the output
            return Answer(
                None, answer.model, answer.id, answer.finish_reasons, answer.input_tokens, answer.output_tokens
            )
        fact = "refusal" if self._refusal else "no_end" if self._content else "empty"
        finish = ("error",) if self._seen else ()
        return Answer(suspect(DIALECT, fact), **self._identity, finish_reasons=finish)
