"""Where the tests find Prometheus' and Alertmanager's programs.

`LLM_ERRORS_STACK` or `.cache/stack/bin` (current versions, built by `make stack`), then PATH, then
`.cache/debian/usr/bin` (the distribution's older versions, unpacked by `.ci/debian-prometheus`). Missing: skip, but
fail in CI.
"""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

REPOSITORY = Path(__file__).parents[2]
STACK = Path(os.environ.get("LLM_ERRORS_STACK") or REPOSITORY / ".cache/stack/bin")
DEBIAN = REPOSITORY / ".cache/debian/usr/bin"


def tool(name: str, *folders: Path) -> str:
    """The program's path, from the folders or else from anywhere; skips (in CI: fails) the test without it."""
    places = [str(folder) for folder in folders] or [str(STACK), os.environ.get("PATH", ""), str(DEBIAN)]
    found = shutil.which(name, path=os.pathsep.join(places))
    if found:
        return found
    missing(f"{name} is not there: run `make stack` or .ci/debian-prometheus")


def missing(message: str) -> NoReturn:
    """Skips the test, but fails it in CI, where everything must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def promtool(version: str) -> str:
    """promtool of the `current` or of Debian's version."""
    return tool("promtool", DEBIAN) if version == "debian" else tool("promtool", STACK)
