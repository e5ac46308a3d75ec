"""Builds the reliability dashboard: do providers and networks work, and how fast do failures consume the error budget?"""

from typing import Any

from llm_errors.monitoring.alerts import burn as burn_alerts
from llm_errors.monitoring.dashboards import _colours as colours
from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards import month, now
from llm_errors.monitoring.dashboards._board import Board, Row
from llm_errors.monitoring.dashboards.queries import Queries
from llm_errors.monitoring.options import BURNS, CANCELLED, Burn, Options
from llm_errors.monitoring.promql import BAD, CLASS, MODEL, PROVIDER, of_view
from llm_errors.providers import PROVIDERS
from llm_errors.taxonomy import ErrorClass, View


def board(options: Options) -> Board:
    """The reliability dashboard."""
    q = Queries(options)
    days = f"{options.window_days} days"
    rows = [
        now.row(q),
        Row(9, [(12, _failures(q)), (12, _worst(q))]),
        Row(3, [(24, _status_pages())]),
        Row(6, [(6, _burn(q, burn)) for burn in BURNS]),
        Row(10, [(12, _latency(q)), (12, _first_chunk(q))]),
        Row(8, [(8, _rate_limits(q)), (8, _retries(q)), (8, _cancelled(q))]),
        Row(8, [(10, _a_minute(q)), (14, _spans(q))]),
        Row(7, [(12, _retry_after(q)), (12, _burndown(q, days))]),
        Row(4, [(8, month.availability(q)), (8, month.budget(q)), (8, month.succeeded(q))]),
    ]
    question = (
        "Is it the provider, since when, and which model? Only TRANSPORT, TIMEOUT, RATE_LIMITED and SERVER consume the "
        "error budget; blocked and cancelled calls do not count."
    )
    return Board("llm-reliability", "LLM / Reliability", question, rows, view=View.RELIABILITY.value)


def _burndown(q: Queries, days: str) -> Any:
    text = (
        f"How the error budget went down over {days}, whatever time range is chosen. A steep fall is an incident; a line "
        "that reaches 0 has missed the objective."
    )
    query = p.query(q.budget_over_time(), p.ranked(p.service(q.options)))
    panel = p.lines(f"Error budget over {days}", text, "percentunit", query, limits=[(0, colours.BAD)])
    return p.told_apart(panel).time_from(q.options.window).interval("1h").max(1).hide_time_override(True)


def _burn(q: Queries, burn: Burn) -> Any:
    effect = "pages" if burn.severity == "page" else "opens a ticket"
    text = (
        f"How many times faster than the objective allows the error budget was consumed over {burn.long}. The dashed line, "
        f"{burn.factor:g}, {effect} while the last {burn.short} agree. At 1 the budget lasts exactly {q.options.window_days} "
        "days."
    )
    limits = [(burn.factor, colours.BAD if burn.severity == "page" else colours.WARN)]
    title = burn_alerts.panel(burn).partition("/")[2]
    query = p.query(q.burn_rate(burn), p.ranked(p.service(q.options)))
    return p.narrow(p.told_apart(p.lines(title, text, "none", query, limits=limits, decimals=1)))


def _failures(q: Queries) -> Any:
    text = (
        "The four classes that consume the error budget, as a share of all calls. RATE_LIMITED: raise the quota or throttle "
        "callers. SERVER: fall back to another model. TIMEOUT: check deadlines. TRANSPORT: check your network first. Click "
        "a class for its traces."
    )
    query = p.query(q.share(BAD, [CLASS]), p.CLASS_LEGEND)
    panel = p.classed(p.areas("Provider failures, share of calls", text, "percentunit", query), BAD)
    return p.with_traces(p.without_failures(panel))


def _worst(q: Queries) -> Any:
    text = (
        "The models with the highest share of failures among their valid calls. One model: fall back to another. All models "
        "of a provider: see its status page. All providers: our own network."
    )
    columns = {
        q.options.service_label: "Service",
        "cluster": "Cluster",
        PROVIDER: "Provider",
        MODEL: "Model",
        "Value #A": "Failing",
        "Value #B": "Failed calls",
        "Value #C": "Calls",
    }
    s = q.series
    queries = [p.rows(q.worst_models(), "A"), p.rows(q.model_events(s.bad("model")), "B")]
    queries.append(p.rows(q.model_events(s.valid("model")), "C"))
    panel = p.listing("Worst models, last hour", text, columns, *queries)
    allowed = 1 - q.options.objective / 100
    steps = [{"color": colours.TEXT, "value": None}, {"color": colours.BAD, "value": round(allowed, 6)}]
    share = [("unit", "percentunit"), ("decimals", 2), ("thresholds", {"mode": "absolute", "steps": steps})]
    panel = p.properties(p.models_linked(panel, BAD), "Failing", *share, p.COLOURED)
    panel = p.wide(panel, {"Cluster": 80, "Failing": 90, "Failed calls": 105, "Calls": 80})
    return p.properties(p.properties(panel, "Failed calls", ("unit", "short")), "Calls", ("unit", "short"))


