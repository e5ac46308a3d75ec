"""Builds panels, with a function for each kind of panel. `_colours` says what the colours mean.

Every panel shows a text if there is no data. No query replaces missing data by 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from grafana_foundation_sdk.builders import common, loki, prometheus, stat, statetimeline, table, tempo, timeseries
from grafana_foundation_sdk.builders import dashboard as board
from grafana_foundation_sdk.builders import text as words
from grafana_foundation_sdk.models import common as c
from grafana_foundation_sdk.models import dashboard as m
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from grafana_foundation_sdk.models.tempo import SearchTableType
from grafana_foundation_sdk.models.text import TextMode

from llm_errors.monitoring.boards import SLOTS
from llm_errors.monitoring.dashboards._colours import BAD, CLASSES, GOOD, NEUTRAL, PALETTE, TEXT
from llm_errors.monitoring.dashboards.links import IN_LOGS, IN_TRACES, of_row, of_series, traces_of_series
from llm_errors.monitoring.dashboards.queries import NOTHING
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CLASS
from llm_errors.taxonomy import REASONS, ErrorClass

NO_DATA: Final = "no data"
PROMETHEUS: Final = m.DataSourceRef(type_val="prometheus", uid="${datasource}")
LOKI: Final = m.DataSourceRef(type_val="loki", uid="${logs}")
TEMPO: Final = m.DataSourceRef(type_val="tempo", uid="${traces}")

COLOURED: Final = ("custom.cellOptions", {"type": "color-text"})
BADGE: Final = ("custom.cellOptions", {"type": "color-background", "mode": "basic"})
HIDDEN: Final = (("custom.hidden", True), ("custom.hideFrom", {"viz": True, "legend": True, "tooltip": True}))
"""The properties that hide a column which only links need: the first in Grafana before 12.2, the second since then."""

Step = tuple[float | None, str]
Property = tuple[str, Any]


def query(expression: str, legend: str = "", ref: str = "A", *, instant: bool = False) -> Any:
    """A Prometheus query. An `instant` query returns the value at the end of the range."""
    built = prometheus.Dataquery().expr(expression).legend_format(legend or "__auto").ref_id(ref).datasource(PROMETHEUS)
    return built.instant() if instant else built.range()


def rows(expression: str, ref: str = "A") -> Any:
    """A Prometheus query for a table. The labels of the result become columns."""
    return query(expression, ref=ref, instant=True).format(PromQueryFormat.TABLE)


def log_rows(expression: str) -> Any:
    """A LogQL query for a table. The labels of the result become columns."""
    return loki.Dataquery().expr(expression).ref_id("A").query_type("instant").datasource(LOKI)


def traces(expression: str, limit: int) -> Any:
    """A TraceQL query for the newest spans. Each row is a span."""
    built = tempo.TempoQuery().query(expression).ref_id("A").query_type("traceql").limit(limit)
    return built.table_type(SearchTableType.SPANS).datasource(TEMPO)


def steps(*values: Step) -> Any:
    """Thresholds from pairs of value and colour: from the value on, the colour is used. The first value must be None."""
    listed = [m.Threshold(value=value, color=colour) for value, colour in values]
    return board.ThresholdsConfig().mode(m.ThresholdsMode.ABSOLUTE).steps(listed)


def number(title: str, text: str, unit: str, decimals: int, thresholds: Sequence[Step], *queries: Any) -> Any:
    """A panel with a big number."""
    panel = stat.Panel().title(title).description(text).datasource(PROMETHEUS).unit(unit).decimals(decimals)
    panel = panel.thresholds(steps(*thresholds)).color_mode(c.BigValueColorMode.VALUE)
    panel = panel.graph_mode(c.BigValueGraphMode.NONE).no_value(NO_DATA).justify_mode(c.BigValueJustifyMode.CENTER)
    panel = panel.text(common.VizTextDisplayOptions().value_size(32).title_size(14)).wide_layout(False)
    panel = panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    return _with(panel, queries)


def by_objective(panel: Any, options: Options) -> Any:
    """Colour the number of each service by its own objective. Services without their own keep the panel's thresholds."""
    for service, objective in sorted(options.objectives.items()):
        steps_of = [{"color": BAD, "value": None}, {"color": GOOD, "value": round(objective / 100, 8)}]
        panel = properties(panel, service, ("thresholds", {"mode": "absolute", "steps": steps_of}))
    return panel


