"""What a user may tailor, validated in one place. Thresholds of alerts and dashboards are written here and nowhere
else.

Every refusal is an `OptionError` whose text is one line: what is wrong and what is allowed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from llm_errors.taxonomy import ErrorClass

CANCELLED: Final = "CANCELLED"
"""Key of the cancelled share among the thresholds; an outcome, not a class."""
SEVERITIES: Final = ("page", "ticket", "info")
RUNBOOKS: Final = "https://github.com/llm-errors/llm-errors/blob/main/dashboards/runbooks"
INTERVAL_SECONDS: Final = 15
"""Export, scrape and evaluation interval that the promise of a page within 30 seconds rests on."""


class OptionError(ValueError):
    """An argument that cannot be used; the text is one line for the user."""


@dataclass(frozen=True)
class Share:
    """Fires above `percent` of calls within `window` (a PromQL duration), from `minimum` events on."""

    percent: float
    window: str
    minimum: int

    @property
    def ratio(self) -> float:
        """The percentage as a fraction."""
        return round(self.percent / 100, 8)


SHARES: Final[Mapping[str, Share]] = {
    ErrorClass.RATE_LIMITED.value: Share(3, "10m", 20),
    ErrorClass.BAD_REQUEST.value: Share(1, "1h", 10),  # its reason context_overflow; any other one is told at once
    ErrorClass.TOOL_PROTOCOL.value: Share(2, "1h", 10),
    ErrorClass.PROMPT_BLOCKED.value: Share(5, "1h", 20),
    ErrorClass.OUTPUT_BLOCKED.value: Share(5, "1h", 20),
    ErrorClass.TRUNCATED.value: Share(10, "1h", 20),
    ErrorClass.UNKNOWN.value: Share(5, "15m", 20),
    CANCELLED: Share(5, "1h", 20),
}


@dataclass(frozen=True)
class Burn:
    """Fires when the budget burns `factor` times too fast over both windows, from `BURN_MINIMUM` bad calls on."""

    factor: float
    long: str
    short: str
    severity: str


BURNS: Final = (
    Burn(14.4, "1h", "5m", "page"),
    Burn(6, "6h", "30m", "page"),
    Burn(3, "1d", "2h", "ticket"),
    Burn(1, "3d", "6h", "ticket"),
)
BURN_MINIMUM: Final = 10
WEEKLY_FACTOR: Final = 3
"""A share must also be this many times its mean of the last 7 days: a steady level is no news."""
MISSING_AFTER_MINUTES: Final = 30


@dataclass(frozen=True)
class Options:
    """One tailoring of the artefacts.

    `objective` and `objectives` (per service) are percentages from 95 to below 100; `window_days` is the period of
    the error budget. `own_keys` names services whose users bring their own keys. `selectors` are PromQL matchers
    added to every raw series. `severities` maps page, ticket and info to the names in use. `shares` are the
    thresholds by class.
    """

    objective: float = 99.5
    window_days: int = 30
    objectives: Mapping[str, float] = field(default_factory=dict)
    own_keys: tuple[str, ...] = ()
    service_label: str = "job"
    selectors: tuple[str, ...] = ()
    severities: Mapping[str, str] = field(default_factory=lambda: {name: name for name in SEVERITIES})
    runbooks: str = RUNBOOKS
    shares: Mapping[str, Share] = field(default_factory=lambda: dict(SHARES))

    @property
    def window(self) -> str:
        """The budget's period as a PromQL duration."""
        return f"{self.window_days}d"


def percent(text: str, what: str) -> float:
    """Reads a percentage of an objective; raises `OptionError` below 95 or from 100 on."""
    allowed = (
        "a percentage from 95 to below 100, such as 99.5"  # below 95 no service can burn 14.4 times too fast for long
    )
    value = _number(text, what, allowed)
    if not 95 <= value < 100:
        raise OptionError(f"{what} {text!r} is not allowed: give {allowed}")
    return value


