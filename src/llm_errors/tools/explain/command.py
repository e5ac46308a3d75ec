"""Runs `llm-errors explain`: reads saved failures and prints their classification as text or JSON."""

import argparse
import json
import sys
from dataclasses import asdict, replace
from typing import Any

from llm_errors.classify import considered, decide
from llm_errors.evidence import Classification, Evidence
from llm_errors.extract import results, saved
from llm_errors.extract.fields import parsed
from llm_errors.providers import dialect_of_provider
from llm_errors.recovery import plan
from llm_errors.recovery.verdict import provider_name
from llm_errors.rules import user
from llm_errors.rules._rule import Index
from llm_errors.taxonomy import HANDLING, ErrorClass
from llm_errors.tools import input_text, rule_template
from llm_errors.tools.explain import pasted
from llm_errors.tools.input_text import InputError

_EPILOG = """\
FILE may hold a response body, a stream of server-sent events, an error page, a printed Python value
(print(response), repr(exception)), the text of an exception, a log line, a JSON log record, a traceback,
or an exception described as JSON, in which every field is optional:

  {"exceptions": ["openai.APIConnectionError", "httpx.ConnectError"], "status": 429,
   "headers": {"retry-after": "7"}, "body": {"error": {"code": "rate_limit_exceeded"}}, "message": "..."}

exceptions: package.Class, the raised one first, then its causes. A file with one JSON object per line is
explained line by line. Arguments win over what a file says.
"""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the arguments of the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "explain",
        help="show how a saved failure is classified, and why",
        description="Show how a saved failure is classified, which rules match, who is notified and what to do.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="*", metavar="FILE", help="what was saved; - or a pipe for standard input")
    parser.add_argument("--body", action="append", default=[], metavar="FILE", help="alias for the positional FILE")
    parser.add_argument("--provider", default="", help="gen_ai.provider.name, or a usual name such as gemini or azure")
    parser.add_argument("--status", type=int, help="HTTP status of the response")
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE", help="a response header")
    parser.add_argument("--exception", action="append", default=[], metavar="PACKAGE.CLASS", help="outermost first")
    parser.add_argument("--code", action="append", default=[], help="the provider's code, most specific first")
    parser.add_argument("--finish-reason", default="", help="finish, stop or block reason")
    parser.add_argument("--message", default="", help="the provider's message")
    parser.add_argument("--partial", action="store_true", help="part of the response had already reached the caller")
    parser.add_argument("--rules", metavar="FILE", help="your own rules, as in LLM_ERRORS_RULES_FILE")
    parser.add_argument("--json", action="store_true", help="output JSON: an object, or a list for several failures")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the explanations. If the input cannot be used, print one line and return 2."""
    try:
        own, given = _own(args.rules), _given(args)
        reports = [_report(given, text, name, own) for name, text in _texts(args, given)]
    except InputError as error:
        hint = "; pass --status, --exception, --code or --finish-reason" if str(error).endswith("is empty") else ""
        print(f"llm-errors explain: {error}{hint}", file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(reports if len(reports) > 1 else reports[0], indent=2))
        return 0
    for number, report in enumerate(reports):
        title = f"{report['source']}\n" if len(reports) > 1 else ""
        print(f"{chr(10) if number else ''}{title}{_table(report)}")
    return 0


def explain(pieces: saved.Saved, own: Index | None = None) -> dict[str, Any]:
    """The explanation of one failure as plain data. `own` contains the rules of the user."""
    evidence = saved.evidence(replace(pieces, dialect=pieces.dialect or _dialect(pieces)))
    if evidence is None:
        return {"class": "healthy", "reason": None, "evidence": {}, "matches": []}
    matching = considered(evidence, own=own)
    verdict = decide(evidence, own=own)
    report = {
        "evidence": _facts(evidence),
        "matches": [
            {"rule": r.id, "class": r.error_class or "healthy", "reason": r.reason, "by": r.evidence} for r in matching
        ],
    }
    if verdict is None:
        return {"class": "healthy", "reason": None, **report}
    return {**_verdict(verdict, pieces.provider), **report, **_suggestion(evidence, verdict)}


def _dialect(pieces: saved.Saved) -> str:
    """The dialect when no provider is given.

    The body's shape shows it; otherwise it is the dialect of unknown servers (`openai`).
    """
    told = results.read(parsed(pieces.body)) if pieces.body is not None else None
    return told.dialect if told else "openai" if pieces.body or pieces.codes or pieces.message else ""


def _verdict(verdict: Classification, provider: str) -> dict[str, Any]:
    rule, advice = HANDLING[verdict.error_class], plan(verdict, provider=provider, random=lambda: 0.5)
    return {
        "class": verdict.error_class.value,
        "reason": verdict.reason,
        "channel": verdict.channel,
        "decided_by": verdict.evidence,
        "rule": verdict.rule,
        "view": rule.view.value,
        "notifies": rule.audience,
        "severity": rule.severity,
        "availability": rule.availability.value,
        "retryable": verdict.retryable,
        "retry_after": verdict.retry_after,
        "advice": rule.advice,
        "category": advice.category,
        "backoff_seconds": advice.backoff_seconds,
    }


def _suggestion(evidence: Evidence, verdict: Classification) -> dict[str, Any]:
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
    """The fields of the evidence that have a value. Sets become lists, as JSON has no sets."""
    found = {k: sorted(v) if isinstance(v, frozenset) else v for k, v in asdict(evidence).items()}
    return {k: v for k, v in found.items() if v not in (None, "", (), [], False)}


def _own(path: str | None) -> Index | None:
    if not path:
        return None
    index, problems = user.load(path)
    if problems:
        raise InputError(str(problems[0]))
    return index


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """The fields of a `Saved` that are given as arguments."""
    provider = provider_name(args.provider)
    fields: dict[str, Any] = {
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
    return {key: value for key, value in fields.items() if value not in (None, "", (), {}, False)}


def _texts(args: argparse.Namespace, given: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs of source and text. The text is empty if the failure is described only by arguments."""
    files = [*args.file, *args.body]
    enough = bool(given.keys() & _FACTS)
    if not files and input_text.stdin_has_input(enough):
        piped = input_text.read(input_text.STDIN, optional=enough)
        files, texts = [input_text.STDIN], [piped]
        if not piped:
            return [("", "")]
    elif not files:
        if not enough:
            raise InputError("nothing to explain: give a file, or --status, --exception, --code, --finish-reason")
        return [("", "")]
    else:
        texts = [input_text.read(path) for path in files]
    found = []
    for path, text in zip(files, texts, strict=True):
        parts = pasted.documents(text)
        found += [(f"{path}:{n}" if len(parts) > 1 else path, part) for n, part in enumerate(parts, 1)]
    return found


