"""Advice on what to do about a failed call. It depends on class and reason only. Nothing here retries, sleeps or sends.

`plan` gives the advice. `recovery.tenacity` and `recovery.google_adk` connect it with these packages. Import them by name:
they need tenacity or google-adk. Everything else needs the standard library only, and no OpenTelemetry.
"""

from llm_errors.recovery.backoff import base_delay, delay
from llm_errors.recovery.context import error_context, on_error
from llm_errors.recovery.plan import CATEGORIES, KINDS, RecoveryPlan, plan

__all__ = ["CATEGORIES", "KINDS", "RecoveryPlan", "base_delay", "delay", "error_context", "on_error", "plan"]
