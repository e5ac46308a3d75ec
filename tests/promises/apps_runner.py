"""Runs one of `apps` in a process of its own."""

import json
import sys
from typing import Any

from tests.promises.test_processes import run


def said_by(app: str, url: str, *args: str) -> list[Any]:
    """What it printed, line by line."""
    said = run(sys.executable, "-W", "ignore", "-m", "promises.apps", app, url, *args)
    return [json.loads(line) for line in said.splitlines()]
