"""What `llm-errors docs kubernetes` says to write and to run: kustomize builds the layer, API servers take every block, and
each command names files and resources that exist."""

import re
import shlex
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from artifact_tools import REPOSITORY
from cluster import FOLDER, OLDEST_KUBERNETES, Resource, build, container, environment, named, pods, refusal

from llm_errors.monitoring.kubernetes import applications, tiers
from llm_errors.tools.cli import main

PAGE = (REPOSITORY / "src/llm_errors/docs/kubernetes.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)]
COMMANDS = [
    shlex.split(line[2:])
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]


def block(kind: str) -> Resource:
    (found,) = [one for one in BLOCKS if isinstance(one, dict) and one.get("kind") == kind]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader stands after steps 1, 3 and 4, with a change of the size."""
    work = tmp_path_factory.mktemp("reader")
    (generate,) = [
        words for words in COMMANDS if words[:2] == ["llm-errors", "generate"] and "--extra-label" not in words
    ]
    out = work / generate[generate.index("--out") + 1]
    assert main([*generate[1:-1], str(out), "--no-dashboards"]) == 0
    shutil.rmtree(out / "kubernetes")
    shutil.copytree(FOLDER, out / "kubernetes")
    layer = block("Kustomization")
    (size,) = [one["patches"] for one in BLOCKS if list(one) == ["patches"]]
    layer["patches"] += size
    (work / "production").mkdir()
    (work / "production/kustomization.yaml").write_text(yaml.safe_dump(layer))
    (work / "production/receivers.yaml").write_text(yaml.safe_dump(block("AlertmanagerConfig")))
    return work


@pytest.fixture(scope="module")
def production(folder: Path) -> list[Resource]:
    return build(folder / "production")


def test_the_layer_of_the_page_is_built_and_accepted(production: list[Resource]) -> None:
    assert [said for said in map(refusal, production) if said] == []


def test_the_commented_overlay_takes_the_place_of_the_other(folder: Path) -> None:
    assert "# - ../llm-errors/kubernetes/overlays/large " in PAGE
    layer = (folder / "production/kustomization.yaml").read_text().replace("overlays/small", "overlays/large")
    other = folder / "large"
    shutil.copytree(folder / "production", other)
    (other / "kustomization.yaml").write_text(layer)
    assert set(pods(build(other))) == {"llm-errors-agent", "llm-errors-gateway", "llm-errors-short-lived"}


def test_settings_of_the_layer_reach_the_collectors(folder: Path) -> None:
    layer = (folder / "production/kustomization.yaml").read_text().replace("prometheus-operated", "elsewhere")
    other = folder / "elsewhere"
    shutil.copytree(folder / "production", other)
    (other / "kustomization.yaml").write_text(layer)
    built = build(other)
    addresses = {environment(built, pod)["METRICS_ENDPOINT"] for pod in pods(built).values()}
    assert addresses == {"http://elsewhere.monitoring:9090/api/v1/otlp"}


def test_the_settings_in_the_layer_are_the_defaults() -> None:
    (settings,) = block("Kustomization")["configMapGenerator"]
    assert dict(literal.split("=", 1) for literal in settings["literals"]).items() <= tiers.DEFAULT_SETTINGS.items()


def test_the_receivers_of_the_page_are_all_that_routes_name_and_none_is_left_as_shipped(
    production: list[Resource],
) -> None:
    shipped = yaml.safe_load((FOLDER / "base/routing.yaml").read_text())["spec"]["receivers"]
    built = named(production, "AlertmanagerConfig")["spec"]["receivers"]
    assert [one["name"] for one in built] == [one["name"] for one in shipped]
    assert ".invalid" not in str(built)


def test_a_change_of_size_is_applied(production: list[Resource]) -> None:
    spec = named(production, "StatefulSet", "llm-errors-agent")["spec"]
    assert (spec["replicas"], spec["volumeClaimTemplates"][0]["spec"]["storageClassName"]) == (5, "fast")


@pytest.mark.parametrize("kind", ["Deployment", "NetworkPolicy"])
def test_a_whole_resource_of_the_page_is_accepted(kind: str) -> None:
    assert refusal(block(kind)) == ""


def endpoints() -> list[str]:
    lists = [
        container(block("Deployment")["spec"]["template"])["env"],
        *(one["env"] for one in BLOCKS if list(one) == ["env"]),
    ]
    return [one["value"] for given in lists for one in given if one["name"] == "OTEL_EXPORTER_OTLP_ENDPOINT"]


def test_the_endpoints_of_applications_are_services_that_listen_for_grpc(production: list[Resource]) -> None:
    assert len(endpoints()) == 2
    for endpoint in endpoints():
        service, namespace = (urlsplit(endpoint).hostname or "").split(".")
        found = named(production, "Service", service)
        assert found["metadata"]["namespace"] == namespace
        assert {"name": "grpc-otlp", "port": urlsplit(endpoint).port, "targetPort": "grpc-otlp"}.items() <= {
            key: value
            for port in found["spec"]["ports"]
            if port["port"] == urlsplit(endpoint).port
            for key, value in port.items()
        }.items()


def test_the_annotation_names_the_instrumentation() -> None:
    (annotations,) = [one for one in BLOCKS if any(key.endswith("inject-python") for key in one)]
    resource = applications.instrumentation()["metadata"]
    assert (
        annotations["instrumentation.opentelemetry.io/inject-python"] == f"{resource['namespace']}/{resource['name']}"
    )


def test_every_file_that_a_command_names_is_generated(folder: Path) -> None:
    paths = [
        words[words.index(flag) + 1]
        for words in COMMANDS
        for flag in ("--values", "--kustomize", "--filename")
        if flag in words
    ]
    paths += [words[-1] for words in COMMANDS if words[:2] == ["docker", "build"]]
    assert len(paths) == 4
    assert [path for path in paths if not (folder / path).exists()] == []


def test_every_resource_that_a_command_names_exists(production: list[Resource]) -> None:
    theirs = {f"{one['kind'].lower()}/{one['metadata']['name']}" for one in [*production, block("Deployment")]}
    mentioned = set(re.findall(r"\b(?:statefulset|deployment)/[\w-]+", PAGE))
    assert mentioned
    assert mentioned <= theirs


def test_the_image_in_the_commands_is_the_one_in_the_instrumentation() -> None:
    images = {word for words in COMMANDS if words[0] == "docker" for word in words if "/" in word and ":" in word}
    assert images == {applications.IMAGE}


def test_the_alert_that_tests_the_routes_is_one_that_is_shipped() -> None:
    (command,) = [words for words in COMMANDS if "amtool" in words]
    assert command[command.index("add") + 1] in (FOLDER / "base/rules.yaml").read_text()


def test_a_path_in_the_list_of_contents_exists() -> None:
    listed = re.findall(r"^\| `([\w./-]+)` \|", PAGE.split("## What it consists of")[1], re.MULTILINE)
    assert sorted(listed) == sorted(
        [
            "base",
            "overlays/small",
            "overlays/large",
            "components/short-lived",
            "instrumentation",
            "kube-prometheus-stack.values.yaml",
        ]
    )
    assert all((FOLDER / path).exists() for path in listed)


def test_kubernetes_of_the_page_is_the_oldest_that_is_checked() -> None:
    assert f"Kubernetes {OLDEST_KUBERNETES} or newer" in PAGE
