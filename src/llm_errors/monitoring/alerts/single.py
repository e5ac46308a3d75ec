"""Alerts about single events: the first one counts, so none of them waits (`for`)."""

from llm_errors.monitoring import promql
from llm_errors.monitoring.alerts._alert import AT_MODEL, COUNT, THE_CLASS, THE_REASON, Alert, Scope
from llm_errors.monitoring.promql import CLASS, REASON
from llm_errors.taxonomy import ACCOUNT_BUDGET_REASONS, ErrorClass, View

LISTED = "llm-correctness/What broke, and since when"


def alerts(scope: Scope) -> list[Alert]:
    """AUTH, NOT_FOUND, CALL_BUDGET, BAD_REQUEST and UNKNOWN."""
    return [*_credential(scope), *_budget(scope), _bad_request(scope), _unknown(scope)]


def _count(scope: Scope, *matchers: str) -> str:
    labels = (*scope.series.by_class, REASON)
    return promql.sum_by(labels, promql.selector(scope.series.errors, *matchers)) + " > 0"


def _paged(scope: Scope, *matchers: str) -> list[tuple[str, str]]:
    """The count for all services as a page, but as a ticket for those whose users bring their own keys."""
    s, own = scope.series, scope.options.own_keys
    rules = [("page", _count(scope, promql.none_of(s.service, own), *matchers))]
    return rules + ([("ticket", _count(scope, promql.one_of(s.service, own), *matchers))] if own else [])


def _credential(scope: Scope) -> list[Alert]:
    return [
        Alert(
            "LLMCredentialOrModelError",
            View.CORRECTNESS,
            severity,
            "any AUTH or NOT_FOUND, the first one of a fresh process included",
            expression,
            f"{THE_CLASS} ({THE_REASON}) from {AT_MODEL} in {scope.the_service}",
            f"{COUNT} call(s) failed with {THE_CLASS} in the last 5 minutes. A credential, a permission or a model "
            "name is wrong; retrying will not help.",
            LISTED,
            keep="10m",
        )
        for severity, expression in _paged(scope, promql.one_of(CLASS, (ErrorClass.AUTH, ErrorClass.NOT_FOUND)))
    ]


def _budget(scope: Scope) -> list[Alert]:
    budget = promql.one_of(CLASS, (ErrorClass.CALL_BUDGET,))
    (_, page), *own_keys = _paged(scope, budget, promql.one_of(REASON, ACCOUNT_BUDGET_REASONS))
    tickets = [_count(scope, budget, promql.none_of(REASON, ACCOUNT_BUDGET_REASONS)), *(query for _, query in own_keys)]
    words = {
        "page": "The account's quota or credit is spent: every call fails until someone raises it.",
        "ticket": "A limit of the run or of the caller's own account stopped the call. Raise it, or find the loop.",
    }
    return [
        Alert(
            "LLMCallBudgetExhausted",
            View.CORRECTNESS,
            severity,
            "any CALL_BUDGET: page for the account's reasons, ticket for a run's own",
            expression,
            f"{THE_CLASS} ({THE_REASON}) from {AT_MODEL} in {scope.the_service}",
            f"{COUNT} call(s) found a budget spent in the last 5 minutes. {words[severity]}",
            LISTED,
            keep="10m",
        )
        for severity, expression in (("page", page), ("ticket", "\nor\n".join(tickets)))
    ]


def _bad_request(scope: Scope) -> Alert:
    return Alert(
        "LLMBadRequests",
        View.CORRECTNESS,
        "ticket",
        "any BAD_REQUEST but context_overflow",
        _count(scope, promql.one_of(CLASS, (ErrorClass.BAD_REQUEST,)), promql.none_of(REASON, ("context_overflow",))),
        f"{scope.the_service} sends requests that {AT_MODEL} refuses ({THE_REASON})",
        f"{COUNT} call(s) were refused as malformed in the last 5 minutes. "
        "The request must be repaired; a retry fails alike.",
        LISTED,
        keep="1h",
    )


def _unknown(scope: Scope) -> Alert:
    return Alert(
        "LLMUnknownErrors",
        View.REVIEW,
        "info",
        "any UNKNOWN",
        _count(scope, promql.one_of(CLASS, (ErrorClass.UNKNOWN,))),
        f"Failures of {AT_MODEL} in {scope.the_service} that no rule could class ({THE_REASON})",
        "Look at their fingerprints this week, and promote what recurs to a rule.",
        "llm-overview/Unclassified failures by provider and reason",
        keep="24h",
    )
