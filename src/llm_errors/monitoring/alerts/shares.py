"""Defines the alerts about shares of calls. Each also needs a minimum number of events: a few calls cause no false alarm.

Shares that depend on what users do must also exceed the mean of the week before today, because a steady level needs no
action. A very high share fires whatever that mean is. The alerts are per model, because a mean over all models would hide a
model that changed. Only the alert about UNKNOWN is per service: it means that the SLO of the service may miss an outage.
"""

from llm_errors import semconv
from llm_errors.monitoring import promql
from llm_errors.monitoring.alerts._alert import AT_MODEL, SHARE, THE_CLASS, Alert, Scope
from llm_errors.monitoring.options import CANCELLED, SHARE_CAP, WEEKLY_FACTOR, Share
from llm_errors.monitoring.promql import CLASS, OUTCOME, REASON
from llm_errors.monitoring.slo import BEFORE_TODAY
from llm_errors.taxonomy import ErrorClass, View


def alerts(scope: Scope) -> list[Alert]:
    """All alerts about shares."""
    return [
        _rate_limits(scope),
        _context_overflow(scope),
        _tool_protocol(scope),
        _cancelled(scope),
        *(_blocked(scope, key) for key in promql.of_view(View.POLICY) if key != ErrorClass.TRUNCATED),
        _truncated(scope),
        _unknown_share(scope),
    ]


def _enough(scope: Scope, key: str, error: str, labels: tuple[str, ...]) -> str:
    """PromQL that is true if the window, or the last 5 minutes alone, has the minimum number of events.

    The number in the window is updated only once a minute, the number in the last 5 minutes at each evaluation.
    """
    share = scope.options.shares[key]
    within, recent = promql.sum_by(labels, promql.events(share.window, error)), promql.sum_by(labels, error)
    return f"({within} >= {share.minimum}\nor\n{recent} >= {share.minimum})"


def _share(scope: Scope, key: str, error: str, labels: tuple[str, ...]) -> str:
    """PromQL that is true if a share of a model's calls is above its threshold, with enough events."""
    s, share = scope.series, scope.options.shares[key]
    current = s.share(error, s.model_calls, labels, share.window)
    return f"{current}\n> {share.ratio}\nand\n{_enough(scope, key, error, labels)}"


def _rising_share(scope: Scope, key: str, recorded: str, before: str, error: str, labels: tuple[str, ...]) -> str:
    """PromQL that is true if the recorded share is above its threshold and its usual level, or above the cap."""
    share = scope.options.shares[key]
    usual = f"{WEEKLY_FACTOR} * last_over_time({before}[15m]) >= {recorded}"
    return (
        f"(\n  {recorded} > {share.ratio}\n  unless\n  ({usual})\n  or\n  {recorded} > {_cap(share) / 100:g}\n)\n"
        f"and\n{_enough(scope, key, error, labels)}"
    )


def _cap(share: Share) -> float:
    """The percentage above which a share fires whatever its mean in the week before today is."""
    return max(share.percent, SHARE_CAP)


def _errors_of(scope: Scope, error_class: str) -> str:
    return promql.selector(scope.series.class_errors, promql.one_of(CLASS, (error_class,)))


def _condition(scope: Scope, key: str, what: str, *, weekly: bool = False) -> str:
    share = scope.options.shares[key]
    week = f" and three times the mean of the week before today, or over {_cap(share):g} %"
    return f"{what} over {share.percent:g} % of calls in {share.window}{week * weekly}, at least {share.minimum}"


def _rate_limits(scope: Scope) -> Alert:
    key = ErrorClass.RATE_LIMITED.value
    return Alert(
        "LLMRateLimitSpike",
        View.RELIABILITY,
        "page",
        fires=_condition(scope, key, "RATE_LIMITED") + ", by model",
        expression=_share(scope, key, _errors_of(scope, key), scope.series.by_class),
        summary=f"{AT_MODEL} rate-limits {scope.the_service}",
        description=f"{SHARE} of the calls were rate limited: the quota is exhausted. Throttle callers, reroute, "
        "or raise the quota.",
        panel="llm-reliability/Rate limited, share of calls by model",
        keep="5m",
    )


def _context_overflow(scope: Scope) -> Alert:
    key, s = ErrorClass.BAD_REQUEST.value, scope.series
    reason = promql.one_of(REASON, ("context_overflow",))
    error = promql.selector(s.errors, promql.one_of(CLASS, (key,)), reason)
    return Alert(
        "LLMBadRequests",
        View.CORRECTNESS,
        "ticket",
        fires=_condition(scope, key, "BAD_REQUEST/context_overflow"),
        expression=_share(scope, key, error, (*s.by_class, REASON)),
        summary=f"{scope.the_service} overflows the context of {AT_MODEL}",
        description=f"{SHARE} of the calls did not fit into the model's context. Compress the history, or use a "
        "larger context.",
        panel="llm-correctness/Tool protocol and context overflow, share of calls",
        keep="1h",
        labels=((REASON, "context_overflow"),),  # distinguishes this alert from the alert about single events
    )


