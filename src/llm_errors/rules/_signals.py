"""What rows are compared with: one evidence, with its codes in every spelling and its message cut to the provider's words."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from llm_errors.evidence import Evidence

_NO_LETTERS: Final = re.compile(r"[\W_]+")
_QUOTED: Final = re.compile(r"""(?<!\w)(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)(?!\w)""")
_ECHO: Final = re.compile(r"input_value\s*=|'input':|\"input\":|failed_generation")
"""What a message quotes or echoes is the caller's, not the provider's own words: names of fields, parts of the request."""
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
"""Characters of a message in which a code is looked for."""
_COMPOUND: Final = re.compile(r"[._-]|[a-z][A-Z]")
"""A code in a text is one of several words: a single word is language."""


def spelling(code: str) -> str:
    """What all spellings of a code have in common: `rate_limit`, `RateLimit` and `RATE-LIMIT` are one."""
    return _NO_LETTERS.sub("", code).lower()


class Signals:
    """One evidence as rows see it.

    `codes` are the spellings of all codes, the most specific first, each with the code as it was sent; `all_codes` are
    those and the ones that only a text holds. `named` are the
    HTTP statuses that codes repeat; a text that refines such a status may decide, too. Where an error inside HTTP 200
    names no status at all (`is_bare`), every text may.
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
        """Whether a text that refines one of these statuses may decide although the response had another one."""
        return self.is_bare or not self.named.isdisjoint(status)

    def says(self, phrases: Iterable[str]) -> bool:
        """Whether the message holds one of the phrases, in words of the provider's own."""
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
    """The whole code; of one with dots also its last part, and what stands before it: `Throttling.Any` is a throttling."""
    yield spelling(code)
    parts = code.split(".")
    if len(parts) > 1 and not parts[-1].isdecimal():
        yield spelling(parts[-1])
        for end in range(len(parts) - 1, 0, -1):
            yield spelling(".".join(parts[:end]))


def in_text(message: str) -> list[str]:
    """Codes that stand only in a text, as gateways print what the provider behind them answered."""
    said = _QUOTED.sub(" ", _ECHO.split(message[:_TEXT_LIMIT], maxsplit=1)[0])
    found = (next(filter(None, match.groups())) for match in _IN_TEXT.finditer(said))
    return [code for code in found if _COMPOUND.search(code)]
