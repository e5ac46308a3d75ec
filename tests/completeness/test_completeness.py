"""Every exception, finish reason and error code that an installed SDK knows is decided by a rule, not by a fallback.

A release that adds one fails the test of its SDK by the name of what is new.
"""

import importlib.util

import pytest

from llm_errors import providers
from tests.completeness import probes, service_models
from tests.completeness.judging import Findings, judge
from tests.completeness.table import VOCABULARIES, Vocabulary

pytestmark = pytest.mark.filterwarnings("ignore")  # SDKs warn while their own modules are imported
BY_DISTRIBUTION = {row.distribution: row for row in VOCABULARIES}


def _package(distribution: str) -> str:
    """The package of a distribution, as the message about a missing one names it."""
    rows = [row for row in providers.SDKS if row.distribution == distribution]
    return next((row.package for row in rows if _is_installed(row.package)), rows[0].package)


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # a package above it
        return False


@pytest.fixture(scope="module", params=BY_DISTRIBUTION)
def judged(request) -> tuple[Vocabulary, Findings]:
    pytest.importorskip(_package(request.param))
    row = BY_DISTRIBUTION[request.param]
    return row, judge(row)


def test_every_exception_and_every_value_is_decided(judged):
    _, found = judged
    assert not found.undecided


def test_at_most_one_in_twenty_is_out_of_scope(judged):
    _, found = judged
    assert len(found.beside) <= max(1, len(found.known) / 20), found.beside


def test_something_was_found(judged):
    row, found = judged
    names = "".join(found.known)
    assert found.known
    assert " = " in names or not (row.types or row.declared())


def test_every_sdk_of_the_table_has_a_row():
    assert {row.distribution for row in providers.SDKS} == set(BY_DISTRIBUTION)


PROBES = {
    f"{row.distribution}: {pattern}": probe
    for row in VOCABULARIES
    for pattern, probe in (*row.asked, *service_models.BY_ENUMERATION.items())
}


@pytest.mark.parametrize("name", PROBES)
def test_a_value_that_nobody_knows_is_not_decided(name):
    assert not probes.is_decided(PROBES[name]("NOBODY_KNOWS_THIS"))


def test_an_exception_that_nobody_knows_is_not_decided():
    class NeverHeardOfError(Exception):
        pass

    assert not all(map(probes.is_decided, probes.raised(NeverHeardOfError)))
