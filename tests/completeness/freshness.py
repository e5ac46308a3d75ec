"""`make freshness`: the completeness test against the newest release of every SDK, in environments that are thrown away.

Names each SDK while it is looked at, then prints what is new and what no rule decides, and ends with a table: the newest version
that the tests have run with, the newest release, and whether it is current. The exit code is 1 if something is undecided or could
not be installed.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_errors import providers
from tests.completeness.table import VOCABULARIES
from tests.tested.table import newest_tested

ROOT = Path(__file__).parents[2]
_NEEDED = (
    "pyyaml",
    "opentelemetry-sdk",
    "opentelemetry-semantic-conventions",
    "opentelemetry-instrumentation",
    "wrapt",
)


@dataclass
class Release:
    """One SDK: what is tested, and what its newest release knows. `problem` tells why it could not be installed."""

    distribution: str
    tested: str
    newest: str = ""
    new: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    problem: str = ""

    @property
    def state(self) -> str:
        """One word for the table."""
        if self.problem:
            return "not installed"
        if self.undecided:
            return "UNDECIDED"
        if not _is_covered(self.distribution, self.newest):
            return "beyond the supported range"
        if not self.tested:
            return "no recorded run"
        return "current" if self.newest == self.tested else "newer release"


def _is_covered(distribution: str, version: str) -> bool:
    major = int(version.partition(".")[0])
    rows = (row.versions for row in providers.SDKS if row.distribution == distribution)
    return any(major < int(versions.rpartition("<")[2].partition(".")[0]) for versions in rows)


def look(distribution: str, python: str, uv: str) -> Release:
    """Install the tested and then the newest release of one SDK, and compare what they know."""
    release = Release(distribution, newest_tested(distribution))
    with tempfile.TemporaryDirectory(prefix="freshness-") as place:
        try:
            _run(uv, "venv", "--quiet", "--python", python, place)
            own = str(Path(place) / "bin" / "python")
            before = _known(uv, own, release, f"=={release.tested}") if release.tested else None
            now = _known(uv, own, release, "")
        except subprocess.SubprocessError as error:
            release.problem = _last_line(error)
            return release
    release.newest, release.undecided = now["version"], tuple(now["undecided"])
    release.new = () if before is None else tuple(name for name in now["known"] if name not in set(before["known"]))
    return release


def _last_line(error: subprocess.SubprocessError) -> str:
    said = getattr(error, "stderr", None) or str(error)  # one that was stopped after its time has said nothing
    return str(said).strip().splitlines()[-1][:200]


def _known(uv: str, python: str, release: Release, version: str) -> dict[str, Any]:
    wanted = release.distribution + version
    _run(uv, "pip", "install", "--quiet", "--upgrade", "--python", python, wanted, *_NEEDED)
    told = _run(python, "-W", "ignore", "-m", "tests.completeness", release.distribution)
    return json.loads(told)[release.distribution]  # type: ignore[no-any-return]


def _run(*command: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
        "UV_SYSTEM_CERTS": "true",
        "UV_NATIVE_TLS": "true",
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True, timeout=900)
    return done.stdout


def main(wanted: list[str]) -> int:
    """Look at the named distributions, or at all of them."""
    uv = str(Path(sys.executable).with_name("uv"))
    names = wanted or [row.distribution for row in VOCABULARIES]
    releases = []
    for place, name in enumerate(names, start=1):
        print(f"[{place}/{len(names)}] {name} ...", end=" ", file=sys.stderr, flush=True)
        releases.append(look(name, sys.executable, uv))
        print(releases[-1].state, file=sys.stderr, flush=True)
    for release in releases:
        _tell(release)
    _print_table(releases)
    return int(any(release.undecided or release.problem for release in releases))


def _print_table(releases: list[Release]) -> None:
    print(f"\n{'SDK':<30}{'tested':<20}{'newest':<20}{'new values':<12}state")
    for release in releases:
        shown = release.newest or "?"
        print(f"{release.distribution:<30}{release.tested or '-':<20}{shown:<20}{len(release.new):<12}{release.state}")
    counts = Counter(release.state for release in releases)
    print("\n" + ", ".join(f"{count} {state}" for state, count in counts.most_common()))


def _tell(release: Release) -> None:
    if release.problem:
        print(f"\n{release.distribution}: {release.problem}")
    for name in release.new:
        undecided = "  (undecided)" if name in release.undecided else ""
        print(f"\n{release.distribution} {release.newest} adds {name}{undecided}")
    for name in release.undecided:
        if name not in release.new:
            print(f"\n{release.distribution} {release.newest}: no rule decides {name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
