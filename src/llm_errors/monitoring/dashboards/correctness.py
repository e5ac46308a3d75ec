"""What did we break, and since when? Credentials, names, budgets, requests and tools, where one event matters."""

from typing import Any

from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards._board import Board, Row
from llm_errors.monitoring.dashboards.queries import Queries
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CHANNEL, CLASS, MODEL, PROVIDER, REASON, of_view
from llm_errors.taxonomy import HANDLING, ErrorClass, View

CLASSES = of_view(View.CORRECTNESS)
_FIRST = ("AUTH", "NOT_FOUND", "CALL_BUDGET", "BAD_REQUEST", "TOOL_PROTOCOL")


def board(options: Options) -> Board:
    """The correctness dashboard."""
    q = Queries(options)
    rows = [
        Row(4, [(4 if name == _FIRST[-1] else 5, _new(q, name)) for name in _FIRST]),
        Row(12, [(24, _broke(q))]),
        Row(8, [(24, _failing(q))]),
        Row(8, [(12, _by_class(q)), (12, _by_reason(q))]),
        Row(8, [(12, _by_channel(q)), (12, _shares(q))]),
    ]
    question = "What did we break, and since when? Retrying cures none of these: the owning team repairs the cause."
    return Board("llm-correctness", "LLM / Correctness", question, rows, view=View.CORRECTNESS.value, span="now-24h")


def _new(q: Queries, name: str) -> Any:
    rule = HANDLING[ErrorClass(name)]
    text = (
        f"Calls that failed with {name} in the range, counted exactly, the first of a fresh process included. "
        f"{rule.advice}"
    )
    colour = p.COLOURS[name]
    query = p.query(q.total((name,)), name, instant=True)
    return p.number(f"New {name}", text, "short", 0, [(None, "text"), (1, colour)], query)


def _broke(q: Queries) -> Any:
    text = (
        "Every kind of failure in the range, per model and reason. First seen tells which deploy or rotation to "
        "suspect; last seen (within 5 minutes) tells whether it goes on. Click a class for its traces."
    )
    columns = {
        CLASS: "Class",
        REASON: "Reason",
        PROVIDER: "Provider",
        MODEL: "Model",
        q.options.service_label: "Service",
        "Value #A": "Calls",
        "Value #B": "First seen",
        "Value #C": "Last seen",
    }
    queries = [p.rows(q.listed(CLASSES), "A"), p.rows(q.seen(CLASSES, "min"), "B"), p.rows(q.seen(CLASSES, "max"), "C")]
    panel = p.listing("What broke, and since when", text, columns, *queries, empty="nothing broke in this range")
    name, cells = p.class_cells()
    panel = p.properties(panel, name, *cells, ("links", [p.traces_of(p.ROW_CLASS)]))
    for column in ("First seen", "Last seen"):
        panel = p.properties(panel, column, ("unit", "dateTimeFromNow"))
    panel = p.properties(panel, "Calls", ("unit", "short"), ("custom.width", 90))
    return p.sorted_by(panel, "First seen", descending=True)


def _failing(q: Queries) -> Any:
    text = (
        "When each model failed, and as what. A block that ends was repaired or its caller gave up; one that "
        "reaches the right edge goes on now."
    )
    states = {code: (name, p.COLOURS[name]) for code, name in enumerate(_FIRST, start=1)}
    legend = f"{{{{{MODEL}}}}} · {{{{{CLASS}}}}}"
    queries = [p.query(q.failing(name, code), legend, chr(64 + code)) for code, (name, _) in states.items()]
    return p.timeline("Failing, by model", text, states, *queries, empty="nothing failed in this range")


def _by_class(q: Queries) -> Any:
    text = (
        "New failures per bar, counted exactly. A wall of one colour is a deploy or a credential; drops are bad luck."
    )
    return p.classed(
        p.bars("New failures by class", text, p.query(q.counted(CLASSES, [CLASS]), p.CLASS_LEGEND)), CLASSES
    )


def _by_reason(q: Queries) -> Any:
    text = "The same failures by reason: what to fix; `llm-errors docs reference` lists every reason."
    legend = f"{{{{{CLASS}}}}} {{{{{REASON}}}}}"
    panel = p.bars("New failures by reason", text, p.query(q.counted(CLASSES, [CLASS, REASON]), legend))
    return p.shaded_classes(panel, CLASSES)


def _by_channel(q: Queries) -> Any:
    text = (
        "Thrown failures raise an exception in the application. In-band ones come inside an answer that looks "
        "like a success: no exception handler sees them, so check that the application looks at the answer."
    )
    panel = p.bars(
        "Thrown against in-band", text, p.query(q.counted(tuple(p.COLOURS), [CHANNEL]), f"{{{{{CHANNEL}}}}}")
    )
    for name, colour in (("thrown", "blue"), ("in_band", "super-light-purple")):
        panel = p.properties(panel, name, ("color", {"mode": "fixed", "fixedColor": colour}))
    return panel


def _shares(q: Queries) -> Any:
    tool, overflow = (q.options.shares[name] for name in ("TOOL_PROTOCOL", "BAD_REQUEST"))
    text = (
        "The two that are told by their rate, per model over the last hour: broken tool calls from "
        f"{tool.percent:g} % on, context overflow from {overflow.percent:g} % on. Fix the schema; compress the "
        "history."
    )
    tools, overflows = q.tool_and_overflow()
    legend = f"{{{{{CLASS}}}}} {{{{{MODEL}}}}}"
    queries = [p.query(tools, legend), p.query(overflows, legend, "B")]
    limits = sorted([(overflow.ratio, p.COLOURS["BAD_REQUEST"]), (tool.ratio, p.COLOURS["TOOL_PROTOCOL"])])
    panel = p.lines("Tool protocol and context overflow, share of calls", text, "percentunit", *queries, limits=limits)
    return p.shaded_classes(panel, CLASSES)
