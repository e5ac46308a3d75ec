"""Writes the report as one HTML page, which needs no scripts, fonts or images from elsewhere."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any, Final

from llm_errors import semconv
from llm_errors.taxonomy import HANDLING, ErrorClass, View
from llm_errors.tools.run import charts
from llm_errors.tools.run.report import VIEWS, percent, provider_said
from llm_errors.tools.run.summary import ClassRow, ModelRow, Summary
from llm_errors.tools.run.telemetry import CANCELLED, KEPT, OK, Failure, Telemetry
from llm_errors.version import __version__

_STYLE: Final = Path(__file__).with_name("page.css")
_LAYERS: Final = {
    "ok": (OK,),
    "cancelled": (CANCELLED,),
    **{view.value: tuple(c.value for c, rule in HANDLING.items() if rule.view is view) for view in View},
}
"""Layer of a column -> the outcomes and classes that it adds up."""


def page(summary: Summary, telemetry: Telemetry, run: dict[str, Any]) -> str:
    """The page as HTML. `run` is the result of `Run.as_json`."""
    parts = (
        _header(summary, run),
        _tiles(summary),
        _over_time(summary, telemetry),
        *(_view(summary, view) for view in View),
        _models(summary),
        _failures(summary, telemetry),
        _rules(summary),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>LLM calls of {_text(run['command'])}</title>\n<style>\n{_STYLE.read_text(encoding='utf-8')}</style></head>\n"
        f"<body><main>\n{''.join(parts)}"
        f"<footer>Written by llm-errors {__version__}. Prompts and completions are never recorded.</footer>\n"
        "</main></body></html>\n"
    )


def _text(value: object) -> str:
    return escape(str(value))


def _header(summary: Summary, run: dict[str, Any]) -> str:
    code = run["exit_code"]
    ended = "" if code is None else f"ended by signal {-code}" if code < 0 else f"exit code {code}"
    count = summary.processes
    facts = (
        run["began"],
        f"{run['seconds']:.1f} s",
        ended,
        f"{count} process{'' if count == 1 else 'es'} instrumented",
    )
    return (
        f"<header><h1>{_text(run['command'])}</h1><p>{' &middot; '.join(_text(f) for f in facts if f)}</p></header>\n"
    )


def _tiles(summary: Summary) -> str:
    thrown = summary.failed - summary.in_band
    tiles = [
        (summary.calls, f"calls, {summary.cancelled} cancelled" if summary.cancelled else "calls"),
        (summary.failed, f"failed: {thrown} thrown, {summary.in_band} in_band"),
        (percent(summary.everything.availability), "availability"),
        (percent(summary.everything.success), "succeeded"),
        (sum(summary.retries.values()), "failed attempts hidden by SDK retries"),
    ]
    return (
        '<div class="tiles">'
        + "".join(f"<div class=tile><b>{v}</b><span>{t}</span></div>" for v, t in tiles)
        + "</div>"
    )


def _over_time(summary: Summary, telemetry: Telemetry) -> str:
    data = charts.buckets(telemetry.timeline)
    if not data.counts:
        return _section("Over time", "no LLM call was observed", "")
    present = {kind for counts in data.counts for kind in counts}
    layers = {layer: keys for layer, keys in _LAYERS.items() if present.intersection(keys)}
    legend = "".join(f'<span><i class="{layer}"></i>{layer}</span>' for layer in layers)
    drawn = charts.columns(data, layers)
    if summary.classes:
        drawn += charts.strips(data, [(row.error_class.value, row.rule.view.value) for row in summary.classes])
    zone = datetime.fromtimestamp(data.start).astimezone().tzname()
    about = f"calls per {_span(data.step)}, and failures by class (each with its own scale); times in {zone}"
    return _section("Over time", about, f'<p class="legend">{legend}</p>{drawn}')


def _span(seconds: int) -> str:
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds % size == 0:
            return name if seconds == size else f"{seconds // size} {name}s"
    return f"{seconds} seconds"


def _section(title: str, about: str, body: str, kind: str = "") -> str:
    marked = f' class="{kind}"' if kind else ""
    return f"<section{marked}><h2>{title}</h2><p>{_text(about)}</p>{body}</section>\n"


def _table(head: Iterable[tuple[str, str]], rows: Iterable[str]) -> str:
    cells = "".join(f'<th class="{kind}">{name}</th>' if kind else f"<th>{name}</th>" for name, kind in head)
    return f'<div class="scroll"><table><tr>{cells}</tr>{"".join(rows)}</table></div>'


def _view(summary: Summary, view: View) -> str:
    rows = summary.of_view(view)
    if not rows:
        return ""
    title, about, _ = VIEWS[view]
    head = (("class", ""), ("calls", "n"), ("share", "n"), ("reasons", ""), ("notifies", ""))
    return _section(title.capitalize(), about, _table(head, map(_class, rows)), f"view {view.value}")


def _class(row: ClassRow) -> str:
    reasons = "".join(f'<span class="chip">{_text(told)}</span>' for told in row.told)
    badge = f'<span class="badge {row.severity}">{row.severity}</span>'
    return (
        f'<tr><td class="class">{row.error_class.value}</td><td class="n">{row.count}</td>'
        f'<td class="n">{percent(row.count / row.calls if row.calls else None)}</td>'
        f"<td>{reasons}<small>{_text(row.rule.advice)}</small></td><td>{row.rule.audience} {badge}</td></tr>"
    )


def _models(summary: Summary) -> str:
    if not summary.models:
        return ""
    head = (
        ("model", ""),
        ("provider", ""),
        ("calls", "n"),
        ("availability", "n"),
        ("succeeded", "n"),
        ("rate limited", "n"),
    )
    rows = [_model(row) for row in summary.models]
    if len(rows) > 1:
        rows.append(_model(summary.everything, "all"))
    note = "availability = share of calls, excluding blocked ones, with no reliability failure"
    return _section("Models", note, _table(head, rows) + _retries(summary))


def _model(row: ModelRow, name: str = "") -> str:
    shares = (row.availability, row.success, row.share(ErrorClass.RATE_LIMITED))
    numbers = "".join(f'<td class="n">{percent(share)}</td>' for share in shares)
    return (
        f"<tr><td>{_text(name or row.model or '?')}</td><td>{_text(row.provider)}</td>"
        f'<td class="n">{row.calls}</td>{numbers}</tr>'
    )


def _retries(summary: Summary) -> str:
    if not summary.retries:
        return ""
    attempts = ", ".join(f"{name} {count}" for name, count in summary.retries.most_common())
    said = f"Hidden by the SDKs' own retries: {sum(summary.retries.values())} failed attempts ({attempts})."
    helped = ""
    if summary.rescued + summary.failed_anyway:  # only spans show these numbers
        helped = f"Retries rescued {summary.rescued} calls; {summary.failed_anyway} failed anyway, just later."
    return f'<p class="note">{said} {helped}</p>'


def _failures(summary: Summary, telemetry: Telemetry) -> str:
    if not summary.classes:
        return ""
    groups = "".join(_group(row, telemetry.failures(row.error_class.value)) for row in summary.classes)
    return _section("Failures", "each failure with the attributes of its span and log record", groups)


def _group(row: ClassRow, failures: list[Failure]) -> str:
    about = f"{row.count} {'failure' if row.count == 1 else 'failures'}"
    if len(failures) < row.count:
        about += f", details of the last {len(failures)}" if len(failures) == KEPT else f", details of {len(failures)}"
    head = f'<summary><span class="class">{row.error_class.value}</span> {about}</summary>'
    return f'<details class="{row.rule.view.value}">{head}{"".join(map(_failure, reversed(failures)))}</details>'


def _failure(failure: Failure) -> str:
    at = datetime.fromtimestamp(failure.at).strftime("%H:%M:%S.%f")[:-3]
    reason = failure.attributes.get(semconv.ERROR_REASON, "")
    model = failure.attributes.get(semconv.REQUEST_MODEL, "")
    head = f'{at} {_text(reason)} {_text(model)} <span class="said">{_text(provider_said(failure))}</span>'
    rows = "".join(f"<tr><td>{_text(k)}</td><td>{_text(v)}</td></tr>" for k, v in _facts(failure))
    return f"<details><summary>{head}</summary><table>{rows}</table></details>"


def _facts(failure: Failure) -> Iterator[tuple[str, str]]:
    if failure.trace_id:
        yield "trace id", failure.trace_id
        yield "span id", failure.span_id
    for name, value in sorted(failure.attributes.items()):
        yield name, ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _rules(summary: Summary) -> str:
    if not summary.unknown:
        return ""
    about = "choose a class, save the rules in a file and set LLM_ERRORS_RULES_FILE to it"
    body = ""
    for group in summary.unknown:
        told = group.report()
        facts = " ".join(
            str(told[k]) for k in ("provider", "model", "reason", "exception", "status", "code") if told[k]
        )
        body += f"<p class=note>{group.count} &times; {_text(facts)}</p><pre>{_text(told['toml'])}</pre>"
    return _section("Rules for what is UNKNOWN", about, body)
