"""Defines what Prometheus scrapes from the Collectors, and the values for the Helm chart kube-prometheus-stack.

With these values, Prometheus accepts OTLP, Alertmanager routes the alerts of all namespaces, and Grafana links metrics, traces
and logs.
"""

from typing import Any, Final

from llm_errors.monitoring import provisioning, routing
from llm_errors.monitoring.kubernetes import tiers, workloads
from llm_errors.monitoring.kubernetes.kustomize import FOLDER_ANNOTATION
from llm_errors.monitoring.kubernetes.workloads import Resource
from llm_errors.monitoring.options import INTERVAL_SECONDS, Options

OLDEST_CHART: Final = "75.3.6"
"""The first version of kube-prometheus-stack that uses all of `values`. Earlier versions silently ignore some of them."""
LONGEST_OUTAGE: Final = "6h"
"""How old a sample may be when Prometheus receives it. Samples may have waited in the queue of a Collector."""
_SET_BY_PROMETHEUS: Final = ("job", "cluster", "namespace")
_OF_THE_TARGET: Final = ("namespace", "pod", "service", "container", "endpoint")
"""Labels that the Prometheus operator sets on each target. Prometheus adds them to every series that lacks them."""


def collectors() -> Resource:
    """A ServiceMonitor for the internal metrics of the Collectors of all tiers. All of their series have the same `job`."""
    kinds = [tier.component for tier in (tiers.AGENT, tiers.GATEWAY, tiers.SHORT_LIVED)]
    selector = {
        "matchLabels": dict(tiers.OURS),
        "matchExpressions": [{"key": "app.kubernetes.io/component", "operator": "In", "values": kinds}],
    }
    named = {"targetLabel": "job", "replacement": "collectors"}
    return _monitor(
        "llm-errors-collectors", dict(tiers.OURS), selector, {"port": workloads.METRICS_PORT, "relabelings": [named]}
    )


def sums() -> Resource:
    """A ServiceMonitor for the sums of short-lived processes.

    The labels `job` and `instance` name the service, not the Collector that adds up the sums. Labels that would tell where that
    Collector runs are dropped."""
    tier = tiers.SHORT_LIVED
    dropped = {"action": "labeldrop", "regex": "|".join(_OF_THE_TARGET)}
    endpoint = {"port": "http-sums", "honorLabels": True, "relabelings": [dropped]}
    return _monitor(tier.name, tier.labels, {"matchLabels": tier.labels}, endpoint)


def values(options: Options) -> Resource:
    """Values for the Helm chart kube-prometheus-stack. The user merges them into the values in use."""
    _, tempo, loki = provisioning.datasources()["datasources"]
    exemplars = {"traceIdLabelName": "trace_id", "datasourceUid": tempo["uid"]}
    blocked = {**loki, "name": "Loki trust and safety", "uid": f"{loki['uid']}-trust-and-safety"}
    return {
        "prometheus": {"prometheusSpec": prometheus(options)},
        "alertmanager": {
            "alertmanagerSpec": {"alertmanagerConfigMatcherStrategy": {"type": "None"}, "retention": routing.RETENTION}
        },
        "grafana": {
            "sidecar": {
                "dashboards": {
                    "folderAnnotation": FOLDER_ANNOTATION,
                    "provider": {"foldersFromFilesStructure": True},
                },
                "datasources": {"exemplarTraceIdDestinations": exemplars},
            },
            "additionalDataSources": [
                tempo,
                _of_tenant(loki, tiers.DEFAULT_SETTINGS["LOGS_TENANT"]),
                _of_tenant(blocked, tiers.DEFAULT_SETTINGS["TRUST_AND_SAFETY_TENANT"]),
            ],
        },
    }


def _of_tenant(loki: Resource, tenant: str) -> Resource:
    """A data source that reads the tenant to which the Collectors write. A Loki without tenants ignores the tenant."""
    header = {"jsonData": {"httpHeaderName1": "X-Scope-OrgID"}, "secureJsonData": {"httpHeaderValue1": tenant}}
    return {**loki, **header}


def prometheus(options: Options) -> Resource:
    """The fields that the resource `Prometheus` must have."""
    labels = [label for label in options.scope if label not in _SET_BY_PROMETHEUS]
    return {
        "enableOTLPReceiver": True,
        "otlp": {
            "translationStrategy": "UnderscoreEscapingWithSuffixes",
            "promoteResourceAttributes": [label.replace("_", ".") for label in labels],
        },
        "tsdb": {"outOfOrderTimeWindow": LONGEST_OUTAGE},
        "enableFeatures": ["exemplar-storage"],
        "exemplars": {"maxSize": 100_000},
    }


def retention_note(options: Options) -> str:
    """A note about the retention. The values do not set it, because they might shorten the retention that is in use."""
    return (
        f"They leave out how long Prometheus keeps its data. The error budget needs {options.window_days + 5}d on a "
        "persistent volume."
    )


def _monitor(name: str, labels: dict[str, str], selector: Resource, endpoint: dict[str, Any]) -> Resource:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {"name": name, "labels": labels},
        "spec": {"selector": selector, "endpoints": [{**endpoint, "interval": f"{INTERVAL_SECONDS}s"}]},
    }
