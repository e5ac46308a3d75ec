"""The command `llm-errors doctor`: findings in clear words, exit code 1 on a fault."""

import argparse
import sys
from collections.abc import Iterator
from importlib import metadata

from llm_errors.tools.doctor import page_test, sdks, telemetry
from llm_errors.tools.doctor.finding import Finding, Grade, fault, good
from llm_errors.version import __version__


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser(
        "doctor", help="check this environment: SDKs and patch points, other instrumentations, exporter settings"
    )
    parser.add_argument("--short-lived", action="store_true", help="the set-up for processes that live briefly (delta)")
    parser.add_argument(
        "--page-test",
        metavar="SDK",
        choices=sorted(page_test.CALLS),
        help=f"make one real call with an impossible model name through {', '.join(sorted(page_test.CALLS))}",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every finding; 1 if one is a fault."""
    worst = 0
    for title, findings in _parts(args):
        print(f"\n{title}")
        for finding in findings:
            worst = max(worst, int(finding.grade is Grade.FAULT))
            print(f"  {finding.grade.value:<6}{finding.what}")
            if finding.remedy:
                print(f"        -> {finding.remedy}")
    print("\nSomething keeps failures from being seen; see FAULT above." if worst else "\nAll is well.")
    return worst


def _parts(args: argparse.Namespace) -> Iterator[tuple[str, Iterator[Finding]]]:
    yield f"llm-errors {__version__} on Python {sys.version.split()[0]}", _packages()
    yield "SDKs", iter(sdks.examine())
    yield "Telemetry", telemetry.examine(short_lived=args.short_lived)
    if args.page_test:
        yield "Page test", iter([page_test.run(args.page_test)])


def _packages() -> Iterator[Finding]:
    for name in ("opentelemetry-sdk", "opentelemetry-distro", "opentelemetry-exporter-otlp"):
        try:
            yield good(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            yield fault(f"{name} is not installed", "pip install 'llm-errors[otlp]'")
