"""Writes the report as text for a terminal of 80 columns."""

import textwrap
from collections.abc import Iterator
from typing import Final

from llm_errors import semconv
from llm_errors.taxonomy import ErrorClass, View
from llm_errors.tools.run.summary import ClassRow, ModelRow, Summary
from llm_errors.tools.run.telemetry import Failure

WIDTH: Final = 80
VIEWS: Final = {
    View.RELIABILITY: ("RELIABILITY", "provider and network faults; these consume the error budget", "31"),
    View.CORRECTNESS: ("CORRECTNESS", "yours to fix: API key, model name, request or budget", "33"),
    View.POLICY: ("POLICY", "refused or truncated answers; blocks don't count against availability", "35"),
    View.REVIEW: ("REVIEW", "not classified yet; add a rule for recurring patterns", "36"),
}
"""View -> the title of its section, the sentence beside the title, and the terminal colour of its classes."""
_REASONS_AT = 59
"""The column in which the reasons of a class begin. Reasons that do not fit into the line follow on their own lines."""
_AVAILABILITY = "availability = share of calls, excluding blocked ones, with no reliability failure"


class Paint:
    """Writes text in bold or in colour if `wanted`, else unchanged."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted

    def __call__(self, text: str, code: str) -> str:
        """The text in the style of an ANSI code: 1 is bold, 2 is dim, 31 to 36 are colours."""
        return f"\x1b[{code}m{text}\x1b[0m" if self._wanted else text


def heading(paint: Paint, title: str, about: str) -> Iterator[str]:
    """Yields the lines of a section's heading."""
    yield ""
    yield paint(title, "1") + f"  {about}"
    yield "-" * WIDTH


