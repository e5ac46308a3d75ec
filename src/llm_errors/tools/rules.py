"""Runs `llm-errors rules check [FILE ...]`: validates files with rules of the user and lists what each rule does."""

import argparse
import json
import os
import sys
from typing import Any

from llm_errors import providers
from llm_errors.rules import user
from llm_errors.rules._rule import Rule
from llm_errors.tools import input_text
from llm_errors.tools.input_text import InputError

_VARIABLE = "LLM_ERRORS_RULES_FILE"


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the command's arguments."""
    text = f"check your own rules ({_VARIABLE})"
    parser: argparse.ArgumentParser = subparsers.add_parser("rules", help=text, description=text)
    actions = parser.add_subparsers(dest="action", required=True, metavar="check")
    check = actions.add_parser(
        "check",
        help="validate files of rules and list what each rule does",
        description="Validate files of rules and list what each rule does. Exit code 1: a rule is invalid.",
    )
    check.add_argument(
        "file",
        nargs="*",
        metavar="FILE",
        help=f"a file of rules; - or a pipe for standard input; without either, the file that {_VARIABLE} names",
    )
    check.add_argument("--json", action="store_true", help="output JSON: an object, or a list for several files")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the rules of each file, or all of its problems with their lines.

    The exit code is 1 if there is a problem, and 2 if a file cannot be read.
    """
    try:
        checked = [(path, *_read(path)) for path in _paths(args.file)]
    except InputError as error:
        print(f"llm-errors rules check: {error}", file=sys.stderr)
        return 2
    if args.json:
        reports = [_report(*one) for one in checked]
        print(json.dumps(reports if len(reports) > 1 else reports[0], indent=2))
    else:
        for one in checked:
            _print(*one)
    return int(any(problems for _, _, problems in checked))


def _paths(given: list[str]) -> list[str]:
    if given:
        return given
    named = os.environ.get(_VARIABLE)
    if named:
        return [named]
    if input_text.stdin_has_input(enough_without=False):
        return [input_text.STDIN]
    raise InputError(f"nothing to check: give a file, or set {_VARIABLE}")


def _read(path: str) -> tuple[list[Rule], list[user.Problem]]:
    if path == input_text.STDIN:
        return user.parse(input_text.read(path), "standard input")
    rules, problems = user.read(path)
    if problems and problems[0].line == 0 and problems[0].message.startswith("cannot be read"):
        raise InputError(str(problems[0]))
    return rules, problems


def _report(path: str, rules: list[Rule], problems: list[user.Problem]) -> dict[str, Any]:
    listed = [{"id": r.id, "class": r.error_class or "healthy", "reason": r.reason} for r in rules]
    return {"file": path, "rules": listed, "problems": [str(p) for p in problems], "notes": _notes(rules)}


def _notes(rules: list[Rule]) -> list[str]:
    """Notes about names of providers that llm-errors does not know. Such a name may still be correct."""
    named = {name: rule.id for rule in reversed(rules) for name in rule.providers if not _known(name)}
    return [
        f"{rule}: {name!r} is not a provider that llm-errors knows; only litellm and arguments of `classify` give "
        "such names"
        for name, rule in sorted(named.items())
    ]


def _known(provider: str) -> bool:
    return provider == "other" or providers.provider(provider) is not None


def _print(path: str, rules: list[Rule], problems: list[user.Problem]) -> None:
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return
    for rule in rules:
        print(f"{rule.id:32} -> {rule.error_class or 'healthy'}{'/' if rule.reason else ''}{rule.reason}")
    for note in _notes(rules):
        print(f"note: {note}")
    print(f"{path}: {len(rules)} rule{'' if len(rules) == 1 else 's'}, OK")
