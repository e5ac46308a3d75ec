"""Reads speech and conversations on a websocket: what each message means for an answer, and how the answer ended.

The protocols of the vendors consist of the same steps under different names. A `Talk` lists the names of one protocol.
"""

from collections.abc import Mapping
from enum import Enum, unique
from types import MappingProxyType
from typing import Any, NamedTuple

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, embedded_error, suspect, unexpected
from llm_errors.extract.fields import field, number, parsed, text

DIALECT = "openai"
_CODES = ("slug", "error_code", "variant", "code")
_MESSAGES = ("message", "description", "error", "title")
_HTTP = range(400, 600)


@unique
class Step(Enum):
    """What a message of the server means for the answers on the connection."""

    BEGIN = "an answer begins, without content"
    PART = "a part of an answer"
    UNMARKED = "a part of an answer that has no end marker"
    END = "the end of an answer"
    BREAK = "the end of a running answer, because the user began to speak"
    CANCELLED = "the end of an answer that the application has cancelled"
    ERROR = "an error of an answer, or of the session"
    ASIDE = "an error that ends no answer"


class Received(NamedTuple):
    """A message of the server.

    `key` is the name of the answer that the message is about. It is empty if a connection has only one answer at a time.
    """

    step: Step
    key: str
    message: Any


class Talk(NamedTuple):
    """The protocol of one API. Its reader is `SpokenReader`."""

    kind: tuple[str, ...] = ("type",)
    """The fields that may contain the kind of a message. The first field that is present counts."""
    asks: frozenset[str] = frozenset()
    """Kinds of messages with which the application asks for an answer."""
    asks_with: str = ""
    """A field that marks a message of the application as asking for an answer."""
    cancels_with: str = ""
    """A field of messages with which the application cancels an answer."""
    key: str = ""
    """The field with the name of an answer, if a connection has several at a time. Such a server begins no answer by itself."""
    model: str = ""
    """The field of a request that names the model, if the connection names none."""
    steps: Mapping[str, Step] = MappingProxyType({})
    """Kind of a message of the server -> the step that it means. Messages of other kinds are ignored."""
    last: str = ""
    """A field that is true in the last part of an answer."""
    binary: Step = Step.PART
    """The step that a binary message means."""
    turns: bool = False
    """Whether the next request ends a running answer, because the server sends no end marker."""
    silent: bool = False
    """Whether an answer may have no content, as the transcript of silence."""
    endless: bool = False
    """Whether an answer may have no end marker. Such an answer ends with the connection."""

    def received(self, data: Any) -> Received | None:
        """Read a message of the server. Return None if it is about no answer. A binary message is audio."""
        message = parsed(data)
        if not isinstance(message, dict):
            return Received(self.binary, "", message)
        step = self.steps.get(self._kind_of(message))
        if step is None:
            return None
        if step is Step.PART and self.last and message.get(self.last) is True:
            step = Step.END
        return Received(step, self.key_of(message), message)

    def request(self, data: Any) -> dict[str, Any] | None:
        """Read a message of the application. Return it if it asks for an answer, else None."""
        message = parsed(data) if isinstance(data, str) else None
        if not isinstance(message, dict):
            return {} if isinstance(data, str) and data in self.asks else None
        asks = self._kind_of(message) in self.asks or bool(self.asks_with and message.get(self.asks_with))
        return message if asks else None

    def cancellation(self, data: Any) -> str | None:
        """The name of the answer that the application cancels with this message; None if it cancels none."""
        message = parsed(data) if self.cancels_with and isinstance(data, str) else None
        return self.key_of(message) if isinstance(message, dict) and message.get(self.cancels_with) is True else None

    def key_of(self, message: dict[str, Any]) -> str:
        """The name of the answer that a message is about."""
        return text(message.get(self.key), 256) if self.key else ""

    def evidence(self, message: dict[str, Any]) -> Evidence:
        """Evidence of a message that is an error. The kind of the message may be the only code."""
        return error_of(message, self._kind_of(message))

    def _kind_of(self, message: dict[str, Any]) -> str:
        return next((found for name in self.kind if isinstance(found := message.get(name), str)), "")


def error_of(message: Any, kind: str = "") -> Evidence:
    """Evidence of an error message of any of these protocols."""
    held = field(message, "data") if isinstance(field(message, "data"), dict) else message
    code = field(held, *_CODES)
    status = number(field(held, "status_code"))
    error = {
        "code": kind if code is None else code,
        "message": next(filter(None, (text(field(held, name)) for name in _MESSAGES)), ""),
        "status_code": status if status in _HTTP else None,
    }
    return embedded_error(DIALECT, {"error": error})


class SpokenReader:
    """Reads the answers of one protocol."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk

    def whole(self, result: Any) -> Answer:
        """Judge a result that is not a message of a session."""
        return unexpected(DIALECT, result)

    def chunks(self) -> "SpokenChunks":
        """Return a state that reads one answer."""
        return SpokenChunks(self.talk)


class SpokenChunks:
    """The state of one answer. Its chunks are of type `Step`."""

    __slots__ = ("_content", "_ended", "_endless", "_silent")

    def __init__(self, talk: Talk) -> None:
        self._ended = self._content = False
        self._silent, self._endless = talk.silent, talk.endless

    @property
    def done(self) -> bool:
        """Whether the answer is complete. An answer without an end marker is complete as soon as it has content."""
        return self._ended or (self._endless and self._content)

    def chunk(self, chunk: Step) -> bool:
        """Note one step."""
        if chunk is Step.UNMARKED:
            self._endless = True
        if chunk in (Step.PART, Step.UNMARKED):
            self._content = True
        if chunk in (Step.END, Step.BREAK):
            self._ended = True
            self._silent = self._silent or chunk is Step.BREAK
        return self._ended

    def end(self) -> Answer:
        """Judge an empty answer and a missing end."""
        if not self._content and not (self._silent and self._ended):
            return Answer(suspect(DIALECT, "empty"))
        return Answer(None if self.done else suspect(DIALECT, "no_end"))
