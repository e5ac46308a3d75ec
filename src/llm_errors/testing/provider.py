"""Provides an HTTP/1.1 server on a loopback port, which plays a reply or a fault for each request. Standard library only.

The replies come from a script: a list of replies, or a function from request to reply. The demo and many tests use this server.
"""

import json
import socket
import ssl
import struct
import threading
import traceback
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 120.0
"""The number of seconds after which a hanging reply ends if the test does not release it."""


@dataclass(frozen=True)
class Request:
    """A request as the server has received it. The names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The parsed JSON of the body, or None if the body is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


@dataclass(frozen=True)
class Reply:
    """A reply of the server.

    The body is one of `json`, `text`, `sse` (lines), `ndjson` (objects) and `eventstream` (AWS frames as type, payload, kind).
    `action` is the fault: `close_at_once` (sends nothing), `reset` (a TCP reset), `hang` (sends nothing until
    released), `cut_mid_stream` (sends the body, then closes the connection before the end of the chunked encoding),
    `hang_mid_stream` (sends the body, then nothing until released). `chunked` sends the body without a length and ends
    it properly. `pause_before` is an index into `sse`: the lines from this index on are not sent until
    released.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    text: str | None = None
    sse: Sequence[str] | None = None
    ndjson: Sequence[Any] | None = None
    eventstream: Sequence[tuple[str, Any, str]] | None = None
    action: str = ""
    chunked: bool = False
    pause_before: int | None = None

    def body(self) -> tuple[bytes, str]:
        """The bytes of the body, and their content type."""
        if self.sse is not None:
            return ("\n".join(self.sse) + "\n").encode(), "text/event-stream"
        if self.ndjson is not None:
            return "".join(json.dumps(line) + "\n" for line in self.ndjson).encode(), "application/x-ndjson"
        if self.eventstream is not None:
            frames = b"".join(_aws_frame(kind, name, payload) for name, payload, kind in self.eventstream)
            return frames, "application/vnd.amazon.eventstream"
        if self.text is not None:
            return self.text.encode(), "text/plain"
        return (b"" if self.json is None else json.dumps(self.json).encode()), "application/json"


Script = Sequence[Reply] | Callable[[Request], Reply]


def _aws_frame(kind: str, name: str, payload: Any) -> bytes:
    """A frame of AWS' event stream encoding: prelude with CRC, headers, payload, and the CRC of them all."""
    name_header = ":exception-type" if kind == "exception" else ":event-type"
    headers = b""
    for key, value in ((":message-type", kind), (":content-type", "application/json"), (name_header, name)):
        headers += bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    content = json.dumps(payload).encode()
    prelude = struct.pack(">II", 12 + len(headers) + len(content) + 4, len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + content
    return message + struct.pack(">I", zlib.crc32(message))


class Provider:
    """Is the server. It listens on a free port of 127.0.0.1 until `close` is called or its `with` block ends.

    `script` is a list of replies, which are sent in the order of the requests (the last one repeats), or a function from
    request to reply, which is called for one request at a time. With `tls` the server speaks HTTPS. `requests` contains all
    requests so far. Hanging replies end when the event `release` is set.
    """

    def __init__(self, script: Script, tls: ssl.SSLContext | None = None) -> None:
        self._script, self._tls = script, tls
        self.requests: list[Request] = []
        self.release = threading.Event()
        self.hanging = threading.Event()
        """An event that is set when a reply has begun to hang, so that a test can wait for it."""
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        threading.Thread(target=self._accept, daemon=True, name="provider").start()

    @property
    def url(self) -> str:
        """The address of the server: scheme, host and port."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> "Provider":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and drop every connection."""
        self.release.set()
        self._listener.close()
        with self._lock:
            for connection in self._connections:
                _hard_close(connection, reset=False)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # Without this option, a body may be delayed by 40 ms.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True, name="provider").start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            # The head and the body are two small writes. Without this option, the second may be delayed.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._connections.add(connection)
            while (request := _read_request(connection)) is not None:
                if not self._answer(connection, request):
                    return
        except (OSError, ValueError):
            return  # the client closed the connection, which is expected
        finally:
            with self._lock:
                self._connections.discard(connection)
            _hard_close(connection, reset=False)

    def _next(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            if callable(self._script):
                return self._played(self._script, request)
            return self._script[min(len(self.requests), len(self._script)) - 1]

    def _played(self, script: Callable[[Request], Reply], request: Request) -> Reply:
        """The reply that a function as script gives. If the function raises, the reply is a 500 with the exception."""
        try:
            return script(request)
        except Exception as error:  # noqa: BLE001 - the script is the user's own code
            traceback.print_exc()
            return Reply(500, text=f"the script of this provider raised {error!r}")

    def _answer(self, connection: socket.socket, request: Request) -> bool:
        """Send the reply to a request, and return whether the connection stays open."""
        reply = self._next(request)
        if reply.action == "close_at_once":
            return False
        if reply.action == "reset":
            _hard_close(connection, reset=True)
            return False
        if reply.action == "hang":
            self._wait()
            return False
        body, content_type = reply.body()
        headers = {"content-type": content_type, **{k.lower(): v for k, v in reply.headers.items()}}
        unfinished = reply.action in ("cut_mid_stream", "hang_mid_stream")
        chunked = reply.chunked or unfinished or reply.pause_before is not None
        headers.update({"transfer-encoding": "chunked"} if chunked else {"content-length": str(len(body))})
        head = f"HTTP/1.1 {reply.status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        connection.sendall(head.encode("latin-1"))
        for part in self._parts(reply, body):
            connection.sendall(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)
        if reply.action == "hang_mid_stream":
            self._wait()
        if chunked and not unfinished:
            connection.sendall(b"0\r\n\r\n")
        return not unfinished

    def _parts(self, reply: Reply, body: bytes) -> Any:
        if reply.pause_before is None or reply.sse is None:
            if body:
                yield body
            return
        yield ("\n".join(reply.sse[: reply.pause_before]) + "\n").encode()
        self._wait()
        yield ("\n".join(reply.sse[reply.pause_before :]) + "\n").encode()

    def _wait(self) -> None:
        self.hanging.set()
        self.release.wait(PATIENCE)


def _read_request(connection: socket.socket) -> Request | None:
    received = b""
    while b"\r\n\r\n" not in received:
        data = connection.recv(65536)
        if not data:
            return None
        received += data
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = _read_chunked(connection, body)
    while len(body) < int(headers.get("content-length", 0)):
        data = connection.recv(65536)
        if not data:
            return None
        body += data
    return Request(method, path, headers, body)


def _read_chunked(connection: socket.socket, received: bytes) -> bytes:
    while not received.endswith(b"0\r\n\r\n"):
        data = connection.recv(65536)
        if not data:
            break
        received += data
    body = b""
    while received:
        size, _, rest = received.partition(b"\r\n")
        length = int(size or b"0", 16)
        body, received = body + rest[:length], rest[length + 2 :] if length else b""
    return body


def _hard_close(connection: socket.socket, *, reset: bool) -> None:
    try:
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()
