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

from llm_errors.monitoring import alertmanager as files
from llm_errors.monitoring import grafana_alerting, routing, yaml_text
from llm_errors.monitoring.alerts import every_alert
from llm_errors.monitoring.options import Options, Team

SHIPPED = REPOSITORY / "dashboards/alertmanager.yml"
ROUTES = {
    ("correctness", "page"): "page-owning-team",
    ("correctness", "ticket"): "ticket-owning-team",
    ("reliability", "page"): "page-platform",
    ("reliability", "ticket"): "ticket-platform",
    ("policy", "ticket"): "ticket-trust-and-safety",
    ("review", "info"): "weekly-review",
}
SERVICE = {"job": "desk", "cluster": "a", "namespace": "help", "deployment_environment_name": "prod"}
MODEL = {**SERVICE, "gen_ai_provider_name": "openai", "gen_ai_request_model": "gpt"}
AUTH = {"alertname": "LLMCredentialOrModelError", "view": "correctness", "severity": "page", "llm_error_class": "AUTH"}
OWN_KEYS = {**AUTH, "severity": "ticket"}
PAGE = {"alertname": "LLMAvailabilityBurnPage", "view": "reliability", "severity": "page"}
TICKET = {"alertname": "LLMAvailabilityBurnTicket", "view": "reliability", "severity": "ticket"}
MODEL_TICKET = {"alertname": "LLMModelBurnTicket", "view": "reliability", "severity": "ticket"}
SPIKE = {"alertname": "LLMRateLimitSpike", "view": "reliability", "severity": "page"}


TEAMS = Options(teams=(Team("namespace", "help", "help-desk"), Team("job", "shop/cart", "shop")))


def amtool(version: str) -> str:
    return tool("amtool", DEBIAN if version == "debian" else STACK)


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def routed(configuration: Path, version: str = "current", **labels: str) -> str:
    """The receiver of an alert, as amtool reads the configuration."""
    given = (f"{name}={value}" for name, value in labels.items())
    return run(amtool(version), "config", "routes", "test", f"--config.file={configuration}", *given)


def written(folder: Path, document: dict[str, Any]) -> Path:
    path = folder / "alertmanager.yml"
    path.write_text(yaml_text.dump(document, "of a test"))
    return path


@pytest.mark.parametrize("version", ["current", "debian"])
def test_the_shipped_configuration_is_valid(version: str) -> None:
    assert "SUCCESS" in run(amtool(version), "check-config", str(SHIPPED))


@pytest.mark.parametrize("version", ["current", "debian"])
@pytest.mark.parametrize(("view", "severity"), ROUTES)
def test_view_and_severity_decide_who_is_told(view: str, severity: str, version: str) -> None:
    assert routed(SHIPPED, version, view=view, severity=severity, job="desk") == ROUTES[view, severity]


def test_cut_off_answers_go_to_the_product() -> None:
    assert routed(SHIPPED, view="policy", severity="ticket", llm_error_class="TRUNCATED") == "ticket-product"


@pytest.mark.parametrize(("view", "severity"), sorted({(a.view.value, a.severity) for a in every_alert(Options())}))
def test_every_alert_has_a_route_of_its_own(view: str, severity: str) -> None:
    assert ROUTES[view, severity] in {receiver.name for receiver in routing.receivers(Options())}


def test_no_notification_depends_on_the_model() -> None:
    assert "gen_ai_request_model" not in str(files.configuration(Options())["route"])


@pytest.mark.parametrize(
    ("view", "more"), [("reliability", ()), ("correctness", ("gen_ai_provider_name", "llm_error_class"))]
)
def test_a_page_is_about_one_service_in_one_place(view: str, more: tuple[str, ...]) -> None:
    route = next(r for r in routing.routes(Options()) if ("view", "=", view) in r.matchers and len(r.matchers) > 1)
    assert route.group_by == ("job", "cluster", "namespace", "deployment_environment_name", *more)


def test_extra_labels_are_part_of_every_page() -> None:
    pages = routing.routes(Options(extra_labels=("region",)))[:2]
    assert all("region" in route.group_by for route in pages)


@pytest.mark.parametrize("severity", ["page", "ticket"])
def test_a_team_gets_what_its_own_services_break(severity: str, tmp_path: Path) -> None:
    configuration = written(tmp_path, files.configuration(TEAMS))
    alert = {"view": "correctness", "severity": severity}
    assert routed(configuration, **alert, namespace="help") == "help-desk"
    assert routed(configuration, **alert, job="shop/cart") == "shop"
    assert routed(configuration, **alert, job="desk") == ROUTES["correctness", severity]


