"""How the resources are put together: a base of what every installation has, overlays for two sizes, and a component."""

from collections.abc import Sequence
from typing import Any, Final

from llm_errors.monitoring.kubernetes.tiers import DEFAULT_SETTINGS, PREFIX, SETTINGS, Tier

Document = dict[str, Any]
CONFIGURATION: Final = "config"
"""Folder of the Collector's configuration: kustomize makes a ConfigMap of it that is named by its content, so that a
change restarts the Collectors."""
RELEASE: Final = {"release": "kube-prometheus-stack"}
"""What the selectors of the Helm chart's Prometheus ask for."""
FOLDER_ANNOTATION: Final = "grafana_folder"
"""Where Grafana's sidecar looks for the folder of a dashboard, if the Helm values say so."""


def base(resources: Sequence[str], tier: Tier) -> Document:
    """The base: its resources, the settings of a cluster, and the configuration of the agents."""
    settings = {"name": SETTINGS, "literals": [f"{name}={value}" for name, value in DEFAULT_SETTINGS.items()]}
    return {**_kustomization(), "resources": list(resources), "configMapGenerator": [settings, configuration(tier)]}


def overlay(resources: Sequence[str], *tiers: Tier) -> Document:
    """An overlay on the base; `tiers` are those whose configuration the base has not."""
    generated = {"configMapGenerator": [configuration(tier) for tier in tiers]} if tiers else {}
    labels = [{"pairs": dict(RELEASE), "includeSelectors": False}]
    return {**_kustomization(), "labels": labels, "resources": ["../../base", *resources], **generated}


def component(resources: Sequence[str], tier: Tier) -> Document:
    """What can be added to either overlay."""
    return {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "namespace": PREFIX,
        "labels": [{"pairs": dict(RELEASE), "includeSelectors": False}],
        "resources": list(resources),
        "configMapGenerator": [configuration(tier)],
    }


def alone(resource: str) -> Document:
    """Makes a folder of one file into what a layer can list: kustomize reads no file outside of the layer's folder."""
    return {**_kustomization(), "resources": [resource]}


def configuration(tier: Tier) -> Document:
    """The ConfigMap of a tier's files."""
    return {"name": tier.configuration, "files": [f"{CONFIGURATION}/{file}" for file in tier.files]}


def dashboard(uid: str, text: str) -> Document:
    """A dashboard as Grafana's sidecar finds it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": uid.lower().replace("_", "-"),
            "labels": {"app.kubernetes.io/name": PREFIX, "grafana_dashboard": "1"},
            "annotations": {FOLDER_ANNOTATION: "LLM errors"},
        },
        "data": {f"{uid}.json": text},
    }


def _kustomization() -> Document:
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": PREFIX}
