"""What `llm-errors docs kubernetes` says to write and to run: kustomize builds the layer, API servers take every block, and
each command names files and resources that exist."""

import itertools
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from artifact_tools import REPOSITORY, STACK, tool
from cluster import (
    FOLDER,
    OLDEST_KUBERNETES,
    Resource,
    build,
    configuration,
    container,
    environment,
    named,
    pods,
    refusal,
)

from llm_errors.monitoring.kubernetes import applications, scraping, tiers
from llm_errors.tools.cli import main

PAGE = (REPOSITORY / "src/llm_errors/docs/kubernetes.md").read_text(encoding="utf-8")
BLOCKS = [
    one
    for block in re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for one in yaml.safe_load_all(block)
]
COMMANDS = [
    shlex.split(line[2:])
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]


def block(kind: str) -> Resource:
    """The first block with a resource of this kind."""
    return next(one for one in BLOCKS if one.get("kind") == kind)


def with_keys(*keys: str, about: str = "") -> Resource:
    """The block with these keys that mentions a word."""
    (found,) = [one for one in BLOCKS if tuple(one) == keys and about in str(one)]
    return found


def layered(folder: Path, name: str, *blocks: Resource, files: dict[str, Resource] | None = None) -> list[Resource]:
    """What kustomize builds of the reader's layer with the lists of further blocks, and files beside it."""
    other = folder / name
    shutil.copytree(folder / "production", other)
    layer = yaml.safe_load((other / "kustomization.yaml").read_text())
    for key, more in ((key, more) for one in blocks for key, more in one.items()):
        layer[key] = layer.get(key, []) + more
    (other / "kustomization.yaml").write_text(yaml.safe_dump(layer))
    for file, content in (files or {}).items():
        (other / file).parent.mkdir(exist_ok=True)
        (other / file).write_text(yaml.safe_dump(content))
    return build(other)


def all_after(flag: str) -> list[str]:
    return [word for words in COMMANDS for before, word in itertools.pairwise(words) if before == flag]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader stands after steps 1, 3 and 4, with a change of the size."""
    work = tmp_path_factory.mktemp("reader")
    generate = next(words for words in COMMANDS if words[:2] == ["llm-errors", "generate"])
    out = work / generate[generate.index("--out") + 1]
    assert main([*generate[1:-1], str(out), "--no-dashboards"]) == 0
    shutil.rmtree(out / "kubernetes")
    shutil.copytree(FOLDER, out / "kubernetes")
    layer = block("Kustomization")
    layer["patches"] += with_keys("patches", about="replicas")["patches"]
    (work / "production/operator").mkdir(parents=True)
    (operator,) = [one for one in BLOCKS if one.get("kind") == "Kustomization" and one != block("Kustomization")]
    (work / "production/operator/kustomization.yaml").write_text(yaml.safe_dump(operator))
    (work / "production/values.yaml").write_text(yaml.safe_dump(with_keys("prometheus", about="retention")))
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
    assert dict(literal.split("=", 1) for literal in settings["literals"]) == tiers.DEFAULT_SETTINGS


def test_the_settings_of_gateways_that_the_layer_mentions_have_these_defaults() -> None:
    gateway = (REPOSITORY / "collector-config/gateway.yaml").read_text()
    (mentioned,) = re.findall(r"# gateways also read (.*)", PAGE)
    found = dict(re.findall(r"([A-Z_]+) \((?:default )?(\w+)\)", mentioned))
    assert found == dict(re.findall(r"\$\{env:(DECISION_WAIT|SLOW_MS|HEALTHY_PERCENT):-(\w+)\}", gateway))


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


def test_a_change_of_memory_keeps_what_the_collector_refuses_at_below_the_limit(production: list[Resource]) -> None:
    pod = pods(production)["llm-errors-agent"]
    given = environment(production, pod)
    limit = int(given["MEMORY_LIMIT_MIB"])
    assert container(pod)["resources"]["limits"]["memory"] == f"{limit * 5 // 4}Mi"
    assert (given["MEMORY_SPIKE_MIB"], given["GOMEMLIMIT"]) == (f"{limit // 4}", f"{limit}MiB")


OWN = "own.yaml"
OWN_CONFIGURATIONS = {
    "token": with_keys("exporters"),
    "cluster": with_keys("processors"),
    "replicas": with_keys("exporters", "service"),
}


def with_component(folder: Path, name: str, configuration_file: Resource) -> list[Resource]:
    """The layer of the page with the reader's component, which lays a configuration over those of the Collectors."""
    files = {"own/kustomization.yaml": block("Component"), f"own/{OWN}": configuration_file}
    return layered(folder, name, with_keys("components"), files=files)


