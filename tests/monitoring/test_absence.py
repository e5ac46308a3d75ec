"""Where nothing is counted a dashboard says "no data": no query turns absence into 0, and what is 0 was counted."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from artifact_tools import STACK, promtool, tool

pytest.importorskip("grafana_foundation_sdk", reason="dashboards need the extra `generate`")

from seeded_prometheus import SeededPrometheus
from test_dashboards import BOARDS, panels, queries, substituted
from test_now_tiles import Situation, prometheus_with, samples

TILE_WORDS = ("now", "who acts")
NO_DATA_CODE = 4


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeededPrometheus]:
    prometheus = SeededPrometheus(tool("prometheus", STACK), promtool("current"), tmp_path_factory.mktemp("empty"))
    with prometheus.running():
        yield prometheus


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeededPrometheus]:
    """One service with calls and without a single failure."""
    prometheus = prometheus_with(tmp_path_factory.mktemp("calm"), samples(Situation("shop")))
    with prometheus.running():
        yield prometheus


def values(found: list[dict[str, Any]]) -> list[float]:
    """What a panel would show; NaN reads "no data"."""
    pairs = (pair for series in found for pair in series.get("values", [series.get("value")]))
    return [float(value) for _, value in pairs if not math.isnan(float(value))]


def asked(prometheus: SeededPrometheus, target: dict[str, Any], hours: float = 24) -> list[float]:
    instant = bool(target.get("instant"))
    return values(prometheus.query(substituted(target["expr"]), instant=instant, hours=hours, step=300))


@pytest.mark.parametrize("target", list(queries("prometheus")))
def test_an_empty_prometheus_answers_no_query_with_a_number(target: dict[str, Any], empty: SeededPrometheus) -> None:
    expected = [NO_DATA_CODE] if target.get("legendFormat") in TILE_WORDS else []
    assert asked(empty, target) == expected


@pytest.mark.parametrize("target", [q for q in queries("prometheus") if "$service" in q.values[0]["expr"]])
def test_a_service_that_is_not_counted_has_no_number_although_others_are(
    target: dict[str, Any], seeded: SeededPrometheus
) -> None:
    chosen = {**target, "expr": target["expr"].replace('"$service"', '"no-such-service"')}
    expected = [NO_DATA_CODE] if target.get("legendFormat") in TILE_WORDS else []
    assert asked(seeded, chosen) == expected


@pytest.mark.parametrize(
    ("title", "says"),
    [
        ("Provider failures, share of calls", "no failures"),
        ("Failures by class, share of calls", "no failures"),
        ("Failures a minute", "no failures"),
        ("Rate limited, share of calls by model", "no failures"),
        ("Alerts firing", "nothing fires"),
        ("What broke, and since when", "no failures"),
        ("Unclassified failures by provider and reason", "no failures"),
    ],
)
def test_calls_without_a_failure_are_a_0_that_says_so(title: str, says: str, calm: SeededPrometheus) -> None:
    panel = next(p for board in BOARDS.values() for p in panels(board) if p["title"] == title)
    target = panel["targets"][0]
    step = substituted(target["expr"].replace("$__interval_ms", "60000").replace("$__range", "1h"))
    step = step.replace(":every5m", ":count5m")  # the small seed has only what is recorded often
    found = calm.query(step, instant=bool(target.get("instant")), hours=0.5, step=60)
    assert says in {text for series in found for text in series["metric"].values()}
    assert set(values(found)) == {0}


@pytest.mark.parametrize("uid", BOARDS)
def test_no_panel_replaces_null_by_a_number(uid: str) -> None:
    written = json.dumps(BOARDS[uid])
    assert '"nullPointMode"' not in written
    assert "or vector(0)" not in written
    assert all(
        p["fieldConfig"]["defaults"].get("custom", {}).get("spanNulls") in (None, False)
        for p in panels(BOARDS[uid])
        if p["type"] == "timeseries"
    )