def test_an_outage_of_a_teams_service_stays_with_the_platform(tmp_path: Path) -> None:
    configuration = written(tmp_path, files.configuration(TEAMS))
    assert routed(configuration, view="reliability", severity="page", namespace="help") == "page-platform"


EXISTING = {
    "route": {
        "receiver": "everyone",
        "group_by": ["cluster"],
        "routes": [{"receiver": "disks", "matchers": ['disk=~".+"']}],
    },
    "receivers": [{"name": "everyone"}, {"name": "disks"}],
}


def merged() -> dict[str, Any]:
    """An existing configuration after what the file to merge tells to do."""
    ours = files.to_merge(TEAMS)
    routes = [*ours["route"]["routes"], *EXISTING["route"]["routes"]]
    return {
        "route": {**EXISTING["route"], "routes": routes},
        "inhibit_rules": ours["inhibit_rules"],
        "receivers": [*EXISTING["receivers"], *ours["receivers"]],
    }


@pytest.mark.parametrize("version", ["current", "debian"])
def test_the_part_to_merge_fits_into_an_existing_configuration(version: str, tmp_path: Path) -> None:
    assert "SUCCESS" in run(amtool(version), "check-config", str(written(tmp_path, merged())))


@pytest.mark.parametrize(("view", "severity"), ROUTES)
def test_merged_into_an_existing_configuration_our_alerts_go_where_they_go_alone(
    view: str, severity: str, tmp_path: Path
) -> None:
    found = routed(written(tmp_path, merged()), alertname="LLMSomething", view=view, severity=severity)
    assert found == ROUTES[view, severity]


@pytest.mark.parametrize(("labels", "receiver"), [({"disk": "sda"}, "disks"), ({"severity": "page"}, "everyone")])
def test_merged_into_an_existing_configuration_other_alerts_go_where_they_went(
    labels: dict[str, str], receiver: str, tmp_path: Path
) -> None:
    assert routed(written(tmp_path, merged()), alertname="Disk", **labels) == receiver


def test_alertmanager_remembers_a_notification_until_the_longest_repeat() -> None:
    hours = {"h": 1, "d": 24}
    repeats = {route.repeat_interval for route in (routing.root(Options()), *routing.routes(Options()))}
    assert max(int(text[:-1]) * hours[text[-1]] for text in repeats) < int(routing.RETENTION.removesuffix("h"))
    assert f"--data.retention={routing.RETENTION}" in (REPOSITORY / "collector-config/compose.yaml").read_text()
    assert f"`--data.retention={routing.RETENTION}`" in (REPOSITORY / "dashboards/README.md").read_text()


def plain(route: dict[str, Any]) -> dict[str, Any]:
    """A route of the operator's or of Grafana's as Alertmanager writes it."""
    names = {"groupBy": "group_by", "groupWait": "group_wait", "groupInterval": "group_interval"}
    names |= {"repeatInterval": "repeat_interval", "object_matchers": "matchers"}
    found = {names.get(key, key): value for key, value in route.items()}
    if "matchers" in found:
        parts = (m if isinstance(m, list) else (m["name"], m["matchType"], m["value"]) for m in found["matchers"])
        found["matchers"] = [f'{label}{operator}"{value}"' for label, operator, value in parts]
    if "routes" in found:
        found["routes"] = [plain(one) for one in found["routes"]]
    return found


