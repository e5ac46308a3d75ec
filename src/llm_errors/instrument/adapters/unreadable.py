"""Reads JSON that an SDK could not convert to an object: the provider may have sent an error instead of an answer."""

from dataclasses import replace

from llm_errors.evidence import Evidence
from llm_errors.extract import causes
from llm_errors.extract.answer import embedded_error, suspect
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field
from llm_errors.instrument.invocation import Invocation

INVALID = "pydantic_core.ValidationError"


def unreadable(call: Invocation, exc: BaseException) -> Evidence | None:
    """Evidence from the input that pydantic refused; None if the exception was not caused by pydantic."""
    links = causes.chain(exc, call.ambient)
    invalid = next((link for link in links if INVALID in causes.names(link)), None)
    if invalid is None:
        return None
    error = next(filter(None, (told_error(field(each, "input")) for each in invalid.errors())), None)  # type: ignore[attr-defined]
    dialect = call.info.dialect
    found = suspect(dialect, "unexpected_body") if error is None else embedded_error(dialect, error)
    return replace(found, channel="thrown", provider=call.info.provider, exceptions=(names_of(exc),))


def names_of(exc: BaseException) -> tuple[str, ...]:
    """The class names of an exception without pydantic's. A rule reads pydantic's as an answer off the requested schema."""
    return tuple(name for name in causes.names(exc) if name != INVALID)