def lines(
    title: str, text: str, unit: str, *queries: Any, limits: Sequence[Step] = (), decimals: int | None = None
) -> Any:
    """A panel with lines over time. `limits` are drawn as dashed lines."""
    panel = _over_time(title, text, unit).line_width(2).fill_opacity(0)
    panel = panel if decimals is None else panel.decimals(decimals)
    if limits:
        panel = panel.axis_soft_max(
            1.1 * max(limit for limit, _ in limits if limit is not None)
        )  # so that the limit is always visible
        panel = panel.thresholds(steps((None, "transparent"), *limits))
        panel = panel.thresholds_style(common.GraphThresholdsStyleConfig().mode(c.GraphThresholdsStyleMode.DASHED))
    return _with(panel, queries)


def facts(title: str, text: str, *queries: Any) -> Any:
    """A panel with several values and their names, one below the other. The background of a value can have a colour."""
    panel = stat.Panel().title(title).description(text).datasource(PROMETHEUS).no_value(NO_DATA)
    panel = panel.color_mode(c.BigValueColorMode.BACKGROUND_SOLID).graph_mode(c.BigValueGraphMode.NONE)
    panel = panel.text_mode(c.BigValueTextMode.VALUE_AND_NAME).orientation(c.VizOrientation.HORIZONTAL)
    panel = panel.justify_mode(c.BigValueJustifyMode.AUTO).wide_layout(True)
    panel = panel.text(common.VizTextDisplayOptions().value_size(20).title_size(14))
    panel = panel.thresholds(steps((None, NEUTRAL))).color_scheme(fixed(NEUTRAL))
    panel = panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    return _with(panel, queries)


def page(title: str, text: str, markdown: str) -> Any:
    """A panel with text."""
    return words.Panel().title(title).description(text).mode(TextMode.MARKDOWN).content(markdown)


def areas(title: str, text: str, unit: str, *queries: Any) -> Any:
    """A panel with stacked areas over time."""
    panel = _over_time(title, text, unit).line_width(1).fill_opacity(60)
    return _with(panel.stacking(common.StackingConfig().mode(c.StackingMode.NORMAL)), queries)


def bars(title: str, text: str, *queries: Any) -> Any:
    """A panel with stacked bars of counted events over time. A bar is at least 15 minutes wide."""
    panel = _over_time(title, text, "short").draw_style(c.GraphDrawStyle.BARS).line_width(0).fill_opacity(80)
    panel = panel.stacking(common.StackingConfig().mode(c.StackingMode.NORMAL)).interval("15m")
    return _with(panel, queries)


def listing(title: str, text: str, columns: Mapping[str, str], *queries: Any) -> Any:
    """A table. `columns`, in the order of display: name in the result -> shown name, or an empty text to hide the column."""
    shown = {name: title for name, title in columns.items() if title}
    hidden = {name: True for name, title in columns.items() if not title}
    order = {name: index for index, name in enumerate(shown)}
    arranged = {
        "excludeByName": {"Time": True, "__name__": True, **hidden},
        "indexByName": order,
        "renameByName": shown,
    }
    panel = table.Panel().title(title).description(text).datasource(PROMETHEUS).no_value(NO_DATA)
    if len(queries) > 1:
        panel = panel.with_transformation(m.DataTransformerConfig(id_val="merge", options={}))
    for column in shown.values():  # a row may lack some labels and still has data
        panel = properties(panel, column, ("noValue", "-"))
    return _with(panel.with_transformation(m.DataTransformerConfig(id_val="organize", options=arranged)), queries)


