"""Chooses the rule that classifies a failure. `classify` imports this module when the first failure arrives.

Standard library only.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from llm_errors.evidence import Classification, Evidence
from llm_errors.extract import causes, exceptions, results
from llm_errors.extract.fields import CODE_LIMIT, printable
from llm_errors.extract.redact import redact
from llm_errors.providers import dialect_of_provider
from llm_errors.rules._rule import Index, Rule
from llm_errors.rules._signals import Signals
from llm_errors.rules.shipped import DIALECTS, INDEX
from llm_errors.taxonomy import FINAL_REASONS, HANDLING, ErrorClass

Precedence = tuple[int, int, bool, int, int, int]


def of_any(failure: Any, provider: str, partial_output: bool) -> Classification | None:
    """Classify Evidence, an exception, or an answer. This may raise: `classify` guards it."""
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
    """See `classify.decide`."""
    signals = _signals(evidence, messages)
    row = _best(own, Signals(evidence, messages)) if own else None
    row = row or _best(INDEX, signals) or _fallback(evidence)
    if row.error_class is None:
        return None
    error_class, reason = row.error_class, row.reason
    partial = partial_output or evidence.partial_output
    retryable = HANDLING[error_class].retryable and (error_class, reason) not in FINAL_REASONS
    if reason == "daily_quota" and "retry_after_header" in evidence.facts and evidence.retry_after is not None:
        retryable = True  # the quota of a rolling day, for which the provider states when to retry
    if evidence.status == 402 and evidence.retry_after is not None:
        retryable = True  # the provider states when to retry
    return Classification(
        error_class=error_class,
        reason=reason,
        channel=evidence.channel,
        evidence=row.evidence,
        rule=row.id,
        status_code=evidence.status,
        code=_shown_code(_code(signals, row)),
        message=redaction(evidence.message) if _is_message(evidence, row) else "",
        retryable=retryable and not partial,
        retry_after=evidence.retry_after,
        partial_output=partial,
    )


def _is_message(evidence: Evidence, row: Rule) -> bool:
    """Whether the message of the evidence is an error message.

    A text that arrived in place of an answer may be the words of a model. It is an error message if a rule for texts matched.
    """
    return "unexpected_body" not in evidence.facts or row.evidence == "message"


def _code(signals: Signals, row: Rule) -> str:
    """The raw value that the rule matched, or else the most specific code."""
    evidence = signals.evidence
    decided = next((code for spelt, code in signals.all_codes.items() if row.decided_by(spelt)), "")
    natural = evidence.finish_reason or evidence.block_reason
    if row.finish or row.block:
        return natural
    return decided or (evidence.codes[0] if evidence.codes else natural)


_NAME = re.compile(r"[A-Za-z_.]*|\d{1,9}")


def _shown_code(code: str) -> str:
    """The printable part of a code. Some servers send a sentence instead of a code; a sentence is redacted."""
    shown = printable(code)
    return shown if _NAME.fullmatch(shown) else redact(shown)[:CODE_LIMIT]


def considered(evidence: Evidence, *, own: Index | None, messages: bool) -> list[Rule]:
    """See `classify.considered`."""
    found: dict[str, Rule] = {}
    literal = Signals(evidence, messages)
    for index, signals in ((own or {}, literal), (INDEX, _signals(evidence, messages))):
        ranked = [(_precedence(*candidate), candidate[0]) for candidate in _candidates(index, signals)]
        for _, row in sorted(ranked, key=lambda pair: pair[0], reverse=True):
            if row.holds(signals):
                found.setdefault(row.id, row)
    return list(found.values()) or [_fallback(evidence)]


def _signals(evidence: Evidence, messages: bool) -> Signals:
    """Prepare the evidence for the shipped rules: a text can refine a status that only a code names.

    The rules of a user get no such status. For them, `status` always means the status of the response.
    """
    dialect = evidence.dialect if not evidence.dialect or evidence.dialect in DIALECTS else "openai"
    signals = Signals(evidence, messages, dialect)
    rows = (row for code in signals.codes for row in INDEX.get(("code", code), ()))
    signals.named = frozenset(status for row in rows if dialect in row.dialects for status in row.names)
    signals.is_bare = evidence.embedded and evidence.status in (None, 200)
    return signals


def _precedence(row: Rule, depth: int, position: int) -> Precedence:
    """The sort key of a matching rule; the highest key wins. At equal rank and weight, a rule that matches a text wins."""
    return row.rank, row.weight, bool(row.says), depth, -position, row.conditions


def _best(index: Index, signals: Signals) -> Rule | None:
    best: tuple[Precedence, Rule] | None = None
    for row, depth, position in _candidates(index, signals):
        if not row.holds(signals):
            continue
        precedence = _precedence(row, depth, position)
        if best is None or precedence > best[0]:
            best = precedence, row
    return best[1] if best else None


def _candidates(index: Index, signals: Signals) -> Iterator[tuple[Rule, int, int]]:
    """The rules that the index has for the evidence.

    Each comes with two numbers about the code or class name that found it: its depth in the chain of causes, and its position
    in the list of codes or of the MRO.
    """
    e = signals.evidence
    for position, code in enumerate(signals.all_codes):
        yield from ((row, 0, position) for row in index.get(("code", code), ()))
    for key in (("finish", e.finish_reason), ("block", e.block_reason), ("status", e.status or 0)):
        yield from ((row, 0, 0) for row in index.get(key, ()))
    if signals.named or signals.is_bare:
        yield from ((row, 0, 0) for row in index.get(("text", signals.dialect), ()))
    for fact in sorted(e.facts):
        yield from ((row, 0, 0) for row in index.get(("fact", fact), ()))
    for depth, names in enumerate(e.exceptions):
        foreign = _foreign(e.exceptions[depth:])
        for position, name in enumerate(names):
            for key in (("exception", name), ("exception", "." + name.rpartition(".")[2])):
                yield from ((row, depth, position) for row in index.get(key, ()) if not (row.wrapper and foreign))


def _foreign(chain: tuple[tuple[str, ...], ...]) -> bool:
    """Whether the chain contains an exception that is neither from an SDK nor a network error."""
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
    """The rule for a failure that no other rule matches: UNKNOWN, with the most specific reason."""
    if evidence.embedded:
        return _FALLBACKS["unexpected_body"]
    if evidence.exceptions:
        foreign = evidence.status is None and _foreign(evidence.exceptions)
        return _FALLBACKS["foreign_exception" if foreign else "unrecognised_error"]
    return _FALLBACKS["other" if evidence.status is None else "unrecognised_error"]
