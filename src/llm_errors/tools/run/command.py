"""Runs `llm-errors run -- COMMAND`: an application under `opentelemetry-instrument`, and then a report on its LLM calls.

The application keeps its standard streams, its signals and its exit code. The report goes to standard error after the last
line of the application, or to the file that `--output` names.
"""

import argparse
import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from llm_errors.taxonomy import ErrorClass
from llm_errors.tools.run.application import Application, end_like
from llm_errors.tools.run.environment import INSTALL, environment, hints, instrument_script, missing_packages

if TYPE_CHECKING:
    from llm_errors.tools.run.receiver import Receiver
    from llm_errors.tools.run.telemetry import Telemetry

FOUND, BAD_USAGE, CANNOT_RUN, NOT_FOUND = 1, 2, 126, 127
"""Exit codes: 1 if a class of `--fail-on` occurred, 2 for invalid arguments, and, as in shells, 126 if the command cannot
be executed and 127 if it is not found."""
ANY = "ANY"


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the arguments of the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "run",
        help="run an application and show how its LLM calls fail; needs no backend",
        description="Runs a command under opentelemetry-instrument and reports its LLM calls on standard error when it"
        " ends. Exporters that are configured in the environment keep working. The exit code is the command's own."
        " OpenTelemetry providers that the application sets in its own code are used as they are, and report here, too.",
        usage="%(prog)s [options] -- COMMAND [ARGUMENT ...]",
    )
    parser.add_argument("--watch", action="store_true", help="show a live table while the command runs")
    parser.add_argument("--html", metavar="FILE", help="also write the report as a self-contained HTML page")
    parser.add_argument("--json", action="store_true", help="output JSON instead of the table")
    parser.add_argument("--output", metavar="FILE", help="write the report to FILE instead of standard error")
    parser.add_argument(
        "--fail-on",
        metavar="CLASS,...",
        type=_classes,
        default=frozenset(),
        help="exit with 1 if the command succeeds but a call failed with one of these classes (or: any)",
    )
    parser.add_argument("command_line", metavar="COMMAND", nargs=argparse.REMAINDER, help="the command to run")
    return parser


def _classes(text: str) -> frozenset[str]:
    wanted = frozenset(name.strip().upper() for name in text.split(",") if name.strip())
    unknown = sorted(wanted - {c.value for c in ErrorClass} - {ANY})
    if unknown or not wanted:
        known = ", ".join(c.value for c in ErrorClass)
        raise argparse.ArgumentTypeError(f"unknown class {', '.join(unknown) or repr(text)}; known: {known}, any")
    return wanted


@dataclass
class Run:
    """A run of the application: its command, its times in seconds since the epoch, and its exit code."""

    command: list[str]
    began: float
    ended: float = 0.0
    code: int | None = None

    def how_it_ended(self) -> str:
        """A phrase with the exit code or the signal of the application, and the duration of the run."""
        ended = f"ended by signal {-self.code}" if self.code is not None and self.code < 0 else f"exit code {self.code}"
        return f"{ended} after {duration(self.ended - self.began)}"

    def as_json(self) -> dict[str, Any]:
        """The run as plain data. If a signal ended the application, the exit code is the negative number of the signal."""
        from llm_errors.extract.redact import redact
        from llm_errors.tools.run.summary import moment

        return {
            "command": redact(" ".join(self.command)),
            "exit_code": self.code,
            "began": moment(self.began),
            "seconds": round(self.ended - self.began, 3),
        }


def run(args: argparse.Namespace) -> int:
    """Run the application, write the report, and return the exit code of the application."""
    command = args.command_line[1:] if args.command_line[:1] == ["--"] else args.command_line
    try:
        _check(command, [args.html, args.output])
    except _UsageError as error:
        print(f"llm-errors run: {error}", file=sys.stderr)
        return error.code
    with ExitStack() as stack:
        done, receiver = _play(stack, command, args.watch)
        _report(done, receiver.telemetry, args)
        failed = {row for (row,) in receiver.telemetry.counts("llm_errors_total", "llm.error.class")}
    assert done.code is not None
    if not done.code and (failed & args.fail_on or (failed and ANY in args.fail_on)):
        return FOUND
    sys.stdout.flush()
    return end_like(done.code)


