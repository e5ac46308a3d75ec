"""A model provider on loopback that speaks OpenAI's chat dialect; the first part of the path says how the call ends."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PLANTED_KEY = "sk-proj-plantedPLANTED0123456789plantedPLANTED"
"""The key that the application uses and that the provider repeats in its message."""


def _error(status: int, code: str, message: str) -> tuple[int, dict[str, Any]]:
    return status, {"error": {"message": message, "type": "error", "param": None, "code": code}}


def _answer(finish_reason: str, content: str = "hello") -> tuple[int, dict[str, Any]]:
    choice = {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return 200, {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [choice],
        "usage": usage,
    }


REPLIES = {
    "OK": _answer("stop"),
    "AUTH": _error(401, "invalid_api_key", f"Incorrect API key provided: {PLANTED_KEY}."),
    "NOT_FOUND": _error(404, "model_not_found", "The model does not exist."),
    "SERVER": _error(500, "internal_error", "The server had an error."),
    "TIMEOUT": _error(408, "timeout", "Request timed out."),
    "RATE_LIMITED": _error(429, "rate_limit_exceeded", "Rate limit reached for requests."),
    "PROMPT_BLOCKED": _error(400, "content_filter", "The prompt was filtered."),
    "OUTPUT_BLOCKED": _answer("content_filter"),
    "TRUNCATED": _answer("length"),
}
"""By the class that the call is to end in; OK is a healthy one."""


class Provider:
    """The server, in a thread of the test process."""

    def start(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body = REPLIES[self.path.split("/")[1]]
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Silence: the tests look at telemetry."""
