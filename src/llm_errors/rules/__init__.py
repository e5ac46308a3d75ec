"""All rules, indexed by their most selective condition. The import fails if two rules have the same id."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Final

from llm_errors.rules import (
    anthropic,
    bedrock,
    cohere,
    common,
    frameworks,
    google,
    huggingface,
    mistral,
    ollama,
    openai,
)
from llm_errors.rules._rule import Key, Rule

Index = dict[Key, tuple[Rule, ...]]


def index(rows: Iterable[Rule]) -> Index:
    """The rules by their keys, in the given order."""
    found: dict[Key, list[Rule]] = {}
    for row in rows:
        texts = (("text", dialect) for dialect in row.dialects if row.refines)
        for key in (*row.found_by(), *texts):
            found.setdefault(key, []).append(row)
    return {key: tuple(rows) for key, rows in found.items()}


def _checked(rows: tuple[Rule, ...]) -> tuple[Rule, ...]:
    twice = [row_id for row_id, times in Counter(row.id for row in rows).items() if times > 1]
    if twice:
        raise ValueError(f"rule ids are not unique: {sorted(twice)}")
    return rows


_BY_DIALECT: Final = (openai.ROWS, anthropic.ROWS, google.ROWS, bedrock.ROWS, mistral.ROWS, cohere.ROWS, ollama.ROWS)
SHIPPED: Final = _checked((*common.ROWS, *frameworks.ROWS, *huggingface.ROWS, *chain.from_iterable(_BY_DIALECT)))
INDEX: Final = index(SHIPPED)
DIALECTS: Final = frozenset(dialect for row in SHIPPED for dialect in row.dialects)
"""The wire dialects with rules. An unknown dialect is treated as openai."""