def inheriting(route: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """A route with what it inherits from the one above it."""
    whole = {key: value for key, value in above.items() if key not in ("matchers", "routes")} | route
    return {**whole, "routes": [inheriting(one, whole) for one in route.get("routes", [])]}


def test_the_operators_resource_says_the_same_as_the_file() -> None:
    spec = files.resource(TEAMS)["spec"]
    (expected,) = files.to_merge(TEAMS)["route"]["routes"]
    assert inheriting(plain(spec["route"]), {}) == inheriting(expected, {})
    hooks = {r["name"]: r["webhookConfigs"][0] for r in spec["receivers"]}
    of_file = {r["name"]: r["webhook_configs"][0] for r in files.configuration(TEAMS)["receivers"]}
    assert {name: (h["url"], h["sendResolved"]) for name, h in hooks.items()} == {
        name: (h["url"], h["send_resolved"]) for name, h in of_file.items()
    }
    named = [[m["name"] for m in rule["sourceMatch"] + rule["targetMatch"]] for rule in spec["inhibitRules"]]
    assert named == [["alertname", "severity"] * 2] * len(routing.inhibitions(TEAMS))


def test_grafanas_policies_say_the_same_as_the_file() -> None:
    document = grafana_alerting.policies(TEAMS)
    (tree,) = document["policies"]
    del tree["orgId"]
    assert inheriting(plain(tree), {}) == inheriting(files.configuration(TEAMS)["route"], {})
    told = {point["name"]: not point["receivers"][0]["disableResolveMessage"] for point in document["contactPoints"]}
    assert told == {receiver.name: receiver.is_pager for receiver in routing.receivers(TEAMS)}


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
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.loads(answer.read() or b"null") if path.startswith("api") else None

    def ready(self) -> None:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                return self.ask("-/ready")
            time.sleep(0.1)
        raise TimeoutError("Alertmanager did not get ready")

    def silenced(self, *alerts: dict[str, str]) -> set[int]:
        """Which of the alerts another one inhibits, by their place.

        Alertmanager looks at alerts in the order in which they come, some time after it has taken them: it has seen all
        once a known pair at the end shows its effect.
        """
        last = [{**known, "job": "the last one"} for known in (PAGE, TICKET)]
        end = (datetime.now(timezone.utc) + timedelta(minutes=5)).isoformat()
        self.ask("api/v2/alerts", [{"labels": labels, "endsAt": end} for labels in (*alerts, *last)])
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            found = self.ask("api/v2/alerts")
            inhibited = [alert["labels"] for alert in found if alert["status"]["inhibitedBy"]]
            if last[1] in inhibited:
                return {place for place, labels in enumerate(alerts) if labels in inhibited}
            time.sleep(0.05)
        raise TimeoutError("Alertmanager has not looked at the alerts")

    def stop(self) -> None:
        self.process.kill()  # its data is thrown away
        self.process.wait()
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
        pytest.param(PAGE | SERVICE, TICKET | SERVICE, True, id="a page explains its service's ticket"),
        pytest.param(PAGE | SERVICE, TICKET | SERVICE | {"job": "shop"}, False, id="but not another service's"),
        pytest.param(PAGE | SERVICE, TICKET | SERVICE | {"cluster": "b"}, False, id="nor another cluster's"),
        pytest.param(PAGE | SERVICE, MODEL_TICKET | MODEL, False, id="nor the ticket that says which model"),
        pytest.param(SPIKE | MODEL, MODEL_TICKET | MODEL, True, id="rate limits explain their model's burn"),
        pytest.param(
            SPIKE | MODEL,
            MODEL_TICKET | MODEL | {"gen_ai_request_model": "mini"},
            False,
            id="but not another model's",
        ),
        pytest.param(AUTH | MODEL, MODEL_TICKET | MODEL, False, id="a bad key burns no budget and explains no burn"),
        pytest.param(OWN_KEYS | MODEL, SPIKE | MODEL, False, id="a ticket over a user's key hides no page"),
        pytest.param(AUTH | MODEL, SPIKE | MODEL, False, id="nor does a page over a key"),
        pytest.param(
            PAGE | SERVICE | {"window": "1h"}, PAGE | SERVICE | {"window": "6h"}, False, id="no window hides another"
        ),
    ],
)
def test_one_alert_silences_another_only_where_it_explains_it(
    first: dict[str, str], second: dict[str, str], silenced: bool, alertmanager: Alertmanager
) -> None:
    assert alertmanager.silenced(first, second) == ({1} if silenced else set())


def test_no_page_is_ever_held_back(alertmanager: Alertmanager) -> None:
    everything = [
        MODEL
        | {"alertname": alert.name, "view": alert.view.value, "severity": alert.severity, "llm_error_class": name}
        | dict(alert.labels)
        for alert in every_alert(Options(own_keys=("byok",)))
        for name in ("AUTH", "NOT_FOUND", "RATE_LIMITED")
    ]
    held_back = alertmanager.silenced(*everything)
    assert {everything[place]["severity"] for place in held_back} == {"ticket"}


def test_with_other_severities_the_same_tickets_are_explained() -> None:
    rules = routing.inhibitions(Options(severities={"page": "critical", "ticket": "warning", "info": "none"}))
    assert {rule.source[1] for rule in rules} == {("severity", "=", "critical")}
    assert {rule.target[1] for rule in rules} == {("severity", "=", "warning")}
