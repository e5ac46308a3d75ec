"""A row with a text refines the rows of its status: it decides where its text is and nothing more specific."""

import pytest

from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.rules.shipped import SHIPPED

ROWS = [row for row in SHIPPED if row.refines and not row.embedded]


def _evidence(row, status, phrase, dialect):
    return Evidence(
        channel="thrown",
        dialect=dialect,
        status=status,
        codes=("invalid_request_error",),
        facts=row.facts | {"error_object"},
        message=f"Sorry: {phrase}.",
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_text_outranks_the_bare_status(row):
    for dialect in row.dialects:
        for status in row.status:
            for phrase in row.says:
                decided = decide(_evidence(row, status, phrase, dialect))
                assert (decided.error_class, decided.reason) == (row.error_class, row.reason), (status, phrase)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_with_message_rules_off_no_text_decides(row):
    for dialect in row.dialects:
        for status in row.status:
            decided = decide(_evidence(row, status, row.says[0], dialect), messages=False)
            assert decided.evidence != "message"
