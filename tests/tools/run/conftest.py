"""`llm-errors run` as a process of its own, started from a shell's point of view: ended in any case, with plain signals."""

import contextlib
import os
import signal
import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest.importorskip("openai")
pytest.importorskip("opentelemetry.distro")
pytest.importorskip("opentelemetry.exporter.otlp.proto.common")

from llm_errors.testing import replies
from llm_errors.tools.run.environment import EXPORTER, INSTRUMENTORS

if "llm_errors" not in entry_points(group=INSTRUMENTORS).names:
    pytest.skip("llm-errors itself is not installed", allow_module_level=True)

APPS = Path(__file__).parent / "apps"
PATIENCE = 300
"""Seconds after which a test gives up; no test waits that long when all is well."""
SCRIPT = [
    replies.openai_answer("fine"),
    replies.openai_error(429, "rate_limit_exceeded", "requests", "Slow down"),
    replies.openai_error(401, "invalid_api_key", "invalid_request_error", "Incorrect API key"),
    replies.openai_error(418, "teapot", "odd", "I am a teapot"),
    replies.openai_answer("", "content_filter"),
]
"""What the provider plays: an answer, three errors, and a block inside an HTTP 200 response."""
SAID = ["stop", "RateLimitError", "AuthenticationError", "APIStatusError", "content_filter"]
CLASSES = {"RATE_LIMITED": 1, "AUTH": 1, "UNKNOWN": 1, "OUTPUT_BLOCKED": 1}


def _plain_signals():
    """Whatever pytest was started with, a shell's foreground job has no signal ignored."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


@pytest.fixture
def start():
    """Start a command, with or without `llm-errors run` before it; killed with all of its processes after the test."""
    running = []

    def start(*command, options=None, variables=None, **streams):
        before = [] if options is None else [Path(sysconfig.get_path("scripts")) / "llm-errors", "run", *options, "--"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        process = subprocess.Popen(
            [*before, *command],
            env={**os.environ, "PYTHONPATH": str(APPS), "PYTHONUNBUFFERED": "1", **(variables or {})},
            text=True,
            start_new_session=True,
            **{"preexec_fn": _plain_signals, **pipes},
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            for child in _children(process.pid):
                _kill(os.killpg, child)  # the application leads a process group of its own
        _kill(os.killpg, process.pid)
        process.communicate()


def _children(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _kill(how, pid):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        how(pid, signal.SIGKILL)


@pytest.fixture
def model(provider):
    """A provider that plays SCRIPT."""
    return provider(SCRIPT)


def calls(model, how):
    """The command line of `apps/calls.py`."""
    return [sys.executable, str(APPS / "calls.py"), model.url, how]


__all__ = ["APPS", "CLASSES", "EXPORTER", "PATIENCE", "SAID", "SCRIPT", "calls"]
