"""The options of the generated files. All thresholds of alerts and dashboards are defined here.

`arguments` parses them from the command line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from llm_errors.taxonomy import ErrorClass

CANCELLED: Final = "CANCELLED"
"""The key of the threshold for cancelled calls, which is an outcome and not a class."""
SEVERITIES: Final = ("page", "ticket", "info")
RUNBOOKS: Final = "https://github.com/llm-errors/llm-errors/blob/main/dashboards/runbooks"
INTERVAL_SECONDS: Final = 15
"""The interval of export, scrape and evaluation. A page within 30 seconds needs this interval."""


@dataclass(frozen=True)
class Share:
    """A threshold: above `percent` of the calls within `window` (a PromQL duration), and at least `minimum` events."""

    percent: float
    window: str
    minimum: int

    @property
    def ratio(self) -> float:
        """The percentage as a fraction."""
        return round(self.percent / 100, 8)


SHARES: Final[Mapping[str, Share]] = {
    ErrorClass.RATE_LIMITED.value: Share(3, "10m", 20),
    ErrorClass.BAD_REQUEST.value: Share(1, "1h", 10),  # for context_overflow; any other reason fires at one event
    ErrorClass.TOOL_PROTOCOL.value: Share(2, "1h", 10),
    ErrorClass.PROMPT_BLOCKED.value: Share(5, "1h", 20),
    ErrorClass.OUTPUT_BLOCKED.value: Share(5, "1h", 20),
    ErrorClass.TRUNCATED.value: Share(10, "1h", 20),
    ErrorClass.UNKNOWN.value: Share(5, "15m", 20),
    CANCELLED: Share(5, "1h", 20),
}


@dataclass(frozen=True)
class Burn:
    """A threshold: the budget burns `factor` times too fast over both windows, with at least `BURN_MINIMUM` bad calls."""

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
"""The share of the valid calls of a service that pages without waiting for a burn rate."""
WEEKLY_FACTOR: Final = 3
"""A share must exceed its mean of the week before today this many times. A steady level does not fire."""
SHARE_CAP: Final = 30
"""The percentage above which a share fires whatever its mean is: a model can be bad from its first day on."""
MISSING_AFTER_MINUTES: Final = 30


WHERE: Final = ("cluster", "namespace", "deployment_environment_name")
"""Labels that tell where a service runs. Every alert has them. They are empty if the series do not have them."""


@dataclass(frozen=True)
class Team:
    """Alerts whose `label` has this `value` go to `receiver` instead of the owning team's default receiver."""

    label: str
    value: str
    receiver: str


@dataclass(frozen=True)
class Options:
    """The options of one generated set of files.

    `objective` and `objectives` (per service) are percentages from 95 to below 100; `window_days` is the period of
    the error budget. `own_keys` names services with API keys of their users, `batch_jobs` names services that report nothing
    between runs. Every aggregation keeps the `extra_labels`, like `WHERE`. `selectors` are PromQL matchers that are added
    to every raw series. `name` is a prefix of groups and recorded series, so that one Prometheus can load several sets.
    `severities` maps page, ticket and info to the user's names. `shares` are the thresholds by class. `teams` says which
    team owns which services.
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
        """The labels that identify one service in one place. Alerts about a service have one instance for each combination."""
        return tuple(dict.fromkeys((self.service_label, *WHERE, *self.extra_labels)))

    @property
    def resource(self) -> str:
        """The name of the set's resources in Kubernetes, or the prefix of their names if there are several."""
        return f"llm-errors-{self.name.lower().replace('_', '-')}".rstrip("-")

    @property
    def window(self) -> str:
        """The budget's period as a PromQL duration."""
        return f"{self.window_days}d"