def timeline(title: str, text: str, states: Mapping[int, tuple[str, str]], *queries: Any) -> Any:
    """A panel with states over time. `states`: value -> text and colour. The text is shown in the tooltip only."""
    results = {str(code): state(text, colour, code) for code, (text, colour) in states.items()}
    panel = statetimeline.Panel().title(title).description(text).datasource(PROMETHEUS).no_value(NO_DATA)
    panel = panel.mappings([mapping(results)]).show_value(c.VisibilityMode.NEVER).row_height(0.8)
    panel = panel.merge_values(True).fill_opacity(85).line_width(0)
    return _with(panel.legend(common.VizLegendOptions().show_legend(False)), queries)


def properties(panel: Any, name: str, *values: Property) -> Any:
    """Set field properties of one series or column."""
    return panel.override_by_name(name, [m.DynamicConfigValue(id_val=key, value=value) for key, value in values])


def classed(panel: Any, classes: Sequence[str]) -> Any:
    """Show each class in its own colour."""
    for name in classes:
        panel = coloured(panel, name, CLASSES[name])
    return panel


def narrow(panel: Any) -> Any:
    """Put the legend below the lines. A panel of a third of the width has no room for a legend beside them."""
    return panel.legend(_legend(c.LegendPlacement.BOTTOM).display_mode(c.LegendDisplayMode.LIST).calcs([]))


def told_apart(panel: Any) -> Any:
    """Colour services, providers or models by the rank with which their name begins.

    So each of them has the same colour on all panels, and neighbouring ranks differ. All ranks after the eighth are grey.
    """
    panel = panel.color_scheme(fixed(TEXT))
    for slot, colour in zip(SLOTS, PALETTE, strict=True):
        panel = _by_pattern(panel, f"/^{slot}/", colour)
    return without_failures(panel)


def by_reason(panel: Any, classes: Sequence[str]) -> Any:
    """Give each series of a reason a fixed colour, as all reasons are known. The series are named `CLASS reason`."""
    names = [(turn, f"{name} {reason}") for turn, name in enumerate(classes) for reason in REASONS[ErrorClass(name)]]
    for index, (turn, name) in enumerate(names):
        # Several classes begin with the same reasons. The offset gives these reasons different colours in each class.
        panel = coloured(panel, name, PALETTE[(index + 3 * turn) % len(PALETTE)])
    return without_failures(panel)


def one_each(panel: Any, beginnings: Sequence[str]) -> Any:
    """Give each series its own colour by the beginning of its name. All beginnings are known."""
    for beginning, colour in zip(beginnings, PALETTE, strict=False):
        panel = _by_pattern(panel, f"/^{beginning}( |$)/", colour)
    return panel


def by_name(panel: Any) -> Any:
    """Let Grafana choose the colour of each series by its name, because the names are not known."""
    return panel.color_scheme(board.FieldColor().mode(m.FieldColorModeId.PALETTE_CLASSIC_BY_NAME))


def _by_pattern(panel: Any, pattern: str, colour: str) -> Any:
    value = m.DynamicConfigValue(id_val="color", value={"mode": "fixed", "fixedColor": colour})
    return panel.override_by_regexp(pattern, [value])


def coloured(panel: Any, name: str, colour: str) -> Any:
    """Show one series in a fixed colour."""
    return properties(panel, name, ("color", {"mode": "fixed", "fixedColor": colour}))


def without_failures(panel: Any) -> Any:
    """Show the series "no failures" in the colour for good values."""
    return _by_pattern(panel, f"/^ ?{NOTHING}/", GOOD)


def fixed(colour: str) -> Any:
    """A colour scheme of one colour."""
    return board.FieldColor().mode(m.FieldColorModeId.FIXED).fixed_color(colour)


def dashed(panel: Any, pattern: str) -> Any:
    """Draw the series whose names match a pattern as dashed lines."""
    return panel.override_by_regexp(
        pattern, [m.DynamicConfigValue(id_val="custom.lineStyle", value={"fill": "dash", "dash": [8, 6]})]
    )


