"""`llm-errors demo`: plays the morning and shows it.

The desk runs in a process of its own under the real `opentelemetry-instrument`.
Exit codes: 0 shown, 1 the play failed, 2 something is not installed. Nothing leaves the loopback interface.
"""

import argparse
import os
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_errors.tools.demo.receiver import Receiver

INSTALL = "pip install 'llm-errors[demo]'"
NEEDED = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google.genai": "google-genai",
    "opentelemetry.distro": "opentelemetry-distro",
    "opentelemetry.exporter.otlp.proto.http": "opentelemetry-exporter-otlp",
}
"""Module -> the package it comes in."""
FOR_SERVE = {"opentelemetry.exporter.prometheus": "opentelemetry-exporter-prometheus"}
INSTRUMENTORS = "opentelemetry_instrumentor"
PROMETHEUS_PORT = 9464
"""The Prometheus exporter's own default; another one if it is taken."""
PATIENCE = 120.0
"""Seconds to wait for the telemetry of a desk that has finished."""
LONGEST = 600.0
"""Seconds after which a desk that has not finished is ended, however slow the machine."""
AFTERNOON = ("ACT ON IT", "the desk asks llm_errors.recovery what to do, and does it (waiting 1000 x faster)")
_FOREIGN = ("OTEL_", "LLM_ERRORS_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")


class DemoError(Exception):
    """What stopped the demo, in one line."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command with its arguments."""
    text = "play one bad Monday morning at a support desk and show what was seen"
    parser = subparsers.add_parser("demo", help=text, description=text)
    parser.add_argument("--serve", action="store_true", help="keep Prometheus metrics up for a look, until Ctrl-C")


def run(args: argparse.Namespace) -> int:
    """Play and show; the exit code."""
    missing = missing_packages(args.serve)
    if missing:
        print(f"llm-errors demo: {', '.join(missing)} not installed: {INSTALL}", file=sys.stderr)
        return 2
    try:
        _play(serve=args.serve)
    except (DemoError, subprocess.TimeoutExpired) as error:
        print(f"llm-errors demo: {error}", file=sys.stderr)
        return 1
    return 0


def missing_packages(serve: bool) -> list[str]:
    """The packages that have to be installed first; ours too, if OpenTelemetry cannot find it."""
    needed = {**NEEDED, **FOR_SERVE} if serve else NEEDED
    missing = [package for module, package in needed.items() if not _is_there(module)]
    if not _instrument_script().exists():
        missing.append("opentelemetry-instrument")
    if "llm_errors" not in entry_points(group=INSTRUMENTORS).names:
        missing.append("llm-errors")
    return missing


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def _instrument_script() -> Path:
    """`opentelemetry-instrument` of this environment, not of another one on the PATH."""
    name = "opentelemetry-instrument" + (".exe" if os.name == "nt" else "")
    return Path(sysconfig.get_path("scripts")) / name


def _play(*, serve: bool) -> None:
    # These load what the demo extra brings, so only when it is known to be there.
    from llm_errors.testing.provider import Provider
    from llm_errors.tools.demo.receiver import Receiver
    from llm_errors.tools.demo.report import Paint, Report, heading
    from llm_errors.tools.demo.stage import Stage

    port = _free_port() if serve else None
    paint = Paint(wants_colour())
    with ExitStack() as stack:
        provider = stack.enter_context(Provider(Stage().answer))
        receiver = stack.enter_context(Receiver())
        print(paint("One bad Monday morning at a support desk", "1") + ": opentelemetry-instrument python desk.py\n")
        desk = stack.enter_context(
            _child(_command(provider.url, stay=serve), environment(os.environ, receiver.url, port))
        )
        _watch(desk, receiver, stays=serve)
        print()
        for line in Report(receiver.telemetry, paint).lines():
            print(line)
        for line in heading(paint, *AFTERNOON):
            print(line, flush=True)
        _act(provider.url)
        if serve:
            _serve(desk, port)


