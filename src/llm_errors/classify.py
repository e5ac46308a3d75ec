"""The decision: rows over evidence, and `classify`, which reads a failure first. Standard library only."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from llm_errors.evidence import Classification, Evidence
from llm_errors.extract import causes, exceptions, results
from llm_errors.extract.fields import CODE_LIMIT, printable
from llm_errors.extract.redact import redact
from llm_errors.providers import dialect_of_provider
from llm_errors.rules import DIALECTS, INDEX, Index
from llm_errors.rules._rule import Rule
from llm_errors.rules._signals import Signals
from llm_errors.taxonomy import FINAL_REASONS, HANDLING, ErrorClass

Precedence = tuple[int, int, bool, int, int, int]


def classify(failure: Any, *, provider: str | None = None, partial_output: bool = False) -> Classification | None:
    """The class of a failure, or None when it is none.

    `failure` is an exception, an SDK's response object, or the same as a plain dict. `provider` is a value of
    `gen_ai.provider.name`; it helps where the failure itself does not tell who wrote it. `partial_output` says that a
    part of the answer has reached the caller: the call is not retryable then. The caller's own cancellation is no
    failure. Never raises.
    """
    try:
        return _classify(failure, provider or "", partial_output)
    except Exception:  # noqa: BLE001 - the promise of this function; the failure is one, whatever it is made of
        return unreadable("thrown")


def unreadable(channel: str) -> Classification:
    """The verdict over a failure at which our own reading or decision failed."""
    return Classification(ErrorClass.UNKNOWN, "other", channel, "exception", "common.unreadable")


def _classify(failure: Any, provider: str, partial_output: bool) -> Classification | None:
    if failure is None:
        return None
    if isinstance(failure, Evidence):
        return decide(failure, partial_output=partial_output)
    if isinstance(failure, BaseException):
        if exceptions.is_cancellation(failure):
            return None
        first = exceptions.first_failure(failure)
        return decide(exceptions.read(first, dialect_of_provider(provider), provider), partial_output=partial_output)
    suspicion = results.read(failure)
    return decide(suspicion, partial_output=partial_output) if suspicion else None


def decide(
    evidence: Evidence,
    *,
    own: Index | None = None,
    messages: bool = True,
    partial_output: bool = False,
    redaction: Callable[[str], str] = redact,
) -> Classification | None:
    """The row with the highest precedence decides; the user's own rows outrank ours. None if a user's row says healthy.

    `messages` switches the rows on that match a provider's text: they read it as it came. `redaction` says what of it
    the verdict may repeat.
    """
    signals = _signals(evidence, messages)
    row = _best(own, Signals(evidence, messages)) if own else None
    row = row or _best(INDEX, signals) or _fallback(evidence)
    if row.error_class is None:
        return None
    error_class, reason = row.error_class, row.reason
    partial = partial_output or evidence.partial_output
    retryable = HANDLING[error_class].retryable and (error_class, reason) not in FINAL_REASONS
    if reason == "daily_quota" and "retry_after_header" in evidence.facts and evidence.retry_after is not None:
        retryable = True  # a day that rolls: the provider says itself when to come back
    if evidence.status == 402 and evidence.retry_after is not None:
        retryable = True  # the provider says itself when to come back
    return Classification(
        error_class=error_class,
        reason=reason,
        channel=evidence.channel,
        evidence=row.evidence,
        rule=row.id,
        status_code=evidence.status,
        code=_told_code(_code(signals, row)),
        message=redaction(evidence.message) if _is_message(evidence, row) else "",
        retryable=retryable and not partial,
        retry_after=evidence.retry_after,
        partial_output=partial,
    )


def _is_message(evidence: Evidence, row: Rule) -> bool:
    """Whether the text is an error's. One in place of an answer is that only if its words say so: else a model wrote it."""
    return "unexpected_body" not in evidence.facts or row.evidence == "message"


def _code(signals: Signals, row: Rule) -> str:
    """The raw value that decided, or else the most specific one there is."""
    evidence = signals.evidence
    decided = next((code for spelt, code in signals.all_codes.items() if row.decided_by(spelt)), "")
    natural = evidence.finish_reason or evidence.block_reason
    if row.finish or row.block:
        return natural
    return decided or (evidence.codes[0] if evidence.codes else natural)