def state(text: str, colour: str, index: int) -> Any:
    """The text and the colour that a panel shows for a value. `mapping` needs them."""
    return m.ValueMappingResult(text=text, color=colour, index=index)


def mapping(results: Mapping[str, Any]) -> Any:
    """A value mapping of Grafana. `results`: value -> the result of `state`."""
    return m.ValueMap(options=dict(results))


def wide(panel: Any, columns: Mapping[str, int]) -> Any:
    """Set the widths of the given columns of a table. The other columns share the rest of the width."""
    for column, pixels in columns.items():
        panel = properties(panel, column, ("custom.width", pixels))
    return panel


def sorted_by(panel: Any, column: str, *, descending: bool) -> Any:
    """Sort a table by a column."""
    order = {"fields": {}, "sort": [{"field": column, "desc": descending}]}
    return panel.with_transformation(m.DataTransformerConfig(id_val="sortBy", options=order))


def renamed(panel: Any, pattern: str, name: str) -> Any:
    """Shorten the names of the series: the part that matches a pattern is replaced by `name`."""
    options = {"regex": pattern, "renamePattern": name}
    return panel.with_transformation(m.DataTransformerConfig(id_val="renameByRegex", options=options))


def opening(panel: Any, title: str, url: str) -> Any:
    """Let a click on the panel open another page."""
    return panel.data_links([board.DashboardLink(title).type(m.DashboardLinkType.LINK).url(url)])


def with_traces(panel: Any) -> Any:
    """Link each series of a panel to the traces of its class."""
    return panel.override_by_regexp("/.*/", [m.DynamicConfigValue(id_val="links", value=[traces_of_series()])])


def series_linked(panel: Any) -> Any:
    """Link each series of a panel to the traces and logs of its service, model and class."""
    return panel.override_by_regexp("/.*/", [m.DynamicConfigValue(id_val="links", value=of_series())])


def rows_linked(panel: Any) -> Any:
    """Link the class and the model in each row of a table to the traces and logs of that row."""
    for column in (IN_TRACES, IN_LOGS):
        panel = properties(panel, column, *HIDDEN)
    for column in ("Class", "Model"):
        panel = properties(panel, column, ("links", of_row()))
    return panel


def models_linked(panel: Any, classes: Sequence[str]) -> Any:
    """Link each row of a table of models to the traces and logs of these classes."""
    for column in (IN_TRACES, IN_LOGS):
        panel = properties(panel, column, *HIDDEN)
    return properties(panel, "Model", ("links", of_row(classes)))


def service(options: Options) -> str:
    """The legend of a series: its service, and its cluster if it has one."""
    return f"{{{{{options.service_label}}}}} {{{{cluster}}}}"


def ranked(legend: str) -> str:
    """The legend of a series, preceded by the rank that decides the colour."""
    return f"{{{{slot}}}} {legend}"


CLASS_LEGEND: Final = f"{{{{{CLASS}}}}}"


def _legend(placement: c.LegendPlacement) -> Any:
    legend = common.VizLegendOptions().display_mode(c.LegendDisplayMode.TABLE).placement(placement)
    return legend.show_legend(True).calcs(["lastNotNull", "max"]).sort_by("Max").sort_desc(True)


def _over_time(title: str, text: str, unit: str) -> Any:
    tooltip = common.VizTooltipOptions().mode(c.TooltipDisplayMode.MULTI).sort(c.SortOrder.DESCENDING)
    panel = timeseries.Panel().title(title).description(text).datasource(PROMETHEUS).unit(unit).min(0)
    return (
        panel.legend(_legend(c.LegendPlacement.RIGHT))
        .tooltip(tooltip)
        .show_points(c.VisibilityMode.NEVER)
        .no_value(NO_DATA)
    )


def _with(panel: Any, queries: Sequence[Any]) -> Any:
    for each in queries:
        panel = panel.with_target(each)
    return panel
