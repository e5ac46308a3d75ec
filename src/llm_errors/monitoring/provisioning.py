"""Defines the files for Grafana's provisioning: data sources with the uids that links and alerts use, and the dashboards."""

from typing import Any


def datasources() -> dict[str, Any]:
    """The data sources Prometheus (with links from exemplars to traces), Tempo (with links to logs) and Loki.

    Their addresses are examples.
    """
    exemplars = [{"name": "trace_id", "datasourceUid": "tempo"}]
    prometheus = _source("Prometheus", "prometheus", "http://prometheus:9090", isDefault=True)
    prometheus["jsonData"] = {"httpMethod": "POST", "timeInterval": "15s", "exemplarTraceIdDestinations": exemplars}
    tempo = _source("Tempo", "tempo", "http://tempo:3200")
    tempo["jsonData"] = {"tracesToLogsV2": {"datasourceUid": "loki", "filterByTraceID": True}}
    return {"apiVersion": 1, "datasources": [prometheus, tempo, _source("Loki", "loki", "http://loki:3100")]}


def dashboards() -> dict[str, Any]:
    """A dashboard provider, which loads the dashboards from `/var/lib/grafana/dashboards/llm-errors`."""
    provider = {
        "name": "llm-errors",
        "folder": "LLM errors",
        "type": "file",
        "allowUiUpdates": False,
        "updateIntervalSeconds": 30,
        "options": {"path": "/var/lib/grafana/dashboards/llm-errors"},
    }
    return {"apiVersion": 1, "providers": [provider]}


def _source(name: str, kind: str, url: str, **settings: Any) -> dict[str, Any]:
    return {"name": name, "uid": kind, "type": kind, "access": "proxy", "url": url, **settings}
