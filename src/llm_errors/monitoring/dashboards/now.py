"""Builds the first row of every dashboard, which shows whether the application or the provider fails, since when, and who
must act.

There are tiles for the views reliability, correctness and policy, and a tile for the telemetry itself. The state of a tile
depends on the alerts only, so that the dashboards never contradict the notifications. It is "down" while a page of the view
fires, "degraded" while a ticket fires, "no data" if no calls are counted, and otherwise "ok". The tile of the telemetry shows
"no data" even while a ticket fires.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from llm_errors.monitoring import promql
from llm_errors.monitoring.alerts import pipeline, telemetry
from llm_errors.monitoring.alerts._alert import Scope
from llm_errors.monitoring.dashboards import _colours as colours
from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards._board import Row
from llm_errors.monitoring.dashboards.queries import Queries
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CLASS, none_of, of_view, one_of, selector
from llm_errors.taxonomy import HANDLING, View

OK, DEGRADED, DOWN, SILENT = 1, 2, 3, 4
"""The states of a tile, as its first query returns them. 0 is not used, because Grafana also shows 0 in other situations."""
WORDS: Final = {
    OK: ("ok", colours.OK_TILE),
    DEGRADED: ("degraded", colours.DEGRADED_TILE),
    DOWN: ("down", colours.DOWN_TILE),
    SILENT: (p.NO_DATA, colours.NO_DATA_TILE),
}
IDLE: Final = -1
"""A value that a tile shows as words: its number as "no calls", and the time of the last change as "over a week"."""
REMEMBERED: Final = "7d"
HEIGHT: Final = 6


@dataclass(frozen=True)
class Tile:
    """A tile: its title, the alerts that decide its state, the query for its number (`figure`), and who must act."""

    title: str
    view: View
    alerts: tuple[str, ...]
    """Matchers for the series `ALERTS`. An alert belongs to the tile if one of the texts matches."""
    figure: str
    meaning: str
    unit: str
    decimals: int
    audience: str
    board: str
    silent_first: bool = False


def row(q: Queries) -> Row:
    """The four tiles, side by side."""
    return Row(HEIGHT, [(6, _panel(q, tile)) for tile in tiles(q)])


def tiles(q: Queries) -> list[Tile]:
    """The tiles, from left to right."""
    of_telemetry = one_of("alertname", _names(q.options, telemetry.alerts))
    of_pipeline = one_of("alertname", _names(q.options, pipeline.alerts, pipeline.evaluation))
    others = none_of("alertname", _names(q.options, telemetry.alerts, pipeline.alerts, pipeline.evaluation))

    def of_alerts(view: View) -> tuple[str, ...]:
        return (f'{q.of_service},view="{view.value}",{others}',)

    return [
        Tile("Provider failures (5 min)", View.RELIABILITY, of_alerts(View.RELIABILITY), _provider_failures(q),
             "of valid calls", "percentunit", 2, _audience(View.RELIABILITY), "llm-reliability"),
        Tile("Our failures (15 min)", View.CORRECTNESS, of_alerts(View.CORRECTNESS), _own_failures(q),
             "calls failed", "short", 0, _audience(View.CORRECTNESS), "llm-correctness"),
        Tile("Policy (1 h)", View.POLICY, of_alerts(View.POLICY), _policy(q),
             "of calls blocked or cut off", "percentunit", 2, _audience(View.POLICY), "llm-policy"),
        Tile("Telemetry (now)", View.RELIABILITY, (f"{q.of_service},{of_telemetry}", of_pipeline), _reporting(q),
             "services report", "short", 0, _audience(View.RELIABILITY), "llm-overview", silent_first=True),
    ]  # fmt: skip


def state(q: Queries, tile: Tile) -> str:
    """PromQL for the state of the tile, which is a key of `WORDS`."""
    down, degraded = (f"0 * count({_firing(q, tile, severity)}) + {code}" for severity, code in _TOLD)
    silent = f"vector({SILENT}) unless on () {_counted(q)}"
    parts = [down, silent, degraded] if tile.silent_first else [down, degraded, silent]
    return "\nor\n".join([*parts, f"vector({OK})"])


def since(q: Queries, tile: Tile) -> str:
    """PromQL for the time of the last change of state, in milliseconds since 1970.

    It is `IDLE` if the state changed over a week ago, and NaN if the time is unknown.
    """
    starts = []
    for severity, _ in _TOLD:
        firing = _firing(q, tile, severity)
        began = "\nor\n".join(selector("ALERTS_FOR_STATE", q.set_matcher, each) for each in tile.alerts)
        starts.append(f"min(({began}) and ignoring (alertstate) ({firing})) * 1000\nor\nNaN * count({firing})")
    last_call = f"max(max_over_time(timestamp({_steps(q)})[{REMEMBERED}:5m])) * 1000 unless on () {_counted(q)}"
    silent = f"{last_call}\nor\n(vector(NaN) unless on () {_counted(q)})"
    ended = f"max(max_over_time(timestamp({_any(q, tile)})[{REMEMBERED}:5m])) * 1000"
    down, degraded = starts
    parts = [down, silent, degraded] if tile.silent_first else [down, degraded, silent]
    return "\nor\n".join([*parts, ended, f"vector({IDLE})"])


def figure(q: Queries, tile: Tile) -> str:
    """PromQL for the number of the tile. It is `IDLE` if there were no calls, and NaN if no calls are counted."""
    return f"{tile.figure}\nor\n0 * {_counted(q)} {IDLE}\nor\nvector(NaN)"


_TOLD: Final = (("page", DOWN), ("ticket", DEGRADED))


def _panel(q: Queries, tile: Tile) -> Any:
    text = (
        f"Down: a page of this view fires. Degraded: a ticket does. No data: no calls are counted, so nothing is known. "
        f"The number is over the span in brackets; the word follows from the alerts. Click to open {tile.board}."
    )
    word = state(q, tile)
    queries = [
        p.query(word, "now", "A", instant=True),
        p.query(figure(q, tile), tile.meaning, "B", instant=True),
        p.query(since(q, tile), "since", "C", instant=True),
        p.query(word, "who acts", "D", instant=True),
    ]
    panel = p.facts(tile.title, text, *queries)
    mapped = {str(code): p.state(name, colour, code) for code, (name, colour) in WORDS.items()}
    panel = p.properties(panel, "now", ("mappings", [p.mapping(mapped)]))
    idle = {str(IDLE): p.state("no calls", colours.NEUTRAL, 0)}
    number = [("unit", tile.unit), ("decimals", tile.decimals), ("mappings", [p.mapping(idle)])]
    panel = p.properties(panel, tile.meaning, *number)
    week = {str(IDLE): p.state("over a week", colours.NEUTRAL, 0)}
    panel = p.properties(panel, "since", ("unit", "dateTimeFromNow"), ("mappings", [p.mapping(week)]))
    acts = {OK: "nobody", DEGRADED: f"{tile.audience}, ticket", DOWN: f"{tile.audience}, page"}
    acts[SILENT] = f"{_audience(View.RELIABILITY)}"
    who = {str(code): p.state(name, colours.NEUTRAL, code) for code, name in acts.items()}
    panel = p.properties(panel, "who acts", ("mappings", [p.mapping(who)]))
    return p.opening(panel, f"Open {tile.board}", f"/d/{tile.board}?${{__url_time_range}}&${{__all_variables}}")


def _firing(q: Queries, tile: Tile, severity: str) -> str:
    return _any(q, tile, one_of("severity", (q.options.severities[severity],)))


def _any(q: Queries, tile: Tile, *matchers: str) -> str:
    fires = ('alertstate="firing"', q.set_matcher, *matchers)
    return " or ".join(selector("ALERTS", *fires, each) for each in tile.alerts)


def _counted(q: Queries) -> str:
    """PromQL that returns a series if calls of the chosen services are counted, even if there were none, else no series."""
    return f"count({selector(q.series.valid('service'), q.of_service)})"


def _steps(q: Queries) -> str:
    return selector(q.series.tumbling(q.series.valid("service")), q.of_service)


def _provider_failures(q: Queries) -> str:
    bad, valid = (
        f"sum({selector(series, *q.of_model)})" for series in (q.series.bad("model"), q.series.valid("model"))
    )
    return f"{bad} / ({valid} > 0)"


def _own_failures(q: Queries) -> str:
    errors = selector(q.series.class_errors, *q.of_model, one_of(CLASS, of_view(View.CORRECTNESS)))
    calls = f"sum({promql.events('15m', selector(q.series.model_calls, *q.of_model))})"
    return f"(round(sum({promql.events('15m', errors)})) or 0 * {calls}) and ({calls} > 0)"


def _policy(q: Queries) -> str:
    return q.total_share(of_view(View.POLICY), "1h")


def _reporting(q: Queries) -> str:
    return _counted(q)


def _names(options: Options, *parts: Any) -> list[str]:
    scope = Scope(options)
    return list(dict.fromkeys(alert.name for part in parts for alert in part(scope)))


def _audience(view: View) -> str:
    found: Sequence[str] = [rule.audience for rule in HANDLING.values() if rule.view is view]
    return " or ".join(dict.fromkeys(found)).replace(" and ", " & ")  # the longest text just fits into a tile
