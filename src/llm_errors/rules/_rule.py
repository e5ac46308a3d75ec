"""Defines a rule: conditions that must all match, and the class and reason that the rule gives."""

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from typing import Any, Final

from llm_errors.evidence import Evidence
from llm_errors.rules._signals import Signals, spelling
from llm_errors.taxonomy import ErrorClass

CODE, FINISH, CONTENT, EXCEPTION, STATUS, GENERIC = 60, 50, 45, 40, 20, 10
"""The precedence of a rule, by the kind of evidence that it matches. The position of the rule in a file does not matter."""

_KIND_NAMES: Final = {
    CODE: "code",
    FINISH: "finish_reason",
    CONTENT: "content",
    EXCEPTION: "exception",
    STATUS: "status",
}

Key = tuple[str, str | int]
Index = dict[Key, tuple["Rule", ...]]
"""Key -> the rules with this key. A key is the kind of a condition and a value, such as `("code", "billingerror")`."""


@dataclass(frozen=True)
class Rule:
    """A rule. An empty condition matches everything.

    `codes` are lower case; they are compared without case, underscores, dashes and dots. `exceptions` are `package.Class`,
    or `.Class` for a class of that name in any package. `says` are lower-case substrings of the message, of which one must
    occur. A rule with `says` refines a rule for a dialect and a status (or code), and can be switched off. `generic` marks a
    code or finish reason that says little, so that a rule for the HTTP status wins. `names` are the HTTP statuses that the
    codes only repeat, as `forbidden` repeats 403: the rule has the rank of a status, and a rule with a text for one of these
    statuses can win over it. Of two rules of the same rank, the one with the higher `weight` wins, then the one with more
    conditions. The weight of an exception rule is higher, the closer the class is to the root cause.
    """

    id: str
    error_class: ErrorClass | None
    """None means that the call is healthy. Only rules of the user can have this value."""
    reason: str
    dialects: frozenset[str] = frozenset()
    providers: frozenset[str] = frozenset()
    status: frozenset[int] = frozenset()
    codes: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    """Further codes. If `codes` is given too, the error must have one of `codes` and one of `types`."""
    finish: frozenset[str] = frozenset()
    block: frozenset[str] = frozenset()
    exceptions: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    says: tuple[str, ...] = ()
    embedded: bool | None = None
    generic: bool = False
    names: frozenset[int] = frozenset()
    wrapper: bool = False
    """The exception class wraps others. The rule matches only if all causes are network or SDK errors."""
    weight: int = 0
    kind: str = ""
    """The kind of evidence to report, if it is not the one that the conditions suggest."""

    rank: int = field(init=False, repr=False, compare=False)
    """The precedence of the strongest kind of evidence in the conditions."""
    evidence: str = field(init=False, repr=False, compare=False)
    """The kind of evidence, as reported in `Classification.evidence`."""
    conditions: int = field(init=False, repr=False, compare=False)
    """The number of conditions: a rule with more conditions is more specific."""
    refines: bool = field(init=False, repr=False, compare=False)
    """Whether the rule refines a status by a text."""
    _codes: frozenset[str] = field(init=False, repr=False, compare=False)
    _types: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compute now the values that every decision needs."""
        computed = vars(self)
        computed["_codes"] = spellings(self.codes)
        computed["_types"] = spellings(self.types)
        computed["refines"] = bool(self.says and self.status and not self.codes)
        computed["rank"] = self._rank()
        computed["conditions"] = self._conditions()
        computed["evidence"] = self._evidence()

    def adopted(self, row_id: str, **changed: Any) -> "Rule":
        """A copy with the same kinds of conditions, so that rank and evidence stay as they are.

        `dataclasses.replace` would compute them again, which took most of the loading time for a thousand copies.
        """
        copied = object.__new__(Rule)
        fields = vars(copied)
        fields.update(vars(self), id=row_id, **changed)
        if copied.codes is not self.codes:
            fields["_codes"] = spellings(copied.codes)
        return copied

    def decided_by(self, code: str) -> bool:
        """Whether the rule lists this code, which is given in normalised spelling."""
        return code in self._codes or code in self._types

    def repeats(self, codes: frozenset[str]) -> bool:
        """Whether one of these codes, in normalised spelling, is a code of the rule."""
        return not self._codes.isdisjoint(codes)

    def _rank(self) -> int:
        if self.generic or self.wrapper:  # a wrapper is less specific than anything that it wraps
            return GENERIC
        if self.names:
            return STATUS
        kinds = (
            (self.codes or self.types, CODE),
            (self.finish or self.block, FINISH),
            (self.facts, CONTENT),
            (self.exceptions, EXCEPTION),
        )
        # A fact refines a status or a code, but the rule keeps the rank of the status or the code.
        if self.facts and self.status and not (self.codes or self.types):
            return STATUS
        return next((rank for condition, rank in kinds if condition), STATUS)

    def _evidence(self) -> str:
        if self.kind:
            return self.kind
        if self.says:
            return "message"
        if self.wrapper:
            return "exception"
        if self.codes or self.types:
            return "code"
        if self.finish or self.block:
            return "finish_reason"
        return _KIND_NAMES[self.rank]

    def _conditions(self) -> int:
        where = (self.dialects, self.providers, self.status)
        given = (*where, self.codes, self.types, self.finish, self.block, self.exceptions, self.says)
        return sum(map(bool, given)) + len(self.facts) + (self.embedded is not None)

    def found_by(self) -> list[Key]:
        """The index keys of the rule: its most selective condition."""
        kinds: tuple[tuple[str, Set[str | int]], ...] = (
            ("code", self._codes or self._types),
            ("finish", self.finish),
            ("block", self.block),
            ("exception", self.exceptions),
            ("status", self.status),
        )
        kind, values = next((found for found in kinds if found[1]), ("fact", self.facts))
        return [(kind, value) for value in values]

    def holds(self, signals: Signals) -> bool:
        """Whether every condition matches."""
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
        """The codes to compare. Codes found in the message do not count for a rule that repeats a status or is generic."""
        return (signals.codes if self.names or self.generic else signals.all_codes).keys()

    def _raised(self, e: Evidence) -> bool:
        return any(
            n in self.exceptions or "." + n.rpartition(".")[2] in self.exceptions
            for names in e.exceptions
            for n in names
        )


def index(rows: Iterable[Rule]) -> Index:
    """The rules by their keys, in the given order. A rule that refines a status by a text is also found by its dialects."""
    found: dict[Key, list[Rule]] = {}
    for row in rows:
        texts: list[Key] = [("text", dialect) for dialect in row.dialects] if row.refines else []
        for key in row.found_by() + texts:
            found.setdefault(key, []).append(row)
    return {key: tuple(rows) for key, rows in found.items()}


def spellings(codes: Iterable[str]) -> frozenset[str]:
    """The normalised spellings of codes."""
    return frozenset(map(spelling, codes))


def words(names: str) -> frozenset[str]:
    """The words of a string as a set."""
    return frozenset(names.split())