@pytest.fixture(scope="module", params=OWN_CONFIGURATIONS)
def overlaid(request: pytest.FixtureRequest, folder: Path) -> list[Resource]:
    """The layer of the page with a configuration file of the reader's own."""
    return with_component(folder, f"own-{request.param}", OWN_CONFIGURATIONS[request.param])


@pytest.mark.parametrize("name", ["llm-errors-agent", "llm-errors-short-lived"])
def test_a_configuration_of_the_readers_own_is_the_last_that_the_collector_reads(
    name: str, overlaid: list[Resource], production: list[Resource]
) -> None:
    assert [said for said in map(refusal, overlaid) if said] == []
    pod, shipped = pods(overlaid)[name], pods(production)[name]
    assert container(pod)["args"] == [*container(shipped)["args"], f"--config={tiers.CONFIGURATION}/{OWN}"]
    assert set(configuration(overlaid, pod)) == {*configuration(production, shipped), OWN}


@pytest.mark.parametrize("name", ["llm-errors-agent", "llm-errors-short-lived"])
def test_the_collector_takes_a_configuration_of_the_readers_own(
    name: str, overlaid: list[Resource], tmp_path: Path
) -> None:
    pod = pods(overlaid)[name]
    for file, text in configuration(overlaid, pod).items():
        (tmp_path / file).write_text(text)
    arguments = [argument.replace(tiers.CONFIGURATION, str(tmp_path)) for argument in container(pod)["args"]]
    given = {name: value for name, value in environment(overlaid, pod).items() if not value.startswith("<")}
    given |= {"QUEUE_DIRECTORY": str(tmp_path), "METRICS_TOKEN": "x"}
    command = [tool("otelcol", STACK), "validate", *arguments]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_the_component_for_short_lived_processes_three_lines_of_the_readers_own_go(folder: Path) -> None:
    agents, short_lived = block("Component")["configMapGenerator"]
    assert short_lived["name"] == tiers.SHORT_LIVED.configuration
    assert len(short_lived) == 3
    layer = {**block("Kustomization"), "components": ["own"]}
    files = {
        "kustomization.yaml": layer,
        "own/kustomization.yaml": {**block("Component"), "configMapGenerator": [agents]},
        f"own/{OWN}": OWN_CONFIGURATIONS["token"],
    }
    built = layered(folder, "own-alone", files=files)
    ((name, pod),) = pods(built).items()
    assert (name, OWN in configuration(built, pod)) == ("llm-errors-agent", True)


def test_a_configuration_of_the_readers_own_changes_what_is_there_and_repeats_what_its_lists_replace() -> None:
    shipped = yaml.safe_load((FOLDER / "base/config/agent.yaml").read_text())
    (token,) = OWN_CONFIGURATIONS["token"]["exporters"]
    assert token in shipped["exporters"]
    attributes, added = shipped["processors"]["resource"]["attributes"], OWN_CONFIGURATIONS["cluster"]["processors"]
    names = [one["key"] for one in added["resource"]["attributes"]]
    assert names == [*(one["key"] for one in attributes), "k8s.cluster.name"]
    first, second = OWN_CONFIGURATIONS["replicas"]["exporters"].values()
    assert {key: shipped["exporters"][token][key] for key in ("sending_queue", "retry_on_failure")} == {
        key: yaml.safe_load(str(second[key]).replace("${env:QUEUE_BYTES}", "${env:QUEUE_BYTES:-1000000000}"))
        for key in ("sending_queue", "retry_on_failure")
    }
    assert first["endpoint"].replace("prometheus-0", "prometheus-1") == second["endpoint"]
    assert OWN_CONFIGURATIONS["replicas"]["service"]["pipelines"]["metrics"]["exporters"] == list(
        OWN_CONFIGURATIONS["replicas"]["exporters"]
    )


def test_a_token_of_the_readers_own_comes_from_a_secret(folder: Path) -> None:
    pod = pods(with_component(folder, "token", OWN_CONFIGURATIONS["token"]))
    token = container(pod["llm-errors-agent"])["env"][-1]
    assert token["valueFrom"]["secretKeyRef"]
    assert f"${{env:{token['name']}}}" in str(with_keys("exporters"))


