"""`llm-errors rules check FILE`: whether a file of the user's rules is right, and what each rule does."""

import argparse
import json
import sys
from typing import Any

from llm_errors.rules import user


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """The command's arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser("rules", help="your own rules (LLM_ERRORS_RULES_FILE)")
    actions = parser.add_subparsers(dest="action", required=True)
    check = actions.add_parser("check", help="validate a file of rules")
    check.add_argument("file")
    check.add_argument("--json", action="store_true", help="for machines")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the rules, or every problem with its line; 2 if there is one."""
    rows, problems = user.read(args.file)
    if args.json:
        rules = [{"id": r.id, "class": r.error_class or "healthy", "reason": r.reason} for r in rows]
        print(json.dumps({"rules": rules, "problems": [str(p) for p in problems]}, indent=2))
        return 2 if problems else 0
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 2
    for row in rows:
        print(f"{row.id:32} -> {row.error_class or 'healthy'}{'/' if row.reason else ''}{row.reason}")
    print(f"{args.file}: {len(rows)} rules, all right")
    return 0
