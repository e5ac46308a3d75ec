"""The command `llm-errors`: a table of commands, each in a module of its own that is loaded only when it is asked for.

A command module has `add_parser(subparsers)`, which adds a parser of the command's name, and `run(args) -> exit code`.
"""

import argparse
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
"""128 and the number of SIGINT, as shells report it."""


@dataclass(frozen=True)
class Command:
    """A command, the module that is it, and what `--help` says of it."""

    name: str
    module: str
    summary: str

    @property
    def is_there(self) -> bool:
        """Whether this installation holds the module; finding it loads no more than its package."""
        try:
            return find_spec(self.module) is not None
        except ModuleNotFoundError:
            return False


COMMANDS = (
    Command("demo", "llm_errors.tools.demo.command", "play one bad Monday morning and show what was seen"),
    Command("explain", "llm_errors.tools.explain", "which class a saved failure has, and why"),
    Command("rules", "llm_errors.tools.rules", "your own rules (LLM_ERRORS_RULES_FILE)"),
    Command(
        "review", "llm_errors.tools.review.command", "the UNKNOWN failures of the last week, and rows to name them"
    ),
    Command("generate", "llm_errors.tools.generate", "write dashboards, rules, alerts and routing"),
    Command("doctor", "llm_errors.tools.doctor.command", "check the set-up of this environment"),
)


class _Parser(argparse.ArgumentParser):
    """Refuses bad usage in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_USAGE, f"{self.prog}: {message} (try --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    try:
        args = _parser(next((a for a in given if not a.startswith("-")), "")).parse_args(given)
    except SystemExit as end:  # argparse has said what there was to say: help, version or the fault
        return int(end.code or 0)
    try:
        module = import_module(next(c.module for c in COMMANDS if c.name == args.command))
        code = int(module.run(args))
        sys.stdout.flush()  # a closed pipe shows here, not when the interpreter ends
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `| head` has seen enough; what is left in the buffer must not raise again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser(wanted: str) -> argparse.ArgumentParser:
    """The parser with the arguments of the wanted command; of the others only name and summary."""
    parser = _Parser(prog="llm-errors", description="Every failed LLM call under its right class.")
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