def test_every_image_can_come_from_another_registry(folder: Path) -> None:
    registry = with_keys("images", "patches")
    built = layered(folder, "registry", registry)
    assert [said for said in map(refusal, built) if said] == []
    images = {container(pod)["image"] for pod in pods(built).values()}
    assert images == {f"{registry['images'][0]['newName']}:{tiers.COLLECTOR_VERSION}"}
    account = named(built, "ServiceAccount")
    assert account["imagePullSecrets"]
    assert {pod["spec"]["serviceAccountName"] for pod in pods(built).values()} == {account["metadata"]["name"]}


@pytest.mark.parametrize("target", [{"group": "monitoring.coreos.com"}, {"kind": "AlertmanagerConfig"}], ids=str)
def test_the_resources_of_the_prometheus_operator_can_be_left_out(
    target: dict[str, str], folder: Path, production: list[Resource]
) -> None:
    (patch,) = with_keys("patches", about="$patch")["patches"]
    assert patch["target"] == {"group": "monitoring.coreos.com"}
    built = layered(folder, f"without-{next(iter(target))}", {"patches": [{**patch, "target": target}]})
    ((key, value),) = target.items()
    gone = {
        one["metadata"]["name"]
        for one in production
        if (one["kind"] if key == "kind" else one["apiVersion"].partition("/")[0]) == value
    }
    assert gone
    left = [(one["kind"], one["metadata"]["name"]) for one in production if one["metadata"]["name"] not in gone]
    assert len(built) == len(production) - (4 if key == "group" else 1)
    assert set(left) <= {(one["kind"], one["metadata"]["name"]) for one in built}


def test_what_is_left_out_without_the_operator_is_in_files_that_are_generated(folder: Path) -> None:
    section = PAGE.split("### Without the Prometheus operator\n")[1].split("\n## ")[0]
    files = re.findall(r"`((?:prometheus/)?[\w.-]+\.yml)` (?:for|to)", section)
    assert len(files) == 2
    assert [file for file in files if not (folder / "llm-errors" / file).is_file()] == []


def test_the_layer_of_the_operator_names_the_image_of_the_commands(folder: Path) -> None:
    (resource,) = build(folder / "production/operator")
    assert resource["spec"]["python"]["image"] == applications.IMAGE


def test_the_namespace_of_the_layer_renames_the_namespace(folder: Path) -> None:
    other = folder / "renamed"
    shutil.copytree(folder / "production", other)
    (other / "kustomization.yaml").write_text(yaml.safe_dump({**block("Kustomization"), "namespace": "telemetry"}))
    built = build(other)
    assert named(built, "Namespace")["metadata"]["name"] == "telemetry"
    assert {one["metadata"].get("namespace", "telemetry") for one in built} == {"telemetry"}


def test_every_resource_has_the_release_of_the_layer(folder: Path) -> None:
    other = folder / "release"
    shutil.copytree(folder / "production", other)
    text = (other / "kustomization.yaml").read_text()
    (other / "kustomization.yaml").write_text(text.replace("kube-prometheus-stack", "metrics"))
    assert {one["metadata"]["labels"]["release"] for one in build(other)} == {"metrics"}


@pytest.mark.parametrize("layer", ["production", "llm-errors/kubernetes/overlays/large"])
def test_what_is_deleted_by_label_is_everything_but_the_namespace_with_its_volumes_and_secrets(
    layer: str, folder: Path
) -> None:
    (command,) = [words for words in COMMANDS if "delete" in words and words[-1] == "app.kubernetes.io/name=llm-errors"]
    kinds = set(command[command.index("delete") + 1].split(","))
    label, _, value = command[-1].partition("=")
    built = build(folder / layer)
    labelled = [one for one in built if one["metadata"]["labels"].get(label) == value]
    assert {one["kind"].lower() for one in labelled} <= kinds
    assert [one["kind"] for one in built if one not in labelled] == ["Namespace"]
    assert not kinds & {"namespace", "persistentvolumeclaim", "pvc", "secret"}


