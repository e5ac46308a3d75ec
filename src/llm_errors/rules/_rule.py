"""One row of knowledge: conditions joined by AND, and the class and reason it gives."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from llm_errors.evidence import Evidence
from llm_errors.taxonomy import ErrorClass

CODE, FINISH, CONTENT, EXCEPTION, STATUS, GENERIC = 60, 50, 45, 40, 20, 10
"""Precedence by kind of evidence, not by position in a file."""

_KIND_NAMES: Final = {
    CODE: "code",
    FINISH: "finish_reason",
    CONTENT: "content",
    EXCEPTION: "exception",
    STATUS: "status",
}

Key = tuple[str, str | int]


_QUOTED: Final = re.compile(r"""(?<!\w)(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)(?!\w)""")
_ECHO: Final = re.compile(r"input_value\s*=|'input':|\"input\":|failed_generation")
"""What a message quotes or echoes is the caller's, not the provider's own words: names of fields, parts of the request."""


@dataclass(frozen=True)
class Rule:
    """A row. Empty conditions hold for everything.

    `codes` are lower case and compare without regard to it; `exceptions` are `package.Class`, or `.Class` for that name
    in any package. `says` are lower-case substrings of the message, of which one must be there: they refine a row
    matched by dialect and status (or code), and can be switched off. `generic` marks a code or finish reason that says
    little and yields to the HTTP status; `canonical` one that is of the HTTP status' own rank, such as Google's status
    names. Among rows of one rank the higher `weight` wins (exceptions: how near the root cause the name is), then the
    one with more conditions.
    """

    id: str
    error_class: ErrorClass | None
    """None declares the call healthy: only a user's own rule does that."""
    reason: str
    dialects: frozenset[str] = frozenset()
    providers: frozenset[str] = frozenset()
    status: frozenset[int] = frozenset()
    codes: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    """Codes too (an error's `type` is one): for a row that asks for a code and a type."""
    finish: frozenset[str] = frozenset()
    block: frozenset[str] = frozenset()
    exceptions: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    says: tuple[str, ...] = ()
    embedded: bool | None = None
    generic: bool = False
    canonical: bool = False
    wrapper: bool = False
    """The exception only wraps others: it decides when its causes, if any, are network or SDK errors."""
    weight: int = 0
    kind: str = ""
    """The kind of evidence to name where it is not that of the row's own conditions."""

    @property
    def rank(self) -> int:
        """The precedence of the strongest kind of evidence the row asks for."""
        if self.generic:
            return GENERIC
        if self.canonical:
            return STATUS
        kinds = (
            (self.codes or self.types, CODE),
            (self.finish or self.block, FINISH),
            (self.facts, CONTENT),
            (self.exceptions, EXCEPTION),
        )
        # A fact beside a status or a code refines it and does not outrank it.
        if self.facts and self.status and not (self.codes or self.types):
            return STATUS
        return next((rank for condition, rank in kinds if condition), STATUS)

    @property
    def evidence(self) -> str:
        """The name of the kind of fact that decides: what `Classification.evidence` says."""
        if self.kind:
            return self.kind
        if self.says:
            return "message"
        if self.codes or self.types:
            return "code"
        if self.finish or self.block:
            return "finish_reason"
        return _KIND_NAMES[self.rank]

    @property
    def conditions(self) -> int:
        """How many conditions the row has: the more, the more specific."""
        where = (self.dialects, self.providers, self.status)
        given = (*where, self.codes, self.types, self.finish, self.block, self.exceptions, self.says)
        return sum(map(bool, given)) + len(self.facts) + (self.embedded is not None)

    def found_by(self) -> Iterator[Key]:
        """What the row is found by: its most selective condition."""
        if self.codes:
            yield from (("code", c) for c in self.codes)
        elif self.types:
            yield from (("code", t) for t in self.types)
        elif self.finish:
            yield from (("finish", f) for f in self.finish)
        elif self.block:
            yield from (("block", b) for b in self.block)
        elif self.exceptions:
            yield from (("exception", e) for e in self.exceptions)
        elif self.status:
            yield from (("status", s) for s in self.status)
        else:
            yield from (("fact", f) for f in self.facts)

    def holds(self, e: Evidence, messages: bool) -> bool:
        """Whether every condition holds."""
        return (
            (not self.dialects or e.dialect in self.dialects)
            and (not self.providers or e.provider in self.providers)
            and (not self.status or e.status in self.status)
            and (not self.codes or any(c.lower() in self.codes for c in e.codes))
            and (not self.types or any(c.lower() in self.types for c in e.codes))
            and (not self.finish or e.finish_reason in self.finish)
            and (not self.block or e.block_reason in self.block)
            and (not self.exceptions or self._raised(e))
            and (self.embedded is None or e.embedded is self.embedded)
            and self.facts <= e.facts
            and (messages or self.evidence != "message")
            and (not self.says or self._said(e.message))
        )

    def _raised(self, e: Evidence) -> bool:
        return any(
            n in self.exceptions or "." + n.rpartition(".")[2] in self.exceptions
            for names in e.exceptions
            for n in names
        )

    def _said(self, message: str) -> bool:
        lowered = _ECHO.split(message.lower(), maxsplit=1)[0]
        own_words = _QUOTED.sub(" ", lowered)
        return any(phrase in (lowered if "`" in phrase else own_words) for phrase in self.says)


def words(names: str) -> frozenset[str]:
    """The words of a string as a set: how rows list codes."""
    return frozenset(names.split())
