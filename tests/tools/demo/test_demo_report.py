"""Colour, and the arithmetic of the report."""

import pytest

pytest.importorskip("opentelemetry.proto")

from llm_errors.taxonomy import ErrorClass
from llm_errors.tools.demo import command, monday, report


def test_availability_leaves_blocks_out_and_counts_only_the_providers_faults():
    failed = {ErrorClass.PROMPT_BLOCKED: 20, ErrorClass.RATE_LIMITED: 4, ErrorClass.AUTH: 10}
    assert report.availability(100, failed) == "95.0 %"


def test_no_valid_call_is_no_number():
    assert report.availability(3, {ErrorClass.OUTPUT_BLOCKED: 3}) == "-"


@pytest.mark.parametrize(
    ("tty", "variables", "wanted"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_colours_only_where_they_are_wanted(monkeypatch, tty, variables, wanted):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: tty)
    assert command.wants_colour() is wanted
    assert (report.Paint(wanted)("x", "1") == "\x1b[1mx\x1b[0m") is wanted


def test_every_ticket_has_a_number_of_its_own_and_every_fault_is_placed():
    tickets = list(monday.all_tickets())
    assert len({t.number for t in tickets}) == len(tickets)
    for scene in monday.SCENES:
        assert sum(bool(t.fault) for t in monday.tickets(scene)) == sum(f.tickets for f in scene.faults)
