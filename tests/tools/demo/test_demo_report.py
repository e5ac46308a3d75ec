"""The script of the play, and the arithmetic and shape of the report."""

import io
from collections import Counter

import pytest

pytest.importorskip("opentelemetry.proto")

from llm_errors.taxonomy import HANDLING, ErrorClass
from llm_errors.tools.demo import monday
from llm_errors.tools.run import command, report
from llm_errors.tools.run.summary import ClassRow, ModelRow, Summary


def _model(ok, **failed):
    return ModelRow("openai", "gpt-5-mini", ok, {ErrorClass[name]: n for name, n in failed.items()})


def test_availability_leaves_blocks_out_and_counts_only_the_providers_faults():
    row = _model(66, PROMPT_BLOCKED=20, RATE_LIMITED=4, AUTH=10)
    assert row.calls == 100
    assert report.percent(row.availability) == "95.0 %"


def test_no_valid_call_is_no_number():
    assert report.percent(_model(0, OUTPUT_BLOCKED=3).availability) == "-"


@pytest.mark.parametrize(
    ("tty", "variables", "wanted"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_colours_only_where_they_are_wanted(monkeypatch, tty, variables, wanted):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: tty)
    assert command.wants_colour(stream) is wanted
    assert (report.Paint(wanted)("x", "1") == "\x1b[1mx\x1b[0m") is wanted


def test_the_widest_numbers_and_reasons_still_fit_80_columns():
    long = Counter(unrecognised_finish_reason=1234567, foreign_exception=1, request_too_large_for_rate=12345)
    rows = [ClassRow(rule, long, 3_000_000) for rule in HANDLING.values()]
    models = [ModelRow("aws.bedrock", "m" * 200, 123456, {}), ModelRow("openai", "", 1, {})]
    lines = list(
        report.Report(Summary(calls=30_000_000, cancelled=10, classes=rows, models=models), report.Paint(False)).lines()
    )
    assert max(map(len, lines)) <= 80
    assert sum("unrecognised_finish_reason 1234567" in line for line in lines) == len(HANDLING)


def test_a_budget_of_the_account_pages_and_one_of_a_run_is_a_ticket():
    rule = HANDLING[ErrorClass.CALL_BUDGET]
    assert ClassRow(rule, Counter(insufficient_quota=1, max_turns=1), 2).severity == "page"
    assert ClassRow(rule, Counter(max_turns=1), 1).severity == "ticket"


def test_every_ticket_has_a_number_of_its_own_and_every_fault_is_placed():
    tickets = list(monday.all_tickets())
    assert len({t.number for t in tickets}) == len(tickets)
    for scene in monday.SCENES:
        assert sum(bool(t.fault) for t in monday.tickets(scene)) == sum(f.tickets for f in scene.faults)


@pytest.mark.parametrize(
    ("in_band", "wanted"),
    [({}, "filtered 3"), ({"filtered": 3}, "filtered 3 in_band"), ({"filtered": 1}, "filtered 3 (1 in_band)")],
)
def test_a_reason_names_the_channel_that_is_no_exception(in_band, wanted):
    rule = HANDLING[ErrorClass.OUTPUT_BLOCKED]
    assert ClassRow(rule, Counter(filtered=3), 9, Counter(in_band)).told == [wanted]
