"""Gives advice on what to do about a failed call. `plan` returns the advice, and never retries, sleeps or sends anything.

`recovery.tenacity` and `recovery.google_adk` apply the advice in these frameworks. They must be imported by name, because they
need tenacity or google-adk. All other modules need the standard library only, and no OpenTelemetry.
"""

from llm_errors.recovery.backoff import base_delay, delay
from llm_errors.recovery.context import error_context, on_error
from llm_errors.recovery.plan import CATEGORIES, KINDS, RecoveryPlan, plan

__all__ = ["CATEGORIES", "KINDS", "RecoveryPlan", "base_delay", "delay", "error_context", "on_error", "plan"]