_FACTS = frozenset(("status", "exceptions", "message", "codes", "finish_reason"))


def _report(given: dict[str, Any], text: str, source: str, own: Index | None) -> dict[str, Any]:
    """The explanation of one text, with what was read in the text and what was ignored."""
    try:
        found = pasted.read(text) if text else pasted.Found()
    except ValueError as error:
        raise InputError(f"{source} {error}") from error
    fields = {key: value for key, value in found.pieces.items() if value not in (None, "", (), {})}
    overruled = [f"{key} in the input; the argument wins" for key in sorted(fields.keys() & given.keys() & _FACTS)]
    pieces = saved.Saved(**{**fields, **given})
    if text and not fields.keys() & {*_FACTS, "body"}:
        raise InputError(f"{source}: nothing to explain: {'; '.join(found.ignored) or 'no failure in it'}")
    ignored = [*found.ignored, *overruled]
    return {"source": source, "read": list(found.read), "ignored": ignored, **explain(pieces, own)}


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise InputError(f"--header {line!r} has no colon; write NAME:VALUE")
    return name.strip().lower(), value.strip()


def _table(report: dict[str, Any]) -> str:
    lines = [f"{report['class']}  {report['reason'] or ''}".rstrip()]
    for key, label in _LABELS.items():
        if report.get(key) is not None:
            lines.append(f"  {label:14} {_CHANNELS.get(report[key], report[key])}")
    for title in ("read", "ignored"):
        lines += [f"  {title:14} {what}" for what in report[title]]
    if report["evidence"]:
        lines += ["", "evidence", *(f"  {k:14} {_shown(v)}" for k, v in report["evidence"].items() if k != "channel")]
    if report["matches"]:
        lines += ["", "matching rules (first one wins)"]
        lines += [
            f"  {n}. {r['rule']:32} {r['class']}/{r['reason']}  by {r['by']}"
            for n, r in enumerate(report["matches"], 1)
        ]
    for key, title in (("toml", "a rule of your own (LLM_ERRORS_RULES_FILE)"), ("python", "to contribute it upstream")):
        if key in report:
            lines += ["", title, *(f"  {line}" for line in report[key].splitlines())]
    return "\n".join(lines)


_LABELS = {
    "advice": "what to do",
    "notifies": "notifies",
    "view": "view",
    "severity": "severity",
    "availability": "availability",
    "retryable": "retryable",
    "retry_after": "retry after",
    "category": "category",
    "channel": "channel",
    "rule": "rule",
}
_CHANNELS = {"thrown": "thrown (raised as an exception)", "in_band": "in_band (inside an HTTP 200 response)"}


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(" < ".join(v) if isinstance(v, list | tuple) else str(v) for v in value)
    return str(value)
