"""The embedded OTLP/HTTP receiver: accepts exports on a loopback port and passes them to `Telemetry`."""

import contextlib
import socketserver
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from typing import Any

from llm_errors.tools.run.environment import PROCESS_HEADER
from llm_errors.tools.run.telemetry import Telemetry

PATIENCE = 5.0
"""Seconds to wait for running exports after the application has ended."""


class _Server(socketserver.ThreadingTCPServer):
    """One thread per connection. No thread outlives the command."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A process that is killed while it sends is not an error of the receiver."""


class Receiver:
    """The receiver with the telemetry that has arrived. Use it as a context manager; `listen` starts to accept exports.

    The port is open from the start. Exports that arrive before `listen` wait, so that the application can be started
    while this process still has a single thread.
    """

    def __init__(self) -> None:
        self.telemetry = Telemetry()
        self._changed = self.lock = threading.Condition()
        """Held while telemetry is added. Hold it to read a consistent state."""
        self._busy = 0
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._port = int(self._server.server_address[1])
        self.address = f"127.0.0.1:{self._port}"
        """Host and port."""

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
        """Wait until all exports that were sent before have been read, also those of processes that have ended."""
        with contextlib.suppress(
            OSError
        ):  # connections are accepted in order, so all earlier ones were accepted before this one
            barrier = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
            barrier.request("POST", "/", b"")
            barrier.getresponse().read()
            barrier.close()
        self.wait_for(lambda: self._busy == 0)

    def wait_for(self, condition: Any, patience: float = PATIENCE) -> bool:
        """Wait until a condition on the telemetry holds. The result says whether it does."""
        with self._changed:
            return bool(self._changed.wait_for(condition, patience))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            """Answers every export with an empty message: everything was accepted."""

            timeout = 30

            def setup(self) -> None:
                """Count the connection."""
                receiver._count(+1)
                super().setup()

            def finish(self) -> None:
                """Uncount the connection."""
                try:
                    super().finish()
                finally:
                    receiver._count(-1)

            def do_POST(self) -> None:
                """Read one export."""
                size = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(size)
                if len(body) == size:  # otherwise the sender was killed meanwhile
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
