"""Reads answers of Bedrock's InvokeModel and of SageMaker endpoints. Each family of models has its own JSON format.

The fields of an answer show its family. An answer with unknown fields, for example of an imported model, is healthy.
"""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, Chunks, Reader, embedded_error, finish_of, suspect, unexpected
from llm_errors.extract.anthropic import MessagesReader
from llm_errors.extract.bedrock import DIALECT, ConverseReader
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, is_object, items, parsed
from llm_errors.extract.guardrail import guardrail_stage, has_only_masked
from llm_errors.extract.openai_chat import ChatReader

_MESSAGES, _CHAT, _CONVERSE = MessagesReader(), ChatReader(), ConverseReader()

NATURAL = frozenset(
    (
        *("finish", "finished", "stop", "stop_criteria_met", "stop_sequence", "stop_sequences", "end_turn"),
        *("endoftext", "eos", "eos_token", "complete", "success", "tool_use", "tool_call", "tool_calls"),
    )
)
"""Finish reasons of a healthy answer in all families, in lower case."""
_LISTS = ("results", "outputs", "completions", "generations", "choices", "artifacts")
"""Fields with a list of answers, one for each family that can return several: Titan, Mistral, Jurassic, Command, DeepSeek,
Stable Diffusion.
"""
_TEXTS = ("outputText", "generation", "text", "completion", "generated_text", "message", "base64", "delta")
_FINISH = ("completionReason", "stop_reason", "finish_reason", "finishReason")
_VECTORS = ("embedding", "embeddings", "embeddingsByType", "images", "video", "videos")
_FILTERED = "Filter reason: "
"""The beginning of a finish reason with which Stability's image models report that they blocked something. The rest of the
reason names what was blocked: the prompt, or an output.
"""


def guardrail(answer: Any) -> Evidence | None:
    """Evidence that a guardrail blocked, or None. If the guardrail only masked parts of the answer, the answer has passed."""
    if field(answer, "amazon-bedrock-guardrailAction") != "INTERVENED" or has_only_masked(answer):
        return None
    return suspect(DIALECT, "unnatural_finish", *guardrail_stage(answer), finish_reason="guardrail_intervened")


class InvokeReader:
    """Reads whole answers, and streams in which each event contains one JSON text."""

    def whole(self, result: Any) -> Answer:
        """Read the answer with the reader of its family."""
        if not is_object(result) and not isinstance(result, list):
            return unexpected(DIALECT, result)
        blocked = guardrail(result)
        if blocked is not None:
            return Answer(blocked, finish_reasons=(blocked.finish_reason,))
        reader = _reader_of(result, "message")
        if reader is not None:
            return reader.whole(result)
        error = told_error(result)
        if error is not None:
            return Answer(embedded_error(DIALECT, error))
        family = _Family()
        family.chunk(result)
        return family.end()

    def chunks(self) -> "InvokeChunks":
        """Return a state that reads a streamed answer."""
        return InvokeChunks()


def _reader_of(answer: Any, message: str) -> Reader | None:
    """The reader for a family that uses the format of another API: Claude, models with OpenAI's format, or Nova. Else None."""
    if field(answer, "type") == "message" and isinstance(field(answer, "content"), list):
        return _MESSAGES
    choices = items(field(answer, "choices"))
    if choices and field(choices[0], message) is not None:
        return _CHAT
    return _CONVERSE if field(field(answer, "output"), "message") is not None else None


