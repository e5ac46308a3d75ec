"""All rows, and their index by the condition they are found by. Ids are unique: the import fails otherwise."""

from collections.abc import Iterable
from typing import Final

from llm_errors.rules import anthropic, common, frameworks, google, openai
from llm_errors.rules._rule import Key, Rule

Index = dict[Key, tuple[Rule, ...]]


def index(rows: Iterable[Rule]) -> Index:
    """The rows by their keys, in the order given."""
    found: dict[Key, list[Rule]] = {}
    for row in rows:
        for key in row.found_by():
            found.setdefault(key, []).append(row)
    return {key: tuple(rows) for key, rows in found.items()}


def _checked(rows: tuple[Rule, ...]) -> tuple[Rule, ...]:
    ids = [row.id for row in rows]
    twice = {i for i in ids if ids.count(i) > 1}
    if twice:
        raise ValueError(f"rule ids are not unique: {sorted(twice)}")
    return rows


SHIPPED: Final = _checked((*common.ROWS, *frameworks.ROWS, *openai.ROWS, *anthropic.ROWS, *google.ROWS))
INDEX: Final = index(SHIPPED)
