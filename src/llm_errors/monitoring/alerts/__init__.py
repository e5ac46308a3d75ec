"""Defines the alerts: their conditions, their texts, and the panels that show them.

Their thresholds come from `options`, and their queries from `promql`.
"""

from llm_errors.monitoring.alerts import burn, pipeline, shares, single, telemetry
from llm_errors.monitoring.alerts._alert import Alert, Scope
from llm_errors.monitoring.options import Options

__all__ = ["Alert", "Scope", "burn", "every_alert", "pipeline", "shares", "single", "telemetry"]


def every_alert(options: Options) -> list[Alert]:
    """All alerts for the given options. Alerts with the same name have different labels, such as window or severity."""
    scope = Scope(options)
    parts = (
        single.alerts,
        burn.alerts,
        shares.alerts,
        burn.long_term,
        telemetry.alerts,
        pipeline.evaluation,
        pipeline.alerts,
    )
    return [alert for part in parts for alert in part(scope)]
