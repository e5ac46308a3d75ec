"""Who is told no, how often, and is that new? Nothing here is red: a block is no fault."""

from collections.abc import Sequence
from typing import Any

from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards._board import Board, Row
from llm_errors.monitoring.dashboards.queries import Queries
from llm_errors.monitoring.options import WEEKLY_FACTOR, Options
from llm_errors.monitoring.promql import CLASS, LEFT_OUT, MODEL, REASON, of_view
from llm_errors.taxonomy import ErrorClass, View

CLASSES = of_view(View.POLICY)
_CUT = (ErrorClass.TRUNCATED.value,)
_TITLES = {"PROMPT_BLOCKED": "Prompts blocked", "OUTPUT_BLOCKED": "Answers blocked", "TRUNCATED": "Answers cut off"}


def board(options: Options) -> Board:
    """The policy dashboard."""
    q = Queries(options)
    rows = [
        Row(4, [(8, _now(q, name)) for name in CLASSES]),
        Row(9, [(12, _blocked(q)), (12, _truncated(q))]),
        Row(9, [(24, _week(q))]),
        Row(8, [(12, _reasons(q, LEFT_OUT)), (12, _reasons(q, _CUT))]),
    ]
    question = (
        "Who is told no, or only half an answer, and is that new? Availability leaves blocked calls out; the "
        "policy team, not on-call, decides what to do."
    )
    return Board("llm-policy", "LLM / Policy", question, rows, view=View.POLICY.value, span="now-24h")


def _now(q: Queries, name: str) -> Any:
    share = q.options.shares[name]
    text = (
        f"Share of all calls in the last hour. Coloured from {share.percent:g} % on, the alert's number; the "
        f"alert also asks for {WEEKLY_FACTOR} times the mean of the week before today, per model. Look at the reasons below."
    )
    query = p.query(q.total_share((name,), share.window), name, instant=True)
    colours = [(None, "text"), (share.ratio, p.COLOURS[name])]
    return p.number(f"{_TITLES[name]}, last hour", text, "percentunit", 2, colours, query)


def _blocked(q: Queries) -> Any:
    share = q.options.shares[LEFT_OUT[0]]
    text = (
        "Share of each model's calls that a filter, the provider's policy or the model itself refused. A jump at "
        "one model: its filter changed. At all: a new kind of traffic, perhaps an attack. Review samples."
    )
    query = p.query(q.policy_share(LEFT_OUT), _legend())
    limits = [(share.ratio, p.COLOURS[LEFT_OUT[0]])]
    panel = p.lines("Blocked, share of calls by model", text, "percentunit", query, limits=limits)
    return p.shaded_classes(panel, LEFT_OUT)


def _truncated(q: Queries) -> Any:
    share = q.options.shares[_CUT[0]]
    text = (
        "Share of each model's answers that ended at a token limit. Ask for less, or raise the limit; a retry is "
        "no cure."
    )
    query = p.query(q.policy_share(_CUT), f"{{{{{MODEL}}}}}")
    limits = [(share.ratio, p.COLOURS[_CUT[0]])]
    panel = p.lines("Truncated, share of calls by model", text, "percentunit", query, limits=limits)
    return p.shaded(panel, p.COLOURS[_CUT[0]])


def _week(q: Queries) -> Any:
    text = (
        "Hourly shares of all calls, and the same hours a week ago (dotted). Apart: something changed since. "
        "Together: it is how people use the service."
    )
    queries = [p.query(q.share(CLASSES, [CLASS], "1h"), p.CLASS_LEGEND)]
    queries.append(p.query(q.last_week(CLASSES), f"{p.CLASS_LEGEND}, a week ago", "B"))
    panel = p.classed(p.lines("This week against last week", text, "percentunit", *queries), CLASSES)
    for name in CLASSES:
        colour = {"mode": "fixed", "fixedColor": p.COLOURS[name]}
        dots = ("custom.lineStyle", {"fill": "dot", "dash": [2, 6]})
        panel = p.properties(panel, f"{name}, a week ago", ("color", colour), dots, ("custom.lineWidth", 1))
    return panel


def _reasons(q: Queries, classes: Sequence[str]) -> Any:
    refusals = tuple(classes) == LEFT_OUT
    title = "Refusals by reason" if refusals else "Cut off answers by reason"
    text = (
        "Blocked calls per bar, by reason. `refusal` is the model's own no, the others are filters: only filters "
        "have settings."
        if refusals
        else "Cut off answers per bar, by reason. Reasoning tokens: the limit was spent before the answer began."
    )
    query = p.query(q.counted(classes, [CLASS, REASON]), f"{{{{{CLASS}}}}} {{{{{REASON}}}}}")
    return p.shaded_classes(p.bars(title, text, query), classes)


def _legend() -> str:
    return f"{{{{{CLASS}}}}} {{{{{MODEL}}}}}"
