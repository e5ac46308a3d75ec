"""An environment in which nothing is wrong, for the tests to break."""

import importlib.metadata
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import pytest

from llm_errors.testing.provider import Reply

ACCEPTED = Reply(200, text="")


@pytest.fixture
def sound(monkeypatch: pytest.MonkeyPatch, provider: Any) -> Callable[..., None]:
    """A sound environment, with the given variables changed; None unsets one."""
    settings = {
        "OTEL_SERVICE_NAME": "desk",
        "OTEL_METRIC_EXPORT_INTERVAL": "15000",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_EXPORTER_OTLP_ENDPOINT": provider([ACCEPTED] * 9).url,
    }

    def change(**changed: str | None) -> None:
        for name, value in {**settings, **changed}.items():
            monkeypatch.delenv(name, raising=False)
            if value is not None:
                monkeypatch.setenv(name, value)

    return change


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make distributions look as if they were not installed."""

    def hidden(*distributions: str) -> None:
        version, entry_points = importlib.metadata.version, importlib.metadata.entry_points

        def fake_version(name: str) -> str:
            if name in distributions:
                raise importlib.metadata.PackageNotFoundError(name)
            return version(name)

        def fake_entry_points(**wanted: Any) -> Any:
            found = entry_points(**wanted)
            return importlib.metadata.EntryPoints(p for p in found if not (p.dist and p.dist.name in distributions))

        monkeypatch.setattr(importlib.metadata, "version", fake_version)
        monkeypatch.setattr(importlib.metadata, "entry_points", fake_entry_points)

    return hidden


@pytest.fixture
def versioned(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Make a distribution look as if another version of it were installed."""

    def pretend(distribution: str, wanted: str) -> None:
        version = importlib.metadata.version
        monkeypatch.setattr(
            importlib.metadata, "version", lambda name: wanted if name == distribution else version(name)
        )

    return pretend


@pytest.fixture
def grpc_receiver() -> Iterator[str]:
    """The address of an OTLP receiver that speaks gRPC alone."""
    grpc = pytest.importorskip("grpc")
    server = grpc.server(futures.ThreadPoolExecutor(4))
    accept = grpc.unary_unary_rpc_method_handler(lambda request, context: b"")

    class Everything(grpc.GenericRpcHandler):  # type: ignore[misc,name-defined]
        def service(self, details: Any) -> Any:
            return accept

    server.add_generic_rpc_handlers((Everything(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0).wait()
