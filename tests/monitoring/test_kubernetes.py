"""The files for Kubernetes: kustomize builds them, API servers accept them, and everything that one resource says of
another is so."""

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from artifact_tools import REPOSITORY, STACK, tool
from cluster import (
    FOLDER,
    Resource,
    build,
    configuration,
    container,
    environment,
    named,
    pods,
    refusal,
    selected,
)

from llm_errors.monitoring.kubernetes import applications, sizing, tiers
from llm_errors.monitoring.marker import MARKER
from llm_errors.tools.cli import main
from llm_errors.version import __version__

DASHBOARDS = REPOSITORY / "dashboards"
EVERYTHING = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../overlays/large]
components: [../components/short-lived]
"""


@pytest.fixture(scope="module")
def installations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Resource]]:
    """What kustomize makes of each overlay, and of the large one with the component."""
    copy = shutil.copytree(FOLDER, tmp_path_factory.mktemp("kubernetes") / "kubernetes")
    (copy / "everything").mkdir()
    (copy / "everything/kustomization.yaml").write_text(EVERYTHING)
    return {name: build(copy / name) for name in ("overlays/small", "overlays/large", "everything")}


@pytest.fixture(scope="module", params=["overlays/small", "overlays/large", "everything"])
def installed(request: pytest.FixtureRequest, installations: dict[str, list[Resource]]) -> list[Resource]:
    return installations[request.param]


@pytest.fixture(scope="module")
def everything(installations: dict[str, list[Resource]]) -> list[Resource]:
    return installations["everything"]


def generated(folder: Path, *arguments: str) -> Path:
    assert main(["generate", "--no-dashboards", "--out", str(folder), *arguments]) == 0
    return folder / "kubernetes"


# What the API servers say


def test_every_resource_is_accepted(installed: list[Resource]) -> None:
    assert [said for said in map(refusal, installed) if said] == []


@pytest.mark.parametrize(
    ("kind", "path", "value", "said"),
    [
        ("StatefulSet", ("spec", "replica"), 1, "replica"),
        ("ServiceMonitor", ("spec", "endpoint"), [], "endpoint"),
        ("ServiceMonitor", ("spec", "endpoints"), [{"interval": "often"}], "often"),
        ("AlertmanagerConfig", ("spec", "route", "groupBy"), "job", "not of type"),
    ],
)
def test_the_check_of_resources_finds_faults(
    kind: str, path: tuple[str, ...], value: Any, said: str, installations: dict[str, list[Resource]]
) -> None:
    resource = json.loads(json.dumps(next(one for one in installations["overlays/small"] if one["kind"] == kind)))
    *outer, last = path
    inside = resource
    for name in outer:
        inside = inside[name]
    inside[last] = value
    assert said in refusal(resource)


def test_everything_is_in_the_namespace(installed: list[Resource]) -> None:
    (namespace,) = [one["metadata"]["name"] for one in installed if one["kind"] == "Namespace"]
    assert {one["metadata"].get("namespace") for one in installed if one["kind"] != "Namespace"} == {namespace}


def test_every_resource_has_the_label_that_the_helm_chart_selects_by(installed: list[Resource]) -> None:
    assert {one["metadata"]["labels"].get("release") for one in installed} == {"kube-prometheus-stack"}


def test_the_helm_values_are_fields_of_the_operators_resources() -> None:
    values = yaml.safe_load((FOLDER / "kube-prometheus-stack.values.yaml").read_text())
    for kind, spec in (
        ("Prometheus", values["prometheus"]["prometheusSpec"]),
        ("Alertmanager", values["alertmanager"]["alertmanagerSpec"]),
    ):
        resource = {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": kind,
            "metadata": {"name": "main"},
            "spec": spec,
        }
        assert refusal(resource) == ""


def test_prometheus_is_told_what_the_shipped_configuration_says() -> None:
    spec = yaml.safe_load((FOLDER / "kube-prometheus-stack.values.yaml").read_text())["prometheus"]["prometheusSpec"]
    shipped = yaml.safe_load((REPOSITORY / "collector-config/prometheus.yml").read_text())
    assert spec["otlp"] == {
        "translationStrategy": shipped["otlp"]["translation_strategy"],
        "promoteResourceAttributes": shipped["otlp"]["promote_resource_attributes"],
    }
    assert spec["tsdb"]["outOfOrderTimeWindow"] == shipped["storage"]["tsdb"]["out_of_order_time_window"]
    assert spec["exemplars"]["maxSize"] == shipped["storage"]["exemplars"]["max_exemplars"]


def test_grafana_reads_the_tenants_of_loki_that_the_collectors_write_to() -> None:
    sources = yaml.safe_load((FOLDER / "kube-prometheus-stack.values.yaml").read_text())["grafana"][
        "additionalDataSources"
    ]
    tenants = [one["secureJsonData"]["httpHeaderValue1"] for one in sources if one["type"] == "loki"]
    assert tenants == [tiers.DEFAULT_SETTINGS["LOGS_TENANT"], tiers.DEFAULT_SETTINGS["TRUST_AND_SAFETY_TENANT"]]


def test_grafana_puts_the_dashboards_into_the_folder_that_they_name(installed: list[Resource]) -> None:
    values = yaml.safe_load((FOLDER / "kube-prometheus-stack.values.yaml").read_text())
    sidecar = values["grafana"]["sidecar"]["dashboards"]
    assert sidecar["provider"] == {"foldersFromFilesStructure": True}
    for dashboard in selected(installed, "ConfigMap", {"grafana_dashboard": "1"}):
        assert dashboard["metadata"]["annotations"] == {sidecar["folderAnnotation"]: "LLM errors"}


# The restricted pod security standard


def test_the_namespace_enforces_the_restricted_standard(installed: list[Resource]) -> None:
    assert named(installed, "Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_every_pod_meets_the_restricted_standard(installed: list[Resource]) -> None:
    for pod in pods(installed).values():
        spec, only = pod["spec"], container(pod)
        assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & spec.keys()
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] > 0
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert only["securityContext"]["allowPrivilegeEscalation"] is False
        assert only["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert all(set(volume) <= {"name", "configMap"} for volume in spec["volumes"])
        assert not any("hostPort" in port for port in only["ports"])


def test_a_pod_writes_to_its_queue_only_and_has_no_token(installed: list[Resource]) -> None:
    for pod in pods(installed).values():
        assert container(pod)["securityContext"]["readOnlyRootFilesystem"] is True
        writable = [mount["name"] for mount in container(pod)["volumeMounts"] if not mount.get("readOnly")]
        assert writable == ["queue"]
        assert pod["spec"]["automountServiceAccountToken"] is False


# What one resource says of another


def test_every_name_that_a_pod_refers_to_exists(installed: list[Resource]) -> None:
    for name, pod in pods(installed).items():
        assert environment(installed, pod)
        assert configuration(installed, pod)
        assert named(installed, "ServiceAccount", pod["spec"]["serviceAccountName"])
        claims = {
            claim["metadata"]["name"] for claim in named(installed, "StatefulSet", name)["spec"]["volumeClaimTemplates"]
        }
        mounts = {mount["name"] for mount in container(pod)["volumeMounts"]}
        assert mounts == {volume["name"] for volume in pod["spec"]["volumes"]} | claims


def test_every_service_leads_to_a_port_of_its_pods(installed: list[Resource]) -> None:
    for service in (one for one in installed if one["kind"] == "Service"):
        (pod,) = [pod for pod in pods(installed).values() if service["spec"]["selector"] == pod["metadata"]["labels"]]
        open_ports = {port["name"]: port["containerPort"] for port in container(pod)["ports"]}
        for port in service["spec"]["ports"]:
            assert open_ports[port["targetPort"]] == port["port"]


def test_every_collector_listens_where_its_container_says(installed: list[Resource]) -> None:
    for pod in pods(installed).values():
        given = environment(installed, pod)
        listening = {value.rpartition(":")[2] for value in given.values() if value.startswith("0.0.0.0:")}
        declared = {str(port["containerPort"]) for port in container(pod)["ports"]}
        assert declared == listening | {given["SELF_METRICS_PORT"]}


def test_every_variable_of_a_configuration_is_set_and_every_one_that_is_set_is_used(installed: list[Resource]) -> None:
    shared = set(tiers.DEFAULT_SETTINGS) | {"INSTANCE_ID", "GOMEMLIMIT"}
    left_at_default = {"DECISION_WAIT", "SLOW_MS", "HEALTHY_PERCENT", "MAX_STREAMS", "SERIAL_ENDPOINT"}
    for pod in pods(installed).values():
        used = set(re.findall(r"\$\{env:([A-Z0-9_]+)", "".join(configuration(installed, pod).values())))
        given = set(environment(installed, pod))
        assert used - given <= left_at_default
        assert given - used <= shared


def test_an_address_in_the_cluster_is_a_service_that_listens(installed: list[Resource]) -> None:
    for pod in pods(installed).values():
        for value in environment(installed, pod).values():
            if not value.startswith("http://llm-errors"):
                continue
            *replica, service = (urlsplit(value).hostname or "").split(".")[:2]
            found = named(installed, "Service", service)
            assert urlsplit(value).port in {port["port"] for port in found["spec"]["ports"]}
            if replica:
                owner = named(installed, "StatefulSet", replica[0].rpartition("-")[0])
                assert owner["spec"]["serviceName"] == service
                assert int(replica[0].rpartition("-")[2]) < owner["spec"]["replicas"]


def test_each_gateway_is_one_shard_and_known_to_all(everything: list[Resource]) -> None:
    given = environment(everything, pods(everything)["llm-errors-gateway"])
    assert len({value for name, value in given.items() if re.fullmatch(r"SHARD_\d", name)}) == sizing.LARGE.gateways


def test_a_gateway_has_room_for_the_traces_of_its_load(everything: list[Resource]) -> None:
    given = environment(everything, pods(everything)["llm-errors-gateway"])
    wait = yaml.safe_load((REPOSITORY / "collector-config/gateway.yaml").read_text())["processors"]["tail_sampling"][
        "decision_wait"
    ]
    assert wait == f"${{env:DECISION_WAIT:-{sizing.DECISION_WAIT_SECONDS}s}}"
    assert (
        int(given["NUM_TRACES"]) >= sizing.LARGE.spans_per_second / sizing.LARGE.gateways * sizing.DECISION_WAIT_SECONDS
    )


def test_a_gateway_that_is_not_ready_keeps_its_name(everything: list[Resource]) -> None:
    assert named(everything, "Service", "llm-errors-gateway-shards")["spec"]["publishNotReadyAddresses"] is True


def test_where_there_are_gateways_every_trace_goes_to_them(everything: list[Resource]) -> None:
    by_tier = {name: environment(everything, pod)["TRACES_ENDPOINT"] for name, pod in pods(everything).items()}
    assert by_tier == {
        "llm-errors-agent": "http://llm-errors-gateway:4318",
        "llm-errors-short-lived": "http://llm-errors-agent:4318",
        "llm-errors-gateway": tiers.DEFAULT_SETTINGS["TRACES_ENDPOINT"],
    }


def allows(resources: list[Resource], direction: str, pod: Resource, peer: dict[str, str], port: int) -> bool:
    """Whether a policy lets the pod talk to (`egress`) or be talked to by (`ingress`) pods of the namespace with labels."""
    side = {"egress": "to", "ingress": "from"}[direction]
    for policy in (one for one in resources if one["kind"] == "NetworkPolicy"):
        if not policy["spec"]["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items():
            continue
        for rule in policy["spec"].get(direction, []):
            ports = {entry["port"] for entry in rule.get("ports", [])}
            peers = [one for one in rule.get(side, []) if one == {"namespaceSelector": {}} or "podSelector" in one]
            matching = any(one.get("podSelector", {}).get("matchLabels", {}).items() <= peer.items() for one in peers)
            if matching and (not ports or port in ports):
                return True
    return False


def test_the_network_policies_let_each_tier_reach_the_next(everything: list[Resource]) -> None:
    found = pods(everything)
    for name, pod in found.items():
        for value in environment(everything, pod).values():
            if not value.startswith("http://llm-errors"):
                continue
            service = named(everything, "Service", (urlsplit(value).hostname or "").split(".")[-1])
            (other,) = [one for one in found.values() if service["spec"]["selector"] == one["metadata"]["labels"]]
            port = urlsplit(value).port or 80
            assert allows(everything, "egress", pod, other["metadata"]["labels"], port), (name, value)
            assert allows(everything, "ingress", other, pod["metadata"]["labels"], port), (name, value)


def test_nobody_but_gateways_reaches_the_door_of_the_shards(everything: list[Resource]) -> None:
    gateway = pods(everything)["llm-errors-gateway"]
    assert not allows(everything, "ingress", gateway, {"app": "shop"}, tiers.SHARD)


@pytest.mark.parametrize("name", ["llm-errors-agent", "llm-errors-short-lived"])
def test_applications_in_any_namespace_reach_the_collectors(name: str, everything: list[Resource]) -> None:
    for port in (tiers.OTLP_GRPC, tiers.OTLP_HTTP):
        assert allows(everything, "ingress", pods(everything)[name], {"app": "shop"}, port)


def test_prometheus_scrapes_every_collector_once(everything: list[Resource]) -> None:
    monitor = named(everything, "ServiceMonitor", "llm-errors-collectors")["spec"]
    (wanted,) = monitor["selector"]["matchExpressions"]
    scraped = [
        one["spec"]["selector"]
        for one in selected(everything, "Service", monitor["selector"]["matchLabels"])
        if one["metadata"]["labels"].get("app.kubernetes.io/component") in wanted["values"]
        and monitor["endpoints"][0]["port"] in {port["name"] for port in one["spec"]["ports"]}
    ]
    assert sorted(map(str, scraped)) == sorted(str(pod["metadata"]["labels"]) for pod in pods(everything).values())


def test_the_sums_of_short_lived_processes_keep_their_own_job(everything: list[Resource]) -> None:
    monitor = named(everything, "ServiceMonitor", "llm-errors-short-lived")["spec"]
    (service,) = selected(everything, "Service", monitor["selector"]["matchLabels"])
    (endpoint,) = monitor["endpoints"]
    assert endpoint["honorLabels"] is True
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}


def test_the_sums_of_short_lived_processes_do_not_get_the_place_of_their_collector(everything: list[Resource]) -> None:
    (endpoint,) = named(everything, "ServiceMonitor", "llm-errors-short-lived")["spec"]["endpoints"]
    (dropped,) = endpoint["relabelings"]
    of_the_target = ("namespace", "pod", "service", "container", "endpoint")
    assert dropped["action"] == "labeldrop"
    assert [label for label in of_the_target if not re.fullmatch(dropped["regex"], label)] == []
    assert not re.fullmatch(dropped["regex"], "job")


def test_a_collector_that_copies_its_queues_has_half_an_hour_to_start(installed: list[Resource]) -> None:
    for pod in pods(installed).values():
        probe = container(pod)["startupProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] == 1800
        assert probe["httpGet"] == container(pod)["livenessProbe"]["httpGet"]


def test_a_collector_refuses_data_before_the_kernel_kills_it(installed: list[Resource]) -> None:
    for pod in pods(installed).values():
        limit = int(container(pod)["resources"]["limits"]["memory"].removesuffix("Mi"))
        assert int(environment(installed, pod)["MEMORY_LIMIT_MIB"]) <= 0.8 * limit


def test_the_volume_holds_every_queue_when_full(installed: list[Resource]) -> None:
    for name, pod in pods(installed).items():
        exporters = {
            exporter
            for text in configuration(installed, pod).values()
            for exporter, settings in yaml.safe_load(text)["exporters"].items()
            if "sending_queue" in (settings or {})
        }
        (claim,) = named(installed, "StatefulSet", name)["spec"]["volumeClaimTemplates"]
        disk = int(claim["spec"]["resources"]["requests"]["storage"].removesuffix("Gi")) * 2**30
        assert disk > (len(exporters) + 1) * int(environment(installed, pod)["QUEUE_BYTES"])


@pytest.mark.parametrize(
    ("row", "constant"),
    [
        ("agent, spans", f"{sizing.SECONDS_PER_SPAN * 1e6:.0f} µs CPU each"),
        ("agent, metric exports", f"to {sizing.SECONDS_PER_METRIC_EXPORT * 1e3:.1f} ms CPU each"),
        ("gateway, both tiers in one process", f"to {sizing.SECONDS_PER_SAMPLED_SPAN * 1e6:.0f} µs CPU a span"),
        ("gateway, memory", f"{sizing.BYTES_PER_WAITING_SPAN // 1000} kB for each span that waits"),
        ("short-lived", f"{sizing.SECONDS_PER_DELTA * 1e3:.1f} ms CPU a process"),
        ("failed span on the wire", f"{sizing.BYTES_PER_SPAN} bytes"),
        ("metric export of one process, one model", f"{sizing.BYTES_PER_METRIC_EXPORT / 1000:.1f} kB"),
        ("binary; memory when idle", f"{sizing.IDLE_BYTES // 1_000_000} MB"),
    ],
)
def test_sizes_are_computed_from_what_was_measured(row: str, constant: str) -> None:
    readme = (REPOSITORY / "collector-config/README.md").read_text(encoding="utf-8")
    (measured,) = re.findall(rf"^\| {re.escape(row)} \| (.*) \|$", readme, re.MULTILINE)
    assert constant in measured


def test_the_image_is_of_the_release_that_is_tested() -> None:
    manifest = yaml.safe_load((REPOSITORY / "collector-config/builder.yaml").read_text())
    assert manifest["dist"]["version"] == tiers.COLLECTOR_VERSION


# The same as everywhere


def test_the_dashboards_are_those_of_grafana_as_the_sidecar_finds_them(installed: list[Resource]) -> None:
    found = {
        name: text
        for one in selected(installed, "ConfigMap", {"grafana_dashboard": "1"})
        for name, text in one["data"].items()
    }
    assert found == {path.name: path.read_text() for path in (DASHBOARDS / "grafana").glob("*.json")}


def test_a_dashboard_fits_into_the_annotation_that_kubectl_apply_writes(installed: list[Resource]) -> None:
    assert [one["metadata"]["name"] for one in installed if len(json.dumps(one)) >= 256 * 1024] == []


def test_rules_and_routes_are_the_operators_resources_of_the_dashboards_folder(installed: list[Resource]) -> None:
    for kind, path in (
        ("PrometheusRule", "prometheus/prometheusrule.yml"),
        ("AlertmanagerConfig", "alertmanagerconfig.yml"),
    ):
        assert named(installed, kind)["spec"] == yaml.safe_load((DASHBOARDS / path).read_text())["spec"]


@pytest.mark.parametrize(
    ("name", "files"), [(t.name, t.files) for t in (tiers.AGENT, tiers.GATEWAY, tiers.SHORT_LIVED)]
)
def test_the_collectors_run_the_configuration_of_this_folder(
    name: str, files: tuple[str, ...], everything: list[Resource]
) -> None:
    found = configuration(everything, pods(everything)[name])
    assert set(found) == set(files)
    for file, text in found.items():
        source = (REPOSITORY / "collector-config" / file).read_text()
        assert text.endswith("".join(line for line in source.splitlines(keepends=True) if "host.name" not in line))


def test_no_collector_guesses_the_host_of_an_application(everything: list[Resource]) -> None:
    found = [text for pod in pods(everything).values() for text in configuration(everything, pod).values()]
    assert found
    assert "host.name" not in "".join(found)


def test_the_endpoint_of_applications_is_the_agents_service(installed: list[Resource]) -> None:
    host, namespace = (urlsplit(applications.ENDPOINT).hostname or "").split(".")
    service = named(installed, "Service", host)
    assert service["metadata"]["namespace"] == namespace
    assert urlsplit(applications.ENDPOINT).port in {port["port"] for port in service["spec"]["ports"]}


# Tailoring


def test_a_team_has_its_route_and_receiver_in_the_cluster(tmp_path: Path) -> None:
    routing = yaml.safe_load((generated(tmp_path, "--team", "job=chat=chat-team") / "base/routing.yaml").read_text())
    assert "chat-team" in {receiver["name"] for receiver in routing["spec"]["receivers"]}
    assert "chat-team" in str(routing["spec"]["route"])


def test_a_label_of_the_users_is_in_the_rules_and_promoted_by_prometheus(tmp_path: Path) -> None:
    folder = generated(tmp_path, "--extra-label", "k8s_namespace_name")
    assert "k8s_namespace_name" in (folder / "base/rules.yaml").read_text()
    values = yaml.safe_load((folder / "kube-prometheus-stack.values.yaml").read_text())
    promoted = values["prometheus"]["prometheusSpec"]["otlp"]["promoteResourceAttributes"]
    assert promoted == ["deployment.environment.name", "k8s.namespace.name"]


def test_the_values_say_what_the_error_budget_looks_back_on_and_shorten_nobodys_retention(tmp_path: Path) -> None:
    text = (generated(tmp_path, "--window", "90d") / "kube-prometheus-stack.values.yaml").read_text()
    assert "needs 95d on a persistent volume" in text
    assert "retention" not in yaml.safe_load(text)["prometheus"]["prometheusSpec"]


def test_two_sets_of_rules_in_one_cluster_have_different_names(tmp_path: Path) -> None:
    base = generated(tmp_path, "--name", "EU_west") / "base"
    names = {yaml.safe_load((base / file).read_text())["metadata"]["name"] for file in ("rules.yaml", "routing.yaml")}
    assert names == {"llm-errors-eu-west"}


def test_without_dashboards_the_base_lists_none(tmp_path: Path) -> None:
    base = generated(tmp_path) / "base"
    assert not (base / "dashboards").exists()
    assert "dashboards" not in (base / "kustomization.yaml").read_text()
    assert build(tmp_path / "kubernetes/overlays/small")


def test_every_file_for_kubernetes_says_that_it_is_generated() -> None:
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert files
    assert [str(path) for path in files if MARKER not in path.read_text()] == []


def test_a_file_for_kubernetes_of_an_earlier_version_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["generate", "--out", str(tmp_path)])
    old = tmp_path / "kubernetes/overlays/huge/kustomization.yaml"
    old.parent.mkdir()
    old.write_text(f"# {MARKER}\n")
    capsys.readouterr()
    assert main(["generate", "--check", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"left over: {old}\n"


# The OpenTelemetry operator, of whose resource no schema can be had here: its fields by name and type

INSTRUMENTATION = {
    "exporter": {"endpoint": str},
    "propagators": {"tracecontext", "baggage", "b3", "b3multi", "jaeger", "xray", "ottrace", "none"},
    "sampler": {
        "type": {
            "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off",
            "parentbased_traceidratio", "jaeger_remote", "xray",
        }
    },
    "python": {"image": str, "env": list},
}  # fmt: skip


def misfits(given: Any, known: Any, path: str = "spec") -> list[str]:
    """The fields that the operator does not know, or knows with other values."""
    if isinstance(known, dict):
        unknown = [f"{path}.{name}" for name in given if name not in known]
        return unknown + [
            fault for n, k in known.items() if n in given for fault in misfits(given[n], k, f"{path}.{n}")
        ]
    if isinstance(known, set):
        return [f"{path}: {value}" for value in ([given] if isinstance(given, str) else given) if value not in known]
    return [] if isinstance(given, known) else [path]


def test_the_instrumentation_has_only_fields_that_the_operator_knows() -> None:
    resource = yaml.safe_load((FOLDER / "instrumentation/instrumentation.yaml").read_text())
    assert (resource["apiVersion"], resource["kind"]) == ("opentelemetry.io/v1alpha1", "Instrumentation")
    assert misfits(resource["spec"], INSTRUMENTATION) == []
    assert all(
        set(one) == {"name", "value"} and isinstance(one["value"], str) for one in resource["spec"]["python"]["env"]
    )


def test_the_check_of_the_instrumentation_finds_faults() -> None:
    wrong = {"exporters": {}, "sampler": {"type": "always"}, "python": {"image": 1}}
    assert misfits(wrong, INSTRUMENTATION) == ["spec.exporters", "spec.sampler.type: always", "spec.python.image"]


def test_the_image_holds_this_version() -> None:
    dockerfile = (FOLDER / "instrumentation/Dockerfile").read_text()
    assert f"llm-errors=={__version__}" in dockerfile
    assert applications.IMAGE in dockerfile


# The Collector itself


@pytest.mark.parametrize("name", ["llm-errors-agent", "llm-errors-gateway", "llm-errors-short-lived"])
def test_the_collector_starts_with_the_arguments_files_and_environment_of_its_pod(
    name: str, everything: list[Resource], tmp_path: Path
) -> None:
    pod = pods(everything)[name]
    for file, text in configuration(everything, pod).items():
        (tmp_path / file).write_text(text)
    arguments = [argument.replace(tiers.CONFIGURATION, str(tmp_path)) for argument in container(pod)["args"]]
    given = {**environment(everything, pod), "QUEUE_DIRECTORY": str(tmp_path / "queue")}
    given.update({variable: at_a_free_port(value) for variable, value in given.items() if value.startswith("0.0.0.0:")})
    given["SERIAL_ENDPOINT"] = at_a_free_port("127.0.0.1")
    given["SELF_METRICS_PORT"] = at_a_free_port("").removeprefix(":")
    (probe,) = {container(pod)[kind]["httpGet"]["path"] for kind in ("startupProbe", "readinessProbe", "livenessProbe")}
    with subprocess.Popen(
        [tool("otelcol", STACK), *arguments], env=given, stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            assert answers(f"http://127.0.0.1:{given['HEALTH_ENDPOINT'].partition(':')[2]}{probe}", running)
        finally:
            running.terminate()
        said = running.communicate(timeout=30)[1]
    assert [line for line in said.splitlines() if "\terror\t" in line] == []
    assert "Everything is ready" in said  # as the page says


def at_a_free_port(address: str) -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"{address.partition(':')[0]}:{probe.getsockname()[1]}"


def answers(url: str, running: "subprocess.Popen[str]") -> bool:
    """Whether the address is served before the process ends; waits for at most half a minute."""
    end = time.monotonic() + 30
    while running.poll() is None and time.monotonic() < end:
        try:
            return bool(urllib.request.urlopen(url, timeout=2).status == 200)
        except OSError:
            time.sleep(0.1)
    return False
