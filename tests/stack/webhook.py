"""Where Alertmanager's notifications go: a server in this process that keeps them by receiver."""

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Notification:
    receiver: str
    labels: dict[str, str]
    annotations: dict[str, str]
    at: float


@dataclass
class Webhook:
    """`received` holds one entry per firing alert of each notification."""

    received: list[Notification] = field(default_factory=list)

    def start(self) -> None:
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver = self.path.strip("/")
                for alert in body["alerts"]:
                    received.append(Notification(receiver, alert["labels"], alert["annotations"], time.monotonic()))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Silence: the tests look at what was received."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
