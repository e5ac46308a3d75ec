"""Builds the correctness dashboard: what did we break, and since when? It shows failures of which even a single one matters."""

from typing import Any

from llm_errors.monitoring.dashboards import _colours as colours
from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards import now
from llm_errors.monitoring.dashboards._board import Board, Row
from llm_errors.monitoring.dashboards.queries import NOTHING, Queries
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CHANNEL, CLASS, MODEL, PROVIDER, REASON, of_view
from llm_errors.taxonomy import HANDLING, ErrorClass, View

CLASSES = of_view(View.CORRECTNESS)
_FIRST = ("AUTH", "NOT_FOUND", "CALL_BUDGET", "BAD_REQUEST", "TOOL_PROTOCOL")


def board(options: Options) -> Board:
    """The correctness dashboard."""
    q = Queries(options)
    rows = [
        now.row(q),
        Row(3, [(4 if name == _FIRST[-1] else 5, _new(q, name)) for name in _FIRST]),
        Row(12, [(24, _broke(q))]),
        Row(8, [(24, _failing(q))]),
        Row(10, [(12, _by_class(q)), (12, _by_reason(q))]),
        Row(8, [(12, _by_channel(q)), (12, _shares(q))]),
    ]
    question = "What did we break, and since when? Retrying helps with none of these: the owning team fixes the cause."
    return Board("llm-correctness", "LLM / Correctness", question, rows, view=View.CORRECTNESS.value, span="now-24h")


def _new(q: Queries, name: str) -> Any:
    rule = HANDLING[ErrorClass(name)]
    text = (
        f"Calls that failed with {name} in the chosen time range, counted exactly, including the first one after a process "
        f"starts. {rule.advice}"
    )
    query = p.query(q.total((name,)), name, instant=True)
    return p.number(f"New {name}", text, "short", 0, [(None, colours.TEXT)], query)


def _broke(q: Queries) -> Any:
    text = (
        "Every failure in the chosen time range, by model and reason. First seen can be before the range: it tells which "
        "deployment or key rotation to suspect. Last seen (within 5 minutes) tells whether it still happens. Click a class "
        "or a model for traces and logs."
    )
    columns = {
        CLASS: "Class",
        REASON: "Reason",
        PROVIDER: "Provider",
        MODEL: "Model",
        q.options.service_label: "Service",
        "cluster": "Cluster",
        "Value #A": "Calls",
        "Value #B": "First seen",
        "Value #C": "Last seen",
    }
    queries = [p.rows(q.listed(CLASSES), "A")]
    queries.append(p.rows(q.seen(CLASSES, q.series.first_seen), "B"))
    queries.append(p.rows(q.seen(CLASSES, q.series.last_seen), "C"))
    panel = p.rows_linked(p.listing("What broke, and since when", text, columns, *queries))
    for column in ("First seen", "Last seen"):
        panel = p.properties(panel, column, ("unit", "dateTimeFromNow"))
    panel = p.properties(panel, "Calls", ("unit", "short"), ("custom.width", 90))
    return p.sorted_by(panel, "First seen", descending=True)


def _failing(q: Queries) -> Any:
    text = (
        "When each model failed, and with which class. A block that reaches the right edge still fails; one that ends was "
        "fixed, or nobody calls the model any more. Click a row for its traces and logs."
    )
    states = {code: (name, colours.CLASSES[name]) for code, name in enumerate(_FIRST, start=1)}
    none = len(states) + 1
    legend = f"{p.service(q.options)} · {{{{{MODEL}}}}} · {{{{{CLASS}}}}}"
    queries = [p.query(q.failing(name, code), legend, chr(64 + code)) for code, (name, _) in states.items()]
    queries.append(p.query(q.none_failing(_FIRST, none), "nothing fails", chr(64 + none)))
    panel = p.timeline("Failing, by model", text, {**states, none: ("nothing fails", colours.GOOD)}, *queries)
    return p.series_linked(panel)


def _by_class(q: Queries) -> Any:
    text = (
        "New failures per bar, counted exactly. A block of one colour points to a deployment or a credential; isolated "
        "failures are noise."
    )
    query = p.query(q.counted(CLASSES, [CLASS]), p.CLASS_LEGEND)
    panel = p.classed(p.bars("New failures by class", text, query), CLASSES)
    return p.without_failures(panel)


def _by_reason(q: Queries) -> Any:
    text = "The same failures by reason, which tells what to fix. `llm-errors docs reference` lists every reason."
    legend = f"{{{{{CLASS}}}}} {{{{{REASON}}}}}"
    panel = p.bars("New failures by reason", text, p.query(q.counted(CLASSES, [CLASS, REASON]), legend))
    return p.by_reason(panel, CLASSES)


def _by_channel(q: Queries) -> Any:
    text = (
        "Thrown failures raise an exception in the application. In-band failures arrive inside a response that looks like a "
        "success: no exception handler sees them, so check that the application looks at the response."
    )
    query = p.query(q.counted(tuple(colours.CLASSES), [CHANNEL]), f"{{{{{CHANNEL}}}}}")
    panel = p.bars("Thrown and in-band failures", text, query)
    for name, colour in {**colours.CHANNELS, NOTHING: colours.GOOD}.items():
        panel = p.coloured(panel, name, colour)
    return panel


def _shares(q: Queries) -> Any:
    tool, overflow = (q.options.shares[name] for name in ("TOOL_PROTOCOL", "BAD_REQUEST"))
    text = (
        "The two that open a ticket by their share, per model over the last hour: broken tool calls above "
        f"{tool.percent:g} %, and dashed context overflow above {overflow.percent:g} %. Fix the schema; compress the history."
    )
    tools, overflows = q.tool_and_overflow()
    legend = p.ranked(f"{{{{{MODEL}}}}} {{{{{CLASS}}}}}")
    queries = [p.query(tools, legend), p.query(overflows, legend, "B")]
    limits = [(overflow.ratio, colours.WARN), (tool.ratio, colours.BAD)]
    panel = p.lines(
        "Tool protocol and context overflow, share of calls", text, "percentunit", *queries, limits=sorted(limits)
    )
    return p.dashed(p.told_apart(panel), "/BAD_REQUEST$/")
