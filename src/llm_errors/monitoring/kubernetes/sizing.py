"""How much CPU, memory and disk a Collector asks for: computed from what was measured for a load that is written here.

The measurements are those of `collector-config/README.md`, on two shared cores.
"""

import math
from dataclasses import dataclass
from typing import Final

EXPORT_INTERVAL_SECONDS: Final = 15
SECONDS_PER_METRIC_EXPORT: Final = 0.0019
"""CPU of an agent for one export of one process."""
SECONDS_PER_SPAN: Final = 0.000105
"""CPU of an agent."""
SECONDS_PER_SAMPLED_SPAN: Final = 0.00008
"""CPU of a gateway: once handed on and once sampled."""
SECONDS_PER_DELTA: Final = 0.0017
"""CPU of the Collector for short-lived processes, for each process that ends."""
BYTES_PER_METRIC_EXPORT: Final = 1_600
BYTES_PER_SPAN: Final = 620
BYTES_PER_WAITING_SPAN: Final = 6_000
"""Memory of a gateway for each span until its trace is decided."""
IDLE_BYTES: Final = 45_000_000
DECISION_WAIT_SECONDS: Final = 60
"""The default of gateway.yaml."""

_HEADROOM: Final = 1.5
_MEBI, _GIBI = 2**20, 2**30


@dataclass(frozen=True)
class Size:
    """What one pod gets: cores, mebibytes, bytes for each of its queues on disk, and how many pods there are."""

    replicas: int
    cores: float
    memory_mib: int
    limit_mib: int
    queue_bytes: int

    @property
    def cpu(self) -> str:
        """The request, in steps of 50 millicores, with headroom."""
        return f"{math.ceil(self.cores * _HEADROOM * 20) * 50}m"

    @property
    def container_mib(self) -> int:
        """The container's limit: the Collector refuses data at `limit_mib`, before the kernel kills it here."""
        return self.limit_mib * 5 // 4

    def disk(self, queues: int) -> str:
        """The volume for full queues and the copy that compaction makes of one of them."""
        return f"{math.ceil((queues + 1) * 1.2 * self.queue_bytes / _GIBI)}Gi"


@dataclass(frozen=True)
class Load:
    """What an overlay is made for. `agents` and `gateways` share it evenly; no gateways: traces are stored unsampled."""

    processes: int
    spans_per_second: int
    agents: int
    gateways: int
    queue_bytes: int

    @property
    def agent(self) -> Size:
        """One agent of this load."""
        cores = (self._exports * SECONDS_PER_METRIC_EXPORT + self.spans_per_second * SECONDS_PER_SPAN) / self.agents
        return Size(self.agents, cores, 256, 512, self.queue_bytes)

    @property
    def gateway(self) -> Size:
        """One gateway of this load."""
        spans = self.spans_per_second / self.gateways
        waiting = spans * DECISION_WAIT_SECONDS * BYTES_PER_WAITING_SPAN
        memory = math.ceil((IDLE_BYTES + waiting) / _MEBI / 256) * 256
        return Size(self.gateways, spans * SECONDS_PER_SAMPLED_SPAN, memory, 2 * memory, self.queue_bytes)

    @property
    def waiting_traces(self) -> int:
        """How many traces wait at a gateway, if each has one span."""
        return self.spans_per_second * DECISION_WAIT_SECONDS // self.gateways

    @property
    def bridged_minutes(self) -> tuple[int, int]:
        """How long an outage of the metrics' and of the traces' backend may last before an agent's queue is full."""
        metrics = self._exports * BYTES_PER_METRIC_EXPORT / self.agents
        spans = self.spans_per_second * BYTES_PER_SPAN / self.agents
        return int(self.queue_bytes / metrics / 60), int(self.queue_bytes / spans / 60)

    @property
    def _exports(self) -> float:
        """Metric exports per second."""
        return self.processes / EXPORT_INTERVAL_SECONDS


SMALL: Final = Load(processes=1_000, spans_per_second=500, agents=1, gateways=0, queue_bytes=1_000_000_000)
LARGE: Final = Load(processes=10_000, spans_per_second=4_000, agents=3, gateways=2, queue_bytes=4_000_000_000)
FOR_SHORT_LIVED: Final = Size(1, 100 * SECONDS_PER_DELTA, 256, 512, 1_000_000_000)
"""For a hundred processes that end each second: half of what was measured as the most."""
