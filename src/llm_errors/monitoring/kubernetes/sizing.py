"""Computes the CPU, memory and disk that a Collector requests for a given load, from measurements.

The measurements were made on two shared cores. `collector-config/README.md` describes them.
"""

import math
from dataclasses import dataclass
from typing import Final

EXPORT_INTERVAL_SECONDS: Final = 15
SECONDS_PER_METRIC_EXPORT: Final = 0.0019
"""CPU time of an agent for one metric export of one process."""
SECONDS_PER_SPAN: Final = 0.000105
"""CPU time of an agent for one span."""
SECONDS_PER_SAMPLED_SPAN: Final = 0.00008
"""CPU time of a gateway for one span. A span is forwarded once, to the gateway of its trace, and sampled once."""
SECONDS_PER_DELTA: Final = 0.0017
"""CPU time that the Collector for short-lived processes needs for each process that ends."""
BYTES_PER_METRIC_EXPORT: Final = 1_600
BYTES_PER_SPAN: Final = 620
BYTES_PER_WAITING_SPAN: Final = 6_000
"""Memory that a gateway needs for each span until the sampling decision about its trace."""
IDLE_BYTES: Final = 45_000_000
DECISION_WAIT_SECONDS: Final = 60
"""How long a gateway waits before it decides about a trace. This is the default in gateway.yaml."""

_HEADROOM: Final = 1.5
_MEBI, _GIBI = 2**20, 2**30


@dataclass(frozen=True)
class Size:
    """The number of pods, and what each pod needs: cores, mebibytes of memory, and bytes for each queue on disk."""

    replicas: int
    cores: float
    memory_mib: int
    limit_mib: int
    queue_bytes: int

    @property
    def cpu(self) -> str:
        """The CPU request: the cores with headroom, rounded up to 50 millicores."""
        return f"{math.ceil(self.cores * _HEADROOM * 20) * 50}m"

    @property
    def container_mib(self) -> int:
        """The memory limit of the container. The Collector refuses data at `limit_mib`, before the kernel would kill it."""
        return self.limit_mib * 5 // 4

    def disk(self, queues: int) -> str:
        """The size of the volume. It has room for full queues, and for the copy of a queue while the queue is compacted."""
        return f"{math.ceil((queues + 1) * 1.2 * self.queue_bytes / _GIBI)}Gi"


@dataclass(frozen=True)
class Load:
    """The load for which an overlay is sized. Its pods share it evenly. Without gateways, traces are stored unsampled."""

    processes: int
    spans_per_second: int
    agents: int
    gateways: int
    queue_bytes: int

    @property
    def agent(self) -> Size:
        """The size of one agent for this load."""
        cores = (self._exports * SECONDS_PER_METRIC_EXPORT + self.spans_per_second * SECONDS_PER_SPAN) / self.agents
        return Size(self.agents, cores, 256, 512, self.queue_bytes)

    @property
    def gateway(self) -> Size:
        """The size of one gateway for this load."""
        spans = self.spans_per_second / self.gateways
        waiting = spans * DECISION_WAIT_SECONDS * BYTES_PER_WAITING_SPAN
        memory = math.ceil((IDLE_BYTES + waiting) / _MEBI / 256) * 256
        return Size(self.gateways, spans * SECONDS_PER_SAMPLED_SPAN, memory, 2 * memory, self.queue_bytes)

    @property
    def waiting_traces(self) -> int:
        """The number of traces that wait in a gateway for the sampling decision, if each trace has one span."""
        return self.spans_per_second * DECISION_WAIT_SECONDS // self.gateways

    @property
    def bridged_minutes(self) -> tuple[int, int]:
        """The minutes that the backends of metrics and of traces may be down before the queue of an agent is full."""
        metrics = self._exports * BYTES_PER_METRIC_EXPORT / self.agents
        spans = self.spans_per_second * BYTES_PER_SPAN / self.agents
        return int(self.queue_bytes / metrics / 60), int(self.queue_bytes / spans / 60)

    @property
    def _exports(self) -> float:
        """The number of metric exports per second by all processes."""
        return self.processes / EXPORT_INTERVAL_SECONDS


SMALL: Final = Load(processes=1_000, spans_per_second=500, agents=1, gateways=0, queue_bytes=1_000_000_000)
LARGE: Final = Load(processes=10_000, spans_per_second=4_000, agents=3, gateways=2, queue_bytes=4_000_000_000)
FOR_SHORT_LIVED: Final = Size(1, 100 * SECONDS_PER_DELTA, 256, 512, 1_000_000_000)
"""The size of the Collector for short-lived processes if 100 processes end each second, half of the measured maximum."""
