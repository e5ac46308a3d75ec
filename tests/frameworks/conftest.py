"""Peers of frameworks that are switched on for one test, and providers of telemetry that they share with llm-errors."""

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "false"  # peers read the tracing of the framework
os.environ.pop("OPENAI_API_KEY", None)
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

LEFT_OPEN = ("ignore:unclosed:ResourceWarning", "ignore:.*(socket|Transport):pytest.PytestUnraisableExceptionWarning")
"""Frameworks leave clients to the garbage collector."""
OF_OTHERS = (
    "ignore::DeprecationWarning",
    "ignore::PendingDeprecationWarning",
    "ignore::UserWarning",
    "ignore::FutureWarning",
)
"""What packages warn about each other."""


def pytest_configure(config: pytest.Config) -> None:
    """The warnings of frameworks are not about llm-errors."""
    for line in (*LEFT_OPEN, *OF_OTHERS):
        config.addinivalue_line("filterwarnings", line)
    warnings.simplefilter("ignore", ResourceWarning)  # for what is collected after the last test


@pytest.fixture
def beside(telemetry: Any, instrument: Any) -> Iterator[Callable[[str], Any]]:
    """Switch on an instrumentation of a framework, `module:Class`, and llm-errors beside it."""
    started: list[Any] = []

    def start(path: str) -> Any:
        module, _, name = path.partition(":")
        peer = getattr(pytest.importorskip(module), name)()
        peer.instrument(tracer_provider=telemetry.tracer_provider, meter_provider=telemetry.meter_provider)
        assert peer.is_instrumented_by_opentelemetry, f"{module} refuses the installed framework"
        started.append(peer)
        instrument()
        return telemetry

    yield start
    for peer in started:
        peer.uninstrument()
