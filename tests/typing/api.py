"""Never run: type-checked only. The public surface as users write against it."""

from typing import Any

from opentelemetry.trace import Span

from llm_errors import HANDLING, Classification, ErrorClass, HandlingRule, LLMErrorsInstrumentor, classify


def decide(error: Exception) -> str:
    verdict: Classification | None = classify(error, provider="openai", partial_output=False)
    if verdict is None:
        return "healthy"
    rule: HandlingRule = HANDLING[verdict.error_class]
    wait: float | None = verdict.retry_after
    retry: bool = verdict.retryable
    return f"{verdict.error_class.value} {rule.advice} {wait} {retry}"


def hook(span: Span, verdict: Classification, call: Any) -> None:
    if verdict.error_class is ErrorClass.OUTPUT_BLOCKED:
        span.set_attribute("app.withdrawn", True)


LLMErrorsInstrumentor().instrument(failure_hook=hook, spans="adopt", strict=True)
