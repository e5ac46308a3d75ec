"""The table of rows: well-formed, and each row decides over what it was written for."""

from dataclasses import replace

import pytest

from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.rules._rule import index
from llm_errors.rules.shipped import SHIPPED, checked
from llm_errors.taxonomy import REASONS, ErrorClass

by_id = pytest.mark.parametrize("row", SHIPPED, ids=lambda row: row.id)


def evidence_for(row, **more):
    """The least evidence that fulfils every condition of a row."""
    name = min(row.exceptions, default="")
    # A row of words stands for the status that an error inside HTTP 200 does not name.
    bare = bool(row.says and row.status and row.embedded)
    wanted = {
        "dialect": min(row.dialects, default="openai"),
        "provider": min(row.providers, default=""),
        "status": None if bare else min(row.status, default=None),
        "codes": tuple(sorted(row.codes)[:1]),
        "finish_reason": min(row.finish, default=""),
        "block_reason": min(row.block, default=""),
        "exceptions": ((f"openai{name}" if name.startswith(".") else name,),) if name else (),
        "facts": row.facts,
        "message": row.says[0] if row.says else "",
        "embedded": bool(row.embedded),
    }
    return Evidence(**{**wanted, **more})


@by_id
def test_a_row_taken_from_another_dialect_is_the_same_as_one_made_anew(row):
    assert vars(row) == vars(replace(row))


@by_id
def test_a_row_gives_a_class_and_a_reason_of_its_vocabulary(row):
    assert row.reason in REASONS[row.error_class]


@by_id
def test_a_row_is_the_deciding_one_for_what_it_describes(row):
    assert decide(evidence_for(row)).rule == row.id


@by_id
def test_every_code_of_a_row_is_decided_to_its_class(row):
    for code in row.codes:
        assert decide(evidence_for(row, codes=(code,))).error_class is row.error_class, code


@by_id
def test_every_finish_reason_of_a_row_is_decided_by_it(row):
    for reason in row.finish:
        assert decide(evidence_for(row, finish_reason=reason)).rule == row.id, reason


@by_id
def test_codes_are_lower_case_and_texts_too(row):
    assert all(code == code.lower() for code in row.codes)
    assert all(phrase == phrase.lower() for phrase in row.says)


@by_id
def test_a_row_that_reads_text_is_anchored_by_dialect_and_status_or_code(row):
    if row.says:
        assert row.dialects
        assert row.status or row.codes


@by_id
def test_a_row_that_reads_text_can_be_switched_off(row):
    if row.evidence == "message":
        assert decide(evidence_for(row), messages=False).evidence != "message"


def test_ids_are_unique():
    with pytest.raises(ValueError, match=r"not unique: \['common.http.400'\]"):
        checked((SHIPPED[0], SHIPPED[0]))


def test_every_class_is_given_by_some_row():
    assert {row.error_class for row in SHIPPED} == set(ErrorClass)


def test_the_index_finds_each_row_by_one_kind_of_key():
    for row in SHIPPED:
        assert len({kind for kind, _ in row.found_by()}) == 1
    assert {row for rows in index(SHIPPED).values() for row in rows} == set(SHIPPED)
