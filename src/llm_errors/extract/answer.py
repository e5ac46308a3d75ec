"""Defines `Answer`, which is what a reader returns, and the interface of the readers."""

from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypedDict

from llm_errors.evidence import Evidence
from llm_errors.extract import bodies
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, is_object, number, text

_ONE_LINE = 200


class Answer(NamedTuple):
    """One answer of a model: a possible failure in it, and the facts that are written on a span, without content.

    `suspicion` is None if nothing in the answer can be a failure. `finish_reasons` are the raw values of the provider, one per
    candidate. If a finish reason was due and did not arrive, its value is `error`, as the GenAI conventions require.
    """

    suspicion: Evidence | None = None
    model: str = ""
    id: str = ""
    finish_reasons: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None


class Identity(TypedDict, total=False):
    """Model and id of an answer."""

    model: str
    id: str


class Chunks(Protocol):
    """The state of one streamed answer. Its size does not grow with the stream."""

    @property
    def done(self) -> bool:
        """Whether the terminal event was received. What the caller does after this event does not change the outcome."""
        ...

    def chunk(self, chunk: Any) -> bool | None:
        """Read one parsed chunk. Return true if nothing that is needed can follow, not even the token usage."""
        ...

    def end(self) -> Answer:
        """The answer after the last chunk."""
        ...


class Reader(Protocol):
    """Reads the answers of one API of one dialect."""

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        ...

    def chunks(self) -> Chunks:
        """Return a state that reads a streamed answer."""
        ...


ABSENT = "FINISH_REASON_UNSPECIFIED"


def finish_of(source: Any, *names: str) -> str:
    """The finish reason in one of the named fields; empty if it is missing or unspecified."""
    found = text(field(source, *names), 64)
    return "" if found.upper() == ABSENT else found


def all_reasoning(written: Any, reasoned: Any) -> bool:
    """Whether all output tokens were used for reasoning."""
    written, reasoned = number(written), number(reasoned)
    return bool(written and reasoned and reasoned >= written)


class InDialect:
    """Wraps a reader of another dialect for an API with the same answer format. The evidence names the dialect of this API."""

    def __init__(self, reader: Reader, dialect: str) -> None:
        self._reader, self._dialect = reader, dialect

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        return _in_dialect(self._reader.whole(result), self._dialect)

    def chunks(self) -> Chunks:
        """Return a state that reads a streamed answer."""
        return _ChunksInDialect(self._reader.chunks(), self._dialect)


class _ChunksInDialect:
    """The state of one stream. If it consists of events, the chunk is in the field `data` of an event."""

    __slots__ = ("_chunks", "_dialect")

    def __init__(self, chunks: Chunks, dialect: str) -> None:
        self._chunks, self._dialect = chunks, dialect

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._chunks.done

    def chunk(self, chunk: Any) -> bool | None:
        """Read one chunk, or the chunk inside an event."""
        held = getattr(chunk, "data", None)
        return self._chunks.chunk(chunk if held is None else held)

    def end(self) -> Answer:
        """The answer after the last chunk."""
        return _in_dialect(self._chunks.end(), self._dialect)


def _in_dialect(answer: Answer, dialect: str) -> Answer:
    found = answer.suspicion
    return answer if found is None else answer._replace(suspicion=replace(found, dialect=dialect))


def suspect(dialect: str, *facts: str, **fields: Any) -> Evidence:
    """Evidence of an in-band failure: one that an answer shows, without an exception."""
    return Evidence(channel="in_band", dialect=dialect, facts=frozenset(facts), **fields)


def embedded_error(dialect: str, error: Any, finish_reason: str = "") -> Evidence:
    """Evidence of an error object that arrived inside an HTTP 200 response."""
    body = bodies.read({"error": error} if isinstance(error, str) else error)
    return Evidence(
        channel="in_band",
        dialect=body.dialect or dialect,
        status=body.status,
        codes=body.codes,
        finish_reason=finish_reason,
        facts=body.facts,
        message=body.message,
        retry_after=body.retry_after,
        embedded=True,
    )


def unexpected(dialect: str, result: Any) -> Answer:
    """Judge what arrived instead of an answer: an error object, an HTML page, a bare string, or a number."""
    error = told_error(result) if is_object(result) or isinstance(result, list | tuple) else None
    if error is not None:
        return Answer(embedded_error(dialect, error))
    line = result.strip() if isinstance(result, str) else ""
    # One line of text may be an error message. An HTML page is not a message, and a model may have written a longer text.
    if not line or len(line) > _ONE_LINE or "\n" in line or line.startswith("<"):
        return Answer(suspect(dialect, "unexpected_body"))
    return Answer(suspect(dialect, "unexpected_body", message=text(line), embedded=True))


def nothing(dialect: str, result: Any, finish_reason: str = "") -> Evidence:
    """Evidence of an answer without content: the error that it contains, or else the fact that it is empty."""
    error = told_error(result)
    if error is None:
        return suspect(dialect, "empty", finish_reason=finish_reason)
    return embedded_error(dialect, error, finish_reason)


def usage(result: Any, read: str, written: str) -> tuple[int | None, int | None]:
    """Input and output tokens of a usage object, from the fields with these two names."""
    return number(field(result, read)), number(field(result, written))


def identity(result: Any) -> Identity:
    """Model and id of an answer, as keyword arguments of `Answer`."""
    return {"model": text(field(result, "model"), 256), "id": text(field(result, "id"), 256)}
