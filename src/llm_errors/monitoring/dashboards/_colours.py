"""What each colour means, on all dashboards.

Grafana's named colours have another shade in each theme; the hexadecimal ones here are in the middle, so that they can be
told from a dark and from a white background. `tests/monitoring/test_contrast.py` has the numbers: text at least 4.5:1,
lines at least 3:1.
"""

from collections.abc import Mapping
from typing import Final

from llm_errors.taxonomy import ErrorClass

TEXT: Final = "text"
NEUTRAL: Final = "transparent"
"""A background that is none: the text on it has the theme's own colour."""
GOOD: Final = "semi-dark-green"
"""Green means good, and nothing else is green."""
BAD: Final = "red"
WARN: Final = "semi-dark-orange"
"""For lines only: as text it is too faint on white."""

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
"""Reds, oranges and browns are the provider's failures, purples and blues our own; the policy view has teal, olive and
sand; grey is what no rule recognises."""

PALETTE: Final = ("#0098D9", "#BF6E1D", "#B300FF", "#A6897C", "#FF00B3", "#008C7E", "#0066FF", "#A663A6")
"""For services, providers and models by their rank, and for reasons: far from each other, from the classes' colours, and
from green and red."""

CHANNELS: Final[Mapping[str, str]] = {"thrown": "semi-dark-blue", "in_band": "semi-dark-orange"}