class _Family:
    """The state of an answer, whole or in parts, of any family with a format of its own.

    The answer has a text and a finish reason; their field names differ between the families.
    """

    __slots__ = ("_content", "_finish", "_known", "_seen", "_stages", "done")

    def __init__(self) -> None:
        self.done = self._content = self._known = self._seen = False
        self._finish: list[str] = []
        self._stages: list[str] = []

    def chunk(self, answer: Any) -> None:
        """Read one object, the objects in its lists, and the finish reasons of its images."""
        self._seen = self._seen or bool(answer)
        listed = next((found for name in _LISTS if (found := items(field(answer, name)))), None)
        parts = listed or (items(answer) if isinstance(answer, list) else [answer])
        for part in parts[:64]:
            content = field(part, *_TEXTS)
            content = field(field(part, "data"), "text") if content is None else content
            self._known = self._known or content is not None or any(name in _VECTORS for name in _names(part))
            self._content = self._content or bool(content) or bool(field(part, "tool_calls") or field(part, *_VECTORS))
            ended = field(part, *_FINISH) or field(field(part, "details"), *_FINISH)
            finish = finish_of({"reason": ended if isinstance(ended, str) else field(ended, "reason")}, "reason")
            self._finish += [finish] if finish else []
        for reason in items(field(answer, "finish_reasons"))[:64]:
            if isinstance(reason, str):
                self._stages += ["output_stage" if "output" in reason else "input_stage"]
                self._finish.append(
                    "content_filtered" if reason.startswith(_FILTERED) else finish_of({"r": reason}, "r")
                )
        self.done = bool(self._finish)

    def end(self, cut: str = "") -> Answer:
        """Judge the answer in this order: the finish reason, an empty answer, a missing end.

        An object with unknown fields is healthy. `cut` is the fact to report for a missing end; a whole answer needs no end.
        """
        if self._seen and not self._known and not self._finish:
            return Answer()
        finish = tuple(self._finish) or (("error",) if cut else ())
        odd = next((reason for reason in self._finish if reason.lower() not in NATURAL), None)
        suspicion = None
        if odd is not None:
            stage = [stage for stage in self._stages[:1] if stage == "input_stage"]
            suspicion = suspect(DIALECT, "unnatural_finish", *stage, finish_reason=odd)
        elif not self._content:
            suspicion = suspect(DIALECT, "empty", finish_reason=next(iter(self._finish), ""))
        elif not self.done and cut:
            suspicion = suspect(DIALECT, cut)
        return Answer(suspicion, finish_reasons=finish)


class InvokeChunks:
    """The state of one stream of events `{"chunk": {"bytes": ...}}`. The first event shows the family."""

    __slots__ = ("_blocked", "_chunks", "_error", "_family", "_known")

    def __init__(self) -> None:
        self._chunks: Chunks | None = None
        self._family = _Family()
        self._blocked: Evidence | None = None
        self._error: Evidence | None = None
        self._known = True

    @property
    def done(self) -> bool:
        """Whether the finish reason was received."""
        return self._blocked is not None or (self._family if self._chunks is None else self._chunks).done

    def chunk(self, chunk: Any) -> bool | None:
        """Read one event. The last one has the metrics of the whole call."""
        answer = parsed(field(field(chunk, "chunk", "PayloadPart"), "bytes", "Bytes"))
        if not isinstance(answer, dict):
            self._known = False  # an endpoint of the user may split a JSON text anywhere
            return None
        self._blocked = self._blocked or guardrail(answer)
        if self._chunks is None:
            reader = _stream_reader_of(answer)
            self._chunks = reader.chunks() if reader is not None else None
        if self._chunks is not None:
            self._chunks.chunk(answer)
        else:
            error = told_error(answer)
            self._error = self._error or (embedded_error(DIALECT, error, "error") if error is not None else None)
            self._family.chunk(answer)
        return self.done and "amazon-bedrock-invocationMetrics" in answer

    def end(self) -> Answer:
        """Judge the answer in this order: the guardrail, an error, the answer as read by the reader of the family."""
        found = self._blocked or self._error
        if found is not None:
            return Answer(found, finish_reasons=(found.finish_reason or "error",))
        if not self._known:
            return Answer()
        return self._family.end("no_end") if self._chunks is None else self._chunks.end()


def _stream_reader_of(answer: Any) -> Reader | None:
    if isinstance(field(answer, "type"), str):
        return _MESSAGES
    names = _names(answer)
    if any(name.startswith(("message", "contentBlock")) and isinstance(answer[name], dict) for name in names):
        return _CONVERSE
    return _reader_of(answer, "delta")


def _names(answer: Any) -> list[str]:
    return [name for name in list(answer)[:16] if isinstance(name, str)] if isinstance(answer, dict) else []