def _watch(desk: "subprocess.Popen[str]", receiver: "Receiver", *, stays: bool) -> None:
    """Show the desk's progress until its morning is over and all of its telemetry is in."""
    over = False
    with _ended_in_time(desk):
        for line in desk.stdout or ():
            if over := line.startswith("the morning is over"):
                break
            print("  " + line, end="", flush=True)
    if not over or not stays:
        code = desk.wait(PATIENCE)
        if code or not over:
            raise DemoError(f"the desk stopped with exit code {code}")
    # A desk that stays exports again within a second; one that has ended has sent everything.
    moment = time.time_ns() if stays else 0
    if not receiver.wait_for(moment, PATIENCE):
        raise DemoError(f"the desk's telemetry did not arrive within {PATIENCE:.0f} s")


def _act(provider: str) -> None:
    """Show the desk of the afternoon; it needs no telemetry, but the same clean environment."""
    command = [sys.executable, "-m", "llm_errors.tools.demo.careful", provider]
    with _child(command, environment(os.environ, provider, None)) as careful:
        with _ended_in_time(careful):
            for line in careful.stdout or ():
                print(line, end="", flush=True)
        if code := careful.wait(PATIENCE):
            raise DemoError(f"the desk of the afternoon stopped with exit code {code}")


def _serve(desk: "subprocess.Popen[str]", port: int | None) -> None:
    print(f"\nmetrics: http://127.0.0.1:{port}/metrics (Ctrl-C ends)", flush=True)
    try:
        desk.wait()
    except KeyboardInterrupt:
        print()


def _command(provider: str, *, stay: bool) -> list[str]:
    """The morning's desk: unchanged code under `opentelemetry-instrument`."""
    command = [str(_instrument_script()), sys.executable, "-m", "llm_errors.tools.demo.desk", "--provider", provider]
    return [*command, "--stay"] if stay else command


@contextmanager
def _child(command: list[str], variables: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """A process of the application; ended in any case."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=variables,
        start_new_session=True,  # Ctrl-C is for us; we end the child
    ) as child:
        try:
            yield child
            child.communicate(timeout=PATIENCE)  # ends the standard input: a desk that stays goes now
        finally:
            if child.poll() is None:
                child.kill()


@contextmanager
def _ended_in_time(child: "subprocess.Popen[str]") -> Iterator[None]:
    """While its output is read, a child that says nothing more and does not end is killed after `LONGEST`."""
    watch = threading.Timer(LONGEST, child.kill)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def environment(given: "os._Environ[str] | dict[str, str]", receiver: str, port: int | None) -> dict[str, str]:
    """The desk's environment: how OpenTelemetry exports, and nothing of the user's that would change the play."""
    kept = {k: v for k, v in given.items() if not k.startswith(_FOREIGN) and not k.lower().endswith("_proxy")}
    others = sorted(set(entry_points(group=INSTRUMENTORS).names) - {"llm_errors"})
    kept.update(
        OTEL_SERVICE_NAME="support-desk",
        OTEL_PYTHON_DISTRO="distro",
        OTEL_PYTHON_CONFIGURATOR="configurator",
        OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=",".join(others),
        OTEL_TRACES_EXPORTER="otlp",
        OTEL_METRICS_EXPORTER="otlp,prometheus" if port else "otlp",
        OTEL_LOGS_EXPORTER="none",
        OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver,
        OTEL_METRIC_EXPORT_INTERVAL="1000",
        OTEL_BSP_SCHEDULE_DELAY="500",
        PYTHONUNBUFFERED="1",
    )
    if port:
        kept.update(OTEL_EXPORTER_PROMETHEUS_HOST="127.0.0.1", OTEL_EXPORTER_PROMETHEUS_PORT=str(port))
    return kept


def _free_port() -> int:
    for port in (PROMETHEUS_PORT, 0):
        try:
            with socket.create_server(("127.0.0.1", port)) as found:
                return int(found.getsockname()[1])
        except OSError:
            continue
    raise DemoError("no free port on the loopback interface")


def wants_colour() -> bool:
    """Whether the output goes to a terminal that has colours, and its owner wants them (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
