"""Defines the alerts about the error budget: multi-window, multi-burn-rate alerts per service, and a ticket per model.

The alert over 3 minutes looks at the share of bad calls, which must be above one half, instead of the burn rate. So a total
outage pages within 4 minutes. Each of the other alerts has a long and a short window; because of the short window, the alert
ends soon after recovery. A single failing model opens only a ticket, because the service may have fallen back to another
model.

**One page per outage.** An alert does not start to page while an alert over a shorter window fires for the same service, or
shortly after that alert has ended. The alert over 3 minutes keeps firing for 15 minutes, so failures that come in waves are
one incident. An alert that is already firing continues, and alerts that start in the same evaluation all fire.
"""

from llm_errors.monitoring import promql
from llm_errors.monitoring.alerts._alert import AT_MODEL, RULE_SET, SHARE, Alert, Scope
from llm_errors.monitoring.options import BURN_MINIMUM, BURNS, OUTAGE, Burn
from llm_errors.taxonomy import View

PAGE = "LLMAvailabilityBurnPage"
_FAILURES = "llm-reliability/Provider failures, share of calls"


def panel(burn: Burn) -> str:
    """The name of the panel that shows the burn rate over the long window."""
    return f"llm-reliability/Burn rate, {burn.long}"


def alerts(scope: Scope) -> list[Alert]:
    """The alerts whose long window is minutes or hours."""
    hours = [burn for burn in BURNS if not burn.long.endswith("d")]
    return [_outage(scope), *(_service_burn(scope, burn) for burn in hours), _model_burn(scope, BURNS[0])]


def long_term(scope: Scope) -> list[Alert]:
    """The alerts whose long window is days."""
    return [_service_burn(scope, b) for b in BURNS if b.long.endswith("d")]


def _burning(scope: Scope, level: str, burn: Burn) -> str:
    s = scope.series
    labels = s.scope if level == "service" else s.by_model
    join = f"on ({', '.join(s.scope)})" + ("" if level == "service" else " group_left ()")
    limit = f"{join} ({burn.factor} * (1 - {s.objective}))"
    bad = s.tumbling(s.bad(level)) if burn.long.endswith("d") else s.bad(level)
    enough = f"{promql.events(burn.long, bad)} >= {BURN_MINIMUM}"
    # The number of events in the window is updated once a minute, the number in the last 5 minutes at each evaluation.
    if not burn.long.endswith("d"):
        enough = f"({enough} or {bad} >= {BURN_MINIMUM})"
    return (
        f"(\n  {s.bad_ratio(level, burn.long)} > {limit}\nand\n  {s.bad_ratio(level, burn.short)} > {limit}\n)\n"
        f"and on ({', '.join(labels)})\n{enough}"
    )


def _rate(burn: Burn) -> str:
    return "just over the sustainable rate" if burn.factor == 1 else f"{burn.factor:g} times the sustainable rate"


def _unless_faster(scope: Scope, burn: Burn) -> str:
    """PromQL that keeps a page from starting while a page over a shorter window fires, and for some time after that.

    The time is the short window of this page, which still contains the failures of that incident.

    Otherwise this page would start after the repair, when the page over the shorter window has ended.
    """
    faster = [OUTAGE.window, *(b.long for b in BURNS[: BURNS.index(burn)])]
    own = f'{RULE_SET}="{scope.options.name}"' if scope.options.name else ""

    def firing(*windows: str) -> str:
        matchers = (f'alertname="{PAGE}"', 'alertstate="firing"', promql.one_of("window", windows), own)
        return promql.selector("ALERTS", *matchers)

    on = f"on ({', '.join(scope.series.scope)})"
    recently = f"last_over_time({firing(*faster)}[{burn.short}] offset 1s)"  # the state before this evaluation
    return f"unless {on} (\n  {recently}\n  unless {on}\n  {firing(burn.long)} offset 1s\n)"


def _outage(scope: Scope) -> Alert:
    s, window, least = scope.series, OUTAGE.window, OUTAGE.minimum
    return Alert(
        PAGE,
        View.RELIABILITY,
        "page",
        fires=f"over {OUTAGE.percent:g} % of the valid calls of {window} are bad, at least {least}",
        expression=f"{s.bad_ratio('service', window)} > {OUTAGE.ratio}\nand\n{s.recent('bad')} >= {least}",
        summary=f"{scope.the_service} is down: most of its LLM calls fail",
        description=f"{SHARE} of the valid calls failed within {window}.",
        panel=_FAILURES,
        keep="15m",
        labels=(("window", window),),
    )


def _service_burn(scope: Scope, burn: Burn) -> Alert:
    pages = burn.severity == "page"
    expression = _burning(scope, "service", burn)
    return Alert(
        PAGE if pages else "LLMAvailabilityBurnTicket",
        View.RELIABILITY,
        burn.severity,
        fires=f"a service consumes its budget at {_rate(burn)} over {burn.long} and {burn.short}, "
        f"at least {BURN_MINIMUM} bad calls",
        expression=f"{expression}\n{_unless_faster(scope, burn)}" if pages else expression,
        summary=f"{scope.the_service} consumes its error budget at {_rate(burn)}",
        description=f"{SHARE} of the valid calls failed over {burn.long}, and too many still fail over {burn.short}.",
        panel=panel(burn),
        labels=(("window", burn.long),),
    )


def _model_burn(scope: Scope, burn: Burn) -> Alert:
    return Alert(
        "LLMModelBurnTicket",
        View.RELIABILITY,
        "ticket",
        fires=f"one model consumes the budget at {_rate(burn)} over {burn.long} and {burn.short}, "
        f"at least {BURN_MINIMUM} bad calls",
        expression=_burning(scope, "model", burn),
        summary=f"Many calls of {scope.the_service} to {AT_MODEL} fail",
        description=f"{SHARE} of the valid calls to this model failed over {burn.long}. Other models may still be "
        "serving users.",
        panel="llm-reliability/Worst models, last hour",
        labels=(("window", burn.long),),
    )
