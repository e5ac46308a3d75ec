"""Writes the generated blocks of the page about Kubernetes: loads, resource requests, and how long an outage
queues bridge.
"""

from llm_errors.monitoring.kubernetes.sizing import FOR_SHORT_LIVED, LARGE, SMALL, Size
from llm_errors.monitoring.kubernetes.tiers import AGENT, GATEWAY, SHORT_LIVED, Tier
from llm_errors.monitoring.markdown import table
from llm_errors.monitoring.options import Options


def sizes(_: Options) -> str:
    """A table with the load and the resource requests of each StatefulSet."""
    rows = (
        ("`overlays/small`", AGENT, SMALL.agent, f"{SMALL.processes:,} processes, {SMALL.spans_per_second:,} spans/s"),
        ("`overlays/large`", AGENT, LARGE.agent, f"{LARGE.processes:,} processes, {LARGE.spans_per_second:,} spans/s"),
        ("`overlays/large`", GATEWAY, LARGE.gateway, f"{LARGE.spans_per_second:,} spans/s"),
        ("`components/short-lived`", SHORT_LIVED, FOR_SHORT_LIVED, "100 ending processes/s"),
    )
    head = ("folder", "StatefulSet", "made for", "pods", "CPU request", "memory request, limit", "volume for each pod")
    return table(head, (_row(*row) for row in rows))


def _row(folder: str, tier: Tier, size: Size, load: str) -> tuple[str, ...]:
    memory = f"{size.memory_mib} Mi, {size.container_mib} Mi"
    return folder, f"`{tier.name}`", load, f"{size.replicas}", size.cpu, memory, size.disk(tier.queues)


def bridged(_: Options) -> str:
    """A table with the minutes until a queue is full while its receiver is down."""
    rows = (
        (f"`overlays/{name}`", *(f"{minutes} min" for minutes in load.bridged_minutes))
        for name, load in (("small", SMALL), ("large", LARGE))
    )
    return table(("at the load above", "Prometheus away for", "Tempo or the gateways away for"), rows)
