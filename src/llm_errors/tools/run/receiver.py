"""Receives OTLP/HTTP exports on a loopback port and passes them to `Telemetry`."""

import contextlib
import socketserver
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from typing import Any

from llm_errors.tools.run.environment import PROCESS_HEADER
from llm_errors.tools.run.telemetry import Telemetry

PATIENCE = 5.0
"""How many seconds to wait for unfinished exports after the application has ended."""


class _Server(socketserver.ThreadingTCPServer):
    """Serves each connection in its own daemon thread, so that no thread keeps the command from ending."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing, because such errors come from processes that were killed while they were sending."""


class Receiver:
    """Receives exports and adds them to `telemetry`. Use it as a context manager, and call `listen` to accept exports.

    The port is open before `listen` is called, and exports wait until then. So the application can be started while this
    process still has a single thread.
    """

    def __init__(self) -> None:
        self.telemetry = Telemetry()
        self._changed = self.lock = threading.Condition()
        """The lock under which telemetry is added. Hold it to read `telemetry` while exports may arrive."""
        self._busy = 0
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._port = int(self._server.server_address[1])
        self.address = f"127.0.0.1:{self._port}"
        """The host and port at which exports arrive."""

    def __enter__(self) -> "Receiver":
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._listening:
            self._server.shutdown()
        self._server.server_close()

    _listening = False

    def listen(self) -> None:
        """Accept exports from now on."""
        self._listening = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="receiver").start()

    def settle(self) -> None:
        """Wait until all exports that were sent before this call have been read, also exports of processes that have ended."""
        with contextlib.suppress(
            OSError
        ):  # connections are accepted in order: when this one is answered, all earlier ones were accepted
            barrier = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
            barrier.request("POST", "/", b"")
            barrier.getresponse().read()
            barrier.close()
        self.wait_for(lambda: self._busy == 0)

    def wait_for(self, condition: Any, patience: float = PATIENCE) -> bool:
        """Wait until a condition on the telemetry is true, at most `patience` seconds, and return whether it is true."""
        with self._changed:
            return bool(self._changed.wait_for(condition, patience))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            """Answers every export with an empty message, which means that everything was accepted."""

            timeout = 30

            def setup(self) -> None:
                """Count the open connection."""
                receiver._count(+1)
                super().setup()

            def finish(self) -> None:
                """Count the connection as closed."""
                try:
                    super().finish()
                finally:
                    receiver._count(-1)

            def do_POST(self) -> None:
                """Read one export."""
                size = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(size)
                if len(body) == size:  # a shorter body means that the sender was killed
                    receiver._take(self.path, body, self.headers.get(PROCESS_HEADER))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                """Print nothing."""

        return Handler

    def _count(self, step: int) -> None:
        with self._changed:
            self._busy += step
            self._changed.notify_all()

    def _take(self, path: str, body: bytes, process: str | None) -> None:
        with self._changed:
            if process is not None:
                self.telemetry.processes.add(process)
                self.telemetry.add(path, body)
            self._changed.notify_all()
