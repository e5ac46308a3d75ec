"""Is the path to the models up, and how fast does it spend the budget? Only what providers and networks do."""

from typing import Any

from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards._board import Board, Row
from llm_errors.monitoring.dashboards.queries import Queries
from llm_errors.monitoring.options import BURNS, CANCELLED, Options
from llm_errors.monitoring.promql import BAD, CLASS, MODEL, PROVIDER, of_view, one_of, selector
from llm_errors.taxonomy import ErrorClass, View

_WARN, _PAGE = "orange", "red"


def board(options: Options) -> Board:
    """The reliability dashboard."""
    q = Queries(options)
    days = f"{options.window_days} days"
    rows = [
        Row(4, [(6, _availability(q, days)), (6, _budget(q, days)), (6, _succeeded(q, days)), (6, _burning_now(q))]),
        Row(9, [(12, _burn(q)), (12, _failures(q))]),
        Row(9, [(12, _worst(q)), (12, _rate_limits(q))]),
        Row(8, [(8, _retries(q)), (8, _latency(q)), (8, _cancelled(q))]),
        Row(8, [(12, _traced(q)), (12, _retry_after(q))]),
    ]
    question = (
        "Is the path to the models up? Only TRANSPORT, TIMEOUT, RATE_LIMITED and SERVER burn the budget; calls "
        "that were blocked or cancelled are no valid events."
    )
    return Board("llm-reliability", "LLM / Reliability", question, rows, view=View.RELIABILITY.value, logs=True)


def _availability(q: Queries, days: str) -> Any:
    text = (
        f"Share of valid calls that did not fail by the provider's or the network's fault, over {days}. Blocked "
        "and cancelled calls are left out. Red: the objective is missed; look at the worst models below."
    )
    goal = q.options.objective / 100
    limits = [(None, _PAGE), (goal, "green")]
    query = p.query(q.availability(), _service(q), instant=True)
    tile = p.number(f"Availability, {days}", text, "percentunit", 3, limits, query)
    return p.by_objective(tile, q.options)


def _budget(q: Queries, days: str) -> Any:
    text = (
        f"What is left of the failures that the objective allows in {days}. Below a quarter: stop risky changes. "
        "Below zero: the objective is missed."
    )
    limits = [(None, _PAGE), (0, _WARN), (0.25, "green")]
    return p.number(
        f"Error budget left, {days}", text, "percentunit", 1, limits, p.query(q.budget(), _service(q), instant=True)
    )


def _succeeded(q: Queries, days: str) -> Any:
    text = (
        f"Calls that ended well, among all that were not cancelled, over {days}. Far below availability: the "
        "fault is ours or a filter's, so open Correctness or Policy."
    )
    query = p.query(q.succeeded(), _service(q), instant=True)
    return p.number(f"Calls that succeeded, {days}", text, "percentunit", 2, [(None, "text")], query)


def _burning_now(q: Queries) -> Any:
    page = BURNS[0]
    text = (
        f"How many times faster than allowed the budget burns over the last {page.long}. 1 spends it exactly; "
        f"{page.factor:g} pages. Open the worst models below."
    )
    limits = [(None, "green"), (BURNS[3].factor, "yellow"), (BURNS[1].factor, _WARN), (page.factor, _PAGE)]
    return p.number(
        "Burn rate, last hour", text, "none", 1, limits, p.query(q.burn_rate(page.long), _service(q), instant=True)
    )


def _burn(q: Queries) -> Any:
    first, second = BURNS[:2]
    text = (
        f"How many times faster than allowed the budget burns. The dashed lines page: {first.factor:g} over "
        f"{first.long}, {second.factor:g} over {second.long}. A line that falls again needs no action but a look "
        "at what it was."
    )
    queries = [p.query(q.burn_rate(b.long), f"{_service(q)} {b.long}", ref) for b, ref in ((first, "A"), (second, "B"))]
    limits = [(second.factor, _WARN), (first.factor, _PAGE)]
    panel = p.shaded(p.lines("Burn rate", text, "none", *queries, limits=limits, decimals=1), "text")
    return p.dashed(panel, f"/{second.long}$/")


def _failures(q: Queries) -> Any:
    text = (
        "The four classes that burn the budget, against all calls. RATE_LIMITED: raise the quota or shed load. "
        "SERVER: fall back. TIMEOUT: check deadlines. TRANSPORT: check the network first. Click a series for its "
        "traces."
    )
    panel = p.areas(
        "Provider failures, share of calls", text, "percentunit", p.query(q.share(BAD, [CLASS]), p.CLASS_LEGEND)
    )
    return p.with_traces(p.classed(panel, BAD))


