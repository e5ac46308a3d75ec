"""Reads an answer from a JSON text that is too long to parse, by a search for the important field names.

JSON escapes quotes inside generated text, so the search for a quoted name cannot match there. Only the matches are copied.
A text that was not parsed is healthy unless the search finds a failure; its size alone is not a failure.
"""

import re
from collections.abc import Iterator

from llm_errors.evidence import Evidence
from llm_errors.extract import anthropic, google, openai_chat
from llm_errors.extract.answer import ABSENT, Answer, Reader, suspect
from llm_errors.extract.fields import JSON_LIMIT, parsed

MOST = 64
"""The maximum number of values that are read for one field name. Each candidate of an answer has one value."""
_FINISH: tuple[tuple[str, frozenset[str], str], ...] = (
    ("finishReason", google.NATURAL | {ABSENT}, google.DIALECT),
    ("finish_reason", openai_chat.NATURAL, "openai"),
    ("incomplete_details", frozenset(), "openai"),
    ("stop_reason", anthropic.NATURAL, anthropic.DIALECT),
)
"""For each API: the field name of the finish reason, the healthy reasons, and the dialect."""
_VALUE = re.compile(r'\s*:\s*(?:\{\s*"reason"\s*:\s*)?"([^"\\]{1,64})"')
_WINDOW = 160
"""The number of characters after a name that are searched for its value."""
_ERROR = re.compile(r'\s*\{\s*"error"\s*:\s*[{"]')


def is_long(content: str | bytes) -> bool:
    """Whether a text looks like JSON and is too long to parse."""
    return len(content) > JSON_LIMIT and _excerpt(content, 0).lstrip()[:1] in ("{", "[")


def read(reader: Reader, dialect: str, content: str | bytes) -> Answer:
    """Read an answer from its text: parse it, or search it if it is too long."""
    return _searched(dialect, content) if is_long(content) else reader.whole(parsed(content))


def values(content: str | bytes, name: str) -> Iterator[str]:
    """The string values of a name, from the beginning of the text."""
    quoted: str | bytes = f'"{name}"'
    if isinstance(content, bytes):
        quoted = f'"{name}"'.encode()
    position = -1
    for _ in range(MOST):
        position = content.find(quoted, position + 1)  # type: ignore[arg-type]  # both are str or both are bytes
        if position < 0:
            return
        found = _VALUE.match(_excerpt(content, position + len(quoted)))
        if found is not None:
            yield found[1]


def _excerpt(content: str | bytes, position: int) -> str:
    clipped = content[position : position + _WINDOW]
    return clipped.decode("utf-8", "replace") if isinstance(clipped, bytes) else clipped


def _searched(dialect: str, content: str | bytes) -> Answer:
    if _ERROR.match(_excerpt(content, 0)):
        return Answer(suspect(dialect, "unexpected_body"))
    suspicion: Evidence | None = None
    reasons: list[str] = []
    for name, natural, whose in _FINISH:
        for reason in values(content, name):
            reasons.append(reason)
            plain = openai_chat.plain(reason)
            if suspicion is None and plain not in natural:
                suspicion = suspect(whose, "unnatural_finish", finish_reason=plain)
    if suspicion is None and next(values(content, "raiFilteredReason"), None) is not None:
        suspicion = suspect(google.DIALECT, "image_filtered")
    return Answer(suspicion, finish_reasons=tuple(reasons))
