"""The command `llm-errors`: runs the module of each subcommand. Loads no OpenTelemetry and no SDK by itself."""

import argparse
import importlib
import sys
from collections.abc import Sequence

COMMANDS = {
    "explain": "llm_errors.explain",
    "rules": "llm_errors.rules_command",
    "review": "llm_errors.review.command",
}
"""Subcommand -> the module that has its `add_parser(subparsers)` and `run(args) -> int`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; its exit status."""
    parser = argparse.ArgumentParser(prog="llm-errors", description="Every failed LLM call under its right class.")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    given = list(sys.argv[1:] if argv is None else argv)
    wanted = [given[0]] if given and given[0] in COMMANDS else list(COMMANDS)
    modules = {name: importlib.import_module(COMMANDS[name]) for name in wanted}
    for module in modules.values():
        module.add_parser(subparsers)
    args = parser.parse_args(given)
    return int(modules[args.command].run(args))
