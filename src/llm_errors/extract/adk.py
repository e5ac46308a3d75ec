"""Reads what google-adk returns: `LlmResponse`, the answer of any model. It also knows ADK's call limit and names of models.

ADK's model classes fill the response differently. `Gemini` sets an error code only if there is no content, `LiteLlm` sets one
for every unhealthy end, and `Claude` never sets one. Therefore the finish reason is judged before the error code. The final
response of a stream repeats the partial responses, so only the final one is judged.
"""

import os
from typing import Any

from llm_errors import providers
from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, finish_of, suspect, usage
from llm_errors.extract.fields import field, items, number, printable, text
from llm_errors.extract.google import FINISH_REASONS

DIALECT = "google"
NATURAL = frozenset(("STOP", ""))
EMPTY_CODES = frozenset(("MODEL_RETURNED_NO_CONTENT", "STOP", ""))
"""Error codes that releases of ADK use for an empty answer. The empty string means that there is no code."""
_UNKNOWN, _NO_CANDIDATE = "UNKNOWN_ERROR", "Unknown error."
"""The error code and the message of ADK 1 for an answer without a candidate. With any other message, the code is an error."""
BLOCKS = frozenset(("SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK"))
"""Block reasons of a prompt. ADK reports them as an error code without a finish reason."""
_ENDS = FINISH_REASONS | BLOCKS | {"STOP"}
_PARTS = (
    *("function_call", "function_response", "executable_code", "code_execution_result", "inline_data", "file_data"),
    *("functionCall", "functionResponse", "executableCode", "codeExecutionResult", "inlineData", "fileData"),
)
_SIGNALS = (
    *("turn_complete", "turnComplete", "interrupted", "go_away", "goAway", "voice_activity", "voiceActivity"),
    *("live_session_resumption_update", "liveSessionResumptionUpdate", "author", "usage_metadata", "usageMetadata"),
)
"""Fields of responses that are healthy without content: signals, the usage of a live session, and events of the framework."""
_BESIDE = (
    *("grounding_metadata", "groundingMetadata", "input_transcription", "inputTranscription"),
    *("output_transcription", "outputTranscription"),
)
"""Fields that make a response an answer, even if it has no content."""
_OTHERS = ("choices", "candidates")
_GEMINI = "gcp.gemini"
_RESOURCES = frozenset(("endpoints", "locations", "models", "projects", "publishers", "tunedmodels"))
"""First parts of Google's resource names. In the name of a model, they are not a provider prefix of LiteLLM."""


def provider_of(model: str) -> str:
    """The provider of a model, from its name in ADK or the prefix that LiteLLM uses."""
    known = providers.provider_of_model(model) if model else providers.provider(_GEMINI)
    if known is not None and known.name == _GEMINI:
        vertex = os.environ.get("GOOGLE_GENAI_USE_VERTEXAI", "").lower() in ("1", "true")
        return "gcp.vertex_ai" if vertex else known.name
    if known is not None:
        return known.name
    prefix, slash, _ = model.lower().partition("/")
    named = slash and prefix and prefix not in _RESOURCES
    return getattr(providers.provider(prefix), "name", prefix) if named else "other"


def model_of(agent: Any) -> str:
    """The name of an agent's model. The agent has the name itself, or an object with the name."""
    model = field(agent, "model")
    return text(model, 256) if isinstance(model, str) else text(field(model, "model"), 256)


def is_call_limit(exc: BaseException) -> bool:
    """Whether ADK raised this exception because the run has reached `max_llm_calls`."""
    return type(exc).__name__ == "LlmCallsLimitExceededError"


class LlmResponseReader:
    """Reads ADK's `LlmResponse`, and its subclass `Event`."""

    def whole(self, result: Any) -> Answer:
        """Read one response."""
        chunks = LlmResponseChunks()
        chunks.chunk(result)
        return chunks.end()

    def chunks(self) -> "LlmResponseChunks":
        """Return a state that reads a streamed answer."""
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
        """Read one response."""
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
        """The answer after the last response."""
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
    """Whether the response contains anything but thoughts and white space."""
    for part in items(field(field(response, "content"), "parts")):
        if any(field(part, name) is not None for name in _PARTS):
            return True
        if field(part, "thought") is not True and text(field(part, "text"), 1024).strip():
            return True
    return field(response, *_BESIDE) is not None


def is_response(result: Any) -> bool:
    """Whether the object is a response of ADK.

    The fields that its class declares decide; for plain JSON, fields that only ADK has.
    """
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
    """Evidence of a failure in one response. A partial response is not judged, and an event of the framework may be empty."""
    found = LlmResponseReader().whole(response).suspicion
    if field(response, "partial") is True:
        return None
    if found is None or "empty" not in found.facts or found.finish_reason:
        return found
    signal = field(response, *_SIGNALS) is not None
    return None if signal and field(response, "error_code", "errorCode") is None else found
