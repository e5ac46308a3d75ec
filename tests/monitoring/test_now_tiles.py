"""The word, the figure, the moment and the audience of each "now" tile, in every state that it can have, as a real
Prometheus answers and the tile's own mappings read it.

Each situation is a service of its own, so one set of data holds them all and the tiles' filter is tested as well.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from artifact_tools import STACK, promtool, tool

pytest.importorskip("grafana_foundation_sdk", reason="dashboards need the extra `generate`")

import monday
from seeded_prometheus import SeededPrometheus

from llm_errors.monitoring import dashboards
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import Series

NOW, BEGAN = monday.NOW, monday.NOW - 720
SERIES = Series(Options())
PROVIDER, OURS, POLICY, TELEMETRY = (
    "Provider failures (5 min)",
    "Our failures (15 min)",
    "Policy (1 h)",
    "Telemetry (now)",
)
BOARDS = dashboards.build(Options())
TICKET, PAGE = "ticket", "page"


@dataclass(frozen=True)
class Situation:
    """A service: the alerts that fire for it as (name, view, severity), and its calls in 5 minutes (None: not counted)."""

    service: str
    alerts: tuple[tuple[str, str, str], ...] = ()
    calls: float | None = 200
    bad: float = 0
    told: dict[str, str] = field(default_factory=dict)
    """The word of each tile; those that are left out are ok."""


SITUATIONS = (
    Situation("calm"),
    Situation("outage", (("LLMAvailabilityBurnPage", "reliability", PAGE),), bad=100, told={PROVIDER: "down"}),
    Situation("one-model", (("LLMModelBurnTicket", "reliability", TICKET),), told={PROVIDER: "degraded"}),
    Situation(
        "page-and-ticket",
        (("LLMRateLimitSpike", "reliability", PAGE), ("LLMModelBurnTicket", "reliability", TICKET)),
        told={PROVIDER: "down"},
    ),
    Situation("revoked-key", (("LLMCredentialOrModelError", "correctness", PAGE),), told={OURS: "down"}),
    Situation("own-keys", (("LLMCredentialOrModelError", "correctness", TICKET),), told={OURS: "degraded"}),
    Situation("blocked", (("LLMBlockedShareHigh", "policy", TICKET),), told={POLICY: "degraded"}),
    Situation("policy-page", (("LLMBlockedShareHigh", "policy", PAGE),), told={POLICY: "down"}),
    Situation("unreadable", (("LLMTelemetryUnreadable", "reliability", TICKET),), told={TELEMETRY: "degraded"}),
    Situation("unknown-once", (("LLMUnknownErrors", "review", "info"),)),
    Situation("idle", calls=0),
    Situation("silent", calls=None, told=dict.fromkeys((PROVIDER, OURS, POLICY, TELEMETRY), "no data")),
    Situation(
        "silent-for-long",
        (("LLMTelemetryMissing", "reliability", TICKET),),
        calls=None,
        told=dict.fromkeys((PROVIDER, OURS, POLICY, TELEMETRY), "no data"),
    ),
    Situation(
        "silent-with-a-revoked-key",
        (("LLMCredentialOrModelError", "correctness", PAGE),),
        calls=None,
        told={**dict.fromkeys((PROVIDER, POLICY, TELEMETRY), "no data"), OURS: "down"},
    ),
)
EACH = [
    pytest.param(situation, title, id=f"{situation.service}-{title.split()[0]}")
    for situation in SITUATIONS
    for title in (PROVIDER, OURS, POLICY, TELEMETRY)
]


def samples(situation: Situation) -> Iterator[tuple[str, dict[str, str], float, int]]:
    """What the rules would have recorded: name, labels, value and time."""
    place = {"job": situation.service, "cluster": "eu"}
    model = {**place, "gen_ai_provider_name": "openai", "gen_ai_request_model": "m"}
    call = {**model, "gen_ai_operation_name": "chat"}
    for time in range(NOW - 3600, NOW + 1, 60):
        if situation.calls is not None:
            yield SERIES.valid("service"), place, situation.calls, time
            yield SERIES.valid("model"), model, situation.calls, time
            yield SERIES.bad("model"), model, situation.bad, time
            yield SERIES.model_calls, model, situation.calls, time
            yield SERIES.calls, {**call, "llm_call_outcome": "ok"}, situation.calls, time
    for name, view, severity in situation.alerts:
        labels = {**place, "alertname": name, "view": view, "severity": severity}
        for time in range(BEGAN, NOW + 1, 60):
            yield "ALERTS", {**labels, "alertstate": "firing"}, 1, time
            yield "ALERTS_FOR_STATE", labels, BEGAN, time


def open_metrics(found: Iterator[tuple[str, dict[str, str], float, int]]) -> str:
    lines: dict[str, dict[str, list[str]]] = {}
    for name, labels, value, time in found:
        key = "{" + ",".join(f'{label}="{text}"' for label, text in labels.items()) + "}"
        lines.setdefault(name, {}).setdefault(key, []).append(f"{name}{key} {value!r} {time}")
    text = []
    for name, series in lines.items():
        text += [f"# TYPE {name} gauge", *(line for listed in series.values() for line in listed)]
    return "\n".join([*text, "# EOF", ""])


def prometheus_with(folder: Any, found: Iterator[tuple[str, dict[str, str], float, int]]) -> SeededPrometheus:
    prometheus = SeededPrometheus(tool("prometheus", STACK), promtool("current"), folder)
    prometheus.write(open_metrics(found))
    return prometheus


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeededPrometheus]:
    found = (sample for situation in SITUATIONS for sample in samples(situation))
    prometheus = prometheus_with(tmp_path_factory.mktemp("tiles"), found)
    with prometheus.running():
        yield prometheus


def shown(prometheus: SeededPrometheus, title: str, service: str) -> dict[str, tuple[float, str]]:
    """Each line of a tile by its name: the value, and the text that stands for it if one does."""
    tile = next(panel for panel in BOARDS["llm-overview"]["panels"] if panel["title"] == title)
    mapped = {
        override["matcher"]["options"]: {
            value: result["text"]
            for one in override["properties"]
            if one["id"] == "mappings"
            for mapping in one["value"]
            for value, result in mapping["options"].items()
        }
        for override in tile["fieldConfig"]["overrides"]
    }
    found = {}
    for target in tile["targets"]:
        query = re.sub(r"\$(?!\d)\w+", ".*", target["expr"].replace("$service", service))
        (one,) = prometheus.query(query, instant=True, hours=1, step=60)
        value, name = float(one["value"][1]), target["legendFormat"]
        text = "no data" if math.isnan(value) else mapped[name].get(f"{value:g}", "")
        found[name] = (value, text)
    return found


@pytest.mark.parametrize(("situation", "title"), EACH)
def test_the_word_follows_from_the_alerts_and_from_what_is_counted(
    situation: Situation, title: str, answers: SeededPrometheus
) -> None:
    assert shown(answers, title, situation.service)["now"][1] == situation.told.get(title, "ok")


@pytest.mark.parametrize(
    ("service", "title", "acts"),
    [
        ("calm", PROVIDER, "nobody"),
        ("outage", PROVIDER, "platform on-call, page"),
        ("one-model", PROVIDER, "platform on-call, ticket"),
        ("revoked-key", OURS, "owning team, page"),
        ("own-keys", OURS, "owning team, ticket"),
        ("blocked", POLICY, "trust & safety or product, ticket"),
        ("unreadable", TELEMETRY, "platform on-call, ticket"),
        ("silent", TELEMETRY, "platform on-call"),
        ("silent", POLICY, "platform on-call"),
    ],
)
def test_it_names_who_acts(service: str, title: str, acts: str, answers: SeededPrometheus) -> None:
    assert shown(answers, title, service)["who acts"][1] == acts


@pytest.mark.parametrize("title", [PROVIDER, OURS, POLICY])
def test_the_figure_says_no_calls_where_calls_are_counted_and_none_were_made(
    title: str, answers: SeededPrometheus
) -> None:
    (figure,) = (line for name, line in shown(answers, title, "idle").items() if name.startswith(("of ", "calls ")))
    assert figure[1] == "no calls"


@pytest.mark.parametrize("title", [PROVIDER, OURS, POLICY, TELEMETRY])
def test_the_figure_of_a_silent_service_is_no_data_and_not_0(title: str, answers: SeededPrometheus) -> None:
    lines = shown(answers, title, "silent")
    assert all(value != 0 for value, _ in lines.values())
    assert [text for name, (_, text) in lines.items() if name not in ("now", "since", "who acts")] == ["no data"]


def test_the_figure_is_the_share_over_the_span(answers: SeededPrometheus) -> None:
    assert shown(answers, PROVIDER, "outage")["of valid calls"][0] == 0.5
    assert shown(answers, PROVIDER, "calm")["of valid calls"][0] == 0
    assert shown(answers, TELEMETRY, "calm")["services report"][0] == 1


@pytest.mark.parametrize(
    ("service", "title", "seconds"),
    [
        ("outage", PROVIDER, BEGAN),
        ("revoked-key", OURS, BEGAN),
        ("blocked", POLICY, BEGAN),
        ("page-and-ticket", PROVIDER, BEGAN),
    ],
)
def test_since_is_when_the_alert_began(service: str, title: str, seconds: int, answers: SeededPrometheus) -> None:
    assert shown(answers, title, service)["since"][0] == seconds * 1000


def test_without_an_alert_in_a_week_it_has_been_ok_for_longer(answers: SeededPrometheus) -> None:
    assert shown(answers, PROVIDER, "calm")["since"][1] == "over a week"


def test_a_silence_that_nobody_knows_the_beginning_of_has_no_moment(answers: SeededPrometheus) -> None:
    assert shown(answers, TELEMETRY, "silent")["since"][1] == "no data"


@pytest.mark.parametrize("alert", ["LLMPipelineLosing", "LLMRulesBehind"])
def test_a_collector_or_prometheus_in_trouble_degrades_the_telemetry_of_every_service(
    alert: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def found() -> Iterator[tuple[str, dict[str, str], float, int]]:
        yield from samples(Situation("shop"))
        labels = {"job": "collectors", "alertname": alert, "view": "reliability", "severity": TICKET}
        yield "ALERTS", {**labels, "alertstate": "firing"}, 1, NOW

    prometheus = prometheus_with(tmp_path_factory.mktemp("pipeline"), found())
    with prometheus.running():
        assert shown(prometheus, TELEMETRY, "shop")["now"][1] == "degraded"
        assert shown(prometheus, PROVIDER, "shop")["now"][1] == "ok"


@pytest.mark.parametrize("uid", BOARDS)
def test_every_dashboard_begins_with_the_tiles(uid: str) -> None:
    first = [panel for panel in BOARDS[uid]["panels"] if panel["gridPos"]["y"] == 0]
    assert [panel["title"] for panel in first] == [PROVIDER, OURS, POLICY, TELEMETRY]


def test_a_renamed_severity_counts_alike() -> None:
    names = {"page": "critical", "ticket": "warning", "info": "info"}
    tile = dashboards.build(Options(severities=names))["llm-overview"]["panels"][0]
    word = tile["targets"][0]["expr"]
    assert word.index('severity="critical"') < word.index('severity="warning"')
