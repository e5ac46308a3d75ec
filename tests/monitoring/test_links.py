"""Every link of the dashboards leads to something that exists, and knows which service a row is about."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from artifact_tools import REPOSITORY

pytest.importorskip("grafana_foundation_sdk", reason="dashboards need the extra `generate`")

from explore_links import all_links, explored
from seeded_prometheus import SeededPrometheus
from test_now_tiles import prometheus_with

from llm_errors.monitoring import dashboards
from llm_errors.monitoring.alerts import every_alert
from llm_errors.monitoring.dashboards.links import with_service_filters
from llm_errors.monitoring.options import RUNBOOKS, Options
from llm_errors.providers import PROVIDERS

BOARDS = dashboards.build(Options())
PAGES = REPOSITORY / "dashboards/runbooks"


def panels(board: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (panel for panel in board["panels"] if panel["type"] != "row")


def columns(panel: dict[str, Any]) -> set[str]:
    """The columns of a table by their titles; what a transformation does not name keeps its label's name."""
    organize = next(t["options"] for t in panel["transformations"] if t["id"] == "organize")
    return {*organize["renameByName"].values(), "in_traces", "in_logs"} - set(organize["excludeByName"])


every_panel = pytest.mark.parametrize(
    "panel",
    [pytest.param(p, id=f"{uid}/{p['title']}".replace(" ", "_")) for uid, b in BOARDS.items() for p in panels(b)],
)


@every_panel
def test_each_address_leads_to_a_dashboard_a_runbook_or_explore(panel: dict[str, Any]) -> None:
    for link in all_links(panel):
        address = link["url"].split("?")[0]
        runbook = re.fullmatch(re.escape(RUNBOOKS) + r"/(\w+|\$\{__value\.raw\})\.md", address)
        if runbook and "$" not in runbook[1]:
            assert (PAGES / f"{runbook[1]}.md").is_file()
        elif not runbook:
            assert address in ("/explore", "/d/${__value.raw}", *(f"/d/{uid}" for uid in BOARDS))


@every_panel
def test_explore_gets_a_query_for_a_data_source_that_the_dashboard_has(panel: dict[str, Any]) -> None:
    for link in explored(panel):
        for target in link.targets:
            variable = {"tempo": "${traces}", "loki": "${logs}"}[target["datasource"]["type"]]
            assert target["datasource"]["uid"] == variable
            assert target.get("query") or target.get("expr")
        if panel["type"] == "table":
            assert link.columns <= columns(panel)


@pytest.mark.parametrize(
    "title", ["What broke, and since when", "Failing, by model", "Alerts firing", "Worst models, last hour"]
)
def test_a_row_leads_to_the_traces_and_logs_of_its_service_model_and_class(title: str) -> None:
    (panel,) = (p for b in BOARDS.values() for p in panels(b) if p["title"] == title)
    traces, logs = (link.targets[0] for link in explored(panel)[-2:])
    assert "resource.service.name = `checkout`" in traces["query"]
    assert "service_name=`checkout`" in logs["expr"]
    model = "some-gen_ai_request_model" if title == "Failing, by model" else "some-Model"
    assert model in traces["query"]
    assert model in logs["expr"]
    assert "llm.error.class" in traces["query"]
    assert "llm_error_class" in logs["expr"]


def firing() -> dict[str, Any]:
    return next(p for p in panels(BOARDS["llm-overview"]) if p["title"] == "Alerts firing")


@pytest.mark.parametrize("alert", every_alert(Options()), ids=lambda a: f"{a.name}-{a.severity}-{len(a.expression)}")
def test_a_firing_alert_leads_to_its_runbook_and_to_the_dashboard_that_has_its_panel(alert: Any) -> None:
    uid, title = alert.panel.split("/", 1)
    assert title in {panel["title"] for panel in panels(BOARDS[uid])}
    assert (PAGES / f"{alert.name}.md").is_file()
    for target in firing()["targets"]:
        (named,) = re.findall(rf'"board", "{uid}", "alertname", "([\w|]+)"', target["expr"])
        assert alert.name in named.split("|")


def test_the_dashboards_that_explain_alerts_exist() -> None:
    uids = set(re.findall(r'\\"board\\", \\"([\w-]+)\\"', json.dumps(firing())))
    (mapped,) = (
        set(one["value"][0]["options"])
        for override in firing()["fieldConfig"]["overrides"]
        if override["matcher"]["options"] == "Explained on"
        for one in override["properties"]
        if one["id"] == "mappings"
    )
    assert uids <= set(BOARDS)
    assert mapped == set(BOARDS)


def test_every_provider_with_a_status_page_has_its_link() -> None:
    (page,) = (p for p in panels(BOARDS["llm-reliability"]) if p["type"] == "text")
    linked = dict(re.findall(r"\[([^\]]+)\]\((https://[^)]+)\)", page["options"]["content"]))
    by_name = {name: address for names, address in linked.items() for name in names.split(", ")}
    assert by_name == {provider.name: provider.status_page for provider in PROVIDERS if provider.status_page}


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeededPrometheus]:
    found = [("up", {"job": "shop/checkout"}, 1, 1000), ("up", {"job": "portal"}, 1, 1000)]
    found += [("up", {"app": "shop/checkout"}, 1, 1000)]
    prometheus = prometheus_with(tmp_path_factory.mktemp("services"), iter(found))  # type: ignore[arg-type]
    with prometheus.running():
        yield prometheus


@pytest.mark.parametrize(
    ("selected", "label", "traces", "logs"),
    [
        (
            'up{job="shop/checkout"}',
            "job",
            "resource.service.name = `checkout` && resource.service.namespace = `shop`",
            "service_name=`checkout`, service_namespace=`shop`",
        ),
        ('up{job="portal"}', "job", "resource.service.name = `portal`", "service_name=`portal`"),
        (
            'up{app!=""}',
            "app",
            "resource.service.name = `checkout` && resource.service.namespace = `shop`",
            "service_name=`checkout`, service_namespace=`shop`",
        ),
    ],
)
def test_a_row_knows_the_name_and_the_namespace_of_its_service(
    selected: str, label: str, traces: str, logs: str, services: SeededPrometheus
) -> None:
    (row,) = services.query(with_service_filters(f"{selected} @ 1000", label), instant=True, hours=1, step=60)
    assert (row["metric"]["in_traces"], row["metric"]["in_logs"]) == (traces, logs)


def test_another_service_label_reaches_the_links() -> None:
    board = dashboards.build(Options(service_label="app"))["llm-correctness"]
    (panel,) = (p for p in panels(board) if p["title"] == "What broke, and since when")
    assert '"in_traces", "resource.service.name = `$1`", "app", "(.+)"' in panel["targets"][0]["expr"]
