"""Alerts that Grafana evaluates: the same as those of Prometheus, which goes on evaluating them for the dashboards and keeps
them to itself."""

import json
import re
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from artifact_tools import REPOSITORY, STACK, tool
from incidents import free_port, running

from llm_errors.monitoring.grafana_alerting import MINIMUM_VERSION

DASHBOARDS = REPOSITORY / "dashboards"
GUIDE = (DASHBOARDS / "README.md").read_text(encoding="utf-8")
FILE = DASHBOARDS / "provisioning/alerting/grafana-alerting.yml"
GRAFANA = [rule for group in yaml.safe_load(FILE.read_text())["groups"] for rule in group["rules"]]
PROMETHEUS = [
    rule
    for group in yaml.safe_load((DASHBOARDS / "prometheus/llm-errors.rules.yml").read_text())["groups"]
    for rule in group["rules"]
    if "alert" in rule
]
EACH = [pytest.param(one, other, id=one["title"]) for one, other in zip(GRAFANA, PROMETHEUS, strict=True)]


@pytest.mark.parametrize(("grafana", "prometheus"), EACH)
def test_an_alert_of_grafana_has_the_labels_condition_and_times_of_prometheus(
    grafana: dict[str, Any], prometheus: dict[str, Any]
) -> None:
    assert grafana["title"].split()[0] == prometheus["alert"]
    assert grafana["labels"] == prometheus["labels"]
    assert grafana["data"][0]["model"]["expr"] == prometheus["expr"]
    assert (grafana["for"], grafana.get("keepFiringFor")) == (
        prometheus.get("for", "0s"),
        prometheus.get("keep_firing_for"),
    )
    assert grafana["annotations"]["runbook_url"] == prometheus["annotations"]["runbook_url"]


def test_the_file_and_the_guide_name_the_oldest_grafana() -> None:
    assert f"# Needs Grafana {MINIMUM_VERSION} or newer" in FILE.read_text()
    assert f"It needs Grafana {MINIMUM_VERSION} or newer" in GUIDE


class Pager:
    """Stands for Alertmanager: keeps the names of the alerts that Prometheus sends."""

    def __init__(self) -> None:
        self.told: set[str] = set()
        pager = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                pager.told.update(alert["labels"]["alertname"] for alert in body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Silence: what counts is what was sent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()


@pytest.fixture
def pager() -> Iterator[Pager]:
    created = Pager()
    yield created
    created.server.shutdown()
    created.server.server_close()


def test_prometheus_keeps_the_alerts_to_itself_and_the_dashboards_see_them(pager: Pager, tmp_path: Path) -> None:
    (block,) = re.findall(r"^```yaml\n(alerting:.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    alerting = yaml.safe_load(block)["alerting"]
    alerting["alertmanagers"] = [{"static_configs": [{"targets": [f"127.0.0.1:{pager.server.server_port}"]}]}]
    alerts = [{"alert": name, "expr": "vector(1)"} for name in (PROMETHEUS[0]["alert"], "DiskFull")]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "g", "rules": alerts}]}))
    config = {"global": {"evaluation_interval": "1s"}, "rule_files": ["rules.yml"], "alerting": alerting}
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    command = [tool("prometheus", STACK), "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
    with running([*command, f"--web.listen-address={address}"], tmp_path, f"http://{address}/-/ready"):
        deadline = time.monotonic() + 60
        while not (pager.told and series("ALERTS", address)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert {one["alertname"] for one in series("ALERTS", address)} == {alert["alert"] for alert in alerts}
        assert pager.told == {"DiskFull"}


def series(query: str, address: str) -> list[dict[str, str]]:
    with urllib.request.urlopen(f"http://{address}/api/v1/query?query={query}", timeout=60) as answer:
        return [one["metric"] for one in json.load(answer)["data"]["result"]]
