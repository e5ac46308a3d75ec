"""Builds the overview dashboard: what is wrong, who must act, which alerts fire, how the month went, what is unclassified."""

from typing import Any, Final

from llm_errors.monitoring.alerts import every_alert
from llm_errors.monitoring.dashboards import _colours as colours
from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards import month, now
from llm_errors.monitoring.dashboards._board import Board, Row, uid_in_set
from llm_errors.monitoring.dashboards.queries import Queries
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.pipeline import COMPONENT, LOSSES, QUEUE_FULL
from llm_errors.monitoring.promql import CLASS, GROUPS, MODEL, PROVIDER, REASON
from llm_errors.semconv import ERROR_FINGERPRINT, EXCEPTION_TYPE, prometheus_label
from llm_errors.taxonomy import ErrorClass

_UNKNOWN = (ErrorClass.UNKNOWN.value,)
_BOARDS: Final = {
    "llm-overview": "Overview",
    "llm-reliability": "Reliability",
    "llm-correctness": "Correctness",
    "llm-policy": "Policy",
}


def board(options: Options) -> Board:
    """The overview dashboard. It also has rows for the review of UNKNOWN and for the state of the telemetry."""
    q = Queries(options)
    rows = [
        now.row(q),
        Row(10, [(24, _firing(q))]),
        Row(4, [(6, month.availability(q)), (6, month.budget(q)), (6, month.succeeded(q)), (6, _unknown(q))]),
        Row(10, [(24, _classes(q))]),
        Row(8, [(12, _calls(q)), (12, _providers(q))]),
        Row(7, [(14, _unclassified(q)), (10, _fingerprints(q))], title="Review: not classified yet"),
        Row(7, [(8, _lost(q)), (8, _queues(q)), (8, _evaluation(q))], title="Telemetry: Collectors and rules"),
    ]
    question = "Is it us or the provider, since when, and who must act? Then: what fires, and how the month went."
    return Board("llm-overview", "LLM / Overview", question, rows)


def _unknown(q: Queries) -> Any:
    share = q.options.shares[_UNKNOWN[0]]
    text = (
        f"Share of the calls of the last {share.window} with a failure that no rule recognises. They consume no error "
        "budget, so availability may miss an outage: red pages. Look at the fingerprints below."
    )
    query = p.query(q.total_share(_UNKNOWN, share.window), "unclassified", instant=True)
    limits = [(None, colours.TEXT), (share.ratio, colours.BAD)]
    return p.number("Unclassified, share of calls", text, "percentunit", 2, limits, query)


def _classes(q: Queries) -> Any:
    text = (
        "All failures as a share of all calls. Reds, oranges and browns are the provider's, purples and blues ours; teal, "
        "olive and sand are policy, grey is unclassified. Click a class for its traces."
    )
    everything = tuple(colours.CLASSES)
    query = p.query(q.share(everything, [CLASS]), p.CLASS_LEGEND)
    panel = p.classed(p.areas("Failures by class, share of calls", text, "percentunit", query), everything)
    return p.with_traces(p.without_failures(panel))


def _firing(q: Queries) -> Any:
    text = (
        "Alerts that fire now, pages first. Click an alert for its runbook, a dashboard for the panels that explain it, "
        "a class or model for its traces and logs."
    )
    columns = {
        "Value #A": "Severity",
        q.options.service_label: "Service",
        "cluster": "Cluster",
        CLASS: "Class",
        MODEL: "Model",
        "Value #B": "Since",
        "alertname": "Alert",
        "board": "Explained on",
        **{label: label.capitalize() for label in q.options.scope[2:]},
        "view": "",
        "severity": "",
        PROVIDER: "",
    }
    explained: dict[str, list[str]] = {uid: [] for uid in _BOARDS}
    for alert in every_alert(q.options):
        uid = alert.panel.partition("/")[0]
        explained[uid] += [] if alert.name in explained[uid] else [alert.name]
    boards = [(uid_in_set(uid, q.options), names) for uid, names in explained.items() if names]
    queries = [p.rows(q.firing_ranked(boards), "A"), p.rows(q.firing_since(boards), "B")]
    panel = p.rows_linked(p.listing("Alerts firing", text, columns, *queries))
    looks = zip(
        ("page", "ticket", "info"), (colours.DOWN_TILE, colours.DEGRADED_TILE, colours.NEUTRAL), (3, 2, 1), strict=True
    )
    ranks = {str(rank): p.state(q.options.severities[name], colour, rank) for name, colour, rank in looks}
    ranks["0"] = p.state("none", colours.OK_TILE, 0)
    width = ("custom.width", 80)
    panel = p.properties(panel, "Severity", ("mappings", [p.mapping(ranks)]), p.BADGE, width, ("custom.align", "left"))
    panel = p.properties(panel, "Since", ("unit", "dateTimeFromNow"))
    runbook = {"title": "Runbook", "targetBlank": True, "url": f"{q.options.runbooks}/${{__value.raw}}.md"}
    panel = p.properties(panel, "Alert", ("unit", "string"), ("custom.width", 230), ("links", [runbook]))
    titles = {
        uid_in_set(uid, q.options): p.state(title, colours.TEXT, index)
        for index, (uid, title) in enumerate(_BOARDS.items())
    }
    explains = {"title": "Open this dashboard", "url": "/d/${__value.raw}?${__url_time_range}&${__all_variables}"}
    panel = p.properties(panel, "Explained on", ("mappings", [p.mapping(titles)]), ("links", [explains]))
    return p.sorted_by(panel, "Severity", descending=True)


