"""Whether another instrumentor is active for an SDK is asked at every call: they are loaded, switched on and off without a word."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor

from llm_errors.telemetry import peers

INACTIVE, ACTIVE, ACTIVE_WITHOUT_DURATION = (False, False), (True, True), (True, False)


class _Loaded(list[Any]):
    """Makes instrumentors, as their import would."""

    def instrumentor(self, *dependencies: str, base: Any = BaseInstrumentor, module: str = "some.peer") -> Any:
        body = {
            "__module__": module,
            "instrumentation_dependencies": lambda self: dependencies,
            "_instrument": lambda self, **options: None,
            "_uninstrument": lambda self, **options: None,
            "_instance": None,
        }
        self.append(type("Instrumentor", (base,), body)())
        return self[-1]


@pytest.fixture
def loaded(monkeypatch) -> Iterator[_Loaded]:
    monkeypatch.setattr(BaseInstrumentor, "_check_dependency_conflicts", lambda self: None)
    made = _Loaded()
    yield made
    for one in made:
        if one.is_instrumented_by_opentelemetry:
            one.uninstrument()


def test_one_that_is_switched_on_and_off(loaded):
    peer = loaded.instrumentor("some-sdk >= 1")
    assert peers.active("some-sdk") == INACTIVE
    peer.instrument()
    assert peers.active("some-sdk") == ACTIVE
    peer.uninstrument()
    assert peers.active("some-sdk") == INACTIVE


def test_one_that_names_boto3_instruments_botocore(loaded):
    loaded.instrumentor("boto3 >= 1.28.57").instrument()
    assert peers.active("botocore") == ACTIVE


def test_one_that_is_loaded_later(loaded):
    assert peers.active("some-sdk") == INACTIVE
    loaded.instrumentor("some-sdk >= 1").instrument()
    assert peers.active("some-sdk") == ACTIVE


def test_one_that_was_loaded_before_it_is_made(loaded):
    peer = loaded.instrumentor("some-sdk >= 1")
    type(peer)._instance = None
    assert peers.active("some-sdk") == INACTIVE
    type(peer)().instrument()
    assert peers.active("some-sdk") == ACTIVE
    type(peer)._instance.uninstrument()


def test_one_that_is_derived_from_another_librarys(loaded):
    base = loaded.instrumentor("some-http >= 1")
    loaded.instrumentor("some-sdk >= 1", base=type(base)).instrument()
    assert peers.active("some-sdk") == ACTIVE


def test_one_of_another_library_does_not_count(loaded):
    loaded.instrumentor("some-http >= 1").instrument()
    assert peers.active("some-sdk") == INACTIVE


def test_one_without_the_metric_leaves_it_to_us(loaded):
    loaded.instrumentor("some-sdk >= 1", module="openinference.instrumentation.some").instrument()
    assert peers.active("some-sdk") == ACTIVE_WITHOUT_DURATION
