"""What every test may ask for.

Telemetry in memory, an instrumentor in strict mode, a scripted provider on a real socket.
"""

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from llm_errors.providers import SDKS
from llm_errors.testing.provider import Provider, Script
from tests.tested.recording import Recording, name_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_OF_THE_SDKS = tuple(f"{row.roots[0].partition('.')[0].upper()}_" for row in SDKS)
_OF_THE_MACHINE = ("OTEL_", "LLM_ERRORS_", "AZURE_OPENAI_", "GEMINI_", *_OF_THE_SDKS)
"""Variables of somebody who uses the SDKs, which change what their clients do."""
for _name in [n for n in os.environ if n.lower().endswith("_proxy") or n.startswith(_OF_THE_MACHINE)]:
    os.environ.pop(_name)
os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_DEFAULT_REGION="us-east-1",
    AWS_EC2_METADATA_DISABLED="true",
    COLUMNS="80",  # whatever terminal there is
)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job that a script started in the background ignores SIGINT, and so would every child that a test interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

with suppress(ImportError):  # not in every environment
    import hypothesis

    hypothesis.settings.register_profile("any machine", deadline=None)
    hypothesis.settings.load_profile("any machine")

CI = os.environ.get("CI", "").lower() in ("1", "true")


def _not_in(group: str) -> tuple[str, ...]:
    """The packages and distributions of the SDKs that a dependency group leaves out."""
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    listed = {re.split(r"[^\w.-]", line)[0] for line in pyproject["dependency-groups"][group] if isinstance(line, str)}
    absent = [row for row in SDKS if row.distribution not in listed]
    modules = (row.distribution.replace("-", sign) for row in absent for sign in "_.")  # as tests import some of them
    return tuple({name for row in absent for name in (row.roots[0], row.package, row.distribution)} | set(modules))


_OLD = (
    "this major of",
    "only a newer major of the SDK",
    "opentelemetry-exporter-prometheus",
    "only newer gRPC exporters",
    "azure-core",
)
"""What releases of the `middle` and `oldest` environments do not have."""
_NO_PEER_HAS_IT = "a way to uninstrument this peer"
_HOLDS_BOTOCORE_BACK = "aiobotocore"
LACKS: dict[str, tuple[str, ...]] = {
    "newest": (*_not_in("newest"), "praisonaiagents", _HOLDS_BOTOCORE_BACK),
    "python3.10": (
        *_not_in("newest"),
        "praisonaiagents",
        _HOLDS_BOTOCORE_BACK,
        "3.11 and newer",
        "this major of",
        "only a newer major of the SDK",
    ),
    "python3.13": (*_not_in("newest"), "praisonaiagents", _HOLDS_BOTOCORE_BACK),
    "longtail": (*_not_in("longtail"), "this major of", "only a newer major of the SDK"),
    "middle": (*_not_in("middle"), *_OLD),
    "oldest": (*_not_in("oldest"), *_OLD),
    "adk": _not_in("adk"),
    "frameworks": ("instructor", "crewai", "strands", "llama_index"),
    "frameworks-openai2": (
        *("agents", "claude_agent_sdk", "langchain", "pydantic_ai", "smolagents", "haystack", "agno"),
        *("autogen_agentchat", "semantic_kernel", "dspy", "litellm"),
    ),
    "litellm": (),
    "litellm-oldest": (
        "fastapi",
        *("openinference", "opentelemetry.instrumentation.litellm", "llama_index", "haystack"),
        "only newer releases of litellm",
    ),
    "peers": ("openlit", "opentelemetry.instrumentation.mistralai", _NO_PEER_HAS_IT),
    "peers-openlit": ("opentelemetry.", "openinference.", "logfire", "a tracing anthropic", _NO_PEER_HAS_IT),
}
"""What each environment of the matrix leaves to another one, as the reasons of skipped tests name it."""
ENVIRONMENT = os.environ.get("TEST_ENVIRONMENT", "newest")

_skipped: dict[str, str] = {}
_disproved: list[str] = []
_recording = Recording()
_recording.watch()


def pytest_collection_finish() -> None:
    """SDKs are hundreds of thousands of objects, which every `gc.collect()` of a test would walk through."""
    gc.collect()
    gc.freeze()


