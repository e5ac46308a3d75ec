"""The stack tests need the binaries of `make stack`: without them they are skipped, in CI they fail."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from application import Application
from processes import Start
from replies import reply
from services import BIN, Collector, Prometheus, outputs
from sink import CallRecorder

from llm_errors.testing.provider import Provider

BINARIES = ("otelcol", "prometheus", "promtool", "alertmanager", "amtool", "compose-check")


@pytest.fixture(autouse=True, scope="session")
def binaries() -> None:
    missing = [name for name in BINARIES if not (BIN / name).exists()]
    if not missing:
        return
    reason = f"{', '.join(missing)} not built: run `make stack`"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts daemons, applications and sinks, and ends them after the test, the last one first."""
    running: list[Any] = []

    def begin(thing: Any) -> Any:
        running.append(thing)
        if not isinstance(thing, Application):
            thing.start()
        return thing

    yield begin
    for thing in reversed(running):
        thing.kill() if hasattr(thing, "kill") else thing.stop()


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """The provider that the applications call; they find it in their environment."""
    with Provider(reply) as provider:
        monkeypatch.setenv("PROVIDER_URL", provider.url)
        yield provider


@pytest.fixture
def sink(start: Start) -> CallRecorder:
    found: CallRecorder = start(CallRecorder())
    return found


@pytest.fixture
def prometheus(start: Start, tmp_path: Path) -> Prometheus:
    found: Prometheus = start(Prometheus(tmp_path))
    return found


@pytest.fixture
def agent(start: Start, tmp_path: Path, prometheus: Prometheus, sink: CallRecorder) -> Collector:
    """The Collector of agent.yaml between an application and Prometheus; traces and logs go to the sink."""
    found: Collector = start(Collector(tmp_path, "agent.yaml", **outputs(prometheus, sink)))
    return found
