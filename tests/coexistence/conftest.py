"""Global providers, as an application has them, and SDK classes that are as new before and after each test."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

PATCHED = re.compile(
    r"(openai|anthropic)\.(resources|lib\.streaming|_client|_base_client|_streaming|_response)\b"
    r"|google\.genai\.(models|caches|_api_client|_interactions\.resources|_gaos\.google_genai)\b"
    r"|botocore\.(client|endpoint|session)\b|mistralai\.(client\.)?(chat|agents|embeddings|basesdk)\b"
    r"|cohere\.(base_client|client|client_v2|raw_base_client|v2)\b|ollama\._client\b"
)
"""The modules whose classes instrumentations patch."""


class Spans:
    """Where every instrumentation of a test sends its spans."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.processor = SimpleSpanProcessor(self.exporter)  # type: ignore[attr-defined]
        self.provider.add_span_processor(self.provider.processor)  # type: ignore[attr-defined]

    def take(self) -> list[Any]:
        """The spans that have ended since the last time."""
        spans = list(self.exporter.get_finished_spans())
        self.exporter.clear()
        return spans


@pytest.fixture(scope="session")
def everywhere() -> Spans:
    """The process's global tracer provider."""
    spans = Spans()
    trace.set_tracer_provider(spans.provider)
    return spans


@pytest.fixture
def spans(everywhere: Spans) -> Spans:
    """The same, empty."""
    everywhere.exporter.clear()
    return everywhere


@pytest.fixture
def no_native_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic's SDK makes no span of its own."""
    monkeypatch.setenv("ANTHROPIC_OPEN_TELEMETRY", "false")


def functions() -> dict[tuple[type, str], Any]:
    """Every attribute of every class of the SDKs that instrumentations may patch."""
    modules = [m for name, m in list(sys.modules.items()) if PATCHED.match(name)]
    classes = {c for m in modules for c in vars(m).values() if isinstance(c, type) and c.__module__ == m.__name__}
    return {(c, name): value for c in classes for name, value in vars(c).items()}


def difference(before: dict[tuple[type, str], Any], after: dict[tuple[type, str], Any]) -> dict[str, Any]:
    """What has another value or is new, by name; private bookkeeping of typing and abc left out."""
    known = {c for c, _ in before}
    changed = {
        k for k, v in after.items() if k[0] in known and before.get(k) is not v and not k[1].startswith(("_abc", "__"))
    }
    return {f"{c.__module__}.{c.__qualname__}.{name}": after[c, name] for c, name in changed}


@pytest.fixture
def restore() -> Iterator[Callable[[], None]]:
    """Makes the classes what they were before the test, as peers do not all do themselves; done after the test, too."""
    for module in ("openai.resources.responses", "anthropic.resources.messages", "google.genai.models"):
        importlib.import_module(module)
    for module in ("boto3", "mistralai.client.chat", "mistralai.chat", "cohere.client_v2", "ollama._client"):
        with suppress(ImportError):  # each is in one environment only
            importlib.import_module(module)
    before = functions()

    def undo() -> None:
        for (cls, name), value in functions().items():
            if (cls, name) not in before and (cls, "__module__") in before and not name.startswith(("_abc", "__")):
                delattr(cls, name)
            elif before.get((cls, name), value) is not value:
                setattr(cls, name, before[cls, name])

    yield undo
    undo()
