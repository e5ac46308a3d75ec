"""Runs `llm-errors review`: lists UNKNOWN failures and suggests rules.

The numbers of failures come from Prometheus, and their details from a store of spans or logs.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from typing import Any

from llm_errors import semconv
from llm_errors.tools.review import occurrences, query
from llm_errors.tools.review.query import SourceError

LIMIT = 5000
_LABELS = ("job", semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.ERROR_REASON)


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the arguments of the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "review",
        help="list last week's UNKNOWN failures and suggest rules",
        description="List recurring UNKNOWN failures and suggest a rule for each. Counts come from Prometheus; "
        "fingerprints from spans or logs in Tempo, Loki or an OTLP JSON file.",
        epilog="PROMETHEUS_HEADERS, TEMPO_HEADERS and LOKI_HEADERS hold headers for one source each, as "
        "name=value,name=value, for credentials that should not appear on a command line.",
    )
    parser.add_argument("--prometheus", metavar="URL", help="for instance http://localhost:9090")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--tempo", metavar="URL", help="for instance http://localhost:3200")
    source.add_argument("--loki", metavar="URL", help="for instance http://localhost:3100")
    source.add_argument("--otlp-file", metavar="FILE", help="OTLP JSON, one export per line; - for standard input")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME:VALUE",
        help="a header for every source, such as 'Authorization: Bearer ...' or 'X-Scope-OrgID: 1'; repeatable",
    )
    parser.add_argument("--days", type=float, default=7.0, help="how far back to look (7)")
    parser.add_argument("--json", action="store_true", help="output JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the review and return 0. If an argument is wrong or a source cannot be read, print one line and return 2."""
    if not (args.prometheus or args.tempo or args.loki or args.otlp_file):
        print("llm-errors review: give --prometheus, --tempo, --loki or --otlp-file", file=sys.stderr)
        return 2
    if not 0 < args.days <= 366:
        print("llm-errors review: --days must be between 0 and 366", file=sys.stderr)
        return 2
    try:
        report = review(args, time.time())
    except SourceError as error:
        print(f"llm-errors review: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2) if args.json else _tables(report, args.days))
    return 0


def review(args: argparse.Namespace, now: float) -> dict[str, Any]:
    """The review as plain data: totals per service, provider, model and reason, and groups by fingerprint."""
    since = now - args.days * 86400
    totals = _totals(args) if args.prometheus else []
    groups = occurrences.groups(_details(args, since, now))
    return {"totals": totals, "fingerprints": [group.report() for group in groups]}


def _totals(args: argparse.Namespace) -> list[dict[str, Any]]:
    labels = [semconv.prometheus_label(n) for n in _LABELS]
    selector = f'{semconv.ERRORS}{{{semconv.prometheus_label(semconv.ERROR_CLASS)}="UNKNOWN"}}'
    window = f"{round(args.days * 86400)}s"
    # `increase` misses the first value of a series. If the series began within the window, its maximum is the right number.
    expression = (
        f"sum by ({', '.join(labels)}) ((max_over_time({selector}[{window}]) unless {selector} offset {window})"
        f" or increase({selector}[{window}]))"
    )
    answer = _ask(args, "prometheus", "/api/v1/query", {"query": expression})
    found = []
    for series in _result(answer, args.prometheus, "Prometheus", "vector"):
        values = [series["metric"].get(label, "") for label in labels]
        row = dict(zip(("service", "provider", "model", "reason"), values, strict=True))
        found.append({**row, "count": round(float(series["value"][1]))})
    return sorted((row for row in found if row["count"]), key=lambda row: -row["count"])


def _details(args: argparse.Namespace, since: float, now: float) -> list[occurrences.Occurrence]:
    if args.otlp_file:
        return _from_file(args.otlp_file, since)
    if args.tempo:
        wanted = ", ".join([*(f"span.{n}" for n in occurrences.ATTRIBUTES), *_RESOURCE])
        selected = f'{{ span.{semconv.ERROR_CLASS} = "UNKNOWN" }} | select({wanted})'
        parameters = {"q": selected, "start": int(since), "end": int(now), "limit": LIMIT, "spss": 100}
        answer = _ask(args, "tempo", "/api/search", parameters)
        if not answer.keys() & {"traces", "metrics"}:
            raise SourceError(f"{args.tempo} does not answer like Tempo")
        return _read(occurrences.from_tempo(answer), args.tempo, "Tempo")
    if args.loki:
        selected = f'{{service_name=~".+"}} | {semconv.prometheus_label(semconv.ERROR_CLASS)}="UNKNOWN"'
        parameters = {"query": selected, "start": int(since * 1e9), "end": int(now * 1e9), "limit": LIMIT}
        answer = _ask(args, "loki", "/loki/api/v1/query_range", parameters)
        _result(answer, args.loki, "Loki", "streams")
        return _read(occurrences.from_loki(answer), args.loki, "Loki")
    return []


_RESOURCE = ("resource.service.name", "resource.service.namespace")


def _ask(args: argparse.Namespace, source: str, path: str, parameters: dict[str, Any]) -> dict[str, Any]:
    headers = {**query.headers_of(source), **dict(map(query.header, args.header))}
    return query.get(getattr(args, source), path, parameters, headers)


def _result(answer: dict[str, Any], url: str, name: str, kind: str) -> list[Any]:
    """The result of a query of Prometheus or Loki. Raises `SourceError` if the query failed or the answer has another form."""
    data = answer.get("data")
    if answer.get("status") == "error":
        raise SourceError(f"cannot query {url}: {answer.get('error') or 'the query failed'}")
    found = data.get("result") if isinstance(data, dict) and data.get("resultType") == kind else None
    if answer.get("status") != "success" or not isinstance(found, list):
        raise SourceError(f"{url} does not answer like {name}")
    return found


def _read(found: Iterable[occurrences.Occurrence], url: str, name: str) -> list[occurrences.Occurrence]:
    try:
        return list(found)
    except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        raise SourceError(f"{url} does not answer like {name}") from error


def _from_file(path: str, since: float) -> list[occurrences.Occurrence]:
    try:
        if path == "-":
            return list(occurrences.from_otlp(sys.stdin, since))
        with open(path, encoding="utf-8") as file:
            return list(occurrences.from_otlp(file, since))
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise SourceError(f"{path} is not OTLP JSON, one export per line") from error


def _tables(report: dict[str, Any], days: float) -> str:
    lines = []
    if report["totals"]:
        lines += [f"UNKNOWN in the last {days:g} days", "", _table(("count", *_TOTALS), report["totals"]), ""]
    shown = report["fingerprints"]
    if shown:
        lines += ["by fingerprint", "", _table(("count", *_GROUP), shown)]
    for group in shown:
        lines += ["", f"{group['fingerprint']}  {group['message']}".rstrip(), f"  trace {group['trace'] or 'none'}"]
        lines += ["", *(f"  {line}" for line in group["toml"].splitlines()), "", f"  {group['python']}"]
    return "\n".join(lines) if lines else f"no UNKNOWN failures in the last {days:g} days"


_TOTALS = ("service", "provider", "model", "reason")
_GROUP = (
    "fingerprint",
    "service",
    "first_seen",
    "last_seen",
    "provider",
    "model",
    "reason",
    "exception",
    "status",
    "code",
)


def _table(columns: tuple[str, ...], rows: list[dict[str, Any]]) -> str:
    """A table as text. Columns without any value are left out."""
    kept = [c for c in columns if any(str(row[c]) for row in rows)]
    cells = [[c.replace("_", " ") for c in kept], *([str(row[c]) for c in kept] for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(kept))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])
