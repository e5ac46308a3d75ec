"""The messages of errors that the case files hold."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

CASES = Path(__file__).parents[1] / "cases"
_NAMES = ("message", "detail", "msg", "Message")


@cache
def handed_messages() -> tuple[str, ...]:
    """Each once, in the order of the files."""
    files = sorted(CASES.glob("*.yaml"))
    return tuple(dict.fromkeys(m for file in files for m in _messages(yaml.safe_load(file.read_text("utf-8")))))


def _messages(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in _NAMES and isinstance(value, str) and len(value) > 12:
                yield value
            yield from _messages(value)
    elif isinstance(node, list):
        for value in node:
            yield from _messages(value)
