"""Defines the Kubernetes resources of a tier: a StatefulSet, its services, and its network policy.

The Collectors run in a StatefulSet, because the volumes with their queues must outlive a pod. All resources satisfy the
restricted pod security standard.
"""

from collections.abc import Mapping
from typing import Any, Final

from llm_errors.monitoring.kubernetes.sizing import Size
from llm_errors.monitoring.kubernetes.tiers import (
    AGENT,
    COLLECTOR_VERSION,
    CONFIGURATION,
    GATEWAY,
    HEALTH,
    OTLP_HTTP,
    OURS,
    PREFIX,
    QUEUE,
    SELF_METRICS,
    SETTINGS,
    SHARD,
    SHORT_LIVED,
    Tier,
)

Resource = dict[str, Any]
IMAGE: Final = f"otel/opentelemetry-collector-contrib:{COLLECTOR_VERSION}"
METRICS_PORT: Final = "http-metrics"
SHARDS: Final = f"{GATEWAY.name}-shards"
BACKENDS: Final = "monitoring"
"""The namespace of Prometheus, Tempo, Loki and Grafana."""
USER: Final = 10001
"""The user id under which the image of the Collector runs."""
STARTUP_SECONDS: Final = 1800
"""How long a Collector may take to start. Before it is healthy, it compacts its queues to free disk space."""
_HEALTHY: Final = {"httpGet": {"path": "/", "port": "health"}}


def namespace() -> Resource:
    """The namespace of all Collectors. It enforces the restricted pod security standard."""
    labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PREFIX, "labels": labels}}


def service_account() -> Resource:
    """The account of the pods. It has no permissions, and pods get no token for it."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": PREFIX, "labels": dict(OURS)},
        "automountServiceAccountToken": False,
    }


def stateful_set(tier: Tier, size: Size, environment: Mapping[str, str] | None = None) -> Resource:
    """The StatefulSet with the Collectors of a tier. Variables in `environment` override the settings of the cluster."""
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": tier.name, "labels": tier.labels},
        "spec": {
            "serviceName": SHARDS if tier is GATEWAY else tier.name,
            "replicas": size.replicas,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": tier.labels},
            "template": {"metadata": {"labels": tier.labels}, "spec": _pod(tier, size, environment or {})},
            "volumeClaimTemplates": [
                {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "metadata": {"name": "queue"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": size.disk(tier.queues)}},
                    },
                }
            ],
        },
    }


def _pod(tier: Tier, size: Size, environment: Mapping[str, str]) -> Resource:
    return {
        "serviceAccountName": PREFIX,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": tier.labels},
            }
        ],
        "containers": [_container(tier, size, environment)],
        "volumes": [{"name": "config", "configMap": {"name": tier.configuration}}],
    }


def _container(tier: Tier, size: Size, environment: Mapping[str, str]) -> Resource:
    ports = {**tier.ports, METRICS_PORT: SELF_METRICS, "health": HEALTH}
    if tier is GATEWAY:
        ports["http-shard"] = SHARD
    settings = {
        **tier.environment,
        **environment,
        "QUEUE_BYTES": f"{size.queue_bytes}",
        "MEMORY_LIMIT_MIB": f"{size.limit_mib}",
        "MEMORY_SPIKE_MIB": f"{size.limit_mib // 4}",
        "GOMEMLIMIT": f"{size.limit_mib}MiB",
    }
    own_name = {"name": "INSTANCE_ID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}
    return {
        "name": "collector",
        "image": IMAGE,
        "args": [f"--config={CONFIGURATION}/{file}" for file in tier.files],
        "envFrom": [{"configMapRef": {"name": SETTINGS}}],
        "env": [*({"name": name, "value": value} for name, value in settings.items()), own_name],
        "ports": [{"name": name, "containerPort": port} for name, port in ports.items()],
        "startupProbe": {**_HEALTHY, "periodSeconds": 10, "failureThreshold": STARTUP_SECONDS // 10},
        "readinessProbe": {**_HEALTHY, "periodSeconds": 5},
        "livenessProbe": {**_HEALTHY, "periodSeconds": 15},
        "resources": {
            "requests": {"cpu": size.cpu, "memory": f"{size.memory_mib}Mi"},
            "limits": {"memory": f"{size.container_mib}Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": CONFIGURATION, "readOnly": True},
            {"name": "queue", "mountPath": QUEUE},
        ],
    }


def service(tier: Tier) -> Resource:
    """The service of a tier, to which applications, other tiers and Prometheus connect."""
    return _service(tier.name, tier, {**tier.ports, METRICS_PORT: SELF_METRICS}, {})


def shards() -> Resource:
    """A service that gives each gateway a DNS name, even while it is not ready: the other gateways keep its spans then."""
    headless = {"clusterIP": "None", "publishNotReadyAddresses": True}
    return _service(SHARDS, GATEWAY, {"http-shard": SHARD}, headless)


def _service(name: str, tier: Tier, ports: Mapping[str, int], more: Resource) -> Resource:
    listed = [{"name": label, "port": port, "targetPort": label} for label, port in ports.items()]
    labels = tier.labels if METRICS_PORT in ports else dict(OURS)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": labels},
        "spec": {**more, "selector": tier.labels, "ports": listed},
    }


def disruption_budget(tier: Tier) -> Resource:
    """A budget that lets Kubernetes stop at most one Collector at a time when nodes are drained."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": tier.name, "labels": tier.labels},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": tier.labels}},
    }


