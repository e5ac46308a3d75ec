"""Notices that a package is about to be imported, before any module of the package runs."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

from llm_errors.safety import quietly


class ExpectedImports:
    """Calls `begins` once for each of the packages: now if it is imported already, or else when its import begins.

    It is a finder in `sys.meta_path` that finds nothing. `begins` may register import hooks for the package's modules.
    """

    def __init__(self, packages: Iterable[str], begins: Callable[[str], object]) -> None:
        self._begins = begins
        self._expected = set(packages)
        sys.meta_path.insert(0, self)
        for package in self._expected & set(sys.modules):
            self._found(package)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Called by Python for every module that is imported for the first time."""
        if name in self._expected:
            self._found(name)

    def stop(self) -> None:
        """Expect nothing any more."""
        self._expected.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def _found(self, package: str) -> None:
        self._expected.discard(package)
        quietly("import", None, self._begins, package)
