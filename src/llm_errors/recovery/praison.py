"""A drop-in for `praisonaiagents.llm.error_classifier.classify_llm_error`: the same call, the same fields, our verdict.

praisonaiagents is not imported. Where the advice differs from its documented behaviour, and why:

- unknown errors are not retried: nobody knows what a second attempt does;
- the jitter never lifts a wait above the cap;
- a Retry-After of 0 is obeyed, milliseconds are milliseconds, and no base delay is added to what the provider asks for;
- text decides nothing but a bare 400: "500 tokens" in a message is no server error;
- a spent quota (429 `insufficient_quota`) and a content block are permanent, not a rate limit and a model error;
- network errors that it calls permanent (DNS, a connection dropped midway) are `overloaded`;
- an overflowing context is retried once, and no failure more than three times by default;
- `user_message` names neither provider nor model.
"""

from dataclasses import dataclass
from typing import Any

from llm_errors.recovery.plan import plan


@dataclass
class LLMErrorClassification:
    """The fields of praisonaiagents' result, in its order."""

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
    """The advice on `exc` in praisonaiagents' terms; `retry_depth` counts the retries made so far, from 0."""
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
