"""What a user may tailor. Thresholds of alerts and dashboards are written here and nowhere else.

How the command line's text becomes these values, and what is refused, is in `arguments`.
"""

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
OUTAGE: Final = Share(50, "3m", 10)
"""Of the valid calls of a service: what pages at once."""
WEEKLY_FACTOR: Final = 3
"""A share must also be this many times its mean of the week before today: a steady level is no news."""
SHARE_CAP: Final = 30
"""Percentage from which on a share is news whatever its mean: a model can be bad from its first day on."""
MISSING_AFTER_MINUTES: Final = 30


WHERE: Final = ("cluster", "namespace", "deployment_environment_name")
"""Labels that tell where a service runs. Every alert carries them; they are empty where the series have none."""


@dataclass(frozen=True)
class Team:
    """Alerts whose `label` has this `value` go to `receiver` instead of the owning team's default receiver."""

    label: str
    value: str
    receiver: str


@dataclass(frozen=True)
class Options:
    """One tailoring of the artefacts.

    `objective` and `objectives` (per service) are percentages from 95 to below 100; `window_days` is the period of
    the error budget. `own_keys` names services whose users bring their own keys, `batch_jobs` those that are silent
    between runs. `extra_labels` go through every aggregation beside `WHERE`. `selectors` are PromQL matchers added to
    every raw series. `name` prefixes groups and recorded series, so that several sets can live in one Prometheus.
    `severities` maps page, ticket and info to the names in use. `shares` are the thresholds by class. `teams` say who
    owns which services.
    """

    objective: float = 99.5
    window_days: int = 30
    objectives: Mapping[str, float] = field(default_factory=dict)
    own_keys: tuple[str, ...] = ()
    batch_jobs: tuple[str, ...] = ()
    service_label: str = "job"
    extra_labels: tuple[str, ...] = ()
    name: str = ""
    selectors: tuple[str, ...] = ()
    severities: Mapping[str, str] = field(default_factory=lambda: {name: name for name in SEVERITIES})
    runbooks: str = RUNBOOKS
    shares: Mapping[str, Share] = field(default_factory=lambda: dict(SHARES))
    teams: tuple[Team, ...] = ()

    @property
    def scope(self) -> tuple[str, ...]:
        """The labels of one service in one place: what alerts about a service are told by."""
        return tuple(dict.fromkeys((self.service_label, *WHERE, *self.extra_labels)))

    @property
    def resource(self) -> str:
        """Name of the set's resources in Kubernetes, and the start of the names of those with several."""
        return f"llm-errors-{self.name.lower().replace('_', '-')}".rstrip("-")

    @property
    def window(self) -> str:
        """The budget's period as a PromQL duration."""
        return f"{self.window_days}d"