def network_policy(tier: Tier) -> Resource:
    """A policy that allows OTLP from every pod, scrapes by Prometheus, and connections to DNS and the backends.

    Gateways accept OTLP only from other Collectors.
    """
    anybody: list[Resource] = [{"namespaceSelector": {}}]
    monitoring = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": BACKENDS}}}]
    taken = [port for name, port in tier.ports.items() if name.endswith("otlp")]
    scraped = [SELF_METRICS, *(port for name, port in tier.ports.items() if not name.endswith("otlp"))]
    ours = [{"podSelector": {"matchLabels": dict(OURS)}}]
    ingress = [
        {"from": ours if tier is GATEWAY else anybody, "ports": _tcp(taken)},
        {"from": monitoring, "ports": _tcp(scraped)},
    ]
    egress: list[Resource] = [
        {"ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]},
        {"to": monitoring},
    ]
    if tier is GATEWAY:
        others = [{"podSelector": {"matchLabels": GATEWAY.labels}}]
        ingress.append({"from": others, "ports": _tcp([SHARD])})
        egress.append({"to": others, "ports": _tcp([SHARD])})
    return _policy(tier.name, tier, {"policyTypes": ["Ingress", "Egress"], "ingress": ingress, "egress": egress})


def way(tier: Tier, to: Tier) -> Resource:
    """An additional policy that lets the Collectors of one tier send traces to another tier."""
    others = [{"podSelector": {"matchLabels": to.labels}}]
    rules = {"policyTypes": ["Egress"], "egress": [{"to": others, "ports": _tcp([OTLP_HTTP])}]}
    return _policy(f"{tier.name}-to-{to.component}", tier, rules)


def _policy(name: str, tier: Tier, rules: Resource) -> Resource:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "labels": tier.labels},
        "spec": {"podSelector": {"matchLabels": tier.labels}, **rules},
    }


def _tcp(ports: list[int]) -> list[Resource]:
    return [{"protocol": "TCP", "port": port} for port in ports]


def agents(size: Size, environment: Mapping[str, str] | None = None) -> list[Resource]:
    """The resources of the agents of an overlay."""
    budget = [disruption_budget(AGENT)] if size.replicas > 1 else []
    return [stateful_set(AGENT, size, environment), *budget]


def gateways(size: Size, environment: Mapping[str, str]) -> list[Resource]:
    """The resources of the gateways of an overlay, and the policy that lets agents reach them."""
    return [
        stateful_set(GATEWAY, size, environment),
        service(GATEWAY),
        shards(),
        disruption_budget(GATEWAY),
        network_policy(GATEWAY),
        way(AGENT, to=GATEWAY),
    ]


def short_lived(size: Size) -> list[Resource]:
    """The resources of the Collector for short-lived processes, and the policy that lets it send traces to the agents."""
    tier = SHORT_LIVED
    return [stateful_set(tier, size), service(tier), network_policy(tier), way(tier, to=AGENT)]
