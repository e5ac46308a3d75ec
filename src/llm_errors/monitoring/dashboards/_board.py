"""Builds what all dashboards share: variables, links, annotations and the grid. It also adds what the Grafana SDK omits."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard as board
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as m

from llm_errors.monitoring.alerts import every_alert
from llm_errors.monitoring.dashboards._panels import PROMETHEUS
from llm_errors.monitoring.dashboards.queries import Queries
from llm_errors.monitoring.marker import MARKER
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CLASS, MODEL, OPERATION, PROVIDER, VERSION

TAG: Final = "llm-errors"
REFRESH: Final = ("1m", "5m", "15m", "30m", "1h")
"""The refresh intervals in the menu. The shortest is a minute, because some series are recorded only once a minute."""
DEPLOYMENTS: Final = "Deployments"
_TOLD_AS: Final = {
    "Alerts firing": {"titleFormat": "{{alertname}}", "tagKeys": f"severity,{MODEL},{CLASS}"},
    DEPLOYMENTS: {"titleFormat": f"New version {{{{{VERSION}}}}}", "tagKeys": VERSION},
}
"""Name of an annotation -> the title and the labels that Grafana shows for it."""


def uid_in_set(uid: str, options: Options) -> str:
    """The uid that a dashboard of this rule set has in Grafana."""
    return f"{options.name}-{uid}" if options.name else uid


@dataclass(frozen=True)
class Row:
    """A row of panels: their common height in grid units, and each panel with its width. The widths add up to 24."""

    height: int
    panels: Sequence[tuple[int, Any]]
    title: str = ""


@dataclass(frozen=True)
class Board:
    """A dashboard: its uid and title, the question that it answers, and its rows.

    If `view` is set, only alerts of this view are shown as annotations.
    """

    uid: str
    title: str
    question: str
    rows: Sequence[Row]
    view: str = ""
    span: str = "now-6h"

    def document(self, options: Options) -> dict[str, Any]:
        """The dashboard in Grafana's classic JSON schema."""
        built = _shell(self, options)
        for row in self.rows:
            if row.title:
                built = built.with_row(board.Row(row.title))
            for width, panel in row.panels:
                built = built.with_panel(panel.span(width).height(row.height))
        document: dict[str, Any] = json.loads(JSONEncoder(sort_keys=True).encode(built.build()))
        _repair(document)
        _link_runbooks(document, options)
        return document


def _shell(wanted: Board, options: Options) -> Any:
    queries = Queries(options)
    shell = (
        board.Dashboard(wanted.title)
        .uid(wanted.uid)
        .description(f"{wanted.question} {MARKER}.")
        .tags([TAG, "llm", "opentelemetry"])
    )
    shell = (
        shell.time(wanted.span, "now")
        .refresh(REFRESH[0])
        .timepicker(board.TimePicker().refresh_intervals(list(REFRESH)))
        .timezone("browser")
        .readonly()
        .tooltip(m.DashboardCursorSync.CROSSHAIR)
    )
    siblings = board.DashboardLink("LLM errors").type(m.DashboardLinkType.DASHBOARDS).tags([TAG]).as_dropdown(False)
    runbooks = board.DashboardLink("Runbooks").type(m.DashboardLinkType.LINK).url(options.runbooks).target_blank(True)
    shell = shell.link(siblings.include_vars(True).keep_time(True)).link(runbooks.icon("doc"))
    for variable in _variables(queries):
        shell = shell.with_variable(variable)
    alerts = board.AnnotationQuery().name("Alerts firing").datasource(PROMETHEUS).enable(True).icon_color("red")
    shell = shell.annotation(alerts.expr(queries.firing(f'view="{wanted.view}"' if wanted.view else "")))
    deployments = board.AnnotationQuery().name(DEPLOYMENTS).datasource(PROMETHEUS).enable(True).icon_color("blue")
    return shell.annotation(deployments.expr(queries.deployments()))


def _variables(queries: Queries) -> list[Any]:
    labels = {"service": "Service", "environment": "Environment"}
    chosen: list[str] = []
    scope = []
    for label, name in queries.scope:
        scope.append(
            _choice(name, labels.get(name, name.replace("_", " ").capitalize()), queries.values(label, *chosen))
        )
        chosen.append(f'{label}=~"${name}"')
    of_model = queries.of_model
    return [
        _datasource("datasource", "Data source", "prometheus"),
        _datasource("traces", "Traces", "tempo"),
        _datasource("logs", "Logs", "loki"),
        *scope,
        _service_names(queries),
        _choice("provider", "Provider", queries.values(PROVIDER, *of_model[:1])),
        _choice("model", "Model", queries.values(MODEL, *of_model[:2])),
        _choice("operation", "Operation", queries.values(OPERATION, *of_model)),
    ]


def _service_names(queries: Queries) -> Any:
    """A variable with the names that the chosen services have in traces and logs.

    They are Prometheus' `job` without the namespace.
    """
    everything = m.VariableOption(text="All", value="$__all", selected=True)
    values = queries.values(queries.options.service_label, queries.of_service)
    variable = board.QueryVariable("service_name").query(values).regex("/([^/]+)$/").datasource(PROMETHEUS)
    variable = variable.multi(True).include_all(True).refresh(m.VariableRefresh.ON_TIME_RANGE_CHANGED)
    return variable.hide(m.VariableHide.HIDE_VARIABLE).current(everything)


def _datasource(name: str, label: str, kind: str) -> Any:
    return board.DatasourceVariable(name).label(label).type(kind)


def _choice(name: str, label: str, values: str) -> Any:
    everything = m.VariableOption(text="All", value="$__all", selected=True)
    variable = board.QueryVariable(name).label(label).query(values).datasource(PROMETHEUS).multi(True)
    variable = variable.include_all(True).all_value(".*").refresh(m.VariableRefresh.ON_TIME_RANGE_CHANGED)
    return variable.sort(m.VariableSort.ALPHABETICAL_ASC).current(everything)


def _repair(document: dict[str, Any]) -> None:
    """Add what the Grafana SDK leaves out: panel ids, the default of the data source variable, and texts of annotations."""
    for number, panel in enumerate(document["panels"], start=1):
        panel["id"] = number
    for note in document["annotations"]["list"]:
        note.update(_TOLD_AS[note["name"]])
    for variable in document["templating"]["list"]:
        if variable["type"] == "datasource":
            variable["current"] = {"text": "default", "value": "default"}


def _link_runbooks(document: dict[str, Any], options: Options) -> None:
    """Link each panel to the runbooks of the alerts that refer to it."""
    by_panel: dict[str, list[str]] = {}
    for alert in every_alert(options):
        names = by_panel.setdefault(alert.panel, [])
        names += [] if alert.name in names else [alert.name]
    for panel in document["panels"]:
        names = by_panel.get(f"{document['uid']}/{panel['title']}", [])
        if names:
            panel["links"] = [_runbook(name, options) for name in names]


def _runbook(alert: str, options: Options) -> dict[str, Any]:
    link = board.DashboardLink(f"Runbook {alert}").type(m.DashboardLinkType.LINK).target_blank(True)
    built = link.url(f"{options.runbooks}/{alert}.md").build()
    encoded: dict[str, Any] = json.loads(JSONEncoder(sort_keys=True).encode(built))
    return encoded
