"""Every file that users copy is loaded by the program that it is for."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from processes import Start
from services import CONFIGURATION, DASHBOARDS, Collector, rule_files, run

from llm_errors import semconv as names

COLLECTORS = [("agent.yaml",), ("gateway.yaml",), ("agent.yaml", "short-lived.yaml")]
FILES = sorted({file for files in COLLECTORS for file in files})
KINDS = ("receivers", "processors", "exporters", "extensions")


def load(name: str) -> Any:
    return yaml.safe_load((CONFIGURATION / name).read_text())


@pytest.mark.parametrize("files", COLLECTORS, ids="+".join)
def test_the_collector_accepts_and_starts_it_without_a_warning(files: tuple[str, ...], start: Start, tmp_path: Path):
    checked = run("otelcol", "validate", *(f"--config={CONFIGURATION / file}" for file in files))
    assert checked.returncode == 0, checked.stderr
    collector = start(Collector(tmp_path, *files))
    complaints = [line for line in collector.printed().splitlines() if re.search(r"\t(warn|error)\t", line)]
    assert not complaints


def test_the_manifest_has_exactly_the_components_that_are_used():
    used = {(kind, name.split("/")[0]) for file in FILES for kind in KINDS for name in load(file).get(kind, {})}
    listed = yaml.safe_load(run("otelcol", "components").stdout)
    assert {(kind, component["name"]) for kind in KINDS for component in listed[kind] or []} == used


def test_the_manifest_is_pinned_to_one_release():
    manifest = load("builder.yaml")
    release = "v" + manifest["dist"]["version"]
    versions = {part["gomod"].split()[1] for kind in KINDS for part in manifest[kind]}
    assert versions == {release}
    assert f"COLLECTOR_VERSION:-{release[1:]}" in (CONFIGURATION / "compose.yaml").read_text()


def test_the_allow_list_has_every_label_of_the_contract():
    statements = str(load("agent.yaml")["processors"]["transform/labels"])
    call = (names.PROVIDER, names.REQUEST_MODEL, names.OPERATION)
    labels = {
        names.CALLS: (*call, names.OUTCOME),
        names.ERRORS: (*call, names.ERROR_CLASS, names.ERROR_REASON, names.ERROR_CHANNEL),
        names.RETRIES: (*call, names.ERROR_CLASS),
        names.INSTRUMENTATION_ERRORS: (names.PLACE,),
        names.DURATION: (*call, names.ERROR_TYPE),
    }
    for metric, wanted in labels.items():
        (found,) = re.findall(
            r'aggregate_on_attributes\("sum", \[([^]]*)\]\) where metric.name == "' + re.escape(metric), statements
        )
        assert set(re.findall(r'"([^"]+)"', found)) - {"otel.metric.overflow"} == set(wanted)


def test_prometheus_accepts_its_configuration_and_the_rules(tmp_path: Path):
    config = load("prometheus.yml")
    assert rule_files(), "the pattern in prometheus.yml finds no rule file"
    config["rule_files"] = [str(file) for file in rule_files()]
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    checked = run("promtool", "check", "config", "--lint=all", tmp_path / "prometheus.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_alertmanager_accepts_its_routing():
    checked = run("amtool", "check-config", DASHBOARDS / "alertmanager.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_compose_accepts_its_file_and_all_that_it_mounts_is_there():
    checked = run("compose-check", "-format=json", CONFIGURATION / "compose.yaml")
    assert checked.returncode == 0, checked.stderr
    project = yaml.safe_load(checked.stdout)
    services = project["services"]
    mounts = [mount for service in services.values() for mount in service["volumes"] if mount["type"] == "bind"]
    assert mounts
    assert [mount["source"] for mount in mounts if not Path(mount["source"]).exists()] == []
    named = {
        mount["source"] for service in services.values() for mount in service["volumes"] if mount["type"] == "volume"
    }
    assert named == set(project["volumes"])
    open_ports = [
        port for service in services.values() for port in service.get("ports", []) if port.get("host_ip") != "127.0.0.1"
    ]
    assert not open_ports


def test_docker_compose_accepts_it_where_there_is_one():
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) and _runs([*command, "version"]):
            assert _runs([*command, "-f", str(CONFIGURATION / "compose.yaml"), "config", "--quiet"])


def _runs(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_every_variable_is_explained():
    readme = (CONFIGURATION / "README.md").read_text()
    used = {name for file in FILES for name in re.findall(r"\$\{env:([A-Z0-9_]+)", (CONFIGURATION / file).read_text())}
    assert sorted(name for name in used if f"`{name}`" not in readme) == []


def test_make_stack_says_what_is_missing(tmp_path: Path):
    empty = tmp_path / "bin"
    empty.mkdir()
    for tool in ("bash", "dirname", "sed", "date", "cat", "mkdir", "sha256sum", "cut", "rm"):
        (empty / tool).symlink_to(shutil.which(tool) or tool)
    copy = tmp_path / "copy"
    shutil.copytree(CONFIGURATION, copy / "collector-config")
    built = subprocess.run(
        ["bash", str(copy / "collector-config/stack/build.sh")],
        env={"PATH": str(empty)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 1
    assert "Go is not installed" in built.stderr
