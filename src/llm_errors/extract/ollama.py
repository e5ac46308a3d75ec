"""Reads chats and generated texts of Ollama's own API.

An answer is whole or a stream of lines, and is an SDK object or JSON.
"""

from typing import Any

from llm_errors.extract.answer import Answer, Identity, finish_of, identity, nothing, suspect, unexpected, usage
from llm_errors.extract.fields import field, is_object
from llm_errors.extract.openai_chat import NATURAL

DIALECT = "ollama"
_LOADING = frozenset(("load", "unload"))
"""Finish reasons of a request that only loads or unloads a model. Its answer has no text."""
_CONTENT = ("content", "response", "tool_calls", "image", "images")


class OllamaReader:
    """Reads answers with `done_reason` and `message`, or with `response` or `image` instead of `message`."""

    def whole(self, result: Any) -> Answer:
        """Read the object as a stream of one line."""
        if not is_object(result) or field(result, "message", "response", "image", "done") is None:
            return unexpected(DIALECT, result)
        chunks = OllamaChunks(ended=True)
        chunks.chunk(result)
        answer = chunks.end()
        is_empty = answer.suspicion is not None and "empty" in answer.suspicion.facts
        return answer._replace(suspicion=nothing(DIALECT, result, *answer.finish_reasons)) if is_empty else answer

    def chunks(self) -> "OllamaChunks":
        """Return a state that reads a streamed answer."""
        return OllamaChunks()


class OllamaChunks:
    """The state of one stream of lines. The last line has `done` and the finish reason."""

    __slots__ = ("_content", "_finish", "_identity", "_thought", "_tokens", "done")

    def __init__(self, ended: bool = False) -> None:
        self.done = ended
        self._content = self._thought = False
        self._finish = ""
        self._identity: Identity = {}
        self._tokens: tuple[int | None, int | None] = (None, None)

    def chunk(self, chunk: Any) -> bool:
        """Read one line: look for content until some is found; read everything else from the last line."""
        if not self._content:
            message = field(chunk, "message") or chunk
            self._content = any(field(message, name) for name in _CONTENT)
            self._thought = self._thought or bool(field(message, "thinking"))
        if field(chunk, "done") or self.done:
            self.done = True
            self._finish = finish_of(chunk, "done_reason")
            self._identity = identity(chunk)
            self._tokens = usage(chunk, "prompt_eval_count", "eval_count")
        return self.done

    def end(self) -> Answer:
        """Judge the answer in this order: the finish reason, an empty answer, a missing end."""
        suspicion = None
        if self._finish and self._finish not in NATURAL:
            facts = ("only_reasoning",) if self._thought and not self._content else ()
            suspicion = suspect(DIALECT, "unnatural_finish", *facts, finish_reason=self._finish)
        elif not self._content and self._finish not in _LOADING:
            suspicion = suspect(DIALECT, "empty", finish_reason=self._finish)
        elif not self.done:
            suspicion = suspect(DIALECT, "no_end")
        return Answer(
            suspicion,
            **self._identity,
            finish_reasons=(self._finish,) if self._finish else () if self.done else ("error",),
            input_tokens=self._tokens[0],
            output_tokens=self._tokens[1],
        )
