"""Defines the alerts about single events. They fire at the first event, so none of them has a `for`.

The alert about a failure that needs a repair fires until a call succeeds: that no more calls fail does not prove a repair.
"""

from llm_errors.monitoring import promql
from llm_errors.monitoring.alerts._alert import AT_MODEL, COUNT, MOMENT, THE_CLASS, THE_REASON, Alert, Scope
from llm_errors.monitoring.promql import CLASS, REASON
from llm_errors.taxonomy import ACCOUNT_BUDGET_REASONS, ErrorClass, View

LISTED = "llm-correctness/What broke, and since when"


def alerts(scope: Scope) -> list[Alert]:
    """The alerts for AUTH, NOT_FOUND, CALL_BUDGET, BAD_REQUEST and UNKNOWN."""
    return [*_credential(scope), *_budget(scope), _bad_request(scope), _unknown(scope)]


def _count(scope: Scope, *matchers: str) -> str:
    labels = (*scope.series.by_class, REASON)
    return promql.sum_by(labels, promql.selector(scope.series.errors, *matchers)) + " > 0"


def _unrepaired(scope: Scope, *matchers: str) -> list[tuple[str, str]]:
    """Pairs of severity and query for failures that need a repair.

    They are a ticket for services whose users bring their own keys, and a page for all other services.
    """
    s, own, label = scope.series, scope.options.own_keys, scope.options.service_label
    chosen = [("page", promql.none_of(label, own)), *([("ticket", promql.one_of(label, own))] if own else [])]
    return [(severity, promql.selector(s.unrepaired, services, *matchers) + " > 0") for severity, services in chosen]


def _credential(scope: Scope) -> list[Alert]:
    return [
        Alert(
            "LLMCredentialOrModelError",
            View.CORRECTNESS,
            severity,
            fires="any AUTH or NOT_FOUND, including the first one after a process starts; until a call to the model succeeds",
            expression=expression,
            summary=f"{THE_CLASS} ({THE_REASON}) from {AT_MODEL} in {scope.the_service}",
            description=f"The last failed call was seen at {MOMENT}, and none has succeeded since. A credential, a "
            "permission or "
            "a model name is wrong; retrying will not help.",
            panel=LISTED,
        )
        for severity, expression in _unrepaired(scope, promql.one_of(CLASS, (ErrorClass.AUTH, ErrorClass.NOT_FOUND)))
    ]


def _budget(scope: Scope) -> list[Alert]:
    budget = promql.one_of(CLASS, (ErrorClass.CALL_BUDGET,))
    (_, page), *own_keys = _unrepaired(scope, budget)
    tickets = [_count(scope, budget, promql.none_of(REASON, ACCOUNT_BUDGET_REASONS)), *(query for _, query in own_keys)]
    summary = f"{THE_CLASS} ({THE_REASON}) from {AT_MODEL} in {scope.the_service}"
    return [
        Alert(
            "LLMCallBudgetExhausted",
            View.CORRECTNESS,
            "page",
            fires="any CALL_BUDGET with a reason of the account, until a call to the model succeeds",
            expression=page,
            summary=summary,
            description=f"The last failed call was seen at {MOMENT}, and none has succeeded since. "
            "The account's quota or credit is exhausted: every call fails until someone raises it.",
            panel=LISTED,
        ),
        Alert(
            "LLMCallBudgetExhausted",
            View.CORRECTNESS,
            "ticket",
            fires="any CALL_BUDGET with a reason of the run itself",
            expression="\nor\n".join(tickets),
            summary=summary,
            description="A limit of the run or of the caller's own account stopped a call. Raise the limit, or "
            "look for a runaway loop.",
            panel=LISTED,
            keep="10m",
        ),
    ]


def _bad_request(scope: Scope) -> Alert:
    return Alert(
        "LLMBadRequests",
        View.CORRECTNESS,
        "ticket",
        fires="any BAD_REQUEST except context_overflow",
        expression=_count(
            scope, promql.one_of(CLASS, (ErrorClass.BAD_REQUEST,)), promql.none_of(REASON, ("context_overflow",))
        ),
        summary=f"{scope.the_service} sends requests that {AT_MODEL} refuses ({THE_REASON})",
        description=f"{COUNT} call(s) were refused as malformed in the last 5 minutes. "
        "Fix the request; retrying will fail the same way.",
        panel=LISTED,
        keep="1h",
    )


def _unknown(scope: Scope) -> Alert:
    return Alert(
        "LLMUnknownErrors",
        View.REVIEW,
        "info",
        fires="any UNKNOWN",
        expression=_count(scope, promql.one_of(CLASS, (ErrorClass.UNKNOWN,))),
        summary=f"Unclassified failures of {AT_MODEL} in {scope.the_service} ({THE_REASON})",
        description="Review them this week by fingerprint, and add a rule for what recurs.",
        panel="llm-overview/Unclassified failures by provider and reason",
        keep="24h",
    )
