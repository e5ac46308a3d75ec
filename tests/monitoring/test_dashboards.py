"""The dashboards as Grafana would read them: schema, lint, layout, and every query on seed data in Prometheus."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from artifact_tools import promtool

from llm_errors.monitoring.alerts import every_alert
from llm_errors.monitoring.options import BURNS, SHARES, Options
from llm_errors.taxonomy import ErrorClass

pytest.importorskip("grafana_foundation_sdk", reason="dashboards need the extra `generate`")

import monday
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import Dashboard
from seeded_prometheus import SeededPrometheus

from llm_errors.monitoring import dashboards
from llm_errors.monitoring.promql import Series

BOARDS = dashboards.build(Options())
UNITS = {value for name, value in vars(units).items() if isinstance(value, str) and not name.startswith("_")}
PLACES = ["cluster", "namespace", "environment"]
CLASSES = [error_class.value for error_class in ErrorClass]
VARIABLES = {
    "$__rate_interval": "5m",
    "$__interval_ms": "300000",
    "$__interval": "5m",
    "$__range_s": "86400",
    "$__range": "24h",
}
ANNOTATION_TEXTS = ("titleFormat", "tagKeys")
"""What annotations of Prometheus have and the typed schema does not know."""


def panels(board: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def queries(source: str) -> Iterator[Any]:
    """All queries of one kind of data source, as pytest parameters."""
    for uid, board in BOARDS.items():
        for panel in panels(board):
            for target in panel.get("targets", ()):
                if target["datasource"]["type"] == source:
                    yield pytest.param(target, id=f"{uid}/{panel['title']}/{target['refId']}".replace(" ", "_"))


def substituted(expression: str) -> str:
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return re.sub(r"\$(?!\d)\w+", ".*", expression)


def choices(board: dict[str, Any]) -> list[dict[str, Any]]:
    """The variables that a user chooses from; hidden ones follow them."""
    return [v for v in board["templating"]["list"] if v["type"] == "query" and not v.get("hide")]


def threshold_values(panel: dict[str, Any]) -> list[float]:
    return [
        step["value"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"] if step["value"] is not None
    ]


def panel_of(key: str) -> dict[str, Any]:
    uid, title = key.split("/", 1)
    return next(panel for panel in BOARDS[uid]["panels"] if panel["title"] == title)


each_board = pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
each_panel = pytest.mark.parametrize(
    "panel",
    [
        pytest.param(panel, id=f"{uid}/{panel['title']}".replace(" ", "_"))
        for uid, b in BOARDS.items()
        for panel in panels(b)
        if panel["type"] != "text"
    ],
)


@each_board
def test_nothing_is_lost_in_a_round_trip_through_the_typed_schema(board: dict[str, Any]) -> None:
    notes = [{k: v for k, v in n.items() if k not in ANNOTATION_TEXTS} for n in board["annotations"]["list"]]
    typed = {**board, "annotations": {**board["annotations"], "list": notes}}
    assert json.loads(JSONEncoder().encode(Dashboard.from_json(board))) == typed


@each_board
def test_it_needs_no_manual_inputs(board: dict[str, Any]) -> None:
    assert not {"__inputs", "__requires"} & board.keys()


@each_board
def test_its_identity_is_stable_and_free_of_a_database_id(board: dict[str, Any]) -> None:
    assert board.get("id") is None
    assert re.fullmatch(r"llm-[a-z]+", board["uid"])


@each_board
def test_it_is_not_edited_by_hand(board: dict[str, Any]) -> None:
    assert board["editable"] is False


@each_board
def test_panel_ids_are_unique(board: dict[str, Any]) -> None:
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)


@each_board
def test_the_grid_has_no_overlap_and_no_hole(board: dict[str, Any]) -> None:
    cells = [
        (x, y)
        for g in (panel["gridPos"] for panel in board["panels"])
        for x in range(g["x"], g["x"] + g["w"])
        for y in range(g["y"], g["y"] + g["h"])
    ]
    height = 1 + max(y for _, y in cells)
    assert sorted(cells) == sorted((x, y) for x in range(24) for y in range(height))


@each_board
def test_one_variable_chooses_prometheus(board: dict[str, Any]) -> None:
    chosen = [
        v["name"] for v in board["templating"]["list"] if v["type"] == "datasource" and v["query"] == "prometheus"
    ]
    assert chosen == ["datasource"]


@each_board
def test_variables_are_chained(board: dict[str, Any]) -> None:
    chain = choices(board)
    assert [v["name"] for v in chain] == [*PLACES, "service", "provider", "model", "operation"]
    for place, variable in enumerate(chain):
        assert all(f"${before['name']}" in variable["query"] for before in chain[:place])


@each_board
def test_variables_offer_all_and_several(board: dict[str, Any]) -> None:
    chain = choices(board)
    assert all(v["multi"] and v["includeAll"] and v["refresh"] == 2 and v["label"] for v in chain)


def test_logs_are_asked_for_the_name_behind_the_namespace_in_a_job() -> None:
    hidden = next(v for v in BOARDS["llm-overview"]["templating"]["list"] if v["name"] == "service_name")
    assert re.search(hidden["regex"].strip("/"), "shop/checkout")[1] == "checkout"
    assert re.search(hidden["regex"].strip("/"), "checkout")[1] == "checkout"
    assert all("$service_name" in p.values[0]["expr"] for p in queries("loki"))
    assert all("$service_name" in p.values[0]["query"] for p in queries("tempo"))


def test_an_extra_label_gets_a_variable_and_a_matcher() -> None:
    board = dashboards.build(Options(extra_labels=("region",)))["llm-overview"]
    assert "region" in [v["name"] for v in choices(board)]
    assert 'region=~"$region"' in json.dumps(board).replace('\\"', '"')


@each_board
def test_titles_are_unique(board: dict[str, Any]) -> None:
    titles = [panel["title"] for panel in panels(board)]
    assert len(set(titles)) == len(titles)


@each_board
def test_it_links_to_its_siblings_and_the_runbooks(board: dict[str, Any]) -> None:
    assert {link["type"] for link in board["links"]} == {"dashboards", "link"}


@each_board
def test_it_marks_alerts(board: dict[str, Any]) -> None:
    assert any("ALERTS{" in note.get("expr", "") for note in board["annotations"]["list"])


@each_board
def test_it_marks_deployments(board: dict[str, Any]) -> None:
    (note,) = (note for note in board["annotations"]["list"] if note["name"] == "Deployments")
    assert Series(Options()).deployed in note["expr"]
    assert "service_version" in note["titleFormat"]


def test_the_overview_tells_what_is_now_then_what_fires_then_the_month() -> None:
    rows: dict[int, list[str]] = {}
    for panel in panels(BOARDS["llm-overview"]):
        rows.setdefault(panel["gridPos"]["y"], []).append(panel["title"])
    now, firing, month, *_ = (rows[y] for y in sorted(rows))
    assert [title.partition(" (")[0] for title in now] == ["Provider failures", "Our failures", "Policy", "Telemetry"]
    assert firing == ["Alerts firing"]
    assert [title for title in month if title.endswith("30 days")] == month[:3]


@each_panel
def test_its_description_says_more_than_its_title(panel: dict[str, Any]) -> None:
    assert len(panel["description"]) > 40


@each_panel
def test_it_has_a_unit(panel: dict[str, Any]) -> None:
    fields = panel["fieldConfig"]
    overrides = [p["value"] for o in fields.get("overrides", []) for p in o["properties"] if p["id"] == "unit"]
    known = {*overrides, fields["defaults"].get("unit")} & (UNITS | {"string"})
    assert known or fields["defaults"].get("mappings")


@each_panel
def test_it_reads_the_chosen_data_source(panel: dict[str, Any]) -> None:
    sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
    assert all(
        s["uid"] == {"prometheus": "${datasource}", "loki": "${logs}", "tempo": "${traces}"}[s["type"]] for s in sources
    )


@each_panel
def test_it_has_words_for_no_data(panel: dict[str, Any]) -> None:
    assert panel["fieldConfig"]["defaults"]["noValue"] == "no data"


@pytest.mark.parametrize("error_class", CLASSES)
def test_a_class_has_one_colour_on_all_dashboards(error_class: str) -> None:
    colours = {
        json.dumps(p["value"])
        for board in BOARDS.values()
        for panel in panels(board)
        for override in panel.get("fieldConfig", {}).get("overrides", [])
        if override["matcher"]["options"] == error_class
        for p in override["properties"]
        if p["id"] == "color"
    }
    assert len(colours) == 1


@pytest.mark.parametrize(
    ("panel", "expected"),
    [
        *((f"llm-reliability/Burn rate, {burn.long}", [burn.factor]) for burn in BURNS),
        ("llm-reliability/Rate limited, share of calls by model", [SHARES["RATE_LIMITED"].ratio]),
        ("llm-reliability/Cancelled, share of calls by model", [SHARES["CANCELLED"].ratio]),
        ("llm-policy/Blocked, share of calls by model", [SHARES["PROMPT_BLOCKED"].ratio]),
        ("llm-policy/Truncated, share of calls by model and operation", [SHARES["TRUNCATED"].ratio]),
        ("llm-overview/Unclassified, share of calls", [SHARES["UNKNOWN"].ratio]),
        (
            "llm-correctness/Tool protocol and context overflow, share of calls",
            [SHARES["BAD_REQUEST"].ratio, SHARES["TOOL_PROTOCOL"].ratio],
        ),
    ],
)
def test_thresholds_are_the_alerts(panel: str, expected: list[float]) -> None:
    assert threshold_values(panel_of(panel)) == expected


@pytest.mark.parametrize("alert", every_alert(Options()), ids=lambda a: f"{a.name}-{a.severity}-{len(a.expression)}")
def test_the_panel_of_an_alert_links_to_its_runbook(alert: Any) -> None:
    assert any(link["url"].endswith(f"/{alert.name}.md") for link in panel_of(alert.panel)["links"])


@pytest.mark.parametrize("version", ["current", "debian"])
def test_every_query_parses(version: str, tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{i}", "expr": substituted(p.values[0]["expr"])} for i, p in enumerate(queries("prometheus"))
    ]
    path = tmp_path / "queries.json"
    path.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    done = subprocess.run([promtool(version), "check", "rules", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", list(queries("prometheus")))
def test_every_query_yields_a_series_on_seed_data(target: dict[str, Any], seeded: SeededPrometheus) -> None:
    instant = bool(target.get("instant"))
    assert seeded.query(substituted(target["expr"]), instant=instant, hours=24, step=300)


def test_first_seen_is_not_clipped_to_the_range(seeded: SeededPrometheus) -> None:
    panel = panel_of("llm-correctness/What broke, and since when")
    expression = panel["targets"][1]["expr"].replace("$__range_s", "3600")
    found = seeded.query(substituted(expression), instant=True, hours=1, step=60)
    seen = {one["metric"]["llm_error_reason"]: float(one["value"][1]) / 1000 for one in found}
    assert seen["malformed_call"] < monday.NOW - 8 * 86400
    assert seen["insufficient_quota"] > monday.NOW - 3600


@pytest.mark.parametrize("uid", ["llm-overview", "llm-reliability"])
def test_a_service_with_an_objective_of_its_own_is_coloured_by_it(uid: str) -> None:
    board = dashboards.build(Options(objective=99.5, objectives={"chat": 99.0}))[uid]
    tile = next(panel for panel in panels(board) if panel["title"] == "Availability, 30 days")
    (override,) = (one for one in tile["fieldConfig"]["overrides"] if one["matcher"]["options"] == "chat")
    (thresholds,) = (one["value"] for one in override["properties"] if one["id"] == "thresholds")
    assert [(step["value"], step["color"]) for step in thresholds["steps"]] == [
        (None, "red"),
        (0.99, "semi-dark-green"),
    ]
    assert threshold_values(tile) == [0.995]
    assert tile["targets"][0]["legendFormat"].startswith("{{job}}")


def test_two_sets_of_rules_have_dashboards_side_by_side() -> None:
    written = json.dumps(dashboards.build(Options(name="pay")))
    boards = json.loads(written).values()
    assert {board["uid"] for board in boards} == {f"pay-{uid}" for uid in BOARDS}
    linked = {link.split("?")[0] for link in re.findall(r"/d/[^\"]+", written)}
    assert linked == {*(f"/d/pay-{uid}" for uid in BOARDS), "/d/${__value.raw}"}
    named = set(re.findall(r'\\"board\\", \\"([^"\\]+)', written))
    assert named == {f"pay-{uid}" for uid in BOARDS}
    assert all(board["title"].endswith(" (pay)") and "llm-errors-pay" in board["tags"] for board in boards)
    assert '"llm-errors"' not in written


def test_an_alert_of_a_named_set_points_to_the_dashboards_of_that_set() -> None:
    assert {uid for uid, _ in dashboards.panels(dashboards.build(Options(name="pay"))).values()} == {
        f"pay-{uid}" for uid in BOARDS
    }


def test_grafana_takes_the_uids_of_the_longest_name() -> None:
    boards = dashboards.build(Options(name="n" * 24)).values()
    assert max(len(board["uid"]) for board in boards) <= 40


@pytest.mark.parametrize("label", ["service", "model", "service_name", "environment", "logs"])
def test_an_extra_label_shares_its_variable_with_nothing_else(label: str) -> None:
    for board in dashboards.build(Options(extra_labels=(label,))).values():
        names = [variable["name"] for variable in board["templating"]["list"]]
        assert len(names) == len(set(names))
        assert f'{label}=~"${label}_label"' in json.dumps(board).replace('\\"', '"')
