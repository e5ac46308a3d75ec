"""Defines the three kinds of Collector, called tiers: their configuration, ports and queues on disk.

The configuration files are in `collector-config` of a checkout, and are also part of the package.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

COLLECTOR_VERSION: Final = "0.161.0"
"""The release of the Collector with which the configuration was tested."""
PREFIX: Final = "llm-errors"
OURS: Final[Mapping[str, str]] = {"app.kubernetes.io/name": PREFIX}
"""The label by which all resources can be found and removed. The Namespace does not have it, so that its volumes stay."""
OTLP_GRPC, OTLP_HTTP, SHARD, SELF_METRICS, SUMS, HEALTH = 4317, 4318, 4319, 8888, 8889, 13133
QUEUE: Final = "/var/lib/otelcol/queue"
CONFIGURATION: Final = "/etc/otelcol"
_PACKAGE: Final = Path(__file__).parent.parent


@dataclass(frozen=True)
class Tier:
    """One kind of Collector.

    `ports`: name -> a port that is open to other pods. `queues` is the number of exporters with a queue on disk. `environment`
    contains the variables that are the same in every cluster. The other variables are in the ConfigMap `SETTINGS`."""

    component: str
    files: tuple[str, ...]
    ports: Mapping[str, int]
    queues: int
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the resources of this tier."""
        return f"{PREFIX}-{self.component}"

    @property
    def configuration(self) -> str:
        """The name of the ConfigMap with the configuration files of this tier."""
        return f"{self.name}-config"

    @property
    def labels(self) -> dict[str, str]:
        """The labels that select the pods of this tier."""
        return {**OURS, "app.kubernetes.io/component": self.component}


SETTINGS: Final = f"{PREFIX}-settings"
"""The name of the ConfigMap with the addresses of backends, which differ between clusters."""
DEFAULT_SETTINGS: Final[Mapping[str, str]] = {
    "METRICS_ENDPOINT": "http://prometheus-operated.monitoring:9090/api/v1/otlp",
    "TRACES_ENDPOINT": "http://tempo.monitoring:4318",
    "LOGS_ENDPOINT": "http://loki.monitoring:3100/otlp",
    "LOGS_TENANT": "application",
    "TRUST_AND_SAFETY_ENDPOINT": "http://loki.monitoring:3100/otlp",
    "TRUST_AND_SAFETY_TENANT": "trust-and-safety",
    "DEPLOYMENT_ENVIRONMENT": "production",
}

_EVERYWHERE: Final[Mapping[str, str]] = {
    "HEALTH_ENDPOINT": f"0.0.0.0:{HEALTH}",
    "SELF_METRICS_HOST": "0.0.0.0",
    "SELF_METRICS_PORT": f"{SELF_METRICS}",
    "OTLP_HTTP_ENDPOINT": f"0.0.0.0:{OTLP_HTTP}",
    "QUEUE_DIRECTORY": QUEUE,
}
_AGENT: Final[Mapping[str, str]] = {**_EVERYWHERE, "OTLP_GRPC_ENDPOINT": f"0.0.0.0:{OTLP_GRPC}"}
AGENT: Final = Tier(
    "agent",
    ("agent.yaml",),
    {"grpc-otlp": OTLP_GRPC, "http-otlp": OTLP_HTTP},
    queues=4,
    environment=_AGENT,
)
GATEWAY: Final = Tier(
    "gateway",
    ("gateway.yaml",),
    {"http-otlp": OTLP_HTTP},
    queues=3,
    environment={
        **_EVERYWHERE,
        "SHARD_ENDPOINT": f"0.0.0.0:{SHARD}",
        "SHARD_0": f"http://{PREFIX}-gateway-0.{PREFIX}-gateway-shards:{SHARD}",
        "SHARD_1": f"http://{PREFIX}-gateway-1.{PREFIX}-gateway-shards:{SHARD}",
    },
)
SHORT_LIVED: Final = Tier(
    "short-lived",
    ("agent.yaml", "short-lived.yaml"),
    {"grpc-otlp": OTLP_GRPC, "http-otlp": OTLP_HTTP, "http-sums": SUMS},
    queues=5,
    environment={
        **_AGENT,
        "SCRAPE_ENDPOINT": f"0.0.0.0:{SUMS}",
        "TRACES_ENDPOINT": f"http://{PREFIX}-agent:{OTLP_HTTP}",  # agents send traces on, to gateways if there are any
    },
)


def source(file: str) -> str:
    """The text of a configuration file, from the installed package or the checkout. Raises `OSError`."""
    packaged = _PACKAGE / "collector_files"
    folder = packaged if packaged.is_dir() else _PACKAGE.parents[2] / "collector-config"
    return (folder / file).read_text(encoding="utf-8")
