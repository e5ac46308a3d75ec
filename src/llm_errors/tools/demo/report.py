"""The three views of a morning, made of what arrived as metrics and spans and of nothing else.

Pure: telemetry in, lines out.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from llm_errors import semconv
from llm_errors.taxonomy import HANDLING, Availability, ErrorClass, HandlingRule, View
from llm_errors.tools.demo.receiver import Telemetry

WIDTH: Final = 96
_VIEWS: Final = {
    View.RELIABILITY: ("RELIABILITY", "is the service up? these burn the error budget", "31"),
    View.CORRECTNESS: ("CORRECTNESS", "ours to repair: the key, the model's name, the request, the budget", "33"),
    View.POLICY: ("POLICY", "what models refuse or cut short; blocks are left out of availability", "35"),
    View.REVIEW: ("REVIEW", "not recognised yet; recurring patterns get a name", "36"),
}
"""View -> its title, what it is about, and the colour of its classes."""


class Paint:
    """Bold and colour, where the terminal wants them."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted

    def __call__(self, text: str, code: str) -> str:
        """The text in a colour or style."""
        return f"\x1b[{code}m{text}\x1b[0m" if self._wanted else text


def heading(paint: Paint, title: str, about: str) -> Iterator[str]:
    """The head of a section."""
    yield ""
    yield paint(title, "1") + f"  {about}"
    yield "-" * WIDTH


class Report:
    """Lines for a terminal of 96 columns or more."""

    def __init__(self, telemetry: Telemetry, paint: Paint) -> None:
        self._telemetry, self._paint = telemetry, paint
        self._errors: dict[ErrorClass, Counter[str]] = {}
        for (name, reason), count in telemetry.counts(
            semconv.ERRORS, semconv.ERROR_CLASS, semconv.ERROR_REASON
        ).items():
            self._errors.setdefault(ErrorClass(name), Counter())[reason] += count
        ended = telemetry.counts(semconv.CALLS, semconv.OUTCOME)
        self._calls = ended[(semconv.OK,)] + ended[(semconv.ERROR,)]

    def lines(self) -> Iterator[str]:
        """The whole report."""
        yield from self._summary()
        for view in View:
            yield from self._view(view)
            if view is View.RELIABILITY:
                yield from self._models()
                yield from self._retries()
        yield from self._examples()

    def _summary(self) -> Iterator[str]:
        failed = sum(sum(reasons.values()) for reasons in self._errors.values())
        quiet = self._telemetry.counts(semconv.ERRORS, semconv.ERROR_CHANNEL)[(semconv.IN_BAND,)]
        raised = f"{failed - quiet} raised an exception, {quiet} looked like a success (HTTP 200)"
        yield f"{self._calls} calls, {failed} failed: {raised}"

    def _view(self, view: View) -> Iterator[str]:
        title, about, colour = _VIEWS[view]
        yield from heading(self._paint, title, about)
        yield self._paint(f"  {'class':<15}{'calls':>5} {'share':>7}  {'reasons':<34}who is told", "2")
        for rule in HANDLING.values():
            if rule.view is view and (reasons := self._errors.get(rule.error_class)):
                yield self._row(rule, reasons, colour)

    def _row(self, rule: HandlingRule, reasons: Counter[str], colour: str) -> str:
        count = sum(reasons.values())
        name = self._paint(f"{rule.error_class.value:<15}", colour)
        told = ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())
        return f"  {name}{count:>5} {share(count, self._calls):>7}  {told:<34}{rule.audience} ({rule.severity})"

    def _models(self) -> Iterator[str]:
        """Availability with blocks left out, beside the share that simply succeeded."""
        ended = self._telemetry.counts(semconv.CALLS, semconv.REQUEST_MODEL, semconv.OUTCOME)
        failed = self._telemetry.counts(semconv.ERRORS, semconv.REQUEST_MODEL, semconv.ERROR_CLASS)
        yield ""
        yield self._paint(
            f"  {'model':<21}{'calls':>5}  {'availability':>12}  {'succeeded':>9}  {'rate limited':>12}", "2"
        )
        for model in (*sorted({model for model, _ in ended}), None):
            ok, error = (_of(ended, model, outcome) for outcome in (semconv.OK, semconv.ERROR))
            limited = _of(failed, model, ErrorClass.RATE_LIMITED.value)
            available = availability(ok + error, {c: _of(failed, model, c.value) for c in ErrorClass})
            yield (
                f"  {model or 'all':<21}{ok + error:>5}  {available:>12}  {share(ok, ok + error):>9}"
                f"  {share(limited, ok + error):>12}"
            )
        yield "  availability: of the calls without the blocked ones, those that no class of this view hit"

    def _retries(self) -> Iterator[str]:
        """Attempts that the SDKs' own retries hid, and whether they helped."""
        hidden = self._telemetry.counts(semconv.RETRIES, semconv.ERROR_CLASS)
        retried = [span for span in self._telemetry.spans if span.attributes.get(semconv.RETRY_COUNT)]
        saved = sum(1 for span in retried if semconv.ERROR_CLASS not in span.attributes)
        yield ""
        yield (
            f"  hidden in the SDKs' own retries: {sum(hidden.values())} failed attempts ("
            + ", ".join(f"{name} {count}" for (name,), count in hidden.most_common())
            + ")"
        )
        yield f"  {saved} calls were saved by them; {len(retried) - saved} failed all the same, only later"

    def _examples(self) -> Iterator[str]:
        yield from heading(self._paint, "ONE OF EACH", "to open in your trace store")
        yield self._paint(f"  {'class':<15}{'model':<20}{'provider said':<27}trace id", "2")
        examples = {
            s.attributes[semconv.ERROR_CLASS]: s
            for s in reversed(self._telemetry.spans)
            if semconv.ERROR_CLASS in s.attributes
        }
        for rule in HANDLING.values():
            span = examples.get(rule.error_class.value)
            if span is None:
                continue
            facts = (span.attributes.get(name) for name in (semconv.ERROR_STATUS_CODE, semconv.ERROR_CODE))
            said = " ".join(str(fact) for fact in facts if fact) or "-"
            name = self._paint(f"{rule.error_class.value:<15}", _VIEWS[rule.view][2])
            yield f"  {name}{span.attributes.get(semconv.REQUEST_MODEL, ''):<20}{said[:26]:<27}{span.trace_id}"


def _of(counts: Counter[tuple[str, ...]], model: str | None, value: str) -> int:
    """The count of one model, or of all."""
    return sum(n for (m, v), n in counts.items() if v == value and model in (None, m))


def availability(calls: int, failed: dict[ErrorClass, int]) -> str:
    """1 - bad / valid: bad is what burns the budget, valid are the calls without the blocked ones; a dash if none."""

    def total(kind: Availability) -> int:
        return sum(failed[c] for c in failed if HANDLING[c].availability is kind)

    valid = calls - total(Availability.LEFT_OUT)
    return share(valid - total(Availability.BAD), valid)


def share(part: int, whole: int) -> str:
    """A percentage with one digit."""
    return f"{100 * part / whole:.1f} %" if whole else "-"
