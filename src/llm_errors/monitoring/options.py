"""Defines the options of the generated files, and all thresholds of alerts and dashboards.

`arguments` parses the options from the command line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from llm_errors.taxonomy import ErrorClass

CANCELLED: Final = "CANCELLED"
"""The key of the threshold for cancelled calls. Cancelled is an outcome of a call and not a class."""
SEVERITIES: Final = ("page", "ticket", "info")
RUNBOOKS: Final = "https://github.com/llm-errors/llm-errors/blob/main/dashboards/runbooks"
INTERVAL_SECONDS: Final = 15
"""The interval of metric exports, scrapes and evaluations. With this interval, an alert fires within 30 seconds."""


@dataclass(frozen=True)
class Share:
    """A threshold: more than `percent` of the calls within `window` (a PromQL duration), and at least `minimum` events."""

    percent: float
    window: str
    minimum: int

    @property
    def ratio(self) -> float:
        """The percentage as a fraction."""
        return round(self.percent / 100, 8)


SHARES: Final[Mapping[str, Share]] = {
    ErrorClass.RATE_LIMITED.value: Share(3, "10m", 20),
    ErrorClass.BAD_REQUEST.value: Share(1, "1h", 10),  # context_overflow only; other reasons fire at the first event
    ErrorClass.TOOL_PROTOCOL.value: Share(2, "1h", 10),
    ErrorClass.PROMPT_BLOCKED.value: Share(5, "1h", 20),
    ErrorClass.OUTPUT_BLOCKED.value: Share(5, "1h", 20),
    ErrorClass.TRUNCATED.value: Share(10, "1h", 20),
    ErrorClass.UNKNOWN.value: Share(5, "15m", 20),
    CANCELLED: Share(5, "1h", 20),
}


@dataclass(frozen=True)
class Burn:
    """A threshold: over both windows, the error budget is consumed more than `factor` times faster than the objective allows,
    and there are at least `BURN_MINIMUM` bad calls."""

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
"""The share of a service's valid calls that must be bad to page at once, whatever the burn rate is."""
WEEKLY_FACTOR: Final = 3
"""How many times a share must exceed its mean of the week before today, so that a steady level does not fire."""
SHARE_CAP: Final = 30
"""The percentage above which a share fires whatever its mean is, because a model can be bad from its first day on."""
MISSING_AFTER_MINUTES: Final = 30


WHERE: Final = ("cluster", "namespace", "deployment_environment_name")
"""Labels that tell where a service runs. Every alert keeps them. A label is empty if the series do not have it."""


@dataclass(frozen=True)
class Team:
    """Alerts whose `label` has this `value` go to `receiver` instead of the owning team's default receiver."""

    label: str
    value: str
    receiver: str


@dataclass(frozen=True)
class Options:
    """The options of one generated set of files.

    `objective` and `objectives` (per service) are percentages from 95 to below 100; `window_days` is the period of the
    error budget. `own_keys` names services whose users bring their own API keys, and `batch_jobs` names services that
    report nothing between runs. Every aggregation keeps the `extra_labels`, like `WHERE`. `selectors` are PromQL matchers
    that are added to every raw series. `name` is a prefix of groups and recorded series, so that one Prometheus can load
    several sets. `severities` maps page, ticket and info to the user's names. `shares` are the thresholds by class.
    `teams` says which team owns which services.
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
        """The labels that identify one service in one place. An alert fires separately for each combination of their values."""
        return tuple(dict.fromkeys((self.service_label, *WHERE, *self.extra_labels)))

    @property
    def resource(self) -> str:
        """The name of this rule set's resources in Kubernetes."""
        return f"llm-errors-{self.name.lower().replace('_', '-')}".rstrip("-")

    @property
    def window(self) -> str:
        """The period of the error budget as a PromQL duration."""
        return f"{self.window_days}d"
