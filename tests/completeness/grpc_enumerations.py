"""Enumerations that xai-sdk declares in its messages of gRPC, and the status codes of gRPC itself."""

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

from llm_errors.decision import decide
from llm_errors.evidence import Classification, Evidence
from llm_errors.extract import xai
from tests.completeness import probes
from tests.completeness.probes import Probe
from tests.completeness.walking import Value


class _Message(SimpleNamespace):
    """A message without fields that are not set."""

    def HasField(self, name: str) -> bool:  # the name of the method in protobuf
        return getattr(self, name, None) is not None


def _finished(number: int, name: str) -> Classification | None:
    said = SimpleNamespace(content="hi", tool_calls=[], encrypted_content="")
    output = SimpleNamespace(index=0, finish_reason=number, message=said)
    return probes.of(xai.COMPLETION.whole(_Message(outputs=[output])))


def _deferred(number: int, name: str) -> Classification | None:
    response: Any = _Message(video=SimpleNamespace(respect_moderation=True), model="m")
    return probes.of(xai.deferred(_Message(status=number, response=response)))


def _status(name: str) -> Classification | None:
    return decide(Evidence(dialect="xai", codes=(name,), exceptions=(("grpc.RpcError",),), embedded=True))


def declared() -> Iterator[tuple[Value, Probe | None]]:
    """The finish reasons, the statuses of deferred jobs, and the status codes."""
    import grpc
    from xai_sdk.proto import deferred_pb2, sample_pb2

    for name, number in sample_pb2.FinishReason.items():
        yield Value("FinishReason", name), partial(_finished, number)
    for name, number in deferred_pb2.DeferredStatus.items():
        yield Value("DeferredStatus", name), partial(_deferred, number)
    for code in grpc.StatusCode:
        if code is not grpc.StatusCode.OK:
            yield Value("StatusCode", code.name), _status
