"""How panels look: one constructor per kind, fixed colours per class, thresholds read from the alerts' options.

Colours mean the same on all dashboards: reds and yellows are the provider's failures, purples and blues our own
mistakes, greens policy, grey what nobody understands yet. Grafana's names, so that both themes work.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from grafana_foundation_sdk.builders import common, heatmap, loki, prometheus, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.builders import dashboard as board
from grafana_foundation_sdk.models import common as c
from grafana_foundation_sdk.models import dashboard as m
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CLASS
from llm_errors.taxonomy import ErrorClass

COLOURS: Final[Mapping[str, str]] = {
    ErrorClass.TRANSPORT.value: "dark-orange",
    ErrorClass.TIMEOUT.value: "light-orange",
    ErrorClass.RATE_LIMITED.value: "yellow",
    ErrorClass.SERVER.value: "red",
    ErrorClass.BAD_REQUEST.value: "blue",
    ErrorClass.AUTH.value: "purple",
    ErrorClass.NOT_FOUND.value: "light-purple",
    ErrorClass.CALL_BUDGET.value: "super-light-blue",
    ErrorClass.TOOL_PROTOCOL.value: "dark-blue",
    ErrorClass.PROMPT_BLOCKED.value: "dark-green",
    ErrorClass.OUTPUT_BLOCKED.value: "green",
    ErrorClass.TRUNCATED.value: "super-light-green",
    ErrorClass.UNKNOWN.value: "text",
}
PROMETHEUS: Final = m.DataSourceRef(type_val="prometheus", uid="${datasource}")
LOKI: Final = m.DataSourceRef(type_val="loki", uid="${logs}")

COLOURED: Final = ("custom.cellOptions", {"type": "color-text"})

Step = tuple[float | None, str]
Property = tuple[str, Any]


def query(expression: str, legend: str = "", ref: str = "A", *, instant: bool = False, exemplars: bool = False) -> Any:
    """A Prometheus query; `instant` ones answer with the value at the end of the range."""
    built = prometheus.Dataquery().expr(expression).legend_format(legend or "__auto").ref_id(ref).datasource(PROMETHEUS)
    built = built.exemplar(exemplars)
    return built.instant() if instant else built.range()


def rows(expression: str, ref: str = "A") -> Any:
    """A Prometheus query whose labels become the columns of a table."""
    return query(expression, ref=ref, instant=True).format(PromQueryFormat.TABLE)


def buckets(expression: str) -> Any:
    """A Prometheus query for histogram buckets, with exemplars."""
    return query(expression, "{{le}}", exemplars=True).format(PromQueryFormat.HEATMAP)


def log_rows(expression: str) -> Any:
    """A LogQL query whose labels become the columns of a table."""
    return loki.Dataquery().expr(expression).ref_id("A").query_type("instant").datasource(LOKI)


def steps(*values: Step) -> Any:
    """Thresholds from (value, colour); the first value is None."""
    listed = [m.Threshold(value=value, color=colour) for value, colour in values]
    return board.ThresholdsConfig().mode(m.ThresholdsMode.ABSOLUTE).steps(listed)


def number(title: str, text: str, unit: str, decimals: int, thresholds: Sequence[Step], *queries: Any) -> Any:
    """A big number."""
    panel = stat.Panel().title(title).description(text).datasource(PROMETHEUS).unit(unit).decimals(decimals)
    panel = panel.thresholds(steps(*thresholds)).color_mode(c.BigValueColorMode.VALUE)
    panel = (
        panel.graph_mode(c.BigValueGraphMode.NONE)
        .no_value("no valid traffic")
        .justify_mode(c.BigValueJustifyMode.CENTER)
    )
    panel = panel.text(common.VizTextDisplayOptions().value_size(40).title_size(14))
    panel = panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    return _with(panel, queries)


def by_objective(panel: Any, options: Options) -> Any:
    """Colours each service's number by its own objective; the others keep the panel's thresholds."""
    for service, objective in sorted(options.objectives.items()):
        steps_of = [{"color": "red", "value": None}, {"color": "green", "value": round(objective / 100, 8)}]
        panel = properties(panel, service, ("thresholds", {"mode": "absolute", "steps": steps_of}))
    return panel


def lines(
    title: str, text: str, unit: str, *queries: Any, limits: Sequence[Step] = (), decimals: int | None = None
) -> Any:
    """Lines over time; `limits` are drawn dashed."""
    panel = _over_time(title, text, unit).line_width(2).fill_opacity(0)
    panel = panel if decimals is None else panel.decimals(decimals)
    if limits:
        panel = panel.axis_soft_max(
            1.1 * max(limit for limit, _ in limits if limit is not None)
        )  # keeps the lines in sight
        panel = panel.thresholds(steps((None, "transparent"), *limits))
        panel = panel.thresholds_style(common.GraphThresholdsStyleConfig().mode(c.GraphThresholdsStyleMode.DASHED))
    return _with(panel, queries)


def areas(title: str, text: str, unit: str, *queries: Any) -> Any:
    """Stacked areas over time."""
    panel = _over_time(title, text, unit).line_width(1).fill_opacity(60)
    return _with(panel.stacking(common.StackingConfig().mode(c.StackingMode.NORMAL)), queries)


def bars(title: str, text: str, *queries: Any) -> Any:
    """Stacked bars of counted events; no bar is narrower than 15 minutes."""
    panel = _over_time(title, text, "short").draw_style(c.GraphDrawStyle.BARS).line_width(0).fill_opacity(80)
    panel = panel.stacking(common.StackingConfig().mode(c.StackingMode.NORMAL)).interval("15m").decimals(0)
    return _with(panel, queries)


def listing(title: str, text: str, columns: Mapping[str, str], *queries: Any, empty: str) -> Any:
    """A table with renamed `columns` in their order; an empty new name leaves one out."""
    shown = {name: title for name, title in columns.items() if title}
    hidden = {name: True for name, title in columns.items() if not title}
    order = {name: place for place, name in enumerate(shown)}
    arranged = {
        "excludeByName": {"Time": True, "__name__": True, **hidden},
        "indexByName": order,
        "renameByName": shown,
    }
    panel = table.Panel().title(title).description(text).datasource(PROMETHEUS).no_value(empty)
    if len(queries) > 1:
        panel = panel.with_transformation(m.DataTransformerConfig(id_val="merge", options={}))
    return _with(panel.with_transformation(m.DataTransformerConfig(id_val="organize", options=arranged)), queries)


def timeline(title: str, text: str, states: Mapping[int, tuple[str, str]], *queries: Any, empty: str) -> Any:
    """States over time, by code: (text, colour)."""
    results = {str(code): state(text, colour, code) for code, (text, colour) in states.items()}
    panel = statetimeline.Panel().title(title).description(text).datasource(PROMETHEUS).no_value(empty)
    panel = panel.mappings([mapping(results)]).show_value(c.VisibilityMode.AUTO).row_height(0.8)
    panel = panel.merge_values(True).fill_opacity(85).line_width(0)
    return _with(panel.legend(common.VizLegendOptions().show_legend(False)), queries)


def heat(title: str, text: str, bucket_query: Any) -> Any:
    """A heatmap of histogram buckets in seconds."""
    panel = heatmap.Panel().title(title).description(text).datasource(PROMETHEUS).calculate(False).unit("s")
    panel = panel.y_axis(heatmap.YAxisConfig().unit("s")).exemplars_color("text")
    return _with(panel.color(heatmap.HeatmapColorOptions().scheme("Oranges").steps(32)), (bucket_query,))


def properties(panel: Any, name: str, *values: Property) -> Any:
    """Field properties of one series or column."""
    return panel.override_by_name(name, [m.DynamicConfigValue(id_val=key, value=value) for key, value in values])


def classed(panel: Any, classes: Sequence[str]) -> Any:
    """Each class in its own colour."""
    for name in classes:
        value = m.DynamicConfigValue(id_val="color", value={"mode": "fixed", "fixedColor": COLOURS[name]})
        panel = panel.override_by_name(name, [value])
    return panel


def narrow(panel: Any) -> Any:
    """A third of the width has no room for a legend beside the lines."""
    return panel.legend(_legend(c.LegendPlacement.BOTTOM).display_mode(c.LegendDisplayMode.LIST).calcs([]))


def shaded(panel: Any, colour: str) -> Any:
    """Models or services in shades of one colour, so that no other class's colour appears."""
    return panel.color_scheme(board.FieldColor().mode(m.FieldColorModeId.SHADES).fixed_color(colour))


