"""Alerts about the error budget: multi-window, multi-burn-rate, per service; per model as a ticket.

The short window lets an alert end soon after recovery. A model's burn is a ticket only: fallback may carry the service.
"""

from llm_errors.monitoring import promql
from llm_errors.monitoring.alerts._alert import AT_MODEL, SHARE, Alert, Scope
from llm_errors.monitoring.options import BURN_MINIMUM, BURNS, Burn
from llm_errors.taxonomy import View


def alerts(scope: Scope) -> list[Alert]:
    """Those over windows of hours."""
    return [*(_service_burn(scope, b) for b in BURNS if not b.long.endswith("d")), _model_burn(scope, BURNS[0])]


def long_term(scope: Scope) -> list[Alert]:
    """Those over windows of days."""
    return [_service_burn(scope, b) for b in BURNS if b.long.endswith("d")]


def _burning(scope: Scope, level: str, burn: Burn) -> str:
    s = scope.series
    labels = (s.service,) if level == "service" else s.by_model
    join = f"on ({s.service})" + ("" if level == "service" else " group_left ()")
    limit = f"{join} ({burn.factor} * (1 - {s.objective}))"
    bad = s.tumbling(s.bad(level)) if burn.long.endswith("d") else s.bad(level)
    return (
        f"(\n  {s.bad_ratio(level, burn.long)} > {limit}\nand\n  {s.bad_ratio(level, burn.short)} > {limit}\n)\n"
        f"and on ({', '.join(labels)})\n{promql.events(burn.long, bad)} >= {BURN_MINIMUM}"
    )


def _service_burn(scope: Scope, burn: Burn) -> Alert:
    return Alert(
        "LLMAvailabilityBurnPage" if burn.severity == "page" else "LLMAvailabilityBurnTicket",
        View.RELIABILITY,
        burn.severity,
        f"a service burns its budget at {burn.factor:g} times the allowed rate over {burn.long} and {burn.short}, "
        f"{BURN_MINIMUM} bad calls at least",
        _burning(scope, "service", burn),
        f"{scope.the_service} burns its error budget at {burn.factor:g} times the allowed rate",
        f"{SHARE} of the valid calls failed over {burn.long}, and too many still fail over {burn.short}.",
        "llm-reliability/Burn rate",
        labels=(("window", burn.long),),
    )


def _model_burn(scope: Scope, burn: Burn) -> Alert:
    return Alert(
        "LLMModelBurnTicket",
        View.RELIABILITY,
        "ticket",
        f"one model burns the budget at {burn.factor:g} times the allowed rate over {burn.long} and {burn.short}, "
        f"{BURN_MINIMUM} bad calls at least",
        _burning(scope, "model", burn),
        f"{AT_MODEL} fails in {scope.the_service}",
        f"{SHARE} of the valid calls to this model failed over {burn.long}. "
        "Other models may carry the service meanwhile.",
        "llm-reliability/Worst models, last hour",
        labels=(("window", burn.long),),
    )
