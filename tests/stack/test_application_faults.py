"""The application when the Collector is absent, slow or refusing: no slower calls, no chatter, bounded memory."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from application import Application
from processes import Start, eventually, free_port
from replies import reply
from sink import CallRecorder

from llm_errors import semconv as names
from llm_errors.testing.provider import Provider

FEW, MANY = 200, 2000
MEGABYTES_AT_MOST = 40
LINES_PER_CALL = 0.1
"""The exporters write a line for each batch that fails, and a busy machine makes more batches of the same calls."""
SLOWER_AT_MOST = 2.0
"""Median call with a broken Collector over median call with a working one, on a machine that does other work too."""


def absent(sink: CallRecorder) -> str:
    return f"http://127.0.0.1:{free_port()}"


def slow(sink: CallRecorder) -> str:
    sink.hold.clear()
    return sink.endpoint


def refusing(sink: CallRecorder) -> str:
    sink.answer = 503
    return sink.endpoint


def rejecting(sink: CallRecorder) -> str:
    sink.answer = 400
    return sink.endpoint


@pytest.fixture(scope="module")
def healthy_median(tmp_path_factory: pytest.TempPathFactory) -> Iterator[float]:
    sink = CallRecorder()
    sink.start()
    with Provider(reply) as provider:
        application = Application(sink.endpoint, tmp_path_factory.mktemp("healthy"), PROVIDER_URL=provider.url)
        application.call(failure="SERVER", count=FEW)
        yield application.call(failure="SERVER", count=MANY)["median"]
        application.kill()
    sink.stop()


@pytest.mark.parametrize("fault", [absent, slow, refusing, rejecting])
def test_a_broken_collector_is_not_felt(
    start: Start, tmp_path: Path, sink: CallRecorder, fault: Callable[[CallRecorder], str], healthy_median: float
):
    application = start(Application(fault(sink), tmp_path, OTEL_EXPORTER_OTLP_TIMEOUT="2"))
    first = application.call(failure="SERVER", count=FEW)
    lines = len(application.printed().splitlines())
    then = application.call(failure="SERVER", count=MANY)
    assert then["median"] < healthy_median * SLOWER_AT_MOST
    assert len(application.printed().splitlines()) - lines < MANY * LINES_PER_CALL
    assert then["peak_megabytes"] - first["peak_megabytes"] < MEGABYTES_AT_MOST


def test_the_count_is_right_after_a_collector_that_hung(start: Start, tmp_path: Path, sink: CallRecorder):
    application = start(Application(slow(sink), tmp_path, OTEL_EXPORTER_OTLP_TIMEOUT="2"))
    application.call(failure="SERVER", count=50)
    eventually(lambda: sink.requests, "a request that hangs")
    application.call(failure="SERVER", count=20)
    sink.hold.set()
    eventually(lambda: sink.totals.get(names.ERRORS) == 70, "all errors counted")
