"""`llm-errors review`: asks Prometheus how much was UNKNOWN, and a store of spans or logs what it was."""

import argparse
import json
import sys
import time
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from llm_errors import semconv
from llm_errors.tools.review import occurrences

TIMEOUT = 20.0
LIMIT = 5000
_LABELS = ("job", semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.ERROR_REASON)


class SourceError(Exception):
    """A source cannot be asked, or does not answer as it should."""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """The command's arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "review",
        help="the UNKNOWN failures of the last week, and rows to name them",
        description="Counts come from Prometheus; fingerprints from spans or logs in Tempo, Loki or an OTLP JSON file.",
    )
    parser.add_argument("--prometheus", metavar="URL", help="for instance http://localhost:9090")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--tempo", metavar="URL", help="for instance http://localhost:3200")
    source.add_argument("--loki", metavar="URL", help="for instance http://localhost:3100")
    source.add_argument("--otlp-file", metavar="FILE", help="OTLP JSON, one export per line; - for standard input")
    parser.add_argument("--days", type=float, default=7.0, help="how far back to look (7)")
    parser.add_argument("--json", action="store_true", help="for machines")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the review; 2 and one line if a source cannot be read."""
    if not (args.prometheus or args.tempo or args.loki or args.otlp_file):
        print("llm-errors review: give --prometheus, --tempo, --loki or --otlp-file", file=sys.stderr)
        return 2
    if not 0 < args.days <= 366:
        print("llm-errors review: --days takes a number above 0, at most 366", file=sys.stderr)
        return 2
    try:
        report = review(args, time.time())
    except SourceError as error:
        print(f"llm-errors review: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2) if args.json else _tables(report, args.days))
    return 0


def review(args: argparse.Namespace, now: float) -> dict[str, Any]:
    """Totals per service, provider, model and reason, and the groups by fingerprint."""
    since = now - args.days * 86400
    totals = _totals(args.prometheus, args.days) if args.prometheus else []
    groups = occurrences.groups(_details(args, since, now))
    return {"totals": totals, "fingerprints": [group.report() for group in groups]}


def _totals(url: str, days: float) -> list[dict[str, Any]]:
    labels = [semconv.prometheus_label(n) for n in _LABELS]
    selector = f'{semconv.ERRORS}{{{semconv.prometheus_label(semconv.ERROR_CLASS)}="UNKNOWN"}}'
    window = f"{round(days * 86400)}s"
    # A series born within the window began at zero: its highest value counts, of which `increase` misses the first.
    query = (
        f"sum by ({', '.join(labels)}) ((max_over_time({selector}[{window}]) unless {selector} offset {window})"
        f" or increase({selector}[{window}]))"
    )
    answer = _get(url, "/api/v1/query", {"query": query})
    found = []
    for series in (answer.get("data") or {}).get("result") or ():
        values = [series["metric"].get(label, "") for label in labels]
        row = dict(zip(("service", "provider", "model", "reason"), values, strict=True))
        found.append({**row, "count": round(float(series["value"][1]))})
    return sorted((row for row in found if row["count"]), key=lambda row: -row["count"])


def _details(args: argparse.Namespace, since: float, now: float) -> list[occurrences.Occurrence]:
    if args.otlp_file:
        return _from_file(args.otlp_file, since)
    if args.tempo:
        wanted = ", ".join(f"span.{n}" for n in occurrences.ATTRIBUTES)
        query = f'{{ span.{semconv.ERROR_CLASS} = "UNKNOWN" }} | select({wanted})'
        parameters = {"q": query, "start": int(since), "end": int(now), "limit": LIMIT, "spss": 100}
        return list(occurrences.from_tempo(_get(args.tempo, "/api/search", parameters)))
    if args.loki:
        query = f'{{service_name=~".+"}} | {semconv.prometheus_label(semconv.ERROR_CLASS)}="UNKNOWN"'
        parameters = {"query": query, "start": int(since * 1e9), "end": int(now * 1e9), "limit": LIMIT}
        return list(occurrences.from_loki(_get(args.loki, "/loki/api/v1/query_range", parameters)))
    return []


def _from_file(path: str, since: float) -> list[occurrences.Occurrence]:
    try:
        if path == "-":
            return list(occurrences.from_otlp(sys.stdin, since))
        with open(path, encoding="utf-8") as file:
            return list(occurrences.from_otlp(file, since))
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise SourceError(f"{path} is not OTLP JSON, one export per line") from error


def _get(url: str, path: str, parameters: dict[str, Any]) -> dict[str, Any]:
    if not url.startswith(("http://", "https://")):
        raise SourceError(f"{url} is no URL; write http://host:port")
    try:
        with urlopen(f"{url.rstrip('/')}{path}?{urlencode(parameters)}", timeout=TIMEOUT) as response:
            answer = json.load(response)
    except (URLError, OSError) as error:
        raise SourceError(f"{url} cannot be asked: {getattr(error, 'reason', error)}") from error
    except ValueError as error:
        raise SourceError(f"{url} does not answer with JSON") from error
    if not isinstance(answer, dict):
        raise SourceError(f"{url} does not answer as expected")
    return answer


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
    return "\n".join(lines) if lines else f"nothing was UNKNOWN in the last {days:g} days"


_TOTALS = ("service", "provider", "model", "reason")
_GROUP = ("fingerprint", "first_seen", "last_seen", "provider", "model", "reason", "exception", "status", "code")


def _table(columns: tuple[str, ...], rows: list[dict[str, Any]]) -> str:
    """Columns as wide as their widest value; those that hold nothing are left out."""
    kept = [c for c in columns if any(str(row[c]) for row in rows)]
    cells = [[c.replace("_", " ") for c in kept], *([str(row[c]) for c in kept] for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(kept))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])
