"""The alerts: what fires, how it is worded, and which panel shows it.

Thresholds come from `options`, queries from `promql`.
"""

from llm_errors.monitoring.alerts import burn, pipeline, shares, single, telemetry
from llm_errors.monitoring.alerts._alert import Alert, Scope
from llm_errors.monitoring.options import Options

__all__ = ["Alert", "Scope", "burn", "every_alert", "pipeline", "shares", "single", "telemetry"]


def every_alert(options: Options) -> list[Alert]:
    """All alerts for the given options. Several alerts may have the same name, with different windows or severities."""
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
