"""Runs `llm-errors demo`: simulates a morning at a support desk under `llm-errors run` and shows the report.

The desk runs in its own process under the real `opentelemetry-instrument`. Nothing leaves the loopback interface. The exit
code is 0 if the report was shown, 1 if the simulation failed, and 2 if a package is missing.
"""

import argparse
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from llm_errors.tools.run import environment as run_environment
from llm_errors.tools.run.application import Application
from llm_errors.tools.run.command import instrumented, wants_colour
from llm_errors.tools.run.environment import INSTRUMENTORS

if TYPE_CHECKING:
    from llm_errors.tools.run.receiver import Receiver

INSTALL = "pip install 'llm-errors[demo]'"
NEEDED = {**run_environment.NEEDED, "openai": "openai", "anthropic": "anthropic", "google.genai": "google-genai"}
"""Module that the demo imports -> the package that contains the module."""
FOR_SERVE = {"opentelemetry.exporter.prometheus": "opentelemetry-exporter-prometheus"}
PROMETHEUS_PORT = 9464
"""The default port of the Prometheus exporter. If the port is taken, the demo uses a free port."""
PATIENCE = 120.0
"""How many seconds to wait until the desk ends or, with `--serve`, until its telemetry has arrived."""
LONGEST = 600.0
"""The number of seconds after which the demo kills a desk that has not finished. It is enough for a slow machine."""
ADVICE = ("ADVICE", "the desk asks llm_errors.recovery what to do (waits 1000x shorter)")
_FOREIGN = ("OTEL_", "LLM_ERRORS_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")


class DemoError(Exception):
    """Stops the demo. The message gives the reason in one line."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command with its arguments."""
    text = "run a simulated incident against a fake provider and show how it is classified"
    parser = subparsers.add_parser("demo", help=text, description=text)
    parser.add_argument("--serve", action="store_true", help="keep serving /metrics until Ctrl-C")


def run(args: argparse.Namespace) -> int:
    """Run the demo and return its exit code."""
    missing = run_environment.missing_packages({**NEEDED, **FOR_SERVE} if args.serve else NEEDED)
    if missing:
        print(f"llm-errors demo: {', '.join(missing)} not installed: {INSTALL}", file=sys.stderr)
        return 2
    try:
        _play(serve=args.serve)
    except (DemoError, subprocess.TimeoutExpired) as error:
        print(f"llm-errors demo: {error}", file=sys.stderr)
        return 1
    return 0


def _play(*, serve: bool) -> None:
    # These modules need the packages of the demo extra. `run` has checked that they are installed.
    from llm_errors.testing.provider import Provider
    from llm_errors.tools.demo.stage import Stage
    from llm_errors.tools.run.receiver import Receiver
    from llm_errors.tools.run.report import Paint, Report, heading
    from llm_errors.tools.run.summary import summarise

    port = _free_port() if serve else None
    paint = Paint(wants_colour(sys.stdout))
    with ExitStack() as stack:
        provider = stack.enter_context(Provider(Stage().answer))
        receiver = stack.enter_context(Receiver())
        print(paint("A bad Monday morning at a support desk", "1") + ": llm-errors run -- python desk.py\n", flush=True)
        variables = environment(os.environ, receiver.address, port)
        desk = stack.enter_context(_child(instrumented(_desk(provider.url, stay=serve)), variables))
        receiver.listen()
        _watch(desk, receiver, stays=serve)
        print()
        for line in Report(summarise(receiver.telemetry), paint).lines():
            print(line)
        for line in heading(paint, *ADVICE):
            print(line, flush=True)
        _act(provider.url)
        if serve:
            print(f"\nmetrics: http://127.0.0.1:{port}/metrics (Ctrl-C ends)", flush=True)
            with suppress(KeyboardInterrupt):
                desk.wait()


