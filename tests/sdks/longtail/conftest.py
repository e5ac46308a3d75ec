"""What these SDKs leave behind is not about llm-errors."""

import gc
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from llm_errors.instrument import drainer

LEFT_OPEN = ("ignore:unclosed:ResourceWarning", "ignore:.*(socket|Transport):pytest.PytestUnraisableExceptionWarning")
"""Some of the SDKs leave connections to the garbage collector, which may find them in a later test."""


def pytest_configure(config: pytest.Config) -> None:
    """Leave these warnings aside."""
    for line in LEFT_OPEN:
        config.addinivalue_line("filterwarnings", line)
    warnings.simplefilter("ignore", ResourceWarning)  # for what is collected after the last test


@pytest.fixture
def left(observed: Any) -> Callable[[Callable[[], Any]], dict[str, int]]:
    """Closes one stream after its first part, drops another, and tells how both have ended."""

    def leave(begin: Callable[[], Any]) -> dict[str, int]:
        for closes in (True, False):
            parts = begin()
            next(parts)
            if closes:
                parts.close()
            del parts
            gc.collect()
        drainer.finish()
        return observed.outcomes()  # type: ignore[no-any-return]

    return leave