def shaded_classes(panel: Any, classes: Sequence[str]) -> Any:
    """Reasons in shades of the colour of their class, which their name starts with."""
    for name in classes:
        value = m.DynamicConfigValue(id_val="color", value={"mode": "shades", "fixedColor": COLOURS[name]})
        panel = panel.override_by_regexp(f"/^{name} /", [value])
    return panel


def dashed(panel: Any, pattern: str) -> Any:
    """Series whose name matches drawn dashed."""
    return panel.override_by_regexp(
        pattern, [m.DynamicConfigValue(id_val="custom.lineStyle", value={"fill": "dash", "dash": [8, 6]})]
    )


def by_value(panel: Any) -> Any:
    """Series coloured by how high they reach, from yellow to red."""
    return panel.color_scheme(
        board.FieldColor().mode(m.FieldColorModeId.CONTINUOUS_YL_RD).series_by(m.FieldColorSeriesByMode.MAX)
    )


def class_cells(column: str = "Class") -> tuple[str, list[Property]]:
    """A column of classes as coloured text."""
    results = {name: state(name, colour, i) for i, (name, colour) in enumerate(COLOURS.items())}
    return column, [("mappings", [mapping(results)]), COLOURED]


def state(text: str, colour: str, index: int) -> Any:
    """How one mapped value reads and looks."""
    return m.ValueMappingResult(text=text, color=colour, index=index)