def test_the_claim_that_is_enlarged_is_one_of_the_agents_and_gets_the_size_of_the_large_overlay(folder: Path) -> None:
    (words,) = [words for words in COMMANDS if "--patch" in words]
    stateful_set = named(build(folder / "llm-errors/kubernetes/overlays/large"), "StatefulSet", "llm-errors-agent")
    (claim,) = stateful_set["spec"]["volumeClaimTemplates"]
    assert words[words.index("pvc") + 1] == f"{claim['metadata']['name']}-llm-errors-agent-0"
    asked = yaml.safe_load(words[-1])["spec"]["resources"]["requests"]["storage"]
    assert asked == claim["spec"]["resources"]["requests"]["storage"]


def test_what_is_deleted_from_large_to_small_is_what_small_has_not(folder: Path) -> None:
    (command,) = [words for words in COMMANDS if "statefulset/llm-errors-gateway" in words]
    large, small = (
        {
            f"{one['kind'].lower()}/{one['metadata']['name']}"
            for one in build(folder / f"llm-errors/kubernetes/overlays/{size}")
            if one["kind"] != "ConfigMap"
        }
        for size in ("large", "small")
    )
    assert set(command[command.index("delete") + 1 :]) == large - small


def test_prometheus_lists_the_pools_and_the_groups_that_the_page_names(production: list[Resource]) -> None:
    monitors = [one["metadata"] for one in production if one["kind"] == "ServiceMonitor"]
    pools = {f"serviceMonitor/{one['namespace']}/{one['name']}/0" for one in monitors}
    assert set(re.findall(r"`(serviceMonitor/[\w/-]+)`", PAGE)) == pools
    groups = named(production, "PrometheusRule")["spec"]["groups"]
    assert (len(groups), {group["name"][:4] for group in groups}) == (7, {"llm-"})
    assert "has seven groups `llm-*`" in PAGE


def test_prometheus_has_as_many_targets_as_the_page_says() -> None:
    folders = {"small": "overlays/small", "large": "overlays/large", "short-lived": "components/short-lived"}
    said = dict(
        re.findall(r"`([\w-]+)` (?:has |adds )?(\d)\b", PAGE.split("one target for each Collector (")[1].split(")")[0])
    )
    kinds = {
        name: [one["spec"]["replicas"] for one in loaded(FOLDER / path) if one["kind"] == "StatefulSet"]
        for name, path in folders.items()
    }
    assert said == {name: str(sum(replicas)) for name, replicas in kinds.items()}


def loaded(path: Path) -> list[Resource]:
    """The resources in the files of a folder."""
    return [one for file in sorted(path.glob("*.yaml")) for one in yaml.safe_load_all(file.read_text())]


def test_the_folder_of_the_dashboards_is_the_one_that_the_page_names(production: list[Resource]) -> None:
    boards = [one for one in production if "grafana_dashboard" in one["metadata"].get("labels", {})]
    assert {one["metadata"]["annotations"]["grafana_folder"] for one in boards} <= {"LLM errors"}
    assert "dashboards in the folder `LLM errors`" in PAGE


def test_what_is_deleted_of_the_component_is_what_it_adds(folder: Path, production: list[Resource]) -> None:
    (command,) = [words for words in COMMANDS if "delete" in words and words[-1].endswith("=short-lived")]
    label, _, value = command[-1].partition("=")
    without = layered(folder, "no-jobs", files={"kustomization.yaml": {**block("Kustomization"), "components": []}})
    left = {(one["kind"], one["metadata"]["name"]) for one in without}
    added = [one for one in production if (one["kind"], one["metadata"]["name"]) not in left]
    deleted = [one for one in added if one["kind"] != "ConfigMap"]
    assert {one["kind"].lower() for one in deleted} == set(command[command.index("delete") + 1].split(","))
    assert {one["metadata"]["labels"].get(label) for one in deleted} == {value}
    assert [one["metadata"]["name"] for one in without if one["metadata"]["labels"].get(label) == value] == []


def test_what_is_deleted_of_an_earlier_name_is_what_it_had_made(tmp_path: Path) -> None:
    (command,) = [words for words in COMMANDS if words[-1] == "llm-errors-old"]
    assert "`--name old`" in PAGE
    assert main(["generate", "--name", "old", "--out", str(tmp_path), "--no-dashboards"]) == 0
    made = build(tmp_path / "kubernetes/overlays/small")
    theirs = {one["kind"].lower() for one in made if one["metadata"]["name"].startswith("llm-errors-old")}
    assert theirs == set(command[command.index("delete") + 1].split(","))
    assert {named(made, kind)["metadata"]["name"] for kind in ("PrometheusRule", "AlertmanagerConfig")} == {command[-1]}


