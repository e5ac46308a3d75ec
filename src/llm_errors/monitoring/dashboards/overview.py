"""Where to look first: one number per view, what fires, and the review of what no rule could class."""

from typing import Any

from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards._board import Board, Row
from llm_errors.monitoring.dashboards.queries import Queries
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import CLASS, MODEL, PROVIDER, REASON, of_view
from llm_errors.semconv import ERROR_FINGERPRINT, EXCEPTION_TYPE, prometheus_label
from llm_errors.taxonomy import ErrorClass, View

_UNKNOWN = (ErrorClass.UNKNOWN.value,)


def board(options: Options) -> Board:
    """The overview, with the review of UNKNOWN."""
    q = Queries(options)
    rows = [
        Row(4, [(6, _availability(q)), (6, _correctness(q)), (6, _policy(q)), (6, _unknown(q))]),
        Row(11, [(14, _classes(q)), (10, _firing(q))]),
        Row(8, [(12, _calls(q)), (12, _providers(q))]),
        Row(7, [(12, _unclassified(q)), (12, _fingerprints(q))], title="Review: what no rule could class"),
    ]
    question = "Where to look first: one number per view, what fires now, and what no rule could class yet."
    return Board("llm-overview", "LLM / Overview", question, rows, logs=True)


def _availability(q: Queries) -> Any:
    days = f"{q.options.window_days} days"
    text = (
        f"Valid calls that no provider or network failed, over {days}. Red: below the objective; click to open "
        "Reliability."
    )
    limits = [(None, "red"), (q.options.objective / 100, "green")]
    query = p.query(q.availability(), f"{{{{{q.options.service_label}}}}}", instant=True)
    tile = p.number(f"Availability, {days}", text, "percentunit", 3, limits, query)
    return _to(p.by_objective(tile, q.options), "reliability")


def _correctness(q: Queries) -> Any:
    text = (
        "Failures that we caused, in the range: keys, names, budgets, requests, tools. Above 0: click to open "
        "Correctness."
    )
    query = p.query(q.total(of_view(View.CORRECTNESS)), "correctness", instant=True)
    limits = [(None, "text"), (1, p.COLOURS[ErrorClass.AUTH])]
    return _to(p.number("New correctness failures", text, "short", 0, limits, query), "correctness")


def _policy(q: Queries) -> Any:
    text = "Calls of the last hour that were blocked or cut off. No fault, but users notice: click to open Policy."
    shares = q.options.shares
    limit = min(shares[name].ratio for name in of_view(View.POLICY))
    query = p.query(q.total_share(of_view(View.POLICY), "1h"), "policy", instant=True)
    limits = [(None, "text"), (limit, p.COLOURS[ErrorClass.OUTPUT_BLOCKED])]
    return _to(p.number("Blocked or cut off, last hour", text, "percentunit", 2, limits, query), "policy")


def _unknown(q: Queries) -> Any:
    share = q.options.shares[_UNKNOWN[0]]
    text = (
        f"Calls of the last {share.window} that failed in a way no rule knows; they burn no budget. Red pages: "
        "availability may be blind. Look at the fingerprints below."
    )
    query = p.query(q.total_share(_UNKNOWN, share.window), "unclassified", instant=True)
    return p.number(
        "Unclassified, share of calls", text, "percentunit", 2, [(None, "text"), (share.ratio, "red")], query
    )


def _classes(q: Queries) -> Any:
    text = (
        "All failures against all calls, in the colours used on all dashboards: reds and yellows are the "
        "provider's, purples and blues ours, greens policy, grey unclassified. Open the dashboard of the colour "
        "that grows."
    )
    everything = tuple(p.COLOURS)
    panel = p.areas(
        "Failures by class, share of calls", text, "percentunit", p.query(q.share(everything, [CLASS]), p.CLASS_LEGEND)
    )
    return p.with_traces(p.classed(panel, everything))


def _firing(q: Queries) -> Any:
    text = "What fires now. Pages first; the runbook of each alert is linked above and in its notification."
    columns = {
        "Value": "Severity",
        "alertname": "Alert",
        MODEL: "Model",
        CLASS: "Class",
        "view": "",
        "severity": "",
        PROVIDER: "",
        q.options.service_label: "",
    }
    panel = p.listing("Alerts firing", text, columns, p.rows(q.firing_ranked()), empty="nothing fires")
    looks = zip(("page", "ticket", "info"), ("red", "orange", "text"), (3, 2, 1), strict=True)
    ranks = {str(rank): p.state(q.options.severities[name], colour, rank) for name, colour, rank in looks}
    panel = p.properties(
        panel, "Severity", ("mappings", [p.mapping(ranks)]), p.COLOURED, ("custom.width", 80), ("custom.align", "left")
    )
    name, cells = p.class_cells()
    panel = p.properties(p.properties(panel, name, *cells), "Alert", ("custom.width", 210), ("unit", "string"))
    return p.sorted_by(panel, "Severity", descending=True)


def _calls(q: Queries) -> Any:
    text = (
        "Calls a second per service. A line that ends: stopped, or its telemetry is; its other alerts are blind "
        "meanwhile."
    )
    query = p.query(q.calls_by_service(), f"{{{{{q.options.service_label}}}}}")
    return p.shaded(p.lines("Calls by service", text, "reqps", query), "light-blue")


def _providers(q: Queries) -> Any:
    text = "Share of each provider's calls that failed in any class. One provider alone: theirs. All together: ours."
    query = p.query(q.failed_by_provider(), f"{{{{{PROVIDER}}}}}")
    return p.by_value(p.lines("Failing, share of calls by provider", text, "percentunit", query))


def _unclassified(q: Queries) -> Any:
    text = (
        "What to review this week, most frequent first: promote what recurs to a rule, so that it is told as "
        "what it is."
    )
    columns = {
        PROVIDER: "Provider",
        MODEL: "Model",
        REASON: "Reason",
        q.options.service_label: "Service",
        "Value": "Calls",
        CLASS: "",
    }
    panel = p.listing(
        "Unclassified failures by provider and reason", text, columns, p.rows(q.listed(_UNKNOWN)), empty="none"
    )
    panel = p.properties(panel, "Calls", ("unit", "short"), ("custom.width", 90))
    return p.sorted_by(panel, "Calls", descending=True)


def _fingerprints(q: Queries) -> Any:
    text = (
        "The same failures from the logs: equal fingerprints are one pattern (provider, exception type, status, "
        "code, finish reason). Open a trace, run `llm-errors explain` on its message, add the rule that it "
        "prints."
    )
    fingerprint, exception = prometheus_label(ERROR_FINGERPRINT), prometheus_label(EXCEPTION_TYPE)
    columns = {fingerprint: "Fingerprint", PROVIDER: "Provider", exception: "Exception type", "Value #A": "Calls"}
    panel = p.listing("Fingerprints to promote", text, columns, p.log_rows(q.fingerprints()), empty="none").datasource(
        p.LOKI
    )
    panel = p.properties(panel, "Calls", ("unit", "short"), ("custom.width", 90))
    for column in ("Fingerprint", "Provider"):
        panel = p.properties(panel, column, ("custom.width", 130))
    return p.sorted_by(panel, "Calls", descending=True)


def _to(panel: Any, view: str) -> Any:
    return p.opening(panel, f"Open {view}", f"/d/llm-{view}?${{__url_time_range}}&${{__all_variables}}")
