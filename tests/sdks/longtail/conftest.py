"""What these SDKs leave behind is not about llm-errors."""

import warnings

import pytest

LEFT_OPEN = ("ignore:unclosed:ResourceWarning", "ignore:.*(socket|Transport):pytest.PytestUnraisableExceptionWarning")
"""Some of the SDKs leave connections to the garbage collector, which may find them in a later test."""


def pytest_configure(config: pytest.Config) -> None:
    """Leave these warnings aside."""
    for line in LEFT_OPEN:
        config.addinivalue_line("filterwarnings", line)
    warnings.simplefilter("ignore", ResourceWarning)  # for what is collected after the last test
