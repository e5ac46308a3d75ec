"""Embeddings, images, moderations and audio of the openai dialect. Their only in-band failure is a missing answer."""

from typing import Any

from llm_errors.extract.answer import Answer, identity, nothing, suspect, unexpected, usage
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, is_object

DIALECT = "openai"


class DataReader:
    """Reads answers with a list of results under `name`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def whole(self, result: Any) -> Answer:
        """Read an answer: the list must be present and not empty."""
        data = field(result, self._name) if not isinstance(result, str | bytes) else None
        if not isinstance(data, list | tuple):
            return unexpected(DIALECT, result)
        tokens = usage(field(result, "usage"), "prompt_tokens", "completion_tokens")
        suspicion = None if data else nothing(DIALECT, result)
        return Answer(suspicion, **identity(result), input_tokens=tokens[0], output_tokens=tokens[1])

    def chunks(self) -> "EventCount":
        """A new state for a streamed answer."""
        return EventCount()


class MediaReader:
    """Reads speech, transcripts and other bodies of any type. Only a page or an error object is a failure."""

    def whole(self, result: Any) -> Answer:
        """Read a body: a page or an error object instead of the media is a failure."""
        page = isinstance(result, str) and result[:64].lstrip()[:1] == "<"
        if page or (is_object(result) and told_error(result) is not None):
            return unexpected(DIALECT, result)
        return Answer(None, **({} if isinstance(result, str | bytes) else identity(result)))

    def chunks(self) -> "EventCount":
        """A new state for a streamed answer."""
        return EventCount()


class EventCount:
    """The state of a stream of events that carry no outcome: one event is enough for an answer."""

    __slots__ = ("done",)

    def __init__(self) -> None:
        self.done = False

    def chunk(self, chunk: Any) -> None:
        """Note that an event arrived."""
        self.done = True

    def end(self) -> Answer:
        """A stream without any event is a failure."""
        return Answer(None if self.done else suspect(DIALECT, "empty"))
