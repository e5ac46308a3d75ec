"""Builds the policy dashboard: who gets no answer, how often, and is that new? Nothing is red, as a block is not a fault."""

from collections.abc import Sequence
from typing import Any

from llm_errors.monitoring.dashboards import _colours as colours
from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards import now
from llm_errors.monitoring.dashboards._board import Board, Row
from llm_errors.monitoring.dashboards.queries import Queries
from llm_errors.monitoring.options import WEEKLY_FACTOR, Options
from llm_errors.monitoring.promql import CLASS, LEFT_OUT, MODEL, OPERATION, PROVIDER, REASON, of_view
from llm_errors.taxonomy import ErrorClass, View

CLASSES = of_view(View.POLICY)
_CUT = (ErrorClass.TRUNCATED.value,)
_TITLES = {"PROMPT_BLOCKED": "Prompts blocked", "OUTPUT_BLOCKED": "Answers blocked", "TRUNCATED": "Answers cut off"}


def board(options: Options) -> Board:
    """The policy dashboard."""
    q = Queries(options)
    rows = [
        now.row(q),
        Row(3, [(8, _now(q, name)) for name in CLASSES]),
        Row(9, [(12, _callers(q)), (12, _reasons(q, LEFT_OUT))]),
        Row(9, [(24, _week(q))]),
        Row(9, [(12, _blocked(q)), (12, _truncated(q))]),
        Row(8, [(24, _reasons(q, _CUT))]),
    ]
    question = (
        "Who is refused an answer or gets half of one, since when, and is that new? Trust and safety decides about blocks, "
        "product about answers that are cut off; on-call is not needed."
    )
    return Board("llm-policy", "LLM / Policy", question, rows, view=View.POLICY.value, span="now-24h")


def _now(q: Queries, name: str) -> Any:
    share = q.options.shares[name]
    text = (
        f"Share of all calls of the last hour. A ticket opens per model above {share.percent:g} % and {WEEKLY_FACTOR} times "
        "the mean of the week before today. Look at the callers and reasons below."
    )
    query = p.query(q.total_share((name,), share.window), name, instant=True)
    return p.number(f"{_TITLES[name]}, last hour", text, "percentunit", 2, [(None, colours.TEXT)], query)


def _callers(q: Queries) -> Any:
    text = (
        "The services and operations with the most blocked calls in the chosen time range. One caller alone: look at what "
        "it sends, perhaps an attack. All of them: a filter changed."
    )
    columns = {
        q.options.service_label: "Service",
        "cluster": "Cluster",
        OPERATION: "Operation",
        "Value #A": "Blocked calls",
        "Value #B": "Of their calls",
    }
    queries = [p.rows(q.blocked_callers(LEFT_OUT), "A"), p.rows(q.blocked_share(LEFT_OUT), "B")]
    panel = p.listing("Most blocked callers", text, columns, *queries)
    panel = p.properties(panel, "Of their calls", ("unit", "percentunit"), ("decimals", 2))
    panel = p.properties(panel, "Blocked calls", ("unit", "short"))
    return p.sorted_by(panel, "Blocked calls", descending=True)


def _blocked(q: Queries) -> Any:
    share = q.options.shares[LEFT_OUT[0]]
    text = (
        "Share of each model's calls that a filter, the provider's policy or the model itself refused; blocked answers are "
        "dashed. A jump of one model: its filter changed. Of all: a new kind of traffic, perhaps an attack."
    )
    query = p.query(q.recorded_share(LEFT_OUT, share.window), p.ranked(f"{{{{{MODEL}}}}} {{{{{CLASS}}}}}"))
    limits = [(share.ratio, colours.WARN)]
    panel = p.lines("Blocked, share of calls by model", text, "percentunit", query, limits=limits)
    return p.dashed(p.told_apart(panel), "/OUTPUT_BLOCKED$/")


def _truncated(q: Queries) -> Any:
    share = q.options.shares[_CUT[0]]
    text = (
        "Share of the answers of each model and operation that ended at a token limit. Ask for shorter output or raise the "
        "limit; a retry does not help."
    )
    legend = p.ranked(f"{{{{{PROVIDER}}}}} {{{{{MODEL}}}}} {{{{{OPERATION}}}}}")
    query = p.query(q.truncated(_CUT, share.window), legend)
    limits = [(share.ratio, colours.WARN)]
    title = "Truncated, share of calls by model and operation"
    return p.told_apart(p.lines(title, text, "percentunit", query, limits=limits))


def _week(q: Queries) -> Any:
    text = (
        "Hourly shares of all calls, and dotted the same hours of last week. If the lines diverge, something changed; if "
        "they overlap, it is normal usage."
    )
    queries = [p.query(q.hourly_share(CLASSES), p.CLASS_LEGEND)]
    queries.append(p.query(q.hourly_share(CLASSES, "7d"), f"{p.CLASS_LEGEND}, last week", "B"))
    panel = p.classed(p.lines("This week and last week", text, "percentunit", *queries), CLASSES)
    for name in CLASSES:
        dots = ("custom.lineStyle", {"fill": "dot", "dash": [2, 6]})
        panel = p.coloured(panel, f"{name}, last week", colours.CLASSES[name])
        panel = p.properties(panel, f"{name}, last week", dots, ("custom.lineWidth", 1))
    return panel


def _reasons(q: Queries, classes: Sequence[str]) -> Any:
    refusals = tuple(classes) == LEFT_OUT
    title = "Refusals by reason" if refusals else "Truncated answers by reason"
    text = (
        "Blocked calls per bar, by reason. `refusal` comes from the model itself; all others are filters, which have "
        "settings."
        if refusals
        else "Truncated answers per bar, by reason. `reasoning_tokens`: the limit was reached before the answer began."
    )
    query = p.query(q.counted(classes, [CLASS, REASON]), f"{{{{{CLASS}}}}} {{{{{REASON}}}}}")
    return p.by_reason(p.bars(title, text, query), classes)
