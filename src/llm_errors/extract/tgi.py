"""Answers of text generation as Hugging Face's servers write them, and the lines of their event streams."""

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
"""Characters of what came in place of an event stream that are kept."""


class TextGenerationReader:
    """Reads answers with `generated_text`, alone or the first of a list."""

    def whole(self, result: Any) -> Answer:
        """Judge the finish reason, which is there only if it was asked for, and the text."""
        first = next(iter(items(result)), result)
        if not is_object(first) or field(first, "generated_text") is None:
            return unexpected(DIALECT, result)
        chunks = TextGenerationChunks()
        chunks.chunk(first)
        chunks.done = True
        return chunks.end()

    def chunks(self) -> "TextGenerationChunks":
        """A fresh state."""
        return TextGenerationChunks()


class TextGenerationChunks:
    """The state of one stream of tokens, of which the last one comes with the details."""

    __slots__ = ("_content", "_finish", "_written", "done")

    def __init__(self) -> None:
        self.done = self._content = False
        self._finish = ""
        self._written: int | None = None

    def chunk(self, chunk: Any) -> None:
        """Look at one token."""
        whole, details = field(chunk, "generated_text"), field(chunk, "details")
        self._content = self._content or bool(field(field(chunk, "token"), "text") or whole)
        self.done = self.done or whole is not None or details is not None
        self._finish = text(field(details, "finish_reason"), 64) or self._finish
        self._written = number(field(details, "generated_tokens")) or self._written

    def end(self) -> Answer:
        """The finish reason first, then nothing at all, then a missing end."""
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
    """Reads JSON texts, and streams of the lines of an event stream, with a reader of what they hold."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def whole(self, result: Any) -> Answer:
        """Read what the JSON text says."""
        return self._reader.whole(parsed(result))

    def chunks(self) -> "LinesChunks":
        """A fresh state."""
        return LinesChunks(self._reader.chunks())


class LinesChunks:
    """The state of one stream of lines. After the first ones only lines with a turning point are parsed.

    The SDK raises over a line that holds an error, and stops at the line that marks the end.
    """

    __slots__ = ("_chunks", "_error", "_instead", "_read", "done")

    def __init__(self, chunks: Chunks) -> None:
        self.done = False
        self._chunks = chunks
        self._error: Answer | None = None
        self._instead: list[str] = []
        self._read = 0

    def chunk(self, line: str) -> bool:
        """Look at one line."""
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
        said = parsed(body)
        told = told_error(said) if is_object(said) else None
        if told is not None:
            evidence = replace(embedded_error(DIALECT, told), channel="thrown")
            self._error, self.done = Answer(evidence, finish_reasons=("error",)), True
        else:
            self._chunks.chunk(said)

    def end(self) -> Answer:
        """An error first, then what came in place of a stream, then what was seen."""
        if self._error is None and not self._read and any(self._instead):
            return unexpected(DIALECT, parsed("\n".join(self._instead)))
        return self._error or self._chunks.end()