class _UsageError(Exception):
    """Means that the application cannot be started. The message gives the reason in one line."""

    def __init__(self, message: str, code: int = BAD_USAGE) -> None:
        super().__init__(message)
        self.code = code


def _check(command: list[str], files: list[str | None]) -> None:
    if not command:
        raise _UsageError("nothing to run; for instance: llm-errors run -- python app.py")
    if missing := missing_packages():
        raise _UsageError(f"{', '.join(missing)} not installed: {INSTALL}")
    if shutil.which(command[0]) is None:
        if Path(command[0]).exists():
            raise _UsageError(f"cannot execute {command[0]}", CANNOT_RUN)
        raise _UsageError(f"command not found: {command[0]}", NOT_FOUND)
    for file in filter(None, files):
        try:
            with open(file, "a", encoding="utf-8"):
                pass
        except OSError as error:
            raise _UsageError(f"cannot write {file}: {error.strerror or error}") from error


def instrumented(command: list[str]) -> list[str]:
    """The command under `opentelemetry-instrument`, unless the command already calls it."""
    if Path(command[0]).stem == "opentelemetry-instrument":
        return command
    return [str(instrument_script()), *command]


def _play(stack: ExitStack, command: list[str], watch: bool) -> "tuple[Run, Receiver]":
    """Run the application until it ends, and wait until all telemetry of its processes has arrived."""
    # These modules need the package opentelemetry-proto. `_check` has made sure that it is installed.
    from llm_errors.tools.run.receiver import Receiver
    from llm_errors.tools.run.report import Paint, Report
    from llm_errors.tools.run.summary import summarise
    from llm_errors.tools.run.watch import Watch

    receiver = stack.enter_context(Receiver())
    done = Run(command, time.time())

    def table() -> Iterator[str]:
        with receiver.lock:
            summary = summarise(receiver.telemetry)
        return Report(summary, Paint(wants_colour(sys.stderr))).table()

    with Application(instrumented(command), environment(os.environ, receiver.address)) as application:
        receiver.listen()
        with Watch(table, sys.stderr) if watch else contextlib.nullcontext():
            done.code = application.wait()
    done.ended = time.time()
    receiver.settle()
    return done, receiver


def _report(done: Run, telemetry: "Telemetry", args: argparse.Namespace) -> None:
    from llm_errors.tools.run.page import page
    from llm_errors.tools.run.report import Paint, Report
    from llm_errors.tools.run.summary import as_json, summarise

    summary = summarise(telemetry)
    with ExitStack() as stack:
        stream: TextIO = sys.stderr
        if args.output:
            stream = stack.enter_context(open(args.output, "w", encoding="utf-8"))
        if args.json:
            lines = [json.dumps(as_json(summary, telemetry, done.as_json()), indent=2)]
        else:
            lines = ["", f"llm-errors run: {done.how_it_ended()}"]
            lines += Report(summary, Paint(wants_colour(stream))).lines()
            lines += [f"  {reason}" for reason in why_nothing(summary.processes, summary.calls + summary.cancelled)]
        with contextlib.suppress(BrokenPipeError):
            print("\n".join(lines), file=stream, flush=True)
    if args.html:
        Path(args.html).write_text(page(summary, telemetry, done.as_json()), encoding="utf-8")


def why_nothing(processes: int, calls: int) -> list[str]:
    """Lines with possible reasons why no call was seen. There are none if `calls` is above 0."""
    if calls:
        return []
    if found := hints(os.environ):
        return found
    if not processes:
        return [
            "No process of this command was instrumented. Is llm-errors installed for the Python that it uses?",
            f"(llm-errors itself runs on {sys.executable})",
        ]
    return ["The command was instrumented, but called no supported SDK: see `llm-errors doctor`."]


def duration(seconds: float) -> str:
    """A duration as a text that is easy to read: in seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def wants_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal that supports colours, and the user allows them (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