def window_days(text: str) -> int:
    """Reads the budget's period, `30d` or `30`; raises `OptionError` outside 7 to 90 days."""
    match = re.fullmatch(r"(\d{1,3})d?", text)
    if not match or not 7 <= int(match[1]) <= 90:
        raise OptionError(f"window {text!r} is not allowed: give whole days from 7d to 90d, such as 30d")
    return int(match[1])


def service_name(text: str) -> str:
    """Reads a service's name; raises `OptionError` for what cannot stand in a PromQL matcher as it is."""
    if not re.fullmatch(r"[A-Za-z0-9_./:-]{1,200}", text):
        raise OptionError(f"service {text!r} is not allowed: give letters, digits and _ . / : -")
    return text


def service_objective(text: str) -> tuple[str, float]:
    """Reads `SERVICE=PERCENT`; raises `OptionError`."""
    service, value = _pair(text, "service objective", "SERVICE=PERCENT, such as chat=99.9")
    return service_name(service), percent(value, f"objective of {service}")


def label_name(text: str) -> str:
    """Reads a Prometheus label name; raises `OptionError`."""
    if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", text):
        raise OptionError(f"service label {text!r} is not allowed: give a Prometheus label name, such as job")
    return text


def selector(text: str) -> str:
    """Reads one PromQL matcher; raises `OptionError`."""
    if not re.fullmatch(r'[a-zA-Z_][a-zA-Z0-9_]*(=|!=|=~|!~)"[^"\\\n{}]*"', text):
        raise OptionError(f'selector {text!r} is not allowed: give one PromQL matcher, such as cluster="prod"')
    return text


def severity(text: str) -> tuple[str, str]:
    """Reads `page=critical`; raises `OptionError`."""
    allowed = "NAME=VALUE with NAME one of " + ", ".join(SEVERITIES)
    name, value = _pair(text, "severity", allowed)
    if name not in SEVERITIES or not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", value):
        raise OptionError(f"severity {text!r} is not allowed: give {allowed}, such as page=critical")
    return name, value


def runbooks(text: str) -> str:
    """Reads the address that runbook links start with; raises `OptionError`."""
    if not re.fullmatch(r"https?://[^\s\"'<>{}]+", text):
        raise OptionError(f"runbook base {text!r} is not allowed: give an http(s) address")
    return text.rstrip("/")


def threshold(text: str, shares: Mapping[str, Share]) -> tuple[str, Share]:
    """Reads `CLASS=PERCENT` or `CLASS=PERCENT:MINIMUM` over the present `shares`; raises `OptionError`."""
    allowed = "CLASS=PERCENT or CLASS=PERCENT:MINIMUM with CLASS one of " + ", ".join(sorted(shares))
    name, value = _pair(text, "threshold", allowed)
    if name not in shares:
        raise OptionError(f"threshold {text!r}: no share is watched for {name!r}; give {allowed}")
    ratio, _, minimum = value.partition(":")
    number = _number(ratio, f"threshold of {name}", "a percentage between 0 and 100")
    if not 0 < number < 100:
        raise OptionError(f"threshold of {name} {ratio!r} is not allowed: give a percentage between 0 and 100")
    if minimum and not re.fullmatch(r"[1-9]\d{0,6}", minimum):
        raise OptionError(f"minimum of {name} {minimum!r} is not allowed: give a whole number of events from 1 on")
    return name, Share(number, shares[name].window, int(minimum or shares[name].minimum))


def _pair(text: str, what: str, allowed: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not (key and separator and value):
        raise OptionError(f"{what} {text!r} is not allowed: give {allowed}")
    return key, value


def _number(text: str, what: str, allowed: str) -> float:
    if not re.fullmatch(r"\d{1,3}(\.\d{1,6})?", text):
        raise OptionError(f"{what} {text!r} is not a number: give {allowed}")
    return float(text)
