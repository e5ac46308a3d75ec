"""The table of what was tested of each SDK says what tests have shown, and names tests that exist."""

import ast
from pathlib import Path

import pytest

from llm_errors import providers
from tests.tested import load
from tests.tested.table import PAGE, page

ROOT = Path(__file__).parents[1]
CLAIMS = [
    pytest.param(test, id=f"{environment}-{distribution}-{trait}")
    for environment, found in load().items()
    for distribution, known in found.items()
    for trait, test in known["shown"].items()
]


@pytest.mark.parametrize("test", CLAIMS)
def test_the_test_behind_a_claim_exists(test):
    path, _, name = test.partition("::")
    names = {node.name for node in ast.walk(ast.parse((ROOT / path).read_text())) if hasattr(node, "name")}
    assert name.rpartition("::")[2] in names


def test_the_page_holds_the_table():
    assert PAGE.read_text() == page()


def test_every_row_is_of_an_sdk_that_is_observed():
    recorded = {distribution for found in load().values() for distribution in found}
    assert recorded
    assert recorded <= {row.distribution for row in providers.OBSERVED}
