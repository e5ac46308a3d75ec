"""Builds links from a panel to the traces and logs of its failures. The links open Grafana's Explore.

If a service has a namespace, Prometheus' `job` is namespace/name, while traces and logs have namespace and name in separate
attributes. So each row of a table has two hidden columns with a filter for its service, one in TraceQL and one in LogQL.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import quote

from llm_errors import semconv
from llm_errors.monitoring.promql import CLASS, MODEL

IN_TRACES: Final = "in_traces"
IN_LOGS: Final = "in_logs"
_SPLIT: Final = "(.+)/([^/]+)"
NAME_IN_TRACES: Final = "resource.service.name"
NAMESPACE_IN_TRACES: Final = "resource.service.namespace"


def with_service_filters(expression: str, label: str) -> str:
    """Add two labels to the series: a filter for the traces, and one for the logs, of the service in the label `label`."""
    for target, whole, split in (
        (IN_TRACES, f"{NAME_IN_TRACES} = `$1`", f"{NAME_IN_TRACES} = `$2` && {NAMESPACE_IN_TRACES} = `$1`"),
        (IN_LOGS, "service_name=`$1`", "service_name=`$2`, service_namespace=`$1`"),
    ):
        expression = f'label_replace(\n{expression},\n"{target}", "{whole}", "{label}", "(.+)")'
        expression = f'label_replace(\n{expression},\n"{target}", "{split}", "{label}", "{_SPLIT}")'
    return expression


def traceql(error_class: str, *more: str, operator: str = "=") -> str:
    """TraceQL for the failures of a class. With the operator `=~` it can be a pattern for several classes."""
    return "{ " + " && ".join((f"span.{semconv.ERROR_CLASS} {operator} `{error_class}`", *more)) + " }"


def logql(error_class: str, *filters: str, service: str, operator: str = "=") -> str:
    """LogQL for the failures of a class. With the operator `=~` it can be a pattern for several classes."""
    return " | ".join((f"{{{service}}}", f"{CLASS}{operator}`{error_class}`", *filters))


def traces_of_series() -> dict[str, Any]:
    """A link from a series to the traces of its class, for the services that the variables select."""
    chosen = f"{NAME_IN_TRACES} =~ `${{service_name:pipe}}`"
    return _explore("Traces of this class", "tempo", "traces", "query", traceql(_series_label(CLASS), chosen))


def of_series() -> list[dict[str, Any]]:
    """Links from a series to the traces and to the logs of its service, model and class."""
    return _both(_series_label, MODEL, _series_label(CLASS))


def of_row(classes: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Links from the row of a table to the traces and to the logs of its service, model and class.

    `classes` are used if the table has no column with the class.
    """
    kind, operator = ("|".join(classes), "=~") if classes else (_column("Class"), "=")
    return _both(_column, "Model", kind, operator)


def _both(value: Callable[[str], str], model: str, kind: str, operator: str = "=") -> list[dict[str, Any]]:
    name = value(model)
    model_span, model_log = f"span.{semconv.REQUEST_MODEL} = `{name}`", f"{MODEL}=`{name}`"
    traces = traceql(kind, value(IN_TRACES), model_span, operator=operator)
    logs = logql(kind, model_log, service=value(IN_LOGS), operator=operator)
    return [
        _explore("Traces of these failures", "tempo", "traces", "query", traces),
        _explore("Logs of these failures", "loki", "logs", "expr", logs),
    ]


def _series_label(label: str) -> str:
    return f"${{__field.labels.{label}:percentencode}}"


def _column(title: str) -> str:
    return f"${{__data.fields.{title}:percentencode}}"


def _explore(title: str, kind: str, variable: str, key: str, query: str) -> dict[str, Any]:
    source = f'"${{{variable}}}"'
    extra = '"queryType":"traceql",' if kind == "tempo" else ""
    pane = (
        f'{{"a":{{"datasource":{source},"queries":[{{"refId":"A","datasource":{{"type":"{kind}","uid":{source}}},'
        f'{extra}"{key}":"{query}"}}],"range":{{"from":"${{__from}}","to":"${{__to}}"}}}}}}'
    )
    address = quote(pane, safe="${}_.:,()'")
    return {"title": title, "targetBlank": True, "url": f"/explore?schemaVersion=1&orgId=1&panes={address}"}
