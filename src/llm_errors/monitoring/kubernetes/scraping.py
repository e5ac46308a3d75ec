"""What Prometheus scrapes from the Collectors, and the values for the Helm chart kube-prometheus-stack.

With these values Prometheus accepts OTLP, Alertmanager routes every alert, and Grafana links metrics, traces and logs.
"""

from typing import Any, Final

from llm_errors.monitoring import provisioning, routing
from llm_errors.monitoring.kubernetes import tiers, workloads
from llm_errors.monitoring.kubernetes.kustomize import FOLDER_ANNOTATION
from llm_errors.monitoring.kubernetes.workloads import Resource
from llm_errors.monitoring.options import INTERVAL_SECONDS, Options

OLDEST_CHART: Final = "75.3.6"
"""The first version of kube-prometheus-stack that passes on all these values. Earlier ones ignore some without a word."""
LONGEST_OUTAGE: Final = "6h"
"""How late Prometheus accepts samples: they may have waited in a queue of a Collector."""
_SET_BY_PROMETHEUS: Final = ("job", "cluster", "namespace")
_OF_THE_TARGET: Final = ("namespace", "pod", "service", "container", "endpoint")
"""Labels that the Prometheus operator adds to each target. Every series without a label of this name gets it."""


def collectors() -> Resource:
    """A monitor for the internal metrics of the Collectors of every tier, under one job name."""
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
    """A monitor for the sums of short-lived processes.

    Their `job` and `instance` are those of the service. No label tells where the Collector runs that adds them up."""
    tier = tiers.SHORT_LIVED
    dropped = {"action": "labeldrop", "regex": "|".join(_OF_THE_TARGET)}
    endpoint = {"port": "http-sums", "honorLabels": True, "relabelings": [dropped]}
    return _monitor(tier.name, tier.labels, {"matchLabels": tier.labels}, endpoint)


def values(options: Options) -> Resource:
    """Values for the Helm chart kube-prometheus-stack, to be merged into the values in use."""
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
    """The data source with the tenant that the Collectors write to. A Loki without tenants ignores it."""
    header = {"jsonData": {"httpHeaderName1": "X-Scope-OrgID"}, "secureJsonData": {"httpHeaderValue1": tenant}}
    return {**loki, **header}


def prometheus(options: Options) -> Resource:
    """The required fields of the resource `Prometheus`."""
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
    """A note about the retention, which the values do not set: they would shorten a longer retention that is in use."""
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
