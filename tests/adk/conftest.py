"""What frameworks leave to the garbage collector is not about llm-errors."""

import warnings

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Clients that are not closed; also those that the collector finds after the last test."""
    for line in (
        "ignore:unclosed:ResourceWarning",
        "ignore:.*(socket|Transport):pytest.PytestUnraisableExceptionWarning",
    ):
        config.addinivalue_line("filterwarnings", line)
    warnings.simplefilter("ignore", ResourceWarning)