def _tool_protocol(scope: Scope) -> Alert:
    key = ErrorClass.TOOL_PROTOCOL.value
    return Alert(
        "LLMToolProtocolErrors",
        View.CORRECTNESS,
        "ticket",
        fires=_condition(scope, key, "TOOL_PROTOCOL") + ", by model",
        expression=_share(scope, key, _errors_of(scope, key), scope.series.by_class),
        summary=f"{AT_MODEL} returns unusable tool calls or structured output to {scope.the_service}",
        description=f"{SHARE} of the calls ended in a tool call or a structured answer that could not be used.",
        panel="llm-correctness/Tool protocol and context overflow, share of calls",
        keep="1h",
    )


def _cancelled(scope: Scope) -> Alert:
    s, window = scope.series, scope.options.shares[CANCELLED].window
    error = promql.selector(s.calls, promql.one_of(OUTCOME, (semconv.CANCELLED,)))
    return Alert(
        "LLMCancelledShareHigh",
        View.RELIABILITY,
        "ticket",
        fires=_condition(scope, CANCELLED, "cancelled calls", weekly=True),
        expression=_rising_share(
            scope, CANCELLED, s.cancelled_share(window), s.cancelled_share(BEFORE_TODAY), error, s.by_model
        ),
        summary=f"{scope.the_service} cancels many calls to {AT_MODEL}",
        description=f"{SHARE} of the calls were cancelled by the application. Its own deadlines may be hiding a "
        "provider that hangs.",
        panel="llm-reliability/Cancelled, share of calls by model",
        keep="1h",
    )


def _blocked(scope: Scope, key: str) -> Alert:
    return _policy(
        scope,
        key,
        "LLMBlockedShareHigh",
        summary=f"{THE_CLASS}: {AT_MODEL} blocks many more calls of {scope.the_service} than usual",
        advice="Blocked calls do not count against availability. Look for a new kind of traffic, or for a filter that "
        "changed.",
        panel="Blocked, share of calls by model",
    )


def _truncated(scope: Scope) -> Alert:
    return _policy(
        scope,
        ErrorClass.TRUNCATED.value,
        "LLMTruncatedShareHigh",
        summary=f"{scope.the_service} gets truncated answers from {AT_MODEL}",
        advice="Ask for shorter output, or raise the token limit.",
        panel="Truncated, share of calls by model and operation",
    )


def _policy(scope: Scope, key: str, name: str, *, summary: str, advice: str, panel: str) -> Alert:
    s, of_class = scope.series, promql.one_of(CLASS, (key,))
    share = scope.options.shares[key]
    now, before = (promql.selector(s.class_share(span), of_class) for span in (share.window, BEFORE_TODAY))
    return Alert(
        name,
        View.POLICY,
        "ticket",
        fires=_condition(scope, key, key, weekly=True) + ", for 30 min",
        expression=_rising_share(scope, key, now, before, _errors_of(scope, key), s.by_class),
        summary=summary,
        description=f"{SHARE} of the calls in the last hour: over {_cap(share):g} %, or three times the mean of "
        "the week before "
        f"today. {advice}",
        panel=f"llm-policy/{panel}",
        hold="30m",
        labels=((CLASS, key),),
    )


def _unknown_share(scope: Scope) -> Alert:
    s, key = scope.series, ErrorClass.UNKNOWN.value
    share, error = scope.options.shares[key], _errors_of(scope, key)
    by = s.scope
    unknown = promql.sum_by(by, promql.over(share.window, error))
    calls = promql.sum_by(by, promql.over(share.window, s.model_calls))
    enough = promql.sum_by(by, promql.events(share.window, error))
    return Alert(
        "LLMUnknownShareHigh",
        View.RELIABILITY,
        "page",
        fires=_condition(scope, key, "UNKNOWN") + ": the SLO may be missing an outage",
        expression=f"{unknown}\n/\n({calls} > 0)\n> {share.ratio}\nand\n{enough} >= {share.minimum}",
        summary=f"Unclassified failures in {scope.the_service}: the SLO may be missing an outage",
        description=f"{SHARE} of the calls failed as UNKNOWN, which does not consume the error budget. "
        "Availability may show 100 % "
        "during an outage.",
        panel="llm-overview/Unclassified, share of calls",
        keep="5m",
    )
