"""Runs `llm-errors COMMAND`. Each command has its own module, which is imported only when the command runs.

The module of a command has two functions: `add_parser(subparsers)` adds a parser with the name of the command, and
`run(args)` returns the exit code.
"""

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import NoReturn

from llm_errors.version import __version__

BAD_USAGE = 2
INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 plus the number of SIGINT, as in shells."""


@dataclass(frozen=True)
class Command:
    """A command: its name, its module, and its summary in `--help`."""

    name: str
    module: str
    summary: str

    @property
    def is_there(self) -> bool:
        """Whether the module is installed. This check imports the package of the module, but not the module."""
        try:
            return find_spec(self.module) is not None
        except ModuleNotFoundError:
            return False


COMMANDS = (
    Command("run", "llm_errors.tools.run.command", "run an application and show how its LLM calls fail"),
    Command(
        "demo",
        "llm_errors.tools.demo.command",
        "run a simulated incident against a fake provider and show how it is classified",
    ),
    Command("explain", "llm_errors.tools.explain.command", "show how a saved failure is classified, and why"),
    Command("rules", "llm_errors.tools.rules", "check your own rules (LLM_ERRORS_RULES_FILE)"),
    Command("review", "llm_errors.tools.review.command", "list last week's UNKNOWN failures and suggest rules"),
    Command("generate", "llm_errors.tools.generate", "write dashboards, rules, alerts and routing"),
    Command("doctor", "llm_errors.tools.doctor.command", "check SDKs, patch points, settings and exports"),
    Command("docs", "llm_errors.tools.docs", "show a page of the documentation"),
)


class _Parser(argparse.ArgumentParser):
    """Reports invalid arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_USAGE, f"{self.prog}: {message} (try --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. Without a command, print the help."""
    given = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    _print_what_the_terminal_lacks()
    try:
        code = _run(given)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader has closed the pipe, for example `| head`
        _discard_output()
        return 0
    return code


def _run(given: list[str]) -> int:
    try:
        args = _parser(next((a for a in given if not a.startswith("-")), "")).parse_args(given)
    except SystemExit as end:  # argparse has printed the help, the version or the error
        return int(end.code or 0)
    module = import_module(next(c.module for c in COMMANDS if c.name == args.command))
    return int(module.run(args))


def _print_what_the_terminal_lacks() -> None:
    """If the encoding of the terminal (ASCII, Latin-1) lacks a character, print an escape for it instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Redirect both streams to the null device, so that flushing their buffers at exit cannot raise again."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # the stream is captured by a test, or closed
            os.dup2(nothing, stream.fileno())


def _parser(wanted: str) -> argparse.ArgumentParser:
    """The parser of the command line. Only the wanted command gets its arguments, the others get a name and a summary."""
    parser = _Parser(
        prog="llm-errors", description="Classify failed LLM calls, and check that their telemetry arrives."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        if not command.is_there:
            continue
        if command.name == wanted:
            import_module(command.module).add_parser(subparsers)
        else:
            subparsers.add_parser(command.name, help=command.summary)
    return parser
