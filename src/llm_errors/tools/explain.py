"""`llm-errors explain`: what a saved failure is, why, who is told, and what to do. Reads files only; calls nobody."""

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from llm_errors.classify import considered, decide
from llm_errors.evidence import Classification, Evidence
from llm_errors.extract import saved
from llm_errors.providers import dialect_of_provider
from llm_errors.recovery import plan
from llm_errors.recovery.verdict import provider_name
from llm_errors.rules import Index, user
from llm_errors.taxonomy import HANDLING, ErrorClass
from llm_errors.tools import rule_template


class InputError(Exception):
    """What the user gave cannot be used; the message says why."""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """The command's arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "explain",
        help="which class a saved failure has, and why",
        description="Explain a saved answer or error body, an exception described as JSON, or single facts.",
    )
    parser.add_argument("file", nargs="?", help="body, stream or exception as JSON; - for standard input")
    parser.add_argument("--body", metavar="FILE", help="the same as FILE")
    parser.add_argument("--provider", default="", help="gen_ai.provider.name, or a usual name such as gemini or azure")
    parser.add_argument("--status", type=int, help="HTTP status of the response")
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE", help="a response header")
    parser.add_argument("--exception", action="append", default=[], metavar="PACKAGE.CLASS", help="outermost first")
    parser.add_argument("--code", action="append", default=[], help="the provider's code, most specific first")
    parser.add_argument("--finish-reason", default="", help="finish, stop or block reason")
    parser.add_argument("--message", default="", help="the provider's message")
    parser.add_argument("--partial", action="store_true", help="a part of the answer had reached the caller")
    parser.add_argument("--rules", metavar="FILE", help="your own rules, as in LLM_ERRORS_RULES_FILE")
    parser.add_argument("--json", action="store_true", help="for machines")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the explanation; 2 and one line on bad input."""
    try:
        report = explain(_saved(args), _own(args.rules))
    except InputError as error:
        print(f"llm-errors explain: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2) if args.json else _table(report))
    return 0


def explain(pieces: saved.Saved, own: Index | None = None) -> dict[str, Any]:
    """Everything there is to say, as plain data."""
    evidence = saved.evidence(pieces)
    if evidence is None:
        return {"class": "healthy", "reason": None, "evidence": {}, "rows": []}
    rows = considered(evidence, own=own)
    verdict = decide(evidence, own=own)
    report = {
        "evidence": _facts(evidence),
        "rows": [
            {"rule": r.id, "class": r.error_class or "healthy", "reason": r.reason, "by": r.evidence} for r in rows
        ],
    }
    if verdict is None:
        return {"class": "healthy", "reason": None, **report}
    return {**_verdict(verdict, pieces.provider), **report, **_row(evidence, verdict)}


def _verdict(verdict: Classification, provider: str) -> dict[str, Any]:
    rule, advice = HANDLING[verdict.error_class], plan(verdict, provider=provider, random=lambda: 0.5)
    return {
        "class": verdict.error_class.value,
        "reason": verdict.reason,
        "channel": verdict.channel,
        "decided_by": verdict.evidence,
        "rule": verdict.rule,
        "view": rule.view.value,
        "told": rule.audience,
        "severity": rule.severity,
        "availability": rule.availability.value,
        "retryable": verdict.retryable,
        "retry_after": verdict.retry_after,
        "advice": rule.advice,
        "category": advice.category,
        "backoff_seconds": advice.backoff_seconds,
    }


def _row(evidence: Evidence, verdict: Classification) -> dict[str, Any]:
    if verdict.error_class is not ErrorClass.UNKNOWN:
        return {}
    pattern = rule_template.Pattern(
        name=f"{evidence.dialect or 'my'}.pattern",
        dialect=evidence.dialect,
        provider=evidence.provider,
        status=evidence.status,
        codes=evidence.codes,
        exception=evidence.exception_type,
        finish=evidence.finish_reason,
        facts=tuple(sorted(evidence.facts & {"no_end", "empty", "unexpected_body"})),
    )
    return {"toml": rule_template.toml(pattern), "python": rule_template.python(pattern)}


def _facts(evidence: Evidence) -> dict[str, Any]:
    """The fields that say something, the sets as lists."""
    found = {k: sorted(v) if isinstance(v, frozenset) else v for k, v in asdict(evidence).items()}
    return {k: v for k, v in found.items() if v not in (None, "", (), [], False)}


def _own(path: str | None) -> Index | None:
    if not path:
        return None
    index, problems = user.load(path)
    if problems:
        raise InputError(str(problems[0]))
    return index


def _saved(args: argparse.Namespace) -> saved.Saved:
    provider = provider_name(args.provider)
    given: dict[str, Any] = {
        "status": args.status,
        "headers": dict(map(_header, args.header)),
        "exceptions": tuple((name,) for name in args.exception),
        "message": args.message,
        "codes": tuple(args.code),
        "finish_reason": args.finish_reason,
        "partial_output": args.partial,
        "provider": provider,
        "dialect": dialect_of_provider(provider),
    }
    content = saved.load(_read(args.body or args.file)) if args.body or args.file else None
    if isinstance(content, dict) and ("exceptions" in content or "exception" in content):
        for key, value in saved.described(content).items():
            given[key] = given.get(key) or value
    else:
        given["body"] = content
    if not any(given.get(k) for k in ("status", "exceptions", "message", "codes", "finish_reason", "body")):
        raise InputError("nothing to explain: give a file, or --status, --exception, --code, --finish-reason")
    return saved.Saved(**given)


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise InputError(f"--header {line!r} has no colon; write NAME:VALUE")
    return name.strip().lower(), value.strip()


def _read(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _table(report: dict[str, Any]) -> str:
    lines = [f"{report['class']}  {report['reason'] or ''}".rstrip()]
    for key in ("advice", "told", "view", "severity", "availability", "retryable", "retry_after", "category", "rule"):
        if report.get(key) is not None:
            lines.append(f"  {_LABELS.get(key, key):14} {report[key]}")
    if report["evidence"]:
        lines += ["", "evidence", *(f"  {k:14} {_shown(v)}" for k, v in report["evidence"].items())]
    if report["rows"]:
        lines += ["", "rows that hold, the first decides"]
        lines += [
            f"  {n}. {r['rule']:32} {r['class']}/{r['reason']}  by {r['by']}" for n, r in enumerate(report["rows"], 1)
        ]
    for key, title in (("toml", "a rule of your own (LLM_ERRORS_RULES_FILE)"), ("python", "a row of ours")):
        if key in report:
            lines += ["", title, *(f"  {line}" for line in report[key].splitlines())]
    return "\n".join(lines)


_LABELS = {"advice": "what to do", "told": "who is told", "rule": "decided by", "retry_after": "retry after"}


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(" < ".join(v) if isinstance(v, list | tuple) else str(v) for v in value)
    return str(value)
