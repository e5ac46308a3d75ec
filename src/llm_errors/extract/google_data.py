"""Embeddings and generated images of the google dialect."""

from typing import Any

from llm_errors.extract.answer import Answer, suspect, unexpected
from llm_errors.extract.fields import field, items, text

DIALECT = "google"
_RESULTS = ("embeddings", "embedding", "predictions", "generated_images", "generatedImages")
_FILTERED = ("rai_filtered_reason", "raiFilteredReason")


class ResultsReader:
    """Reads answers that are a list of results, some of which may have been filtered."""

    def whole(self, result: Any) -> Answer:
        """A filtered result, nothing at all, or an error in place of the list."""
        if isinstance(result, str | bytes | int | float | list | tuple) or field(result, "error") is not None:
            return unexpected(DIALECT, result)
        results = field(result, *_RESULTS)
        entries = items(results) if isinstance(results, list | tuple) else [results] if results is not None else []
        if any(text(field(entry, *_FILTERED)) for entry in entries):
            return Answer(suspect(DIALECT, "image_filtered"))
        return Answer(None if entries else suspect(DIALECT, "empty"))

    def chunks(self) -> "ResultsChunks":
        """A new state for a streamed answer."""
        return ResultsChunks(self)


class ResultsChunks:
    """These APIs do not stream; should one begin to, its last chunk is read like a whole answer."""

    __slots__ = ("_answer", "_reader", "done")

    def __init__(self, reader: ResultsReader) -> None:
        self.done = False
        self._reader = reader
        self._answer = Answer(suspect(DIALECT, "empty"))

    def chunk(self, chunk: Any) -> None:
        """Read the chunk as an answer."""
        self.done = True
        self._answer = self._reader.whole(chunk)

    def end(self) -> Answer:
        """The last chunk's answer."""
        return self._answer
