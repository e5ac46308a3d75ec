"""`LlmResponse` of google-adk: one model answer, whatever model gave it. Finish reason first, ADK's error code second.

ADK's model classes fill it differently: Gemini's sets an error code only where there is no content, LiteLlm's for every
unnatural end, Claude's never. Partial responses of a stream repeat what the final one says, so only that is judged.
"""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, finish_of, suspect, usage
from llm_errors.extract.fields import field, items, number, printable, text
from llm_errors.extract.google import FINISH_REASONS

DIALECT = "google"
NATURAL = frozenset(("STOP", ""))
EMPTY_CODES = frozenset(("MODEL_RETURNED_NO_CONTENT", "STOP", ""))
"""Error codes by which ADK releases have said that an answer holds nothing; the empty string is none at all."""
_UNKNOWN, _NO_CANDIDATE = "UNKNOWN_ERROR", "Unknown error."
"""What ADK 1 said of an answer without a candidate; with another text it is an error."""
BLOCKS = frozenset(("SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK"))
"""Block reasons, which ADK gives as an error code beside no finish reason."""
_ENDS = FINISH_REASONS | BLOCKS | {"STOP"}
_PARTS = (
    *("function_call", "function_response", "executable_code", "code_execution_result", "inline_data", "file_data"),
    *("functionCall", "functionResponse", "executableCode", "codeExecutionResult", "inlineData", "fileData"),
)
_SIGNALS = (
    *("turn_complete", "turnComplete", "interrupted", "go_away", "goAway", "voice_activity", "voiceActivity"),
    *("live_session_resumption_update", "liveSessionResumptionUpdate", "author", "usage_metadata", "usageMetadata"),
)
"""What a response has that need not hold anything: a signal or a bill of a live session, an event of the framework's own."""
_BESIDE = (
    *("grounding_metadata", "groundingMetadata", "input_transcription", "inputTranscription"),
    *("output_transcription", "outputTranscription"),
)
"""What an answer may be beside its content."""
_OTHERS = ("choices", "candidates")


class LlmResponseReader:
    """Reads ADK's `LlmResponse`, and its `Event`, which is one."""

    def whole(self, result: Any) -> Answer:
        """Judge one response."""
        chunks = LlmResponseChunks()
        chunks.chunk(result)
        return chunks.end()

    def chunks(self) -> "LlmResponseChunks":
        """A new state for a streamed answer."""
        return LlmResponseChunks()


class LlmResponseChunks:
    """The responses of one model call."""

    __slots__ = ("_code", "_content", "_finish", "_message", "_model", "_thought", "_tokens", "done")

    def __init__(self) -> None:
        self.done = False
        self._content = self._thought = False
        self._code = self._finish = self._message = self._model = ""
        self._tokens: tuple[int | None, int | None] = (None, None)

    def chunk(self, chunk: Any) -> None:
        """Look at one response."""
        self._content = self._content or has_content(chunk)
        if field(chunk, "partial") is True:
            return
        self._finish = finish_of(chunk, "finish_reason", "finishReason")
        self._code = printable(text(field(chunk, "error_code", "errorCode"), 64))
        self._message = text(field(chunk, "error_message", "errorMessage"))
        self._model = text(field(chunk, "model_version", "modelVersion"), 256)
        self.done = True
        metadata = field(chunk, "usage_metadata", "usageMetadata")
        if metadata is not None:
            self._thought = bool(number(field(metadata, "thoughts_token_count", "thoughtsTokenCount")))
            self._tokens = usage(metadata, "prompt_token_count", "candidates_token_count")

    def end(self) -> Answer:
        """What the call came to."""
        return Answer(
            self._suspicion(),
            model=self._model,
            finish_reasons=(self._finish,) if self._finish else (),
            input_tokens=self._tokens[0],
            output_tokens=self._tokens[1],
        )

    def _suspicion(self) -> Evidence | None:
        if self._finish not in NATURAL:
            facts = ["unnatural_finish", *(["only_reasoning"] if self._thought and not self._content else [])]
            return suspect(DIALECT, *facts, finish_reason=self._finish)
        if self._code in EMPTY_CODES or (self._code == _UNKNOWN and self._message == _NO_CANDIDATE):
            return None if self._content else suspect(DIALECT, "empty", finish_reason=self._finish)
        if self._code == "JSON_PARSE_ERROR":
            return suspect(DIALECT, "invalid_arguments")
        if self._code in BLOCKS and not self._finish:
            return suspect(DIALECT, "blocked", block_reason=self._code)
        return suspect(DIALECT, codes=(self._code,), message=self._message, embedded=True)


def has_content(response: Any) -> bool:
    """Whether the response holds anything but thoughts and white space."""
    for part in items(field(field(response, "content"), "parts")):
        if any(field(part, name) is not None for name in _PARTS):
            return True
        if field(part, "thought") is not True and text(field(part, "text"), 1024).strip():
            return True
    return field(response, *_BESIDE) is not None


def is_response(result: Any) -> bool:
    """Whether it is one of ADK's: by the fields that its class declares, or as plain JSON by those that only ADK has."""
    declared = getattr(type(result), "model_fields", ())
    if isinstance(declared, dict):
        return "turn_complete" in declared and "error_code" in declared
    if not isinstance(result, dict) or field(result, *_OTHERS) is not None:
        return False
    if "turn_complete" in result or "turnComplete" in result or "interrupted" in result:
        return True
    if ("author" in result and "actions" in result) or isinstance(field(field(result, "content"), "parts"), list):
        return True
    if field(result, "error_message") is not None and text(field(result, "error_code"), 64).isupper():
        return True
    names = ("finish_reason", "finishReason", "error_code", "errorCode")
    return any(text(field(result, name), 64) in _ENDS for name in names)


def suspicion_of(response: Any) -> Evidence | None:
    """What is suspect about one response by itself. A part of an answer is not judged, nor is what no model said."""
    found = LlmResponseReader().whole(response).suspicion
    if field(response, "partial") is True:
        return None
    if found is None or "empty" not in found.facts or found.finish_reason:
        return found
    signal = field(response, *_SIGNALS) is not None
    return None if signal and field(response, "error_code", "errorCode") is None else found
