"""Prepares evidence for matching: codes in normalised spelling, and the message without quotations."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from llm_errors.evidence import Evidence

_NO_LETTERS: Final = re.compile(r"[\W_]+")
_QUOTED: Final = re.compile(r"""(?<!\w)(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)(?!\w)""")
_ECHO: Final = re.compile(r"input_value\s*=|'input':|\"input\":|failed_generation")
"""Matches the beginning of a part of a message that repeats the request. Such parts, and quotations, are not searched."""
_CODE: Final = r"[A-Za-z][A-Za-z0-9]*(?:[._:-][A-Za-z0-9]+)*"
_IN_TEXT: Final = re.compile(
    rf"""
      (?:^|[\s:-])[\[(](?P<bracketed>{_CODE})[\])]            # [data_inspection_failed] Input data may contain ...
    | (?:^|[:>-]\s?)(?P<headed>{_CODE}):\s                   # <400> InternalError.Algo.DataInspectionFailed: Input ...
    | \b(?:error[_ ]?)?code\s?[=:]\s?(?P<named>{_CODE})      # upstream answered status=403, code=insufficient_quota
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TEXT_LIMIT: Final = 512
"""The number of characters of a message that are searched for codes."""
_COMPOUND: Final = re.compile(r"[._-]|[a-z][A-Z]")
"""Matches a separator of words in a code. A code in a message has several words; a single word is ordinary language."""


def spelling(code: str) -> str:
    """The normalised spelling of a code: the same for `rate_limit`, `RateLimit` and `RATE-LIMIT`."""
    return _NO_LETTERS.sub("", code).lower()


class Signals:
    """Evidence in the form that rules are matched with.

    `codes` maps the normalised spelling of each code to the code as it was sent, most specific first. `all_codes` also has
    the codes that occur only in the message. `named` are HTTP statuses that a code repeats; a rule with a text for such a
    status may match too. If an error inside HTTP 200 contains no status (`is_bare`), every rule with a text may match.
    """

    def __init__(self, evidence: Evidence, messages: bool, dialect: str = "") -> None:
        self.evidence = evidence
        self.messages = messages
        self.dialect = dialect or evidence.dialect
        self.codes = _spelt(evidence.codes)
        self.all_codes = _spelt((*evidence.codes, *in_text(evidence.message))) if messages else self.codes
        self.named: frozenset[int] = frozenset()
        self.is_bare = False

    def may_refine(self, status: frozenset[int]) -> bool:
        """Whether a rule with a text for one of these statuses may match, although the response has another status."""
        return self.is_bare or not self.named.isdisjoint(status)

    def says(self, phrases: Iterable[str]) -> bool:
        """Whether the message contains one of the phrases, outside quotations."""
        return any(phrase in (self._lowered if "`" in phrase else self._own_words) for phrase in phrases)

    @cached_property
    def _lowered(self) -> str:
        return _ECHO.split(self.evidence.message.lower(), maxsplit=1)[0]

    @cached_property
    def _own_words(self) -> str:
        return _QUOTED.sub(" ", self._lowered)


def _spelt(codes: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for code in codes:
        for spelt in _spellings(code):
            found.setdefault(spelt, code)
    return found


def _spellings(code: str) -> Iterator[str]:
    """The spellings of a code, and of its last part and its beginnings if it has dots: `throttling` for `Throttling.Any`."""
    yield spelling(code)
    parts = code.split(".")
    if len(parts) > 1 and not parts[-1].isdecimal():
        yield spelling(parts[-1])
        for end in range(len(parts) - 1, 0, -1):
            yield spelling(".".join(parts[:end]))


def in_text(message: str) -> list[str]:
    """Codes in the message, into which a gateway prints the error of the provider behind it."""
    unquoted = _QUOTED.sub(" ", _ECHO.split(message[:_TEXT_LIMIT], maxsplit=1)[0])
    found = (next(filter(None, match.groups())) for match in _IN_TEXT.finditer(unquoted))
    return [code for code in found if _COMPOUND.search(code)]
