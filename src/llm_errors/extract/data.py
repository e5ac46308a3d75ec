"""Reads embeddings, images, moderations and audio, which are a list of results or a body. Most failures are empty answers."""

from typing import Any

from llm_errors.extract.answer import Answer, embedded_error, identity, nothing, suspect, unexpected, usage
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, is_object, items, text

_RESULTS = ("embeddings", "embedding", "predictions", "generated_images", "generatedImages")
_FILTERED = ("rai_filtered_reason", "raiFilteredReason")


class DataReader:
    """Reads answers with a list of results under `name`, of OpenAI and of compatible APIs."""

    def __init__(self, name: str, dialect: str = "openai") -> None:
        self._name, self._dialect = name, dialect

    def whole(self, result: Any) -> Answer:
        """Read an answer: the list must be present and not empty."""
        data = field(result, self._name) if not isinstance(result, str | bytes) else None
        if not isinstance(data, list | tuple):
            return unexpected(self._dialect, result)
        tokens = usage(field(result, "usage"), "prompt_tokens", "completion_tokens")
        suspicion = None if data else nothing(self._dialect, result)
        return Answer(suspicion, **identity(result), input_tokens=tokens[0], output_tokens=tokens[1])

    def chunks(self) -> "EventCount":
        """Return a state that reads a streamed answer."""
        return EventCount(self._dialect)


class MediaReader:
    """Reads speech, transcripts and other bodies of any type. Only a page or an error object is a failure."""

    def whole(self, result: Any) -> Answer:
        """Read a body: a page or an error object instead of the media is a failure."""
        page = isinstance(result, str) and result[:64].lstrip()[:1] == "<"
        if page or (is_object(result) and told_error(result) is not None):
            return unexpected("openai", result)
        return Answer(None, **({} if isinstance(result, str | bytes) else identity(result)))

    def chunks(self) -> "EventCount":
        """Return a state that reads a streamed answer."""
        return EventCount("openai")


class EventCount:
    """The state of a stream whose events have no finish reason. With at least one event and no error, the stream is healthy."""

    __slots__ = ("_dialect", "_error", "done")

    def __init__(self, dialect: str) -> None:
        self.done = False
        self._dialect = dialect
        self._error: Any = None

    def chunk(self, chunk: Any) -> None:
        """Note that an event arrived. If it is an error, keep it."""
        self.done = True
        if field(chunk, "type") == "error":
            self._error = chunk

    def end(self) -> Answer:
        """An error event, or a stream without any event, is a failure."""
        if self._error is not None:
            return Answer(embedded_error(self._dialect, told_error(self._error)))
        return Answer(None if self.done else suspect(self._dialect, "empty"))


class ResultsReader:
    """Reads Google's answers with a list of results, some of which may have been filtered."""

    def whole(self, result: Any) -> Answer:
        """Read an answer. A filtered result, an empty list, and an error in place of the list are failures."""
        if isinstance(result, str | bytes | int | float | list | tuple) or field(result, "error") is not None:
            return unexpected("google", result)
        results = field(result, *_RESULTS)
        entries = items(results) if isinstance(results, list | tuple) else [results] if results is not None else []
        if any(text(field(entry, *_FILTERED)) for entry in entries):
            return Answer(suspect("google", "image_filtered"))
        return Answer(None if entries else suspect("google", "empty"))

    def chunks(self) -> "ResultsChunks":
        """Return a state that reads a streamed answer."""
        return ResultsChunks(self)


class ResultsChunks:
    """The state of one stream. These APIs do not stream today. If one does, its last chunk is read like a whole answer."""

    __slots__ = ("_answer", "_reader", "done")

    def __init__(self, reader: ResultsReader) -> None:
        self.done = False
        self._reader = reader
        self._answer = Answer(suspect("google", "empty"))

    def chunk(self, chunk: Any) -> None:
        """Read the chunk as an answer."""
        self.done = True
        self._answer = self._reader.whole(chunk)

    def end(self) -> Answer:
        """Return the answer that was read from the last chunk."""
        return self._answer