def pytest_runtest_logstart(nodeid: str) -> None:
    """What is shown from here on is shown by this test."""
    _recording.test = name_of(nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what passed, and what was skipped although this environment should have run it."""
    if report.passed and report.when == "call":
        _recording.passed.add(name_of(report.nodeid))
    if report.skipped and isinstance(report.longrepr, tuple):
        _remember(report.nodeid, str(report.longrepr[2]))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """The same for whole modules."""
    if report.skipped and isinstance(report.longrepr, tuple):
        _remember(report.nodeid, str(report.longrepr[2]))


def _remember(name: str, reason: str) -> None:
    if not any(lacked in reason for lacked in LACKS[ENVIRONMENT]):
        _skipped[name] = reason


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of pytest-xdist has ended. Skips of whole modules, and what calls showed, are known to the worker only."""
    told = getattr(node, "workeroutput", {})
    _skipped.update(told.get("skipped", {}))
    if "tested" in told:
        _recording.add(told["tested"])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a test that should have run and did not is a failure, and so is one that no longer shows what is claimed."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["skipped"] = _skipped
        session.config.workeroutput["tested"] = _recording.told()
        return
    disproved = _recording.ended(ENVIRONMENT)
    if not session.config.getoption("keyword"):  # a selection of a test's cases shows a part only
        _disproved.extend(disproved)
    if CI and (_skipped or _disproved) and session.exitstatus == 0:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say so."""
    if CI and _skipped:
        terminalreporter.write_line(
            "skipped, although this environment should run it:\n  "
            + "\n  ".join(f"{name}: {reason}" for name, reason in _skipped.items())
        )
    if CI and _disproved:
        terminalreporter.write_line("the table of what was tested is wrong:\n  " + "\n  ".join(_disproved))


@dataclass
class Telemetry:
    """Providers with in-memory exporters, and what has arrived in them."""

    tracer_provider: Any
    meter_provider: Any
    logger_provider: Any
    _spans: Any
    _reader: Any
    _logs: Any
    options: dict[str, Any] = field(default_factory=dict)

    def spans(self) -> list[Any]:
        """The spans that have ended."""
        return list(self._spans.get_finished_spans())

    def span(self) -> Any:
        """The one span that has ended."""
        (span,) = self.spans()
        return span

    def logs(self) -> list[Any]:
        """The log records emitted."""
        return [entry.log_record for entry in self._logs.get_finished_logs()]

    def points(self, name: str) -> list[tuple[dict[str, Any], Any]]:
        """Attributes and data point of every series of a metric."""
        data = self._reader.get_metrics_data()
        return [
            (dict(point.attributes), point)
            for resource in (data.resource_metrics if data else [])
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def counts(self, name: str, *attributes: str) -> dict[Any, int]:
        """Sums of a counter by the values of some attributes (a bare value for one attribute)."""
        sums: dict[Any, int] = {}
        for labels, point in self.points(name):
            key = tuple(labels.get(a) for a in attributes)
            key = key[0] if len(attributes) == 1 else key
            sums[key] = sums.get(key, 0) + point.value
        return sums

    def errors(self) -> dict[str, int]:
        """`llm_errors_total` by class."""
        return self.counts("llm_errors_total", "llm.error.class")

    def reasons(self) -> dict[tuple[str, str], int]:
        """`llm_errors_total` by class and reason."""
        return self.counts("llm_errors_total", "llm.error.class", "llm.error.reason")

    def outcomes(self) -> dict[str, int]:
        """`llm_calls_total` by outcome."""
        return self.counts("llm_calls_total", "llm.call.outcome")

    def retries(self) -> dict[str, int]:
        """`llm_retries_total` by class."""
        return self.counts("llm_retries_total", "llm.error.class")


def make_telemetry() -> Telemetry:
    """A fresh set of in-memory providers."""
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs import export as log_export
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter_of_logs = getattr(log_export, "InMemoryLogRecordExporter", None) or log_export.InMemoryLogExporter
    spans, reader, logs = InMemorySpanExporter(), InMemoryMetricReader(), exporter_of_logs()
    tracer_provider, logger_provider = TracerProvider(shutdown_on_exit=False), LoggerProvider(shutdown_on_exit=False)
    tracer_provider.add_span_processor(SimpleSpanProcessor(spans))
    logger_provider.add_log_record_processor(log_export.SimpleLogRecordProcessor(logs))
    meter_provider = MeterProvider(metric_readers=[reader], shutdown_on_exit=False)
    return Telemetry(tracer_provider, meter_provider, logger_provider, spans, reader, logs)


@pytest.fixture
def telemetry() -> Telemetry:
    """In-memory telemetry that nothing writes to yet."""
    return make_telemetry()


@pytest.fixture
def instrument(telemetry: Telemetry) -> Iterator[Callable[..., Any]]:
    """Instrument with settings, in strict mode unless told otherwise; undone after the test."""
    from llm_errors import LLMErrorsInstrumentor

    instrumentor = LLMErrorsInstrumentor()

    def start(**options: Any) -> Any:
        providers = {n: getattr(telemetry, n) for n in ("tracer_provider", "meter_provider", "logger_provider")}
        instrumentor.instrument(**{"strict": True, **providers, **options})
        return instrumentor

    yield start
    if instrumentor.is_instrumented_by_opentelemetry:
        instrumentor.uninstrument()


@pytest.fixture
def observed(telemetry: Telemetry, instrument: Callable[..., Any]) -> Telemetry:
    """In-memory telemetry of an instrumented process."""
    instrument()
    return telemetry


@pytest.fixture
def provider() -> Iterator[Callable[..., Provider]]:
    """Start a provider that plays a script; closed after the test."""
    started: list[Provider] = []

    def start(script: Script, **options: Any) -> Provider:
        started.append(Provider(script, **options))
        return started[-1]

    yield start
    for one in started:
        one.close()
