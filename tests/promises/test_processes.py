"""Threads, forks, green threads, a preloading server, and what an instrumented process imports.

Handed case: ins-fork-and-green-threads.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import llm_errors
from llm_errors import providers
from llm_errors.testing.provider import Reply
from tests.promises.wire import APIS, CHAT, call, failure, until, whole

TESTS = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
DEADLINE = 300
"""Seconds that a busy machine may take over a process."""


def environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join(p for p in (str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")) if p)
    return {**os.environ, "PYTHONPATH": path, **more}


def run(*command: str, **more: str) -> str:
    """What a process says; it and all that it started are ended when it takes too long."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, env=environment(**more), text=True, cwd=TESTS, start_new_session=True, **pipes)
    try:
        said, complaints = process.communicate(timeout=DEADLINE)
    finally:
        end(process)
    assert process.returncode == 0, complaints
    assert "Traceback" not in complaints, complaints
    return str(said)


def end(process: "subprocess.Popen[Any]") -> None:
    """End a process that leads a group of its own, with all that is left of the group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("api", APIS)
def test_counts_are_exact_over_sixteen_threads(api, provider, connect, observed):
    replies = {0: whole(api), 1: failure(api, 429), 2: failure(api, 500), 3: whole(api)}
    lock, numbers = threading.Lock(), iter(range(10_000))

    def reply(request: Any) -> Reply:
        with lock:
            return replies[next(numbers) % 4]

    client = connect(api, provider(reply).url)

    def ask(_: int) -> bool:
        try:
            call(api, client)
        except Exception:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(ask, range(64)))
    assert results.count(True) == 32
    assert observed.outcomes() == {"ok": 32, "error": 32}
    assert observed.errors() == {"RATE_LIMITED": 16, "SERVER": 16}
    assert len({s.context.span_id for s in observed.spans()}) == len(observed.spans())


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing there")
def test_tests_that_a_script_started_in_the_background_can_interrupt_their_children():
    """Such a job, and every child it has, ignores SIGINT unless the tests set it right."""
    child = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    start = "import signal, subprocess, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); import tests.conftest\n"
    ask = f"print(subprocess.run([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE, text=True).stdout)"
    assert run(sys.executable, "-W", "ignore", "-c", start + ask, PYTHONPATH=str(TESTS.parent)).strip() == "True"


def test_a_child_forked_during_a_call_makes_its_own(provider):
    said = run(sys.executable, "-W", "ignore", "-m", "promises.apps", "fork", provider([whole(CHAT)]).url)
    assert json.loads(said) == {"ok": 1}


def test_what_is_still_open_when_the_process_ends_is_counted_before_the_last_export(provider):
    said = run(sys.executable, "-W", "ignore", "-m", "promises.apps", "left_open", provider([whole(CHAT)]).url)
    assert json.loads(said) == {"ok": 1}


def test_green_threads(provider):
    pytest.importorskip("gevent", reason="gevent is not installed")
    said = run(sys.executable, "-W", "ignore", "-m", "promises.apps", "green", provider([whole(CHAT)]).url)
    assert json.loads(said) == {"ok": 16}


def test_a_spawned_child(provider):
    said = run(sys.executable, "-m", "promises.apps", "spawned", provider([whole(CHAT)]).url)
    assert json.loads(said) == {"ok": 1}


SDKS = sorted({root for row in providers.SDKS for root in (row.package, *row.begins_with, *row.raises_from)})
HEAVY = [
    "llm_errors.instrument.adapters",
    "aiohttp",
    "boto3",
    "botocore",
    "cohere",
    "httpx",
    "httpx2",
    "litellm",
    "mistralai",
    "requests",
]
LOADED = f"""
import sys
print([m for m in {[*SDKS, *HEAVY]!r} if m in sys.modules])
"""


def test_instrumenting_imports_no_sdk():
    start = "from llm_errors import LLMErrorsInstrumentor; LLMErrorsInstrumentor().instrument(strict=True)\n"
    threads = "import threading; assert threading.active_count() == 1\n"
    assert run(sys.executable, "-c", start + threads + LOADED).strip() == "[]"


def test_importing_the_package_imports_no_dataclasses_and_no_opentelemetry():
    """`-S`: an installed distribution may import them at every start of Python."""
    source = str(Path(llm_errors.__file__).parents[1])
    start = f"import sys; sys.path.insert(0, {source!r}); import llm_errors\n"
    heavy = "print([m for m in ('dataclasses', 'inspect', 'logging', 'opentelemetry') if m in sys.modules])"
    assert run(sys.executable, "-S", "-c", start + heavy).strip() == "[]"


def installed() -> bool:
    from importlib.metadata import entry_points

    return any(point.name == "llm_errors" for point in entry_points(group="opentelemetry_instrumentor"))


needs_the_entry_point = pytest.mark.skipif(not installed(), reason="llm-errors is not installed, so has no entry point")
QUIET = {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}


@needs_the_entry_point
def test_starting_under_opentelemetry_instrument_imports_no_sdk():
    said = run(str(BIN / "opentelemetry-instrument"), sys.executable, "-c", LOADED, **QUIET)
    assert said.strip() == "[]"


class Receiver(ThreadingHTTPServer):
    """A tiny OTLP/HTTP receiver of metrics."""

    def __init__(self) -> None:
        self.points: dict[tuple[Any, ...], int] = {}
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            of = tuple(sorted((a.key, a.value.string_value) for a in resource.resource.attributes))
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.sum.data_points:
                        labels = tuple(sorted((a.key, a.value.string_value) for a in point.attributes))
                        self.points[(of, metric.name, labels)] = point.as_int or int(point.as_double)

    def total(self, name: str) -> int:
        """The sum over series as a backend sees them: one that has the same resource and labels overwrites."""
        return sum(value for (_, metric, _), value in list(self.points.items()) if metric == name)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path.endswith("/metrics"):
            self.server.take(body)  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def instances_differ_after_a_fork() -> bool:
    """Whether the OpenTelemetry SDK gives each forked process a `service.instance.id` of its own."""
    from opentelemetry.sdk import resources

    return hasattr(resources, "ServiceInstanceIdResourceDetector")


@needs_the_entry_point
def test_the_counts_of_all_workers_of_a_preloading_server_arrive(provider, tmp_path):
    if not instances_differ_after_a_fork():
        pytest.skip("only a newer major of the SDK tells forked workers apart")
    receiver = Receiver()
    url = f"http://127.0.0.1:{receiver.server_address[1]}"
    upstream = provider([whole(CHAT), failure(CHAT, 429)])
    command = [str(BIN / "opentelemetry-instrument"), str(BIN / "gunicorn"), "--preload", "--workers", "3"]
    log = tmp_path / "server.log"
    with log.open("w") as said:
        server = subprocess.Popen(
            [*command, "--bind", "127.0.0.1:0", "promises.served:application"],
            env=environment(
                PROVIDER_URL=upstream.url,
                OTEL_EXPORTER_OTLP_ENDPOINT=url,
                OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
                OTEL_METRIC_EXPORT_INTERVAL="300",
                OTEL_TRACES_EXPORTER="none",
                OTEL_LOGS_EXPORTER="none",
            ),
            stdin=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
            cwd=TESTS,
        )
    try:
        until(lambda: server.poll() is not None or "Listening at: " in log.read_text())
        address = log.read_text().split("Listening at: ")[1].split(" ")[0]
        workers: set[bytes] = set()
        asked = 0
        while len(workers) < 2 or asked < 30:
            assert asked < 2000
            with urllib.request.urlopen(address, timeout=DEADLINE) as answer:
                workers.add(answer.read())
            asked += 1
        until(lambda: receiver.total("llm_calls_total") == asked)
        assert until(lambda: receiver.total("llm_errors_total")) == asked - 1
    finally:
        end(server)
        receiver.shutdown()
        receiver.server_close()
