"""Reads answers of Hugging Face's servers for text generation, which are whole or the lines of an event stream."""

import re
from dataclasses import replace
from typing import Any

from llm_errors.extract.answer import Answer, Chunks, Reader, embedded_error, suspect, unexpected
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, is_object, items, number, parsed, text
from llm_errors.extract.openai_chat import NATURAL

DIALECT = "openai"
_UNFINISHED = re.compile(r'"(?:finish_reason|details)"\s*:\s*null')
_DATA = "data:"
_END = "[DONE]"
_KEPT = 16_384
"""If a body arrives instead of an event stream, about this number of its characters are kept."""


class TextGenerationReader:
    """Reads an answer with `generated_text`, or the first one in a list."""

    def whole(self, result: Any) -> Answer:
        """Read the text, and the finish reason, which servers only send if the request asks for details."""
        first = next(iter(items(result)), result)
        if not is_object(first) or field(first, "generated_text") is None:
            return unexpected(DIALECT, result)
        chunks = TextGenerationChunks()
        chunks.chunk(first)
        chunks.done = True
        return chunks.end()

    def chunks(self) -> "TextGenerationChunks":
        """Return a state that reads a streamed answer."""
        return TextGenerationChunks()


class TextGenerationChunks:
    """The state of one stream of tokens. The last token contains the details, with the finish reason."""

    __slots__ = ("_content", "_finish", "_written", "done")

    def __init__(self) -> None:
        self.done = self._content = False
        self._finish = ""
        self._written: int | None = None

    def chunk(self, chunk: Any) -> None:
        """Read one token."""
        whole, details = field(chunk, "generated_text"), field(chunk, "details")
        self._content = self._content or bool(field(field(chunk, "token"), "text") or whole)
        self.done = self.done or whole is not None or details is not None
        self._finish = text(field(details, "finish_reason"), 64) or self._finish
        self._written = number(field(details, "generated_tokens")) or self._written

    def end(self) -> Answer:
        """Judge the answer in this order: the finish reason, an empty answer, a missing end."""
        suspicion = None
        if self._finish and self._finish not in NATURAL:
            suspicion = suspect(DIALECT, "unnatural_finish", finish_reason=self._finish)
        elif not self._content:
            suspicion = suspect(DIALECT, "empty", finish_reason=self._finish)
        elif not self.done:
            suspicion = suspect(DIALECT, "no_end")
        finish = (self._finish,) if self._finish else () if self.done else ("error",)
        return Answer(suspicion, finish_reasons=finish, output_tokens=self._written)


class LinesReader:
    """Reads JSON texts, and event streams line by line. `reader` reads the JSON objects."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def whole(self, result: Any) -> Answer:
        """Parse the JSON text and read it."""
        return self._reader.whole(parsed(result))

    def chunks(self) -> "LinesChunks":
        """Return a state that reads a streamed answer."""
        return LinesChunks(self._reader.chunks())


class LinesChunks:
    """The state of one stream of lines. After the first lines, only lines with an error or a finish reason are parsed.

    The SDK raises an exception for a line with an error, and stops at the line with the end marker.
    """

    __slots__ = ("_chunks", "_error", "_instead", "_read", "done")

    def __init__(self, chunks: Chunks) -> None:
        self.done = False
        self._chunks = chunks
        self._error: Answer | None = None
        self._instead: list[str] = []
        self._read = 0

    def chunk(self, line: str) -> bool:
        """Read one line."""
        if not line.startswith(_DATA):
            if not self._read and sum(map(len, self._instead)) < _KEPT:
                self._instead.append(line[:_KEPT])
            return False
        body = line[len(_DATA) :].strip()
        if body == _END:
            self.done = True
        elif self._read < 3 or '"error"' in body or not _UNFINISHED.search(body):
            self._parse(body)
        self._read += 1
        return self.done

    def _parse(self, body: str) -> None:
        value = parsed(body)
        error = told_error(value) if is_object(value) else None
        if error is not None:
            evidence = replace(embedded_error(DIALECT, error), channel="thrown")
            self._error, self.done = Answer(evidence, finish_reasons=("error",)), True
        else:
            self._chunks.chunk(value)

    def end(self) -> Answer:
        """Judge the answer in this order: an error in a line, a body that arrived instead of a stream, the parsed lines."""
        if self._error is None and not self._read and any(self._instead):
            return unexpected(DIALECT, parsed("\n".join(self._instead)))
        return self._error or self._chunks.end()
