"""Reads `generateContent` answers of the google dialect. An answer is whole or streamed, and is an SDK object or JSON."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, Identity, finish_of, suspect, unexpected, usage
from llm_errors.extract.fields import field, items, number, text

DIALECT = "google"
NATURAL = frozenset(("STOP", ""))
FINISH_REASONS = frozenset(
    (
        *("MAX_TOKENS", "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
        *("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"),
        *("MALFORMED_RESPONSE", "MODEL_ARMOR", "NO_IMAGE", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"),
        *("IMAGE_RECITATION", "IMAGE_OTHER", "CONTINUATION", "ESCALATION", "PUP_LIMITED_DISABLED"),
    )
)
"""Finish reasons that mean a failure. Gateways repeat them in answers of other dialects."""
_CONTENT = (
    "text", "function_call", "functionCall", "inline_data", "inlineData", "file_data", "fileData",
    "executable_code", "executableCode", "code_execution_result", "codeExecutionResult", "tool_call", "toolCall",
)  # fmt: skip


class GenerateContentReader:
    """Reads answers with `candidates`, or with `prompt_feedback` instead."""

    def whole(self, result: Any) -> Answer:
        """Read every candidate, or the prompt feedback if there is none."""
        chunks = GenerateContentChunks(streamed=False)
        if isinstance(result, str | bytes | int | float | list | tuple) or not _is_answer(result):
            return unexpected(DIALECT, result)
        chunks.chunk(result)
        return chunks.end()

    def chunks(self) -> "GenerateContentChunks":
        """Return a state that reads a streamed answer."""
        return GenerateContentChunks()


_KNOWN = ("candidates", "prompt_feedback", "promptFeedback", "usage_metadata", "usageMetadata")
_FIELDS = frozenset(
    (*_KNOWN, "model_version", "modelVersion", "response_id", "responseId", "sdk_http_response", "sdkHttpResponse")
)


def _is_answer(result: Any) -> bool:
    """Whether the object is an answer.

    An empty dict is an empty answer. A dict with other fields must also have a field such as `candidates`.
    """
    if field(result, *_KNOWN) is not None or not isinstance(result, dict):
        return field(result, "error") is None
    return _FIELDS.issuperset(result)


class GenerateContentChunks:
    """The state of one answer, chunk by chunk."""

    __slots__ = ("_block", "_content", "_finish", "_identity", "_seen", "_streamed", "_thought", "_tokens", "done")

    def __init__(self, streamed: bool = True) -> None:
        self.done = False
        self._streamed = streamed
        self._content = self._seen = self._thought = False
        self._block = ""
        self._finish: dict[int, str] = {}
        self._identity: Identity = {}
        self._tokens: tuple[int | None, int | None] = (None, None)

    @property
    def has_content(self) -> bool:
        """Whether any text, call or media arrived."""
        return self._content

    def chunk(self, chunk: Any) -> None:
        """Read one chunk."""
        self._seen = True
        for candidate in items(field(chunk, "candidates")):
            index = number(field(candidate, "index")) or 0
            reason = finish_of(candidate, "finish_reason", "finishReason")
            if reason or index not in self._finish:
                self._finish[index] = reason
            if not self._content:
                self._content = has_content(field(candidate, "content"))
                self._thought = self._thought or _has_thought(candidate)
        feedback = field(chunk, "prompt_feedback", "promptFeedback")
        if feedback is not None:
            self._block = text(field(feedback, "block_reason", "blockReason"), 64) or self._block
        self.done = bool(self._block) or (bool(self._finish) and all(self._finish.values()))
        self._keep_identity(chunk)

    def _keep_identity(self, chunk: Any) -> None:
        model = text(field(chunk, "model_version", "modelVersion"), 256)
        self._identity = {"model": model, "id": text(field(chunk, "response_id", "responseId"), 256)}
        metadata = field(chunk, "usage_metadata", "usageMetadata")
        if metadata is not None:
            self._thought = self._thought or bool(number(field(metadata, "thoughts_token_count", "thoughtsTokenCount")))
            snake = usage(metadata, "prompt_token_count", "candidates_token_count")
            camel = usage(metadata, "promptTokenCount", "candidatesTokenCount")
            self._tokens = (
                snake[0] if snake[0] is not None else camel[0],
                snake[1] if snake[1] is not None else camel[1],
            )

    def end(self) -> Answer:
        """Judge the answer in this order: a finish reason, the block reason, an empty answer, a missing end."""
        due = "error" if self._streamed else ""
        return Answer(
            self._suspicion(),
            **self._identity,
            finish_reasons=tuple(r or due for r in self._finish.values() if r or due),
            input_tokens=self._tokens[0],
            output_tokens=self._tokens[1],
        )

    def _suspicion(self) -> Evidence | None:
        unhealthy = next((self._finish[i] for i in sorted(self._finish) if self._finish[i] not in NATURAL), "")
        if unhealthy:
            facts = ["unnatural_finish", *(["only_reasoning"] if self._thought and not self._content else [])]
            return suspect(DIALECT, *facts, finish_reason=unhealthy)
        if self._block and not self._finish:
            return suspect(DIALECT, "blocked", block_reason=self._block)
        if not self._content:
            return suspect(DIALECT, "empty", finish_reason=next((r for r in self._finish.values() if r), ""))
        return suspect(DIALECT, "no_end") if self._streamed and not all(self._finish.values()) else None


def _has_thought(candidate: Any) -> bool:
    return any(field(part, "thought") is True for part in items(field(field(candidate, "content"), "parts")))


def has_content(content: Any) -> bool:
    """Whether the content of a candidate contains anything but thoughts."""
    for part in items(field(content, "parts")):
        if field(part, "thought") is True:
            continue
        if any(field(part, name) not in (None, "") for name in _CONTENT):
            return True
    return False