def _calls(q: Queries) -> Any:
    text = (
        "Calls a second. Where a line ends, the service or its telemetry has stopped; until then its other alerts cannot "
        "fire."
    )
    query = p.query(q.calls_by_service(), p.ranked(p.service(q.options)))
    return p.told_apart(p.lines("Calls by service", text, "reqps", query))


def _providers(q: Queries) -> Any:
    text = (
        "Share of each provider's calls that failed in any class. If one provider rises alone, it is the provider; if all "
        "rise together, it is us."
    )
    query = p.query(q.failed_by_provider(), p.ranked(f"{{{{{PROVIDER}}}}}"))
    return p.told_apart(p.lines("Failing, share of calls by provider", text, "percentunit", query))


def _unclassified(q: Queries) -> Any:
    text = "What to review this week, most frequent first. Add a rule for what recurs, so that it gets its own class."
    columns = {
        CLASS: "Class",
        REASON: "Reason",
        PROVIDER: "Provider",
        MODEL: "Model",
        q.options.service_label: "Service",
        "cluster": "Cluster",
        "Value": "Calls",
    }
    panel = p.listing("Unclassified failures by provider and reason", text, columns, p.rows(q.listed(_UNKNOWN)))
    panel = p.properties(p.rows_linked(panel), "Calls", ("unit", "short"))
    # The longest reason is `unrecognised_finish_reason`.
    panel = p.wide(panel, {"Class": 95, "Reason": 185, "Cluster": 80, "Calls": 70})
    return p.sorted_by(panel, "Calls", descending=True)


def _fingerprints(q: Queries) -> Any:
    text = (
        "The same failures from the logs. Failures with the same provider, exception type, status, code and finish reason "
        "have one fingerprint. Open a trace, run `llm-errors explain` on its message, and add the rule that it prints."
    )
    fingerprint, exception = prometheus_label(ERROR_FINGERPRINT), prometheus_label(EXCEPTION_TYPE)
    columns = {fingerprint: "Fingerprint", PROVIDER: "Provider", exception: "Exception type", "Value #A": "Calls"}
    panel = p.listing("Fingerprints to promote", text, columns, p.log_rows(q.fingerprints())).datasource(p.LOKI)
    panel = p.properties(panel, "Calls", ("unit", "short"), ("custom.width", 90))
    for column in ("Fingerprint", "Provider"):
        panel = p.properties(panel, column, ("custom.width", 130))
    return p.sorted_by(panel, "Calls", descending=True)


def _lost(q: Queries) -> Any:
    text = (
        "Telemetry that the Collectors refused, failed to send or could not queue. Anything above 0 opens a ticket: alerts "
        "and dashboards may look better than it is. Needs a scrape of the Collectors' own metrics."
    )
    legend = f"{{{{problem}}}} {{{{instance}}}} {{{{{COMPONENT}}}}}"
    queries = [p.query(q.lost_by_collectors(what), legend, chr(65 + index)) for index, what in enumerate(LOSSES)]
    panel = p.lines("Lost by Collectors, items in 5 minutes", text, "short", *queries)
    return p.narrow(p.one_each(panel, list(LOSSES)))


def _queues(q: Queries) -> Any:
    text = (
        f"How full each exporter's queue is. From {QUEUE_FULL:.0%} on a ticket opens: what comes after is lost. Check the "
        "receiving end."
    )
    query = p.query(q.queues_of_collectors(), f"{{{{instance}}}} {{{{{COMPONENT}}}}}")
    limits = [(QUEUE_FULL, colours.WARN)]
    panel = p.lines("Collectors' queues, share in use", text, "percentunit", query, limits=limits)
    return p.narrow(p.by_name(panel))


def _evaluation(q: Queries) -> Any:
    text = (
        "How much of its interval each group of rules took. At 100 % Prometheus misses evaluations: alerts come late. Needs "
        "a scrape of Prometheus' own metrics."
    )
    query = p.query(q.evaluation(), "{{rule_group}}")
    limits = [(1, colours.WARN)]
    panel = p.lines("Evaluation of the rules, share of the interval", text, "percentunit", query, limits=limits)
    prefix = f"{q.options.name}-" if q.options.name else ""
    groups = [f"{prefix}llm-{group}" for group in GROUPS]
    return p.narrow(p.one_each(p.renamed(panel, ".*;(.*)", "$1"), groups))
