"""Defines what each colour means. All dashboards use the same colours.

Grafana's named colours have a different shade in each theme. The hexadecimal colours here have a medium brightness, so that
they are readable on a dark and on a white background. `tests/monitoring/test_contrast.py` checks the contrast: at least 4.5:1
for text and 3:1 for lines.
"""

from collections.abc import Mapping
from typing import Final

from llm_errors.taxonomy import ErrorClass

TEXT: Final = "text"
NEUTRAL: Final = "transparent"
"""A transparent background. The text on it has the colour of the theme."""
GOOD: Final = "semi-dark-green"
"""Green means good, and nothing else is green."""
BAD: Final = "red"
WARN: Final = "semi-dark-orange"
"""Warning, for lines only: text in this colour is too faint on white."""

OK_TILE: Final = "#2C7A30"
DEGRADED_TILE: Final = "yellow"
DOWN_TILE: Final = "dark-red"
NO_DATA_TILE: Final = "#5D6470"

CLASSES: Final[Mapping[str, str]] = {
    ErrorClass.TRANSPORT.value: "#B5713A",
    ErrorClass.TIMEOUT.value: "semi-dark-orange",
    ErrorClass.RATE_LIMITED.value: "#B8860B",
    ErrorClass.SERVER.value: "red",
    ErrorClass.BAD_REQUEST.value: "blue",
    ErrorClass.AUTH.value: "purple",
    ErrorClass.NOT_FOUND.value: "#D2569C",
    ErrorClass.CALL_BUDGET.value: "#7689A0",
    ErrorClass.TOOL_PROTOCOL.value: "#7B6CD9",
    ErrorClass.PROMPT_BLOCKED.value: "#0E97A5",
    ErrorClass.OUTPUT_BLOCKED.value: "#8C8A2B",
    ErrorClass.TRUNCATED.value: "#A08358",
    ErrorClass.UNKNOWN.value: TEXT,
}
"""Class -> colour. Failures of the provider are red, orange and brown, and the application's own failures are purple and blue.
The policy view is teal, olive and sand, and unclassified failures are grey."""

PALETTE: Final = ("#0098D9", "#BF6E1D", "#B300FF", "#A6897C", "#FF00B3", "#008C7E", "#0066FF", "#A663A6")
"""The colours for services, providers and models by their rank, and for reasons. They differ clearly from each other, from the
colours of the classes, and from green and red."""

CHANNELS: Final[Mapping[str, str]] = {"thrown": PALETTE[0], "in_band": PALETTE[1]}
