"""Who is told: the shipped routes as amtool reads them, and what silences what in a running Alertmanager."""

import contextlib
import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from artifact_tools import DEBIAN, REPOSITORY, STACK, tool

from llm_errors.monitoring.alertmanager import RECEIVERS
from llm_errors.monitoring.alerts import every_alert
from llm_errors.monitoring.options import Options

SHIPPED = REPOSITORY / "dashboards/alertmanager.yml"
ROUTES = {
    ("correctness", "page"): "page-owning-team",
    ("correctness", "ticket"): "ticket-owning-team",
    ("reliability", "page"): "page-platform",
    ("reliability", "ticket"): "ticket-platform",
    ("policy", "ticket"): "ticket-trust-and-safety",
    ("review", "info"): "weekly-review",
}
MODEL = {"job": "desk", "gen_ai_provider_name": "openai", "gen_ai_request_model": "gpt"}
OTHER = {**MODEL, "gen_ai_request_model": "mini"}
AUTH = {"alertname": "LLMCredentialOrModelError", "view": "correctness", "severity": "page", "llm_error_class": "AUTH"}
PAGE = {"alertname": "LLMAvailabilityBurnPage", "view": "reliability", "severity": "page"}
TICKET = {"alertname": "LLMAvailabilityBurnTicket", "view": "reliability", "severity": "ticket"}
MODEL_TICKET = {"alertname": "LLMModelBurnTicket", "view": "reliability", "severity": "ticket"}
SPIKE = {"alertname": "LLMRateLimitSpike", "view": "reliability", "severity": "page"}


def amtool(version: str) -> str:
    return tool("amtool", DEBIAN if version == "debian" else STACK)


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("version", ["current", "debian"])
def test_the_shipped_configuration_is_valid(version: str) -> None:
    assert "SUCCESS" in run(amtool(version), "check-config", str(SHIPPED))


@pytest.mark.parametrize("version", ["current", "debian"])
@pytest.mark.parametrize(("view", "severity"), ROUTES)
def test_view_and_severity_decide_who_is_told(view: str, severity: str, version: str) -> None:
    labels = (f"view={view}", f"severity={severity}", "job=desk")
    command = (amtool(version), "config", "routes", "test", f"--config.file={SHIPPED}", *labels)
    assert run(*command) == ROUTES[view, severity]


@pytest.mark.parametrize(("view", "severity"), sorted({(a.view.value, a.severity) for a in every_alert(Options())}))
def test_every_alert_has_a_route_of_its_own(view: str, severity: str) -> None:
    assert ROUTES[view, severity] in RECEIVERS


class Alertmanager:
    """A running Alertmanager with the shipped configuration."""

    def __init__(self, binary: str, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.address = f"127.0.0.1:{server.getsockname()[1]}"
        arguments = (f"--config.file={SHIPPED}", f"--storage.path={folder}", f"--web.listen-address={self.address}")
        self.log = (folder / "log").open("wb")
        command = [binary, *arguments, "--cluster.listen-address="]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def ask(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.address}/{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.loads(answer.read() or b"null") if path.startswith("api") else None

    def ready(self) -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                return self.ask("-/ready")
            time.sleep(0.1)
        raise TimeoutError("Alertmanager did not get ready")

    def silenced(self, *alerts: dict[str, str]) -> set[int]:
        """Which of the alerts another one inhibits, by their place."""
        end = (datetime.now(timezone.utc) + timedelta(minutes=5)).isoformat()
        self.ask("api/v2/alerts", [{"labels": labels, "endsAt": end} for labels in alerts])
        found = self.ask("api/v2/alerts")
        inhibited = [alert["labels"] for alert in found if alert["status"]["inhibitedBy"]]
        return {place for place, labels in enumerate(alerts) if labels in inhibited}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.log.close()


@pytest.fixture
def alertmanager(tmp_path: Path) -> Iterator[Alertmanager]:
    running = Alertmanager(tool("alertmanager", STACK), tmp_path)
    try:
        running.ready()
        yield running
    finally:
        running.stop()


@pytest.mark.parametrize(
    ("first", "second", "silenced"),
    [
        pytest.param(PAGE | {"job": "desk"}, TICKET | {"job": "desk"}, True, id="a page explains its service's ticket"),
        pytest.param(PAGE | {"job": "desk"}, TICKET | {"job": "shop"}, False, id="but not another service's"),
        pytest.param(PAGE | {"job": "desk"}, MODEL_TICKET | MODEL, False, id="nor the ticket that says which model"),
        pytest.param(AUTH | MODEL, MODEL_TICKET | MODEL, True, id="a bad key explains its own model's burn"),
        pytest.param(AUTH | MODEL, SPIKE | MODEL, True, id="and its own model's rate limits"),
        pytest.param(AUTH | MODEL, MODEL_TICKET | OTHER, False, id="but not another model's outage"),
        pytest.param(AUTH | MODEL, PAGE | {"job": "desk"}, False, id="nor the page of the whole service"),
        pytest.param(
            PAGE | {"job": "desk", "window": "1h"},
            PAGE | {"job": "desk", "window": "6h"},
            True,
            id="the fast burn explains the slow one",
        ),
    ],
)
def test_one_alert_silences_another_only_where_it_explains_it(
    first: dict[str, str], second: dict[str, str], silenced: bool, alertmanager: Alertmanager
) -> None:
    assert alertmanager.silenced(first, second) == ({1} if silenced else set())