def test_the_dashboards_get_the_annotation_of_a_sidecar_of_the_readers_own(folder: Path) -> None:
    (target,) = re.findall(r"`target: (\{kind: ConfigMap, .*?\})`", PAGE)
    (operation,) = re.findall(r"`(\{op: add, path: /metadata/annotations/.*?\})`", PAGE)
    patch = {"target": yaml.safe_load(target), "patch": yaml.safe_dump([yaml.safe_load(operation)])}
    built = layered(folder, "annotated", {"patches": [patch]})
    annotated = [one for one in built if "YOUR_ANNOTATION" in one["metadata"].get("annotations", {})]
    boards = [one for one in built if "grafana_dashboard" in one["metadata"]["labels"]]
    assert (annotated, len(annotated)) == (boards, 4)
    assert {len(set(one["metadata"]["annotations"].values())) for one in boards} == {1}


def test_the_traces_that_a_gateway_keeps_are_set_where_the_page_says(folder: Path) -> None:
    gateway = pods(build(folder / "llm-errors/kubernetes/overlays/large"))["llm-errors-gateway"]
    (said,) = re.findall(r"`NUM_TRACES` \((\d+) in `large`\)", PAGE)
    assert {"name": "NUM_TRACES", "value": said} in container(gateway)["env"]


def test_the_page_and_the_values_ask_for_the_same_version_of_the_chart() -> None:
    asked = re.findall(r"from version (\S+) on|below (\S+) upgrade first|the chart (\S+),", PAGE)
    assert {"".join(one) for one in asked} == {scraping.OLDEST_CHART}
    assert len(asked) == 3
    assert f"version {scraping.OLDEST_CHART} or newer" in (FOLDER / "kube-prometheus-stack.values.yaml").read_text()


def test_the_values_of_the_reader_are_fields_of_prometheus() -> None:
    spec = with_keys("prometheus", about="retention")["prometheus"]["prometheusSpec"]
    spec = {"storage" if field == "storageSpec" else field: value for field, value in spec.items()}  # the chart's name
    resource = {"apiVersion": "monitoring.coreos.com/v1", "kind": "Prometheus", "metadata": {"name": "main"}}
    assert refusal({**resource, "spec": spec}) == ""
    assert f"needs {spec['retention']} on" in (FOLDER / "kube-prometheus-stack.values.yaml").read_text()


def test_an_older_chart_is_given_what_the_values_say() -> None:
    added = with_keys("prometheus", about="additionalConfig")["prometheus"]["prometheusSpec"]["additionalConfig"]
    values = yaml.safe_load((FOLDER / "kube-prometheus-stack.values.yaml").read_text())
    assert added.items() <= values["prometheus"]["prometheusSpec"].items()


RECEIVERS = with_keys("spec")["spec"]["receivers"]
"""The receivers of teams that the page adds to the others."""


def with_teams(folder: Path, name: str, command: list[str], *blocks: Resource) -> Resource:
    """The routing of the reader's layer after a generation with teams, with the receivers of the page."""
    own = folder / name
    assert main([*command[1:-1], str(own / "llm-errors"), "--no-dashboards"]) == 0
    shutil.copytree(folder / "production", own / "production")
    receivers = block("AlertmanagerConfig")
    receivers["spec"]["receivers"] = [*receivers["spec"]["receivers"], *RECEIVERS]
    routing = named(layered(own, "layer", *blocks, files={"receivers.yaml": receivers}), "AlertmanagerConfig")
    assert refusal(routing) == ""
    return routing


TEAMS = [words for words in COMMANDS if "--team" in words]


@pytest.mark.parametrize("command", TEAMS, ids=lambda words: words[words.index("--team") + 1])
def test_the_teams_of_the_page_have_receivers_of_these_names(command: list[str], folder: Path, tmp_path: Path) -> None:
    team = command[command.index("--team") + 1].rpartition("=")[2]
    routing = with_teams(folder, f"team-{team}", command)["spec"]
    assert {f"'receiver': '{team}'" in str(routing["route"]), team in {one["name"] for one in RECEIVERS}} == {True}
    assert main([*command[1:-1], str(tmp_path), "--no-dashboards"]) == 0
    shipped = yaml.safe_load((tmp_path / "kubernetes/base/routing.yaml").read_text())["spec"]["receivers"]
    assert {one["name"] for one in shipped} <= {one["name"] for one in routing["receivers"]}


