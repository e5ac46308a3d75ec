"""Reads the user's rules from a TOML file (`LLM_ERRORS_RULES_FILE`), and reports each problem with its line.

The rules of the user take precedence over the shipped rules.

    [[rule]]
    id = "gateway.quota"            # shown as llm.error.rule; default: user.1, user.2 ...
    providers = ["deepseek"]        # gen_ai.provider.name; or dialects = ["openai"]
    status = 429                    # each condition is a value, or a list (any match);
    codes = ["quota_gone"]          # all given conditions must match
    class = "CALL_BUDGET"           # or "healthy", for answers only
    reason = "insufficient_quota"

A file with a problem is not used at all, because a part of its rules could classify wrongly. Standard library only, except tomli on
Python 3.10.
"""

import functools
import re
import sys
from dataclasses import dataclass
from typing import Any, Final

from llm_errors.rules._rule import Index, Rule, index
from llm_errors.rules.user._entry import Entry

SIZE_LIMIT: Final = 256 * 1024
RULES_LIMIT: Final = 500
_TOML_PLACE: Final = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(frozen=True)
class Problem:
    """A problem in a file: its line, and what to write instead."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        """`path:line: message`, as compilers print it."""
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


def load(path: str) -> tuple[Index | None, list[Problem]]:
    """The rules of a file as an index for `decide(own=...)`; None and the problems if the file cannot be used."""
    rows, problems = read(path)
    return (None, problems) if problems else (index(rows), [])


def read(path: str) -> tuple[list[Rule], list[Problem]]:
    """The rules of a file in their order, and all its problems. Never raises."""
    try:
        with open(path, "rb") as file:
            raw = file.read(SIZE_LIMIT + 1)
        text = raw.decode("utf-8")
    except OSError as error:
        return [], [Problem(path, 0, f"cannot be read: {error.strerror or error}")]
    except UnicodeDecodeError:
        return [], [Problem(path, 0, "is not UTF-8 text")]
    if len(raw) > SIZE_LIMIT:
        return [], [Problem(path, 0, f"is larger than {SIZE_LIMIT // 1024} KiB")]
    return parse(text, path)


def parse(text: str, path: str = "rules.toml") -> tuple[list[Rule], list[Problem]]:
    """The rules in the text of a file, and all problems in it. `path` is only used to name the file."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:  # pragma: no cover - only on Python 3.10
        import tomli as tomllib
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        return [], [Problem(path, line, f"is not TOML: {_TOML_PLACE.sub('', str(error))}")]
    return _File(text, path).rules(document)


class _File:
    """Validates one file, and finds the line of each problem."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.lines = text.splitlines()
        self.starts = [n for n, line in enumerate(self.lines) if re.match(r"\s*\[\[\s*rule\s*\]\]", line)]
        self.problems: list[Problem] = []

    def rules(self, document: dict[str, Any]) -> tuple[list[Rule], list[Problem]]:
        """All valid rules, and all problems."""
        for key in document:
            if key != "rule":
                self._say(self._line(-1, key), f"unknown table {key!r}; write [[rule]] above each rule")
        entries = document.get("rule", [])
        if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            self._say(self._line(-1, "rule"), "write [[rule]], with two brackets, above each rule")
            return [], self.problems
        if len(entries) > RULES_LIMIT:
            self._say(0, f"has {len(entries)} rules; the limit is {RULES_LIMIT}")
            return [], self.problems
        found = [Entry(n, entry, functools.partial(self._say_of, n)).rule() for n, entry in enumerate(entries)]
        self._unique(found)
        return [row for row in found if row is not None], self.problems

    def _unique(self, found: list[Rule | None]) -> None:
        seen: set[str] = set()
        for n, row in enumerate(found):
            if row is not None and row.id in seen:
                self._say(self._line(n, "id"), f"id {row.id!r} is used twice")
            seen.add(row.id if row is not None else "")

    def _say(self, line: int, message: str) -> None:
        self.problems.append(Problem(self.path, line, message))

    def _say_of(self, entry: int, key: str, message: str) -> None:
        self._say(self._line(entry, key), message)

    def _line(self, entry: int, key: str) -> int:
        """The line (from 1) that sets a key of a rule; the first line of the rule if the key is not found."""
        first = self.starts[entry] if 0 <= entry < len(self.starts) else 0
        last = self.starts[entry + 1] if 0 <= entry < len(self.starts) - 1 else len(self.lines)
        name = re.compile(rf"""\s*\[*\s*["']?{re.escape(key)}["']?\s*[=\]]""")
        return next((n + 1 for n in range(first, last) if name.match(self.lines[n])), first + 1)