def mapping(results: Mapping[str, Any]) -> Any:
    """A mapping from values to `state`s."""
    return m.ValueMap(options=dict(results))


def sorted_by(panel: Any, column: str, *, descending: bool) -> Any:
    """A table sorted by a column."""
    order = {"fields": {}, "sort": [{"field": column, "desc": descending}]}
    return panel.with_transformation(m.DataTransformerConfig(id_val="sortBy", options=order))


def opening(panel: Any, title: str, url: str) -> Any:
    """A panel that a click leaves to another page."""
    return panel.data_links([board.DashboardLink(title).type(m.DashboardLinkType.LINK).url(url)])


def with_traces(panel: Any) -> Any:
    """A panel whose series link to the traces of their class."""
    return panel.override_by_regexp("/.*/", [m.DynamicConfigValue(id_val="links", value=[traces_of(FIELD_CLASS)])])


def traces_of(label: str) -> dict[str, Any]:
    """A data link to the traces of a class; `label` is the Grafana expression for it."""
    traceql = f'{{ span.llm.error.class = \\"{label}\\" }}'
    pane = (
        '{"a":{"datasource":"${traces}","queries":[{"refId":"A","datasource":{"type":"tempo","uid":"${traces}"},'
        f'"queryType":"traceql","query":"{traceql}"}}],"range":{{"from":"${{__from}}","to":"${{__to}}"}}}}}}'
    )
    address = quote(pane, safe="${}_.:,()'")
    return {
        "title": "Traces of this class",
        "targetBlank": True,
        "url": f"/explore?schemaVersion=1&orgId=1&panes={address}",
    }


CLASS_LEGEND: Final = f"{{{{{CLASS}}}}}"
FIELD_CLASS: Final = f"${{__field.labels.{CLASS}}}"
ROW_CLASS: Final = "${__data.fields.Class}"


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
        .no_value("nothing of the kind in this range")
    )


def _with(panel: Any, queries: Sequence[Any]) -> Any:
    for each in queries:
        panel = panel.with_target(each)
    return panel
