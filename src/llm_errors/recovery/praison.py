"""A replacement for `praisonaiagents.llm.error_classifier.classify_llm_error`, with the advice of llm-errors.

The application imports this function instead; nothing is patched. Parameters and fields are the same, and praisonaiagents is
not imported. The advice differs from the documented behaviour of praisonaiagents in these points:

- unknown errors are not retried, because the effect of a second attempt is unknown;
- the jitter never makes a wait longer than the cap of 300 seconds;
- a Retry-After of 0 means an immediate retry, `retry-after-ms` is read as milliseconds, and no base delay is added to the wait
  that the provider asks for;
- no status is guessed from a number in the message: "500 tokens" is not a server error;
- an exhausted quota (429 `insufficient_quota`) is `permanent` instead of `rate_limit`;
- blocked content is `permanent` instead of `model_error`;
- some network errors (DNS, a connection that drops during an answer) are `overloaded` instead of `permanent`;
- a context overflow is retried once, and no failure more than three times by default;
- `user_message` names neither provider nor model.
"""

from dataclasses import dataclass
from typing import Any

from llm_errors.recovery.plan import plan


@dataclass
class LLMErrorClassification:
    """The fields of praisonaiagents' result, in the same order."""

    error_category: str
    is_retryable: bool
    should_compress_context: bool
    should_rotate_credential: bool
    should_fallback_model: bool
    backoff_seconds: float
    user_message: str


def classify_llm_error(
    exc: Any,
    *,
    provider: str,
    model: str,
    prompt_tokens: int = 0,
    context_length: int = 0,
    retry_depth: int = 0,
) -> LLMErrorClassification:
    """The advice on `exc` in the fields of praisonaiagents. `retry_depth` is the number of retries made so far."""
    advice = plan(
        exc,
        provider=provider,
        model=model,
        attempt=retry_depth + 1,
        prompt_tokens=prompt_tokens or None,
        context_length=context_length or None,
    )
    return LLMErrorClassification(
        error_category=advice.category,
        is_retryable=advice.is_retryable,
        should_compress_context=advice.should_compress_context,
        should_rotate_credential=advice.should_rotate_credential,
        should_fallback_model=advice.should_fallback_model,
        backoff_seconds=advice.backoff_seconds,
        user_message=advice.user_message,
    )