class Report:
    """Yields the lines of the report, wrapped at 80 columns."""

    def __init__(self, summary: Summary, paint: Paint) -> None:
        self._summary, self._paint = summary, paint

    def lines(self) -> Iterator[str]:
        """Yields the lines of the whole report."""
        yield from self._headline()
        if not self._summary.calls:
            return
        for view in View:
            rows = self._summary.of_view(view)
            if rows or view is View.RELIABILITY:
                yield from self._view(view, rows)
        if self._summary.examples:
            yield from self._examples()
        if self._summary.unknown:
            yield from self._rules()

    def table(self) -> Iterator[str]:
        """Yields a short report for the live view: a line for each class, without sections."""
        yield from self._headline()
        if self._summary.classes:
            yield self._class_head()
        for row in self._summary.classes:
            yield from self._class(row)

    def _headline(self) -> Iterator[str]:
        s = self._summary
        parts = [f"{s.calls} {_plural('call', s.calls)}, {s.failed} failed"]
        if s.failed:
            thrown = s.failed - s.in_band
            parts = [f"{parts[0]}: {thrown} thrown, {s.in_band} in_band (inside an HTTP 200 response)"]
        if s.cancelled:
            parts.append(f"{s.cancelled} cancelled")
        yield from textwrap.wrap("; ".join(parts), WIDTH)

    def _view(self, view: View, rows: list[ClassRow]) -> Iterator[str]:
        title, about, _ = VIEWS[view]
        yield from heading(self._paint, title, about)
        if rows:
            yield self._class_head()
        else:
            yield "  no failures"
        for row in rows:
            yield from self._class(row)
        if view is View.RELIABILITY:
            yield from self._models()
            if self._summary.retries:
                yield from self._retries()

    def _class_head(self) -> str:
        return self._paint(f"  {'class':<15}{'calls':>5}{'share':>8}  {'notifies':<27}reasons", "2")

    def _class(self, row: ClassRow) -> Iterator[str]:
        name = self._paint(f"{row.error_class.value:<15}", VIEWS[row.rule.view][2])
        notifies = f"{row.rule.audience} ({row.severity})"
        start = f"  {name}{row.count:>5}{percent(row.count / row.calls if row.calls else None):>8}  {notifies:<27}"
        told = ", ".join(row.told)
        if _REASONS_AT + len(told) <= WIDTH:
            yield start + told
        else:
            yield start.rstrip()
            yield from textwrap.wrap(told, WIDTH, initial_indent=" " * 17, subsequent_indent=" " * 17)

    def _models(self) -> Iterator[str]:
        """Yields a table of models. Availability leaves blocked calls out, while `succeeded` is the share of all calls."""
        yield ""
        yield self._paint(f"  {'model':<30}{'calls':>6}{'availability':>14}{'succeeded':>12}{'rate limited':>15}", "2")
        rows = self._summary.models
        for row in rows:
            yield self._model(row.model or row.provider or "?", row)
        if len(rows) > 1:
            yield self._model("all", self._summary.everything)
        yield from textwrap.wrap(_AVAILABILITY, WIDTH, initial_indent="  ", subsequent_indent="  ")

    def _model(self, name: str, row: ModelRow) -> str:
        limited = percent(row.share(ErrorClass.RATE_LIMITED))
        return f"  {clip(name, 29):<30}{row.calls:>6}{percent(row.availability):>14}{percent(row.success):>12}{limited:>15}"

    def _retries(self) -> Iterator[str]:
        """Yields how many failed attempts the SDKs' own retries hid, and how many calls the retries rescued."""
        s = self._summary
        attempts = ", ".join(f"{name} {count}" for name, count in s.retries.most_common())
        note = f"hidden by the SDKs' own retries: {sum(s.retries.values())} failed attempts ({attempts})"
        yield ""
        yield from textwrap.wrap(note, WIDTH, initial_indent="  ", subsequent_indent="    ")
        if not s.rescued + s.failed_anyway:
            return  # only spans show whether retries helped, and there are none
        helped = f"retries rescued {s.rescued} {_plural('call', s.rescued)}"
        yield f"  {helped}; {s.failed_anyway} failed anyway, just later" if s.failed_anyway else f"  {helped}"

    def _examples(self) -> Iterator[str]:
        yield from heading(self._paint, "EXAMPLES", "one trace per class")
        yield self._paint(f"  {'class':<15}{'trace id':<34}model, what the provider said", "2")
        for failure in self._summary.examples:
            yield from self._example(failure)

    def _example(self, failure: Failure) -> Iterator[str]:
        view = next(row.rule.view for row in self._summary.classes if row.error_class.value == failure.error_class)
        name = self._paint(f"{failure.error_class:<15}", VIEWS[view][2])
        model = str(failure.attributes.get(semconv.REQUEST_MODEL) or failure.attributes.get(semconv.PROVIDER) or "")
        yield f"  {name}{failure.trace_id or '(no span)':<34}{clip(model, 29)}".rstrip()
        said = provider_said(failure)
        if said:
            yield " " * 17 + clip(said, WIDTH - 17)

    def _rules(self) -> Iterator[str]:
        yield from heading(self._paint, "RULES", "that would name what is UNKNOWN (save, set LLM_ERRORS_RULES_FILE)")
        for index, group in enumerate(self._summary.unknown):
            report = group.report()
            if index:
                yield ""
            yield f"  # {group.count} x {clip(' '.join(str(report[k]) for k in _WHAT if report[k]), 66)}"
            for line in str(report["toml"]).splitlines():
                yield from _toml(line)


_WHAT = ("provider", "model", "reason", "exception", "status", "code")


def _toml(line: str) -> Iterator[str]:
    """Yields a line of TOML. If the line is too long, its comment is moved to lines above it."""
    text, mark, comment = line.partition("  # ")
    if mark and len(line) + 2 > WIDTH:
        yield from textwrap.wrap(comment, WIDTH, initial_indent="  # ", subsequent_indent="  # ")
        line = text
    yield f"  {line}"


def provider_said(failure: Failure) -> str:
    """The status, the code and the message that a failure has, in one printable line."""
    facts = [failure.attributes.get(name) for name in (semconv.ERROR_STATUS_CODE, semconv.ERROR_CODE)]
    code = " ".join(str(fact) for fact in facts if fact)
    message = str(failure.attributes.get(semconv.ERROR_MESSAGE) or "")
    said = f"{code}: {message}" if code and message else code or message
    return " ".join("".join(c if c.isprintable() else " " for c in said).split()).replace("…", "...")


def clip(text: str, width: int) -> str:
    """The text, truncated to a number of characters."""
    return text if len(text) <= width else text[: width - 3] + "..."


def percent(share: float | None) -> str:
    """A share as a percentage with one decimal. If there were no calls, the share is None, and the text is a dash."""
    return "-" if share is None else f"{100 * share:.1f} %"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else word + "s"
