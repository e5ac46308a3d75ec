"""A storage service in a process of its own, so that its CPU time is not measured: it answers every request with a small object.

It prints its port, and ends with its standard input.
"""

import socketserver
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


class Bucket(BaseHTTPRequestHandler):
    """One connection, which is kept open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """An object of two bytes."""
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class Server(socketserver.ThreadingMixIn, HTTPServer):
    """Each connection in a thread."""

    daemon_threads = True


def main() -> None:
    """Serve until standard input is closed."""
    server = Server(("127.0.0.1", 0), Bucket)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