def _desk(provider: str, *, stay: bool) -> list[str]:
    """The command that starts the desk of the morning. With `stay`, the desk keeps running after the last scene."""
    command = [sys.executable, "-m", "llm_errors.tools.demo.desk", "--provider", provider]
    return [*command, "--stay"] if stay else command


def _child(command: list[str], variables: Mapping[str, str]) -> Application:
    """Creates a child process that never outlives the demo.

    Ctrl-C interrupts only the demo, which then ends the child. If the demo is killed, the standard input of the child closes
    and the child ends itself.
    """
    return Application(command, variables, aside=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _watch(desk: Application, receiver: "Receiver", *, stays: bool) -> None:
    """Show the progress of the desk until the morning is over and all telemetry of the desk has arrived."""
    from llm_errors.tools.demo.desk import OVER

    over = False
    with _ended_in_time(desk):
        for line in desk.stdout or ():
            if over := line.startswith(OVER):
                break
            print("  " + line, end="", flush=True)
    if not over or not stays:
        code = desk.wait(PATIENCE)
        if code or not over:
            raise DemoError(f"the desk stopped with exit code {code}")
        receiver.settle()
    elif not receiver.wait_for(lambda: _is_complete(receiver), PATIENCE):
        raise DemoError(f"the desk's telemetry did not arrive within {PATIENCE:.0f} s")


def _is_complete(receiver: "Receiver") -> bool:
    """Whether all calls are counted and the span of each failure has arrived. Spans arrive in order."""
    from llm_errors import semconv
    from llm_errors.tools.demo import monday

    telemetry = receiver.telemetry
    failed = sum(telemetry.counts(semconv.ERRORS).values())
    return telemetry.calls >= sum(s.tickets for s in monday.SCENES) and len(telemetry.failures()) >= failed


def _act(provider: str) -> None:
    """Run the desk that asks for advice and show its output. This desk sends no telemetry."""
    command = [sys.executable, "-m", "llm_errors.tools.demo.careful", provider]
    with _child(command, _clean(os.environ)) as careful:
        with _ended_in_time(careful):
            for line in careful.stdout or ():
                print(line, end="", flush=True)
        if code := careful.wait(PATIENCE):
            raise DemoError(f"the desk that asks for advice stopped with exit code {code}")


@contextmanager
def _ended_in_time(child: Application) -> Iterator[None]:
    """Kill the child if the body of the `with` statement takes longer than `LONGEST` seconds."""
    watch = threading.Timer(LONGEST, child.kill)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def _clean(given: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of the user, without the variables that would change the demo."""
    return {k: v for k, v in given.items() if not k.startswith(_FOREIGN) and not k.lower().endswith("_proxy")}


def environment(given: Mapping[str, str], receiver: str, port: int | None) -> dict[str, str]:
    """The environment of the desk: the variables that `llm-errors run` sets and, with a `port`, a Prometheus exporter."""
    kept = _clean(given)
    others = sorted(set(entry_points(group=INSTRUMENTORS).names) - {"llm_errors"})
    kept.update(
        OTEL_SERVICE_NAME="support-desk",
        OTEL_PYTHON_DISTRO="distro",
        OTEL_PYTHON_CONFIGURATOR="configurator",
        OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=",".join(others),
        LLM_ERRORS_LOGS="false",  # so that every failure has a span
        PYTHONUNBUFFERED="1",
    )
    if port:
        kept.update(
            OTEL_METRICS_EXPORTER="prometheus",
            OTEL_EXPORTER_PROMETHEUS_HOST="127.0.0.1",
            OTEL_EXPORTER_PROMETHEUS_PORT=str(port),
        )
    return run_environment.environment(kept, receiver)


def _free_port() -> int:
    for port in (PROMETHEUS_PORT, 0):
        try:
            with socket.create_server(("127.0.0.1", port)) as found:
                return int(found.getsockname()[1])
        except OSError:
            continue
    raise DemoError("no free port on the loopback interface")