def _worst(q: Queries) -> Any:
    text = (
        "Which model fails most, by share of its valid calls in the last hour. One model: fall back to another. "
        "All models of a provider: its status page. All: our own network."
    )
    columns = {
        q.options.service_label: "Service",
        PROVIDER: "Provider",
        MODEL: "Model",
        "Value #A": "Failing",
        "Value #B": "Failed calls",
        "Value #C": "Calls",
    }
    s = q.series
    queries = [p.rows(q.worst_models(), "A"), p.rows(q.model_events(s.bad("model")), "B")]
    queries.append(p.rows(q.model_events(s.valid("model")), "C"))
    panel = p.listing("Worst models, last hour", text, columns, *queries, empty="no model failed in the last hour")
    allowed = 1 - q.options.objective / 100
    colours = [{"color": "text", "value": None}, {"color": _WARN, "value": round(allowed, 6)}]
    colours.append({"color": _PAGE, "value": round(BURNS[0].factor * allowed, 6)})
    share = [("unit", "percentunit"), ("decimals", 2), ("thresholds", {"mode": "absolute", "steps": colours})]
    panel = p.properties(panel, "Failing", *share, ("custom.cellOptions", {"type": "color-text"}))
    return p.properties(p.properties(panel, "Failed calls", ("unit", "short")), "Calls", ("unit", "short"))


def _rate_limits(q: Queries) -> Any:
    name = ErrorClass.RATE_LIMITED.value
    share = q.options.shares[name]
    text = (
        f"Share of each model's calls that its provider refused as too many, over {share.window}. The dashed line "
        "pages: slow the callers, route elsewhere or raise the quota."
    )
    error = selector(q.series.class_errors, *q.of_model, one_of(CLASS, (name,)))
    query = p.query(q.share_of_model(error, q.series.by_class, share.window), _model())
    limits = [(share.ratio, _PAGE)]
    panel = p.lines("Rate limited, share of calls by model", text, "percentunit", query, limits=limits)
    return p.shaded(panel, p.COLOURS[name])


def _retries(q: Queries) -> Any:
    text = (
        "Failed attempts that the SDK's own retry hid, per call. They cost time and quota although no call "
        "failed: a rise here comes before failures. If it is high, retry in one layer only."
    )
    query = p.query(q.hidden_retries(), p.CLASS_LEGEND)
    panel = p.areas("Retries hidden by SDKs, per call", text, "percentunit", query)
    return p.narrow(p.classed(panel, of_view(View.RELIABILITY)))


def _latency(q: Queries) -> Any:
    text = (
        "How long calls take; brighter is more. A second band far above the first is a provider that hangs: "
        "compare it with the application's deadline. Empty where another instrumentation reports durations."
    )
    query = p.buckets(q.latency())
    return p.heat("Call latency", text, query)


def _cancelled(q: Queries) -> Any:
    share = q.options.shares[CANCELLED]
    text = (
        f"Share of each model's calls that the application itself gave up on, over {share.window}. Above the "
        "dashed line, and three times its week: its deadline may hide a provider that hangs."
    )
    limits = [(share.ratio, _WARN)]
    query = p.query(q.cancelled(), _model())
    panel = p.lines("Cancelled, share of calls by model", text, "percentunit", query, limits=limits)
    return p.narrow(p.shaded(panel, "text"))


def _traced(q: Queries) -> Any:
    text = (
        "Failures a minute, from the raw counter. Diamonds are exemplars: click one to open its trace. The first "
        "failure of a fresh process is missing here and counted everywhere else."
    )
    query = p.query(q.traced_failures(BAD), p.CLASS_LEGEND, exemplars=True)
    panel = p.lines("Failures a minute, with traces", text, "cpm", query)
    return p.with_traces(p.classed(panel, BAD))


def _retry_after(q: Queries) -> Any:
    text = (
        "The longest wait that a provider asked for (Retry-After), from the failure logs. Retrying earlier only "
        "prolongs the limit; minutes mean a quota, seconds a burst."
    )
    columns = {PROVIDER: "Provider", MODEL: "Model", CLASS: "Class", "Value #A": "Longest wait"}
    query = p.log_rows(q.retry_after())
    panel = p.listing("Retry-After seen", text, columns, query, empty="no provider asked to wait").datasource(p.LOKI)
    name, cells = p.class_cells()
    return p.properties(p.properties(panel, name, *cells), "Longest wait", ("unit", "s"))


def _service(q: Queries) -> str:
    return f"{{{{{q.options.service_label}}}}}"


def _model() -> str:
    return f"{{{{{PROVIDER}}}}} {{{{{MODEL}}}}}"