def test_a_route_of_the_readers_own_takes_all_alerts_of_a_namespace(folder: Path) -> None:
    (command,) = [words for words in TEAMS if "--extra-label" in words]
    added = with_keys("patches", about="/spec/route/routes/0")
    first, *others = with_teams(folder, "namespace-route", command, added)["spec"]["route"]["routes"]
    assert {"name": "k8s_namespace_name", "matchType": "=", "value": "web"} in first["matchers"]
    assert {first["receiver"], *(inner["receiver"] for inner in first["routes"])} <= {one["name"] for one in RECEIVERS}
    assert all(route["matchers"][0]["name"] == "view" for route in others)
    assert first["matchers"][0]["name"] == command[command.index("--extra-label") + 1]


def test_the_receivers_of_the_page_reach_the_routing_of_every_name(folder: Path) -> None:
    command = ["llm-errors", "generate", "--name", "old", "--out", ""]
    routing = with_teams(folder, "named", command)
    assert routing["metadata"]["name"] == "llm-errors-old"
    assert ".invalid" not in str(routing)


def test_the_secrets_of_the_page_have_the_keys_that_its_receivers_name() -> None:
    made = {
        (words[words.index("generic") + 1], word.removeprefix("--from-literal=").partition("=")[0])
        for words in COMMANDS
        if "secret" in words
        for word in words
        if word.startswith("--from-literal=")
    }
    receivers = [*block("AlertmanagerConfig")["spec"]["receivers"], *RECEIVERS]
    asked = [one["routingKey"] for receiver in receivers for one in receiver.get("pagerdutyConfigs", [])]
    asked += [one["apiURL"] for receiver in receivers for one in receiver.get("slackConfigs", [])]
    assert {(one["name"], one["key"]) for one in asked} == made


@pytest.mark.parametrize("template", ["title", "text"])
def test_a_message_to_slack_reads_what_every_alert_has(template: str) -> None:
    (message,) = [one for receiver in RECEIVERS for one in receiver.get("slackConfigs", [])]
    asked = re.findall(r"\.(?:Annotations|CommonLabels)\.(\w+)", message[template])
    assert asked
    assert [name for name in asked for rule in shipped_alerts() if name not in {*rule["annotations"], "job"}] == []


def shipped_alerts() -> list[Resource]:
    """The shipped alerts."""
    groups = yaml.safe_load((FOLDER / "base/rules.yaml").read_text())["spec"]["groups"]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


def test_the_role_of_the_page_is_bound_in_the_namespace_to_the_account_of_prometheus(folder: Path) -> None:
    role, binding = block("Role"), block("RoleBinding")
    assert [refusal(role), refusal(binding)] == ["", ""]
    built = layered(
        folder,
        "roles",
        {"resources": ["rbac.yaml"]},
        files={"rbac.yaml": {"apiVersion": "v1", "kind": "List", "items": [role, binding]}},
    )
    assert {named(built, kind, "prometheus-k8s")["metadata"]["namespace"] for kind in ("Role", "RoleBinding")} == {
        "llm-errors"
    }
    assert named(built, "RoleBinding", "prometheus-k8s")["subjects"][0]["namespace"] == "monitoring"


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
    paths = all_after("--values") + all_after("--kustomize")
    paths += [words[-1] for words in COMMANDS if words[:2] == ["docker", "build"]]
    assert len(paths) == 7
    assert [path for path in paths if not (folder / path).exists()] == []


def test_every_resource_that_a_command_names_exists(production: list[Resource], folder: Path) -> None:
    large = build(folder / "llm-errors/kubernetes/overlays/large")
    theirs = {f"{one['kind'].lower()}/{one['metadata']['name']}" for one in [*production, *large, block("Deployment")]}
    mentioned = set(re.findall(r"\b(?:statefulset|deployment)/[\w-]+", PAGE))
    assert mentioned
    assert mentioned <= theirs


def test_the_image_in_the_commands_is_the_one_in_the_instrumentation() -> None:
    images = {word for words in COMMANDS if words[0] == "docker" for word in words if "/" in word and ":" in word}
    assert images == {applications.IMAGE}


def test_the_alert_that_tests_the_routes_is_one_that_is_shipped() -> None:
    test, add = [words for words in COMMANDS if "amtool" in words]
    name = add[add.index("add") + 1]
    assert f"alertname={name}" in test
    assert f"alert: {name}\n" in (FOLDER / "base/rules.yaml").read_text()


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
