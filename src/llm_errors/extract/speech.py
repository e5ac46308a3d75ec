"""Reads speech. A stream consists of pieces of audio, or of events with an end marker. An error may arrive instead."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, embedded_error, suspect
from llm_errors.extract.data import MediaReader
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, text


class SpeechReader(MediaReader):
    """Reads speech. In a stream, an error event and a missing end marker are failures."""

    def chunks(self) -> "SpeechChunks":  # type: ignore[override]
        """Return a state that reads a streamed answer."""
        return SpeechChunks()


class SpeechChunks:
    """The state of one stream of events."""

    __slots__ = ("_content", "_error", "done")

    def __init__(self) -> None:
        self.done = self._content = False
        self._error: Evidence | None = None

    def chunk(self, chunk: Any) -> bool:
        """Read one event."""
        if text(field(chunk, "type"), 16) == "error":
            self._error = self._error or embedded_error("openai", chunk)
        elif field(chunk, "done") is True:
            self.done = True
        else:
            self._content = True
        return self.done

    def end(self) -> Answer:
        """Judge the answer in this order: an error, an empty answer, a missing end."""
        if self._error is not None:
            return Answer(self._error)
        if not self._content:
            return Answer(suspect("openai", "empty"))
        return Answer(None if self.done else suspect("openai", "no_end"))


class AudioReader(MediaReader):
    """Reads audio, as bytes or as objects with pieces of audio. A stream has no end marker: it ends with the body."""

    def chunks(self) -> "AudioChunks":  # type: ignore[override]
        """Return a state that reads a streamed answer."""
        return AudioChunks()


class AudioChunks:
    """The state of one stream of pieces."""

    __slots__ = ("_content", "_error", "done")

    def __init__(self) -> None:
        self.done = self._content = False
        self._error: Evidence | None = None

    def chunk(self, chunk: Any) -> None:
        """Note that a piece arrived. If it is an object, it may be an error."""
        self._content = self._content or bool(chunk)
        told = None if isinstance(chunk, bytes) or self._error is not None else told_error(chunk)
        if told is not None:
            self._error = embedded_error("openai", told)

    def end(self) -> Answer:
        """Judge the answer in this order: an error, an empty answer."""
        return Answer(self._error or (None if self._content else suspect("openai", "empty")))


SPEECH, AUDIO = SpeechReader(), AudioReader()
