"""`make freshness`: the completeness test against the newest release of every SDK, in environments that are thrown away.

Prints a table: the newest version that the tests have run with, the newest release, what is new in it, and what of that no rule
decides. The exit code is 1 if something is undecided or could not be installed.
"""

import json
import os
import subprocess
import sys
import tempfile
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
            before = _known(uv, own, release, f"=={release.tested}") if release.tested else {"known": []}
            now = _known(uv, own, release, "")
        except subprocess.CalledProcessError as error:
            release.problem = (error.stderr or str(error)).strip().splitlines()[-1][:200]
            return release
    release.newest, release.undecided = now["version"], tuple(now["undecided"])
    release.new = tuple(name for name in now["known"] if name not in set(before["known"])) if release.tested else ()
    return release


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
    print(f"{'SDK':<26}{'tested':<14}{'newest':<14}{'new values':<12}state", flush=True)
    for name in names:
        release = look(name, sys.executable, uv)
        releases.append(release)
        shown = release.newest or "?"
        print(f"{name:<26}{release.tested or '-':<14}{shown:<14}{len(release.new):<12}{release.state}", flush=True)
    for release in releases:
        _tell(release)
    return int(any(release.undecided or release.problem for release in releases))


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
