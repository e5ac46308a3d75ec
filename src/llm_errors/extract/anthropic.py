"""Reads messages of the anthropic dialect. A message is whole, or arrives as a stream of events."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, Identity, embedded_error, finish_of, identity, suspect, unexpected, usage
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, items, shown, text
from llm_errors.extract.guardrail import guardrail_stage

DIALECT = "anthropic"
NATURAL = frozenset(["end_turn", "stop_sequence", "tool_use", "pause_turn", "compaction", "stop"])
"""Stop reasons of a healthy answer. `pause_turn` asks the caller to continue."""
_THOUGHTS = frozenset(("thinking", "redacted_thinking"))
_EMPTY = _THOUGHTS | {"text"}
"""Types of content blocks that count as content only if they have a text."""


class MessagesReader:
    """Reads answers with `content` and `stop_reason`."""

    def whole(self, result: Any) -> Answer:
        """Read the stop reason and the content."""
        content = field(result, "content") if not isinstance(result, str | bytes) else None
        if not isinstance(content, list | tuple):
            return unexpected(DIALECT, result)
        stop = finish_of(result, "stop_reason")
        blocks = items(content)
        tokens = usage(field(result, "usage"), "input_tokens", "output_tokens")
        return Answer(
            _judge(stop, any(map(_is_content, blocks)), _is_thought(blocks), ended=True, answer=result),
            **identity(result),
            finish_reasons=(stop,) if stop else (),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
        )

    def chunks(self) -> "MessagesChunks":
        """Return a state that reads a streamed answer."""
        return MessagesChunks()


def _is_content(block: Any) -> bool:
    return bool(field(block, "text")) or text(field(block, "type")) not in {"", *_EMPTY}


def _is_thought(blocks: list[Any]) -> bool:
    return any(text(field(block, "type"), 64) in _THOUGHTS for block in blocks)


def _judge(stop: str, content: bool, thought: bool, ended: bool, answer: Any = None) -> Evidence | None:
    if stop and stop not in NATURAL:
        facts = ["unnatural_finish", *(["only_reasoning"] if thought and not content else [])]
        if stop == "guardrail_intervened":
            facts += guardrail_stage(shown(answer))
        return suspect(DIALECT, *facts, finish_reason=stop)
    if not content and stop != "pause_turn":
        return suspect(DIALECT, "empty", finish_reason=stop)
    return None if ended else suspect(DIALECT, "no_end")


class MessagesChunks:
    """The state of one stream of Messages events."""

    __slots__ = ("_content", "_error", "_identity", "_input", "_output", "_seen", "_stop", "_thought", "done")

    def __init__(self) -> None:
        self.done = False
        self._content = self._seen = self._thought = False
        self._stop = ""
        self._identity: Identity = {}
        self._input: int | None = None
        self._output: int | None = None
        self._error: Evidence | None = None

    def chunk(self, chunk: Any) -> bool:
        """Read the type of one event, and the content of the events that decide the outcome.

        An application may stop reading after the stop reason, so the answer is `done` then. The result is true only for the
        last event.
        """
        kind = getattr(chunk, "type", None) if type(chunk) is not dict else chunk.get("type")
        if kind == "content_block_delta":
            if not self._content:
                delta = field(chunk, "delta")
                self._content = bool(field(delta, "text", "partial_json", "citation"))
        elif kind == "content_block_start":
            block = field(chunk, "content_block")
            self._content = self._content or _is_content(block)
            self._thought = self._thought or _is_thought([block])
        else:
            return self._turning_point(kind, chunk)
        return False

    def _turning_point(self, kind: Any, chunk: Any) -> bool:
        self._seen = True
        if kind == "message_delta":
            self._stop = finish_of(field(chunk, "delta"), "stop_reason") or self._stop
            self._output = usage(field(chunk, "usage"), "input_tokens", "output_tokens")[1]
            self.done = bool(self._stop)
        elif kind == "message_start":
            message = field(chunk, "message")
            self._identity = identity(message)
            self._input = usage(field(message, "usage"), "input_tokens", "output_tokens")[0]
        elif kind == "message_stop":
            self.done = True
        else:
            told = chunk if kind == "error" else told_error(chunk) if kind is None else None
            if told is not None:
                self._error = self._error or embedded_error(DIALECT, told, "error")
        return bool(kind == "message_stop")

    def end(self) -> Answer:
        """Judge the answer in this order: an error, the stop reason, an empty answer, a missing end."""
        ended = self.done or bool(self._stop)
        finish = (self._stop,) if self._stop else ("error",) if self._seen else ()
        return Answer(
            self._error or _judge(self._stop, self._content, self._thought, ended),
            **self._identity,
            finish_reasons=finish,
            input_tokens=self._input,
            output_tokens=self._output,
        )
