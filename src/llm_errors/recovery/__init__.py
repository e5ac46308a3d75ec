"""From class to action: pure advice on what to do about a failed call. Nothing here retries, sleeps or sends.

`plan` is the whole of it. The bridges to other packages (`recovery.tenacity`, `recovery.google_adk`) import theirs
and are imported by name only; `recovery.praison` needs no package. Standard library only, no OpenTelemetry.
"""

from llm_errors.recovery.backoff import base_delay, delay
from llm_errors.recovery.context import error_context, on_error
from llm_errors.recovery.plan import CATEGORIES, KINDS, RecoveryPlan, plan

__all__ = ["CATEGORIES", "KINDS", "RecoveryPlan", "base_delay", "delay", "error_context", "on_error", "plan"]
