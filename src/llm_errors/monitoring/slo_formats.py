"""Writes the availability objective in the formats of other SLO tools: OpenSLO and Sloth.

There is a document for each service with its own objective, and one for all other services together. These tools compute rates
over the raw counters. Their burn rates therefore miss the first failures of a newly started process, and miss short jobs
completely. The shipped rules count both.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from llm_errors import semconv
from llm_errors.monitoring import promql
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import BAD, CLASS, LEFT_OUT, OUTCOME
from llm_errors.taxonomy import View

BIRTHS: Final = (
    "Burn rates over raw counters miss the first failures of a fresh process; llm-errors.rules.yml counts them."
)
_DESCRIPTION: Final = "Valid LLM calls that did not fail by the provider's or the network's fault."


@dataclass(frozen=True)
class _Objective:
    """The objective of one document: for one service, or for all services without their own objective."""

    service: str
    matcher: str
    percent: float

    @property
    def plain_service(self) -> str:
        """The name of the service as a DNS label, because OpenSLO and Sloth do not accept the slash in `namespace/name`."""
        return re.sub(r"[^a-z0-9]+", "-", self.service.lower()).strip("-")[:40].rstrip("-")

    @property
    def name(self) -> str:
        """The name of the objective."""
        return f"llm-availability-{self.plain_service}"


def open_slo(options: Options) -> list[dict[str, Any]]:
    """The objectives as OpenSLO v1 documents."""
    return [_open_slo(objective, options) for objective in _objectives(options)]


def sloth(options: Options) -> list[dict[str, Any]]:
    """The objectives as Sloth specifications (`prometheus/v1`)."""
    return [_sloth(objective, options) for objective in _objectives(options)]


def _objectives(options: Options) -> list[_Objective]:
    own, label = options.objectives, options.service_label
    others = _Objective(
        "other-services" if own else "all-services", promql.none_of(label, sorted(own)), options.objective
    )
    return [*(_Objective(name, promql.one_of(label, (name,)), own[name]) for name in sorted(own)), others]


def _queries(objective: _Objective, options: Options, window: str) -> tuple[str, str]:
    """The queries for bad and for valid calls: their counters if `window` is empty, otherwise their rates over the window."""

    def summed(metric: str, matcher: str) -> str:
        series = promql.selector(metric, objective.matcher, *options.selectors, matcher)
        return f"sum(rate({series}[{window}]))" if window else f"sum({series})"

    bad = summed(semconv.ERRORS, promql.one_of(CLASS, BAD))
    settled = summed(semconv.CALLS, promql.one_of(OUTCOME, (semconv.OK, semconv.ERROR)))
    left_out = summed(semconv.ERRORS, promql.one_of(CLASS, LEFT_OUT))
    return f"{bad} or vector(0)", f"{settled} - ({left_out} or vector(0))"


def _open_slo(objective: _Objective, options: Options) -> dict[str, Any]:
    bad, total = (
        {"metricSource": {"type": "Prometheus", "spec": {"query": query}}} for query in _queries(objective, options, "")
    )
    indicator = {"ratioMetric": {"counter": True, "bad": bad, "total": total}}
    return {
        "apiVersion": "openslo/v1",
        "kind": "SLO",
        "metadata": {"name": objective.name, "displayName": f"LLM availability, {objective.service}"},
        "spec": {
            "description": _DESCRIPTION,
            "service": objective.plain_service,
            "indicator": {"metadata": {"name": f"{objective.name}-ratio"}, "spec": indicator},
            "timeWindow": [{"duration": options.window, "isRolling": True}],
            "budgetingMethod": "Occurrences",
            "objectives": [{"displayName": "available", "target": round(objective.percent / 100, 8)}],
        },
    }


def _sloth(objective: _Objective, options: Options) -> dict[str, Any]:
    bad, total = _queries(objective, options, "{{.window}}")
    levels = {
        f"{name}_alert": {"labels": {"severity": options.severities[name], "view": View.RELIABILITY.value}}
        for name in ("page", "ticket")
    }
    return {
        "version": "prometheus/v1",
        "service": objective.plain_service,
        "slos": [
            {
                "name": "llm-availability",
                "objective": objective.percent,
                "description": _DESCRIPTION,
                "sli": {"events": {"error_query": bad, "total_query": total}},
                "alerting": {"name": "LLMAvailabilityBurn", **levels},
            }
        ],
    }
