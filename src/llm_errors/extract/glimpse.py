"""What an answer's JSON text tells that is too long to be parsed: the names that decide, found by a search.

A quoted name inside a text that a model wrote is escaped in JSON, so the search cannot be misled by it. Nothing is
copied but what is found. A text that was not parsed is healthy unless something speaks against it: size decides nothing.
"""

import re
from collections.abc import Iterator

from llm_errors.evidence import Evidence
from llm_errors.extract import anthropic, google, openai_finish
from llm_errors.extract.answer import ABSENT, Answer, Reader, suspect
from llm_errors.extract.fields import JSON_LIMIT, parsed

MOST = 64
"""Values of one name that are looked at: candidates of an answer."""
_FINISH: tuple[tuple[str, frozenset[str], str], ...] = (
    ("finishReason", google.NATURAL | {ABSENT}, google.DIALECT),
    ("finish_reason", openai_finish.NATURAL, "openai"),
    ("incomplete_details", frozenset(), "openai"),
    ("stop_reason", anthropic.NATURAL, anthropic.DIALECT),
)
"""How each API names the reason why an answer ended, which reasons are natural, and whose dialect it is."""
_VALUE = re.compile(r'\s*:\s*(?:\{\s*"reason"\s*:\s*)?"([^"\\]{1,64})"')
_WINDOW = 160
"""Characters behind a name in which its value stands."""
_ERROR = re.compile(r'\s*\{\s*"error"\s*:\s*[{"]')


def is_long(content: str | bytes) -> bool:
    """Whether a text is JSON, by its beginning, and too long to be parsed."""
    return len(content) > JSON_LIMIT and _said(content, 0).lstrip()[:1] in ("{", "[")


def read(reader: Reader, dialect: str, content: str | bytes) -> Answer:
    """Read an answer of which only the text is there: parsed, or by a search if it is too long for that."""
    return _searched(dialect, content) if is_long(content) else reader.whole(parsed(content))


def values(content: str | bytes, name: str) -> Iterator[str]:
    """The texts that stand behind a name, from the beginning on."""
    quoted: str | bytes = f'"{name}"'
    if isinstance(content, bytes):
        quoted = f'"{name}"'.encode()
    place = -1
    for _ in range(MOST):
        place = content.find(quoted, place + 1)  # type: ignore[arg-type]  # both are of one kind
        if place < 0:
            return
        found = _VALUE.match(_said(content, place + len(quoted)))
        if found is not None:
            yield found[1]


def _said(content: str | bytes, place: int) -> str:
    clipped = content[place : place + _WINDOW]
    return clipped.decode("utf-8", "replace") if isinstance(clipped, bytes) else clipped


def _searched(dialect: str, content: str | bytes) -> Answer:
    if _ERROR.match(_said(content, 0)):
        return Answer(suspect(dialect, "unexpected_body"))
    suspicion: Evidence | None = None
    reasons: list[str] = []
    for name, natural, whose in _FINISH:
        for reason in values(content, name):
            reasons.append(reason)
            plain = openai_finish.plain(reason)
            if suspicion is None and plain not in natural:
                suspicion = suspect(whose, "unnatural_finish", finish_reason=plain)
    if suspicion is None and next(values(content, "raiFilteredReason"), None) is not None:
        suspicion = suspect(google.DIALECT, "image_filtered")
    return Answer(suspicion, finish_reasons=tuple(reasons))
