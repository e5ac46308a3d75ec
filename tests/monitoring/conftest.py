"""One seeded Prometheus for all tests that run queries."""

from collections.abc import Iterator

import pytest
from artifact_tools import STACK, promtool, tool
from seeded_prometheus import SeededPrometheus

from llm_errors.monitoring.options import Options


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeededPrometheus]:
    """Nine days of the seed data with every rule recorded."""
    prometheus = SeededPrometheus(tool("prometheus", STACK), promtool("current"), tmp_path_factory.mktemp("seeded"))
    prometheus.seed(9, Options())
    with prometheus.running():
        yield prometheus
