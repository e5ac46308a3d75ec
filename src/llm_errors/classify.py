"""Classifies a failure: `classify` takes any failure, `decide` takes Evidence. Standard library only.

The rules, the readers of exceptions and the redaction are imported when the first failure arrives or `prepare` is called, so
that they do not delay the start of an application.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llm_errors.evidence import Classification, Evidence
    from llm_errors.rules._rule import Index, Rule


def classify(failure: Any, *, provider: str | None = None, partial_output: bool = False) -> Classification | None:
    """Classify a failure. The result is None if `failure` is not one, for example if it is a healthy answer.

    `failure` is an exception, an SDK's response object, or the response as a plain dict. `provider` is a value of
    `gen_ai.provider.name`; it is used if the failure itself does not identify the provider. `partial_output` means that
    part of the answer has reached the caller; the call is then not retryable. Cancellation by the caller is not a
    failure. This function never raises.
    """
    try:
        from llm_errors import decision

        return decision.of_any(failure, provider or "", partial_output)
    except Exception:  # noqa: BLE001 - this function never raises; a failure that cannot be read is still a failure
        return unreadable("thrown")


def unreadable(channel: str) -> Classification:
    """The classification of a failure for which reading or classifying raised an exception."""
    from llm_errors.evidence import Classification
    from llm_errors.taxonomy import ErrorClass

    return Classification(ErrorClass.UNKNOWN, "other", channel, "exception", "common.unreadable")


def decide(
    evidence: Evidence,
    *,
    own: Index | None = None,
    messages: bool = True,
    partial_output: bool = False,
    redaction: Callable[[str], str] | None = None,
) -> Classification | None:
    """Classify by the matching rule with the highest precedence. Rules of the user come before the shipped rules.

    The result is None if a rule of the user marks the call as healthy. `messages` enables the rules that match the
    provider's message; they read the message before it is redacted. `redaction` is applied to the message in the result;
    by default it is `redact`.
    """
    from llm_errors import decision
    from llm_errors.extract.redact import redact

    return decision.decide(
        evidence, own=own, messages=messages, partial_output=partial_output, redaction=redaction or redact
    )


def considered(evidence: Evidence, *, own: Index | None = None, messages: bool = True) -> list[Rule]:
    """Every matching rule, in the order of precedence; the first one wins. `llm-errors explain` prints them."""
    from llm_errors import decision

    return decision.considered(evidence, own=own, messages=messages)


def prepare() -> None:
    """Import now what the first failure will need, so that the failure is not delayed."""
    from llm_errors.evidence import Evidence

    decide(Evidence())
