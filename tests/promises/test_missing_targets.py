"""What a patch target that is missing costs, in the words of the warning about it."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from llm_errors.instrument.adapters.frameworks import Framework
from llm_errors.instrument.patcher import Patcher
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.providers import SDKS, sdk
from llm_errors.safety import configure


class Quiet:
    """A recorder that takes everything."""

    def open(self, info: Any, ago: float = 0.0) -> Any:
        return object()

    def leave(self, scope: Any) -> None: ...

    def prepare(self) -> None: ...

    def retried(self, info: Any, evidence: Any) -> None: ...

    def close(self, scope: Any, ending: Any) -> None: ...


class Anything(Adapter):
    """An adapter of one target."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(SDKS[0])
        self._target = Target("sdk_of_tomorrow", "Owner", "act", kind)

    def targets(self):
        return (self._target,)


@pytest.mark.parametrize("kind", [Kind.CALL, Kind.RETRY, Kind.CLOSE], ids=lambda kind: kind.name)
def test_a_warning_says_exactly_what_is_lost_with_a_target(kind, monkeypatch, caplog):
    configure(strict=True, count=None)
    monkeypatch.setitem(sys.modules, "sdk_of_tomorrow", SimpleNamespace(__name__="sdk_of_tomorrow"))
    patcher = Patcher(Quiet())
    patcher.install(Anything(kind))
    patcher.uninstall()
    (said,) = [record.getMessage() for record in caplog.records]
    assert "patch target sdk_of_tomorrow:Owner.act not found: " in said
    lost = {
        Kind.CALL: "calls through it will not be observed",
        Kind.RETRY: "retries that the SDK hides will not be counted; its calls and errors are",
        Kind.CLOSE: "a stream that the application closes early will be counted when it is dropped",
    }
    assert said.endswith(lost[kind])


def test_a_framework_s_patch_point_that_moved_loses_its_own_row_only(monkeypatch, caplog):
    configure(strict=True, count=None)
    module = ModuleType("agents.run")
    module.start_streaming = start_streaming = lambda: None
    monkeypatch.setitem(sys.modules, "agents.run", module)
    patcher = Patcher(Quiet())
    patcher.install(Framework(sdk("openai-agents")))
    assert module.start_streaming is not start_streaming
    patcher.uninstall()
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("llm-errors: patch target agents.run:AgentRunner.run not found: some limits of runs")
    assert {patcher.found[f"agents.run:{name}"] for name in ("AgentRunner.run", ".start_streaming")} == {
        "missing",
        "patched",
    }
