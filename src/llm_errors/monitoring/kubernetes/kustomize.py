"""Writes the kustomizations: a base with the resources of every installation, overlays for two sizes, and a component."""

from collections.abc import Sequence
from typing import Any, Final

from llm_errors.monitoring.kubernetes.tiers import DEFAULT_SETTINGS, OURS, PREFIX, SETTINGS, Tier

Document = dict[str, Any]
CONFIGURATION: Final = "config"
"""The folder with the configuration of the Collectors, from which kustomize creates a ConfigMap. The name of the ConfigMap
contains a hash of the content, so that a change restarts the Collectors."""
RELEASE: Final = {"release": "kube-prometheus-stack"}
"""The label that a resource must have so that the Prometheus of the Helm chart selects it."""
_LABELLED: Final = {"options": {"labels": dict(OURS)}}
FOLDER_ANNOTATION: Final = "grafana_folder"
"""The annotation with the folder of a dashboard. Grafana's sidecar reads it, if the Helm values configure this."""


def base(resources: Sequence[str], tier: Tier) -> Document:
    """The base: resources, the settings of a cluster, and the configuration of the tier that every installation has."""
    literals = [f"{name}={value}" for name, value in DEFAULT_SETTINGS.items()]
    settings = {"name": SETTINGS, "literals": literals, **_LABELLED}
    return {**_kustomization(), "resources": list(resources), "configMapGenerator": [settings, configuration(tier)]}


def overlay(resources: Sequence[str], *tiers: Tier) -> Document:
    """An overlay on the base. It adds the configuration of `tiers`, which the base does not have."""
    generated = {"configMapGenerator": [configuration(tier) for tier in tiers]} if tiers else {}
    labels = [{"pairs": dict(RELEASE), "includeSelectors": False}]
    return {**_kustomization(), "labels": labels, "resources": ["../../base", *resources], **generated}


def component(resources: Sequence[str], tier: Tier) -> Document:
    """A component with a tier, which can be added to either overlay."""
    return {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "namespace": PREFIX,
        "labels": [{"pairs": dict(RELEASE), "includeSelectors": False}],
        "resources": list(resources),
        "configMapGenerator": [configuration(tier)],
    }


def alone(resource: str) -> Document:
    """A kustomization with a single file. Another kustomization can list its folder, but no file outside of its own folder."""
    return {**_kustomization(), "resources": [resource]}


def configuration(tier: Tier) -> Document:
    """The generator of the ConfigMap with the configuration files of a tier."""
    return {"name": tier.configuration, "files": [f"{CONFIGURATION}/{file}" for file in tier.files], **_LABELLED}


def dashboard(uid: str, text: str) -> Document:
    """A ConfigMap with a dashboard, which Grafana's sidecar loads."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": uid.lower().replace("_", "-"),
            "labels": {**OURS, "grafana_dashboard": "1"},
            "annotations": {FOLDER_ANNOTATION: "LLM errors"},
        },
        "data": {f"{uid}.json": text},
    }


def _kustomization() -> Document:
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": PREFIX}
