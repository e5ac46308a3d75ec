"""A websocket server on a loopback port that plays a script, for SDKs whose model answers on a websocket."""

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

PATIENCE = 10
"""Seconds after which a server that does not start, or a client that does not come, fails the test."""


@dataclass(frozen=True)
class Await:
    """Wait for `count` messages of the client."""

    count: int = 1


@dataclass(frozen=True)
class Close:
    """Close the websocket with a code and a reason."""

    code: int
    reason: str = ""


@dataclass(frozen=True)
class Abort:
    """Cut the connection without a close frame."""


@dataclass(frozen=True)
class Refuse:
    """Answer the handshake with an HTTP status and a body."""

    status: int
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()


Step = dict[str, Any] | bytes | Await | Close | Abort | Refuse
"""A dict is sent as a JSON message, bytes as a binary one."""


def _read(message: str | bytes) -> Any:
    """What the client sent: JSON, or audio and words as they are."""
    try:
        return json.loads(message)
    except ValueError:
        return message


class SocketServer:
    """Plays its script to every client. At its end, the server waits until the client closes."""

    def __init__(self, script: Sequence[Step]) -> None:
        self._script = script
        self.received: list[Any] = []
        self.paths: list[str] = []
        self.connections = 0
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started.set,), daemon=True)
        self._thread.start()
        assert started.wait(PATIENCE)

    @property
    def url(self) -> str:
        """Where it listens, for SDKs that make the websocket's URL of it."""
        return f"http://127.0.0.1:{self._port}"

    def close(self) -> None:
        """Stop it."""
        self._loop.call_soon_threadsafe(self._stop.set_result, None)
        self._thread.join(PATIENCE)
        self._loop.close()

    def _run(self, started: Callable[[], None]) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(started))

    async def _serve(self, started: Callable[[], None]) -> None:
        self._stop = self._loop.create_future()
        async with serve(self._play, "127.0.0.1", 0, process_request=self._admit, close_timeout=1) as server:
            self._port = server.sockets[0].getsockname()[1]
            started()
            await self._stop

    def _admit(self, connection: ServerConnection, request: Any) -> Any:
        self.paths.append(request.path)
        refusal = next((step for step in self._script if isinstance(step, Refuse)), None)
        if refusal is None:
            return None
        response = connection.respond(refusal.status, json.dumps(refusal.body) if refusal.body is not None else "")
        for name, value in refusal.headers:
            response.headers[name] = value
        return response

    async def _play(self, ws: ServerConnection) -> None:
        self.connections += 1
        with suppress(ConnectionClosed):
            for step in self._script:
                await self._step(ws, step)
            async for message in ws:
                self.received.append(_read(message))

    async def _step(self, ws: ServerConnection, step: Step) -> None:
        if isinstance(step, Await):
            for _ in range(step.count):
                self.received.append(_read(await ws.recv()))
        elif isinstance(step, Close):
            await ws.close(step.code, step.reason)
        elif isinstance(step, Abort):
            ws.transport.abort()
        else:
            await ws.send(step if isinstance(step, bytes) else json.dumps(step))
