"""What a reader returns for an answer, and what it must be able to do."""

from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypedDict

from llm_errors.evidence import Evidence
from llm_errors.extract import bodies
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, is_object, number, text

_ONE_LINE = 200


class Answer(NamedTuple):
    """One answer of a model: what may be wrong with it, and the content-free facts that a span shows.

    `suspicion` is None when nothing in the answer can be a failure. `finish_reasons` are the provider's raw values, one
    per candidate; a place whose finish reason was due and never came holds `error`, as the GenAI conventions say.
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
    """The state of one streamed answer, O(1) in memory."""

    @property
    def done(self) -> bool:
        """Whether the terminal event has been seen: whatever the caller does then, what was seen settles the call."""
        ...

    def chunk(self, chunk: Any) -> bool | None:
        """Look at one parsed chunk. True after one that ends the answer for good: no usage or anything else can follow."""
        ...

    def end(self) -> Answer:
        """What was seen, when no further chunk comes."""
        ...


class Reader(Protocol):
    """Reads the answers of one API of one dialect."""

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        ...

    def chunks(self) -> Chunks:
        """A fresh state for a streamed answer."""
        ...


ABSENT = "FINISH_REASON_UNSPECIFIED"


def finish_of(source: Any, *names: str) -> str:
    """The finish reason in one of the named fields; empty where there is none, or a name for none."""
    found = text(field(source, *names), 64)
    return "" if found.upper() == ABSENT else found


def all_reasoning(written: Any, reasoned: Any) -> bool:
    """Whether every output token went into reasoning."""
    written, reasoned = number(written), number(reasoned)
    return bool(written and reasoned and reasoned >= written)


class InDialect:
    """A reader of another dialect's shapes: what it finds suspect is reported in the dialect of the API that copies them."""

    def __init__(self, reader: Reader, dialect: str) -> None:
        self._reader, self._dialect = reader, dialect

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        return _in_dialect(self._reader.whole(result), self._dialect)

    def chunks(self) -> Chunks:
        """A fresh state for a streamed answer."""
        return _ChunksInDialect(self._reader.chunks(), self._dialect)


class _ChunksInDialect:
    """The state of one stream. An event of an event stream holds its chunk in `data`."""

    __slots__ = ("_chunks", "_dialect")

    def __init__(self, chunks: Chunks, dialect: str) -> None:
        self._chunks, self._dialect = chunks, dialect

    @property
    def done(self) -> bool:
        """Whether the terminal event has been seen."""
        return self._chunks.done

    def chunk(self, chunk: Any) -> bool | None:
        """Look at one chunk, or at the one inside an event."""
        held = getattr(chunk, "data", None)
        return self._chunks.chunk(chunk if held is None else held)

    def end(self) -> Answer:
        """What was seen."""
        return _in_dialect(self._chunks.end(), self._dialect)


def _in_dialect(answer: Answer, dialect: str) -> Answer:
    found = answer.suspicion
    return answer if found is None else answer._replace(suspicion=replace(found, dialect=dialect))


def suspect(dialect: str, *facts: str, **fields: Any) -> Evidence:
    """Evidence of an in-band failure."""
    return Evidence(channel="in_band", dialect=dialect, facts=frozenset(facts), **fields)


def embedded_error(dialect: str, error: Any, finish_reason: str = "") -> Evidence:
    """Evidence of an error object that came inside HTTP 200."""
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
    """An answer that is none: an error object in place of it, a page, a bare string, a number."""
    told = told_error(result) if is_object(result) or isinstance(result, list | tuple) else None
    if told is not None:
        return Answer(embedded_error(dialect, told))
    said = result.strip() if isinstance(result, str) else ""
    # A line of text may be an error in words; a page says nothing, and a longer text may be what a model wrote.
    if not said or len(said) > _ONE_LINE or "\n" in said or said.startswith("<"):
        return Answer(suspect(dialect, "unexpected_body"))
    return Answer(suspect(dialect, "unexpected_body", message=text(said), embedded=True))


def nothing(dialect: str, result: Any, finish_reason: str = "") -> Evidence:
    """Evidence of an answer that holds nothing: the error it tells of instead, or that it is empty."""
    told = told_error(result)
    if told is None:
        return suspect(dialect, "empty", finish_reason=finish_reason)
    return embedded_error(dialect, told, finish_reason)


def usage(result: Any, read: str, written: str) -> tuple[int | None, int | None]:
    """Input and output tokens of a usage object."""
    return number(field(result, read)), number(field(result, written))


def identity(result: Any) -> Identity:
    """Model and id of an answer, as keyword arguments of `Answer`."""
    return {"model": text(field(result, "model"), 256), "id": text(field(result, "id"), 256)}
