"""Reads answers of Amazon Bedrock's Converse API, whole or as a stream of events. boto3 returns both as plain dictionaries."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, embedded_error, suspect, unexpected, usage
from llm_errors.extract.fields import field, items, text
from llm_errors.extract.guardrail import guardrail_stage

DIALECT = "bedrock"
NATURAL = frozenset(("end_turn", "tool_use", "stop_sequence"))
_EXCEPTION = "Exception"
"""The end of the name of every error event in a stream, such as `throttlingException`."""


class ConverseReader:
    """Reads answers with `output` and `stopReason`."""

    def whole(self, result: Any) -> Answer:
        """Read the stop reason, the trace of the guardrail, and the content."""
        message = field(field(result, "output"), "message") if isinstance(result, dict) else None
        if message is None:
            return unexpected(DIALECT, result)
        chunks = ConverseChunks()
        chunks.content(items(field(message, "content")))
        chunks.chunk({"messageStop": result, "metadata": result})
        return chunks.end()

    def chunks(self) -> "ConverseChunks":
        """Return a state that reads a streamed answer."""
        return ConverseChunks()


class ConverseChunks:
    """The state of one stream of Converse events."""

    __slots__ = ("_content", "_error", "_stage", "_stop", "_thought", "_tokens", "done")

    def __init__(self) -> None:
        self.done = False
        self._content = self._thought = False
        self._stop = ""
        self._stage: list[str] = []
        self._error: Evidence | None = None
        self._tokens: tuple[int | None, int | None] = (None, None)

    def chunk(self, chunk: Any) -> bool:
        """Read one event: a dictionary whose only key is the name of the event. The metadata event is the last one."""
        block = field(field(chunk, "contentBlockDelta"), "delta") or field(field(chunk, "contentBlockStart"), "start")
        self.content([block] if block is not None else [])
        stopped = field(chunk, "messageStop")
        if stopped is not None:
            self._stop = text(field(stopped, "stopReason"), 64)
            self.done = bool(self._stop)
        metadata = field(chunk, "metadata")
        if metadata is not None:
            self._tokens = usage(field(metadata, "usage"), "inputTokens", "outputTokens")
            self._stage = guardrail_stage(metadata)
        for name in list(chunk)[:4] if isinstance(chunk, dict) else ():
            if str(name).endswith(_EXCEPTION) and self._error is None:
                error = {"code": name, "message": field(chunk[name], "message")}
                self._error = embedded_error(DIALECT, {"error": error}, "error")
        return self.done and metadata is not None

    def content(self, blocks: list[Any]) -> None:
        """Read blocks of content, which may be whole or parts of a stream."""
        for block in blocks:
            kinds = set(block) if isinstance(block, dict) else set()
            self._thought = self._thought or "reasoningContent" in kinds
            self._content = self._content or bool(field(block, "text")) or bool(kinds - {"text", "reasoningContent"})

    def end(self) -> Answer:
        """Judge the answer in this order: an error, the stop reason, an empty answer, a missing end."""
        finish = (self._stop or "error",)
        return Answer(
            self._error or self._judged(),
            finish_reasons=finish,
            input_tokens=self._tokens[0],
            output_tokens=self._tokens[1],
        )

    def _judged(self) -> Evidence | None:
        if self._stop and self._stop not in NATURAL:
            reasoned = ["only_reasoning"] if self._thought and not self._content else []
            return suspect(DIALECT, "unnatural_finish", *reasoned, *self._stage, finish_reason=self._stop)
        if not self._content:
            return suspect(DIALECT, "empty", finish_reason=self._stop)
        return None if self.done else suspect(DIALECT, "no_end")
