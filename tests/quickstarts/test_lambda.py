"""AWS Lambda's own runtime client runs the function of the page; its runtime API is played here. Between two invocations
the function is frozen, and at the end it is killed: nothing can be sent later."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from backend import Backend, eventually
from test_frameworks import CALL, PAGE, code

EVENTS = 3
ANSWER = "\n\ndef answer(event):\n    return ask()\n"


class RuntimeApi:
    """Hands out the events and takes the results. No one asks for a further event in vain: that request is not answered."""

    def __init__(self) -> None:
        self.results: list[Any] = []
        self._left = EVENTS
        self._over = threading.Event()
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if not api._left:
                    api._over.wait()
                    return
                api._left -= 1
                body = b"{}"
                self.send_response(200)
                self.send_header("Lambda-Runtime-Aws-Request-Id", f"request-{api._left}")
                self.send_header("Lambda-Runtime-Deadline-Ms", "99999999999999")
                self.send_header("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-west-1:1:function:shop")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                api.results.append(json.loads(self.rfile.read(int(self.headers["content-length"])) or b"null"))
                self.send_response(202)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "RuntimeApi":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def runtime_api() -> Iterator[RuntimeApi]:
    with RuntimeApi() as api:
        yield api


def test_every_invocation_is_counted_before_the_function_is_frozen(
    environment: Callable[..., dict[str, str]], backend: Backend, runtime_api: RuntimeApi, tmp_path: Path
) -> None:
    pytest.importorskip("awslambdaric")
    text = PAGE.split("\n## AWS Lambda\n")[1].split("\n## ")[0]
    exported = dict(pair.split("=") for pair in re.findall(r"^\$ export (.*)$", text, re.MULTILINE)[0].split())
    (tmp_path / "function.py").write_text(code("In code") + CALL + code("AWS Lambda") + ANSWER)
    (tmp_path / "flushing.py").write_text(code("The last seconds of a process"))
    env = environment(
        **exported,
        AWS_LAMBDA_RUNTIME_API=runtime_api.address,
        LAMBDA_TASK_ROOT=str(tmp_path),
        AWS_LAMBDA_FUNCTION_NAME="shop",
        AWS_LAMBDA_FUNCTION_VERSION="1",
        OTEL_EXPORTER_OTLP_ENDPOINT=backend.grpc_url,
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
    )
    with subprocess.Popen(
        [sys.executable, "-m", "awslambdaric", "function.handler"], env=env, cwd=tmp_path
    ) as function:
        try:
            eventually(lambda: len(runtime_api.results) == EVENTS or function.poll() is not None, "all results")
        finally:
            function.kill()
    assert runtime_api.results == ["refused"] * EVENTS
    assert backend.count("llm_errors_total", service_name="shop", llm_error_class="AUTH") == EVENTS
    assert len(backend.failures) == EVENTS
    assert len(backend.spans) == EVENTS
