"""Real processes on loopback: started, waited for, stopped or killed; their output is kept for the failure message."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

READY_SECONDS = 30
T = TypeVar("T")
Start = Callable[..., Any]
"""The fixture that starts things and ends them after the test."""


def eventually(probe: Callable[[], T], what: str, seconds: float = READY_SECONDS) -> T:
    """The first truthy answer of the probe; after the deadline an assertion error that says what was waited for."""
    deadline = time.monotonic() + seconds
    while True:
        found = probe()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}; last seen: {found!r}"
        time.sleep(0.05)


_given: set[int] = set()


def free_port() -> int:
    """A loopback port that nobody listens on and that this run has not handed out before."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port not in _given:
            _given.add(port)
            return port


def get(url: str, seconds: float = 5) -> bytes | None:
    """The body of a 2xx answer, or None while there is no such answer."""
    try:
        with urllib.request.urlopen(url, timeout=seconds) as answer:
            body: bytes = answer.read()
            return body
    except (urllib.error.URLError, OSError):
        return None


class Daemon:
    """One server process that can be stopped, killed and started again with the same arguments."""

    def __init__(self, name: str, command: Sequence[str | Path], folder: Path, ready: str, env: Mapping[str, str] = {}):
        self.name, self.command, self.folder, self.ready = name, [str(part) for part in command], folder, ready
        self.env = {**os.environ, **env}
        self.log = folder / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        eventually(self._is_ready, f"{self.name} ready at {self.ready}; its log:\n{self.printed()[-2000:]}")

    def _is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"{self.name} ended at once:\n{self.printed()[-4000:]}"
        return get(self.ready) is not None

    def printed(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(READY_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
