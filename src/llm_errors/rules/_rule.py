"""One row of knowledge: conditions joined by AND, and the class and reason it gives."""

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import Final

from llm_errors.evidence import Evidence
from llm_errors.rules._signals import Signals, spelling
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


@dataclass(frozen=True)
class Rule:
    """A row. Empty conditions hold for everything.

    `codes` are lower case and compare without regard to case, underscores, dashes and dots; `exceptions` are `package.Class`, or `.Class` for that name
    in any package. `says` are lower-case substrings of the message, of which one must be there: they refine a row
    matched by dialect and status (or code), and can be switched off. `generic` marks a code or finish reason that says
    little and yields to the HTTP status. `names` are the HTTP statuses that the codes of the row only repeat, as
    `forbidden` repeats 403: such a row has the rank of a status, and a text that refines one of these statuses refines
    it too. Among rows of one rank the higher `weight` wins (exceptions: how near the root cause the name is), then the
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
    names: frozenset[int] = frozenset()
    wrapper: bool = False
    """The exception only wraps others: it decides when its causes, if any, are network or SDK errors."""
    weight: int = 0
    kind: str = ""
    """The kind of evidence to name where it is not that of the row's own conditions."""

    rank: int = field(init=False, repr=False, compare=False)
    """The precedence of the strongest kind of evidence the row asks for."""
    evidence: str = field(init=False, repr=False, compare=False)
    """The name of the kind of fact that decides: what `Classification.evidence` says."""
    conditions: int = field(init=False, repr=False, compare=False)
    """How many conditions the row has: the more, the more specific."""
    _codes: frozenset[str] = field(init=False, repr=False, compare=False)
    _types: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compute once what every decision asks for."""
        computed = {
            "rank": self._rank(),
            "conditions": self._conditions(),
            "_codes": frozenset(map(spelling, self.codes)),
            "_types": frozenset(map(spelling, self.types)),
        }
        for name, value in computed.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "evidence", self._evidence())

    def decided_by(self, code: str) -> bool:
        """Whether the row lists the code, in whatever spelling."""
        return code in self._codes or code in self._types

    def _rank(self) -> int:
        if self.generic:
            return GENERIC
        if self.names:
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

    def _evidence(self) -> str:
        if self.kind:
            return self.kind
        if self.says:
            return "message"
        if self.codes or self.types:
            return "code"
        if self.finish or self.block:
            return "finish_reason"
        return _KIND_NAMES[self.rank]

    def _conditions(self) -> int:
        where = (self.dialects, self.providers, self.status)
        given = (*where, self.codes, self.types, self.finish, self.block, self.exceptions, self.says)
        return sum(map(bool, given)) + len(self.facts) + (self.embedded is not None)

    def found_by(self) -> Iterator[Key]:
        """What the row is found by: its most selective condition."""
        if self.codes:
            yield from (("code", c) for c in self._codes)
        elif self.types:
            yield from (("code", t) for t in self._types)
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

    @property
    def refines(self) -> bool:
        """Whether the row says with a text what a status is about."""
        return bool(self.says and self.status and not self.codes)

    def holds(self, signals: Signals) -> bool:
        """Whether every condition holds."""
        e = signals.evidence
        return (
            (not self.dialects or signals.dialect in self.dialects)
            and (not self.providers or e.provider in self.providers)
            and (not self.status or e.status in self.status or (self.refines and signals.may_refine(self.status)))
            and (not self.codes or not self._sent(signals).isdisjoint(self._codes))
            and (not self.types or not signals.codes.keys().isdisjoint(self._types))
            and (not self.finish or e.finish_reason in self.finish)
            and (not self.block or e.block_reason in self.block)
            and (not self.exceptions or self._raised(e))
            and (self.embedded is None or e.embedded is self.embedded)
            and self.facts <= e.facts
            and (signals.messages or self.evidence != "message")
            and (not self.says or signals.says(self.says))
        )

    def _sent(self, signals: Signals) -> Set[str]:
        """The codes that count. In a text one that says no more than a status is a word like any other."""
        return (signals.codes if self.names or self.generic else signals.all_codes).keys()

    def _raised(self, e: Evidence) -> bool:
        return any(
            n in self.exceptions or "." + n.rpartition(".")[2] in self.exceptions
            for names in e.exceptions
            for n in names
        )


def words(names: str) -> frozenset[str]:
    """The words of a string as a set: how rows list codes."""
    return frozenset(names.split())
