"""Builds the rules of one wire dialect, so that a row states only what is special about it."""

from collections.abc import Iterable
from typing import Any

from llm_errors.rules._rule import Rule, spellings, words
from llm_errors.rules._signals import spelling
from llm_errors.taxonomy import ErrorClass


class Dialect:
    """Builds the rules of one dialect. Each id begins with the name of the dialect. `more` sets further fields of `Rule`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.only = frozenset((name,))

    def code(self, row_id: str, error_class: ErrorClass, reason: str, codes: str, **more: Any) -> Rule:
        """A rule for codes of the provider. Case is ignored."""
        return Rule(
            f"{self.name}.{row_id}", error_class, reason, dialects=self.only, codes=words(codes.lower()), **more
        )

    def status(
        self, row_id: str, error_class: ErrorClass, reason: str, status: int, codes: str, weight: int = 1, **more: Any
    ) -> Rule:
        """A rule for codes that only repeat an HTTP status. The rule has the rank of a status, so that a text can refine it."""
        return self.code(row_id, error_class, reason, codes, names=frozenset({status}), weight=weight, **more)

    def finish(self, row_id: str, error_class: ErrorClass, reason: str, finish: str, **more: Any) -> Rule:
        """A rule for finish reasons."""
        return Rule(
            f"{self.name}.finish.{row_id}", error_class, reason, dialects=self.only, finish=words(finish), **more
        )

    def block(self, row_id: str, reason: str, block: str) -> Rule:
        """A rule for the block reasons of a prompt."""
        prompt_blocked = ErrorClass.PROMPT_BLOCKED
        return Rule(f"{self.name}.block.{row_id}", prompt_blocked, reason, dialects=self.only, block=words(block))

    def says(
        self, row_id: str, error_class: ErrorClass, reason: str, status: frozenset[int], *says: str, weight: int = 2
    ) -> Rule:
        """A rule for phrases in the message of an error with one of these statuses. It wins over one for the status alone."""
        row = f"{self.name}.says.{row_id}"
        return Rule(row, error_class, reason, dialects=self.only, status=status, says=says, weight=weight)

    def adopt(self, rows: Iterable[Rule], own: Iterable[Rule]) -> tuple[Rule, ...]:
        """Copy rules of another dialect, for servers of this wire format that send codes and texts of the other dialect.

        A code, phrase or finish reason for which `own` has a rule is removed from the copies. A code stays in a copy that also
        requires a text. A copied rule for a text has a lower weight than one of this dialect.
        """
        own = tuple(own)
        codes = spellings(code for row in own for code in row.codes)
        finish = frozenset(reason for row in own for reason in row.finish)
        phrases = tuple(phrase for row in own if row.refines for phrase in row.says)
        adopted = []
        for row in rows:
            kept_codes, kept_finish, kept_says = row.codes, row.finish, row.says
            if not row.says and row.repeats(codes):
                kept_codes = frozenset(c for c in row.codes if spelling(c) not in codes)
            if row.finish:
                kept_finish = row.finish - finish
            if row.refines:
                kept_says = tuple(s for s in row.says if not any(phrase in s for phrase in phrases))
            lost = (row.codes and not kept_codes) or (row.finish and not kept_finish) or (row.says and not kept_says)
            if not lost:  # without its last condition of a kind, a rule would match everything
                adopted.append(
                    row.adopted(
                        f"{self.name}.{row.id}",
                        dialects=self.only,
                        codes=kept_codes,
                        finish=kept_finish,
                        says=kept_says,
                        weight=row.weight - row.refines,
                    )
                )
        return tuple(adopted)