_NAME = re.compile(r"[A-Za-z_.]*|\d{1,9}")


def _told_code(code: str) -> str:
    """The printable part of a code; a server may have put a sentence in its place."""
    told = printable(code)
    return told if _NAME.fullmatch(told) else redact(told)[:CODE_LIMIT]


def considered(evidence: Evidence, *, own: Index | None = None, messages: bool = True) -> list[Rule]:
    """Every row that holds, in the order of precedence: the first decides. For people; `decide` needs only the best."""
    found: dict[str, Rule] = {}
    literal = Signals(evidence, messages)
    for index, signals in ((own or {}, literal), (INDEX, _signals(evidence, messages))):
        ranked = [(_precedence(*candidate), candidate[0]) for candidate in _candidates(index, signals)]
        for _, row in sorted(ranked, key=lambda pair: pair[0], reverse=True):
            if row.holds(signals):
                found.setdefault(row.id, row)
    return list(found.values()) or [_fallback(evidence)]


def _signals(evidence: Evidence, messages: bool) -> Signals:
    """The evidence as our own rows see it. A user's row is taken at its word: its status is that of the response."""
    dialect = evidence.dialect if not evidence.dialect or evidence.dialect in DIALECTS else "openai"
    signals = Signals(evidence, messages, dialect)
    rows = (row for code in signals.codes for row in INDEX.get(("code", code), ()))
    signals.named = frozenset(status for row in rows if dialect in row.dialects for status in row.names)
    signals.is_bare = evidence.embedded and evidence.status in (None, 200)
    return signals


def _precedence(row: Rule, depth: int, place: int) -> Precedence:
    """A row with a text refines the rows of its status: it comes before every other of the same rank and weight."""
    return row.rank, row.weight, bool(row.says), depth, -place, row.conditions


def _best(index: Index, signals: Signals) -> Rule | None:
    best: tuple[Precedence, Rule] | None = None
    for row, depth, place in _candidates(index, signals):
        if not row.holds(signals):
            continue
        precedence = _precedence(row, depth, place)
        if best is None or precedence > best[0]:
            best = precedence, row
    return best[1] if best else None


def _candidates(index: Index, signals: Signals) -> Iterator[tuple[Rule, int, int]]:
    """Rows found by a key of the evidence, with the depth in the chain of causes and the place in a list of names."""
    e = signals.evidence
    for place, code in enumerate(signals.all_codes):
        yield from ((row, 0, place) for row in index.get(("code", code), ()))
    for key in (("finish", e.finish_reason), ("block", e.block_reason), ("status", e.status or 0)):
        yield from ((row, 0, 0) for row in index.get(key, ()))
    if signals.named or signals.is_bare:
        yield from ((row, 0, 0) for row in index.get(("text", signals.dialect), ()))
    for fact in sorted(e.facts):
        yield from ((row, 0, 0) for row in index.get(("fact", fact), ()))
    for depth, names in enumerate(e.exceptions):
        foreign = _foreign(e.exceptions[depth:])
        for place, name in enumerate(names):
            for key in (("exception", name), ("exception", "." + name.rpartition(".")[2])):
                yield from ((row, depth, place) for row in index.get(key, ()) if not (row.wrapper and foreign))


def _foreign(chain: tuple[tuple[str, ...], ...]) -> bool:
    """Whether an exception that is neither an SDK's nor a network error has a part in the chain."""
    return any(not causes.is_transport(names) and not causes.dialect_of(names) for names in chain)


_FALLBACKS = {
    reason: Rule(f"common.fallback.{reason}", ErrorClass.UNKNOWN, reason, kind=kind)
    for reason, kind in (
        ("foreign_exception", "exception"),
        ("unrecognised_error", "exception"),
        ("unexpected_body", "content"),
        ("other", "content"),
    )
}


def _fallback(evidence: Evidence) -> Rule:
    """UNKNOWN, by what is known at least."""
    if evidence.embedded:
        return _FALLBACKS["unexpected_body"]
    if evidence.exceptions:
        foreign = evidence.status is None and _foreign(evidence.exceptions)
        return _FALLBACKS["foreign_exception" if foreign else "unrecognised_error"]
    return _FALLBACKS["other" if evidence.status is None else "unrecognised_error"]