def _status_pages() -> Any:
    text = "Where the providers report outages. A failure that only you see is not there: then check your network and keys."
    pages: dict[str, list[str]] = {}
    for provider in PROVIDERS:
        if provider.status_page:
            pages.setdefault(provider.status_page, []).append(provider.name)
    links = (f"[{', '.join(names)}]({address})" for address, names in pages.items())
    return p.page("Status pages of the providers", text, " · ".join(links))


def _latency(q: Queries) -> Any:
    text = (
        "How long calls take: the median, and dashed the time within which 95 % of them end. A rise without failures is a "
        "slow provider: compare it with your deadline. No data where another instrumentation reports durations."
    )
    queries = [p.query(q.latency(0.5), f"{_model()} p50", "A"), p.query(q.latency(0.95), f"{_model()} p95", "B")]
    return _by_model(p.lines("Call latency", text, "s", *queries))


def _first_chunk(q: Queries) -> Any:
    text = (
        "How long streams take to their first chunk: the median, and dashed the 95th percentile. It is what a user waits "
        "for. No data where nothing streams or another instrumentation reports it."
    )
    queries = [
        p.query(q.first_chunk(0.5), f"{_model()} p50", "A"),
        p.query(q.first_chunk(0.95), f"{_model()} p95", "B"),
    ]
    return _by_model(p.lines("Time to first chunk", text, "s", *queries))


def _by_model(panel: Any) -> Any:
    return p.dashed(p.told_apart(panel), "/p95$/")


def _rate_limits(q: Queries) -> Any:
    name = ErrorClass.RATE_LIMITED.value
    share = q.options.shares[name]
    text = (
        f"Share of each model's calls that its provider rejected as too many, over {share.window}. The dashed line pages: "
        "throttle callers, reroute, or raise the quota."
    )
    query = p.query(q.rate_limited(name, share.window), _model())
    limits = [(share.ratio, colours.BAD)]
    panel = p.lines("Rate limited, share of calls by model", text, "percentunit", query, limits=limits)
    return p.narrow(p.told_apart(panel))


def _retries(q: Queries) -> Any:
    text = (
        "Failed attempts that the SDK's own retry hid, per call. They cost time and quota although no call failed, and rise "
        "before failures do. If it is high, retry in one layer only."
    )
    query = p.query(q.hidden_retries(), p.CLASS_LEGEND)
    panel = p.areas("Retries hidden by SDKs, per call", text, "percentunit", query)
    return p.narrow(p.without_failures(p.classed(panel, of_view(View.RELIABILITY))))


def _cancelled(q: Queries) -> Any:
    share = q.options.shares[CANCELLED]
    text = (
        f"Share of each model's calls that the application itself cancelled, over {share.window}. Above the dashed line and "
        "three times the week before today it opens a ticket: the deadline may hide a provider that hangs."
    )
    limits = [(share.ratio, colours.WARN)]
    query = p.query(q.cancelled(share.window), _model())
    panel = p.lines("Cancelled, share of calls by model", text, "percentunit", query, limits=limits)
    return p.narrow(p.told_apart(panel))


def _a_minute(q: Queries) -> Any:
    text = "New failures a minute, including the first one after a process starts. Click a class for its traces."
    query = p.query(q.failures_a_minute(BAD), p.CLASS_LEGEND)
    panel = p.classed(p.lines("Failures a minute", text, "cpm", query), BAD)
    return p.with_traces(p.without_failures(panel))


def _spans(q: Queries) -> Any:
    text = (
        "Failed calls in the chosen time range, from the traces. Click a trace id to see the whole trace. No data without a "
        "Tempo data source."
    )
    panel = p.listing("Latest failed calls", text, {}, p.traces(q.failed_spans(BAD), 20)).datasource(p.TEMPO)
    return panel.unit("string")


def _retry_after(q: Queries) -> Any:
    text = (
        "The longest wait that a provider asked for (Retry-After), from the failure logs. Seconds mean a burst, minutes an "
        "exhausted quota; retrying earlier prolongs the limit."
    )
    columns = {PROVIDER: "Provider", MODEL: "Model", CLASS: "Class", "Value #A": "Longest wait"}
    panel = p.listing("Retry-After seen", text, columns, p.log_rows(q.retry_after())).datasource(p.LOKI)
    return p.properties(panel, "Longest wait", ("unit", "s"))


def _model() -> str:
    return p.ranked(f"{{{{{PROVIDER}}}}} {{{{{MODEL}}}}}")
