"""What dashboards cost: recorded series only, far from Prometheus' limit of samples over 30 days, and no refresh that is
faster than data arrive."""

import json
import re
import urllib.parse
import urllib.request
from typing import Any

import pytest

pytest.importorskip("grafana_foundation_sdk", reason="dashboards need the extra `generate`")

import monday
from seeded_prometheus import SeededPrometheus
from test_dashboards import BOARDS, panels, queries, substituted

from llm_errors.monitoring import rules
from llm_errors.monitoring.options import Options

RECORDED = {rule["record"] for group in rules.groups(Options()) for rule in group["rules"] if "record" in rule}
OF_PROMETHEUS = {"ALERTS", "ALERTS_FOR_STATE"}
LIMIT = 50_000_000
"""Prometheus' default for `--query.max-samples`."""
LARGER = 50
"""The shop of the benchmark has 250 models at services, the seed has five."""
SLOWEST_OF_THE_FIRST_ROWS = 60


def metrics(expression: str) -> set[str]:
    """The series that a query selects."""
    bare = re.sub(r'"[^"]*"', '""', expression)
    bare = re.sub(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", bare)
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]", "{}", bare)
    found = set(re.findall(r"(?<![\w:.$])[a-zA-Z_][\w:]*(?![\w:]|\s*\()", bare))
    return found - {"and", "or", "unless", "offset", "bool", "NaN"}


@pytest.mark.parametrize("target", list(queries("prometheus")))
def test_a_panel_reads_recorded_series_only(target: dict[str, Any]) -> None:
    assert metrics(target["expr"]) <= RECORDED | OF_PROMETHEUS


@pytest.mark.parametrize("uid", BOARDS)
def test_variables_and_annotations_read_recorded_series_only(uid: str) -> None:
    variables = [v["query"] for v in BOARDS[uid]["templating"]["list"] if v["type"] == "query"]
    selected = {re.match(r"label_values\(([\w:]+)", query)[1] for query in variables}  # type: ignore[index]
    noted = {name for note in BOARDS[uid]["annotations"]["list"] for name in metrics(note["expr"])}
    assert selected | noted <= RECORDED | OF_PROMETHEUS


@pytest.mark.parametrize("target", list(queries("prometheus")))
def test_thirty_days_are_far_from_the_limit_of_samples(target: dict[str, Any], seeded: SeededPrometheus) -> None:
    hourly = {"$__rate_interval": "2h", "$__interval_ms": "3600000", "$__interval": "1h"}
    expression = target["expr"]
    for name, value in {**hourly, "$__range_s": "2592000", "$__range": "30d"}.items():
        expression = expression.replace(name, value)
    span = {"start": monday.NOW - 30 * 86400, "end": monday.NOW, "step": 3600}
    path, when = ("query", {"time": monday.NOW}) if target.get("instant") else ("query_range", span)
    body = urllib.parse.urlencode({"query": substituted(expression), "stats": "all", **when}).encode()
    with urllib.request.urlopen(f"{seeded.address}/api/v1/{path}", data=body, timeout=120) as answer:
        samples = json.load(answer)["data"]["stats"]["samples"]
    assert samples["peakSamples"] * LARGER < LIMIT / 5


@pytest.mark.parametrize("uid", BOARDS)
def test_no_refresh_is_faster_than_data_arrive(uid: str) -> None:
    board = BOARDS[uid]
    offered = [board["refresh"], *board["timepicker"]["refresh_intervals"]]
    seconds = [int(each[:-1]) * {"s": 1, "m": 60, "h": 3600}[each[-1]] for each in offered]
    assert min(seconds) >= SLOWEST_OF_THE_FIRST_ROWS


def test_counted_bars_have_at_least_three_of_the_recorded_steps() -> None:
    bars = [p for board in BOARDS.values() for p in panels(board) if "every5m" in json.dumps(p) and p.get("interval")]
    assert bars
    assert {p["interval"] for p in bars} <= {"15m", "1h"}
