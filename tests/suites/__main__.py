"""Run the SDKs' own tests bare and with us on, and compare test by test.

The newest source distributions are fetched from the package index, which have the tests, and installed. A test whose
outcome differs is run again by itself, both ways: tests that depend on the machine's speed are not ours to judge.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

SUITES = {
    "anthropic": ("tests/test_tracing.py",),
    "openai": ("tests/test_client.py", "tests/test_streaming.py"),
}
HERE = Path(__file__).parent
CI = os.environ.get("CI", "").lower() in ("1", "true")
DEADLINE = 1800
Outcomes = dict[str, str]


class Unreachable(Exception):
    """The package index gave no source distribution."""


def fetch(name: str, into: Path) -> Path:
    """The unpacked source distribution of the newest release."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*command, "--no-binary", name, "--dest", str(into), name], capture_output=True, text=True, timeout=DEADLINE
    )
    if done.returncode:
        raise Unreachable(f"no source distribution of {name}: {done.stderr.strip().splitlines()[-1:]}")
    (archive,) = into.glob(f"{name}-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(into, filter="data")
    return into / archive.name.removesuffix(".tar.gz")


def install(source: Path) -> None:
    """The SDK at the very release whose tests are run."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, str(source)], check=True, timeout=DEADLINE)


def run(source: Path, tests: tuple[str, ...], with_us: bool) -> Outcomes:
    """The outcome of every test."""
    report = source / "report.xml"
    report.unlink(missing_ok=True)
    ours = ["-p", "instrumented"] if with_us else []
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "--tb=no", *ours, f"--junitxml={report}", *tests],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(HERE)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=DEADLINE,
    )
    if not report.exists():
        raise SystemExit(f"pytest wrote no report in {source.name}")
    return {
        f"{case.get('classname')}::{case.get('name')}": _outcome(case) for case in ET.parse(report).iter("testcase")
    }


def _outcome(case: ET.Element) -> str:
    return next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")


def differences(source: Path, bare: Outcomes, ours: Outcomes) -> list[str]:
    """The tests whose outcome differs, also when each is run once more by itself."""
    found = []
    for name in sorted(bare.keys() | ours.keys()):
        if bare.get(name) != ours.get(name):
            again = [run(source, (_node(name),), with_us).get(name) for with_us in (False, True)]
            if again[0] != again[1]:
                found.append(f"{name}: {again[0]} bare, {again[1]} with us")
    return found


def _node(name: str) -> str:
    """The argument that selects a test, from the report's dotted names of its module and class."""
    dotted, test = name.split("::", 1)
    parts = dotted.split(".")
    module = next(i for i, part in enumerate(parts) if part.startswith("test_")) + 1
    return "::".join(["/".join(parts[:module]) + ".py", *parts[module:], test])


def compare(name: str, into: Path) -> bool:
    """Whether the SDK's tests come to the same, bare and with us on."""
    source = fetch(name, into)
    install(source)
    bare, ours = (run(source, SUITES[name], with_us) for with_us in (False, True))
    found = differences(source, bare, ours)
    passed = sum(outcome == "passed" for outcome in bare.values())
    print(f"{source.name}: {len(bare)} tests, {passed} pass bare, {len(found)} differ with us on", *found, sep="\n  ")
    return passed > 0 and not found


def main() -> int:
    try:
        with tempfile.TemporaryDirectory() as into:
            return 0 if all([compare(name, Path(into)) for name in SUITES]) else 1
    except Unreachable as reason:
        print(f"{'failed' if CI else 'skipped'}: {reason}")
        return 1 if CI else 0


if __name__ == "__main__":
    sys.exit(main())
