"""All shipped rules and their index, loaded at the first failure. The import fails if two rules have the same id."""

from collections import Counter
from itertools import chain
from typing import Final

from llm_errors.rules import (
    anthropic,
    bedrock,
    closes,
    cohere,
    common,
    frameworks,
    google,
    huggingface,
    litellm,
    mistral,
    ollama,
    openai,
    vendors,
    xai,
)
from llm_errors.rules._rule import Rule, index


def checked(rows: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules, if their ids are unique. Raises ValueError otherwise."""
    twice = [row_id for row_id, times in Counter(row.id for row in rows).items() if times > 1]
    if twice:
        raise ValueError(f"rule ids are not unique: {sorted(twice)}")
    return rows


_BY_DIALECT: Final = (
    openai.ROWS,
    anthropic.ROWS,
    google.ROWS,
    bedrock.ROWS,
    mistral.ROWS,
    cohere.ROWS,
    ollama.ROWS,
    xai.ROWS,
)
SHIPPED: Final = checked(
    (
        *common.ROWS,
        *closes.ROWS,
        *frameworks.ROWS,
        *huggingface.ROWS,
        *litellm.ROWS,
        *vendors.ROWS,
        *chain.from_iterable(_BY_DIALECT),
    )
)
INDEX: Final = index(SHIPPED)
DIALECTS: Final = frozenset(dialect for row in SHIPPED for dialect in row.dialects)
"""The wire dialects with rules. An unknown dialect is treated as openai."""
