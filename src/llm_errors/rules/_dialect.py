"""Rows of one wire dialect: what such rows have in common, said once."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass


class Dialect:
    """Makes the rows of a dialect; their ids begin with its name. `more` are further conditions of `Rule`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.only = frozenset((name,))

    def code(self, row_id: str, error_class: ErrorClass, reason: str, codes: str, **more: Any) -> Rule:
        """A row for the provider's own codes, whatever their case."""
        return Rule(
            f"{self.name}.{row_id}", error_class, reason, dialects=self.only, codes=words(codes.lower()), **more
        )

    def finish(self, row_id: str, error_class: ErrorClass, reason: str, finish: str, **more: Any) -> Rule:
        """A row for finish reasons."""
        return Rule(
            f"{self.name}.finish.{row_id}", error_class, reason, dialects=self.only, finish=words(finish), **more
        )

    def block(self, row_id: str, reason: str, block: str) -> Rule:
        """A row for the reasons why a prompt was blocked."""
        prompt_blocked = ErrorClass.PROMPT_BLOCKED
        return Rule(f"{self.name}.block.{row_id}", prompt_blocked, reason, dialects=self.only, block=words(block))

    def says(
        self, row_id: str, error_class: ErrorClass, reason: str, status: frozenset[int], *says: str, weight: int = 1
    ) -> Rule:
        """A row for what the message of such a status says: it refines the rows of the status."""
        row = f"{self.name}.says.{row_id}"
        return Rule(row, error_class, reason, dialects=self.only, status=status, says=says, weight=weight)

    def in_stream(self, rows: Iterable[Rule], codes: str) -> tuple[Rule, ...]:
        """The same knowledge about a bad request for errors in mid-stream, where a vague code stands for the status."""
        return tuple(
            replace(row, id=row.id.replace(".says.", ".stream."), status=frozenset(), codes=words(codes), generic=True)
            for row in rows
            if row.says and 400 in row.status
        )

    def adopt(self, rows: Iterable[Rule], own: Iterable[Rule]) -> tuple[Rule, ...]:
        """Rows of another dialect, for servers that speak this one and keep their own codes and words.

        A code or finish reason of `own` means what this dialect says it does; only a text beside it tells more. Texts
        weigh less than this dialect's own.
        """
        own = tuple(own)
        codes = frozenset(code for row in own for code in row.codes)
        finish = frozenset(reason for row in own for reason in row.finish)
        return tuple(
            replace(
                row,
                id=f"{self.name}.{row.id}",
                dialects=self.only,
                codes=row.codes if row.says else row.codes - codes,
                finish=row.finish - finish,
                weight=row.weight - bool(row.says and not row.codes),
            )
            for row in rows
            if (row.says or not row.codes or row.codes - codes) and (not row.finish or row.finish - finish)
        )
