"""Runs `llm-errors doctor`: prints findings with their remedies. The exit code is 1 if a finding is a fault."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator

from llm_errors.tools.doctor import exporters, own_settings, packages, page_test, sdks, telemetry
from llm_errors.tools.doctor.finding import Finding, Grade
from llm_errors.version import __version__

Part = tuple[str, Iterable[Finding]]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    text = "check SDKs, patch points, settings and exports"
    parser = subparsers.add_parser(
        "doctor",
        help=text,
        description="Check this environment: packages, SDKs and patch points, other instrumentations, settings, and that "
        "each configured exporter delivers an empty request. Run it as the application runs: same environment "
        "variables, same virtual environment, same machine. Exit code 1: some failures will not be reported.",
    )
    parser.add_argument(
        "--short-lived", action="store_true", help="check settings for short-lived processes (delta temporality)"
    )
    parser.add_argument("--in-code", action="store_true", help="the application sets up OpenTelemetry in its own code")
    parser.add_argument(
        "--page-test",
        metavar="SDK",
        choices=sorted(page_test.CALLS),
        help=f"make one real call with an impossible model name through {', '.join(sorted(page_test.CALLS))}",
    )
    parser.add_argument("--json", action="store_true", help="output JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every finding and return the exit code: 1 if a finding is a fault, else 0."""
    grades = set()
    found = []
    for title, findings in _parts(args):
        if not args.json:
            print(f"\n{title}")
        for finding in findings:
            grades.add(finding.grade)
            found.append(
                {"part": title, "grade": finding.grade.name.lower(), "what": finding.what, "remedy": finding.remedy}
            )
            if not args.json:
                _print(finding)
    if args.json:
        report = {"version": __version__, "python": sys.version.split()[0], "ok": Grade.FAULT not in grades}
        print(json.dumps({**report, "findings": found}, indent=2))
    else:
        print(f"\n{_conclusion(grades)}")
    return int(Grade.FAULT in grades)


def _print(finding: Finding) -> None:
    print(f"  {finding.grade.value:<6}{finding.what}")
    if finding.remedy:
        print(f"        -> {finding.remedy}", flush=True)


def _conclusion(grades: set[Grade]) -> str:
    if Grade.FAULT in grades:
        return "Some failures will not be reported; fix the FAULT lines above."
    if Grade.UNCHECKED in grades:
        return "No fault was found, but the lines marked ? could not be checked from here."
    return "All checks passed."


def _parts(args: argparse.Namespace) -> Iterator[Part]:
    yield f"llm-errors {__version__} on Python {sys.version.split()[0]}", packages.examine(args.in_code)
    yield "SDKs", sdks.examine()
    yield "Settings", own_settings.examine()
    yield "Telemetry", telemetry.examine(short_lived=args.short_lived)
    yield "Exports", exporters.examine()
    if args.page_test:
        yield "Page test", [page_test.run(args.page_test)]
