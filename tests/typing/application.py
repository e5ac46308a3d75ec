"""Never run: type-checked only, strictly, by mypy and pyright. An application that uses everything that is public."""

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span

from llm_errors import HANDLING, CallInfo, Classification, ErrorClass, HandlingRule, LLMErrorsInstrumentor, classify
from llm_errors.recovery import plan


def withdraw(span: Span | None, verdict: Classification, call: CallInfo) -> None:
    """A failure hook: every argument has a public type."""
    model: str | None = call.model
    server: str = f"{call.address or 'unknown'}:{call.port or 0}"
    if verdict.error_class is ErrorClass.OUTPUT_BLOCKED and span is not None:
        span.set_attribute("app.withdrawn", f"{call.provider} {call.operation} {model} {server} {call.stream}")


def set_up(tracers: TracerProvider, meters: MeterProvider) -> LLMErrorsInstrumentor:
    instrumentor = LLMErrorsInstrumentor()
    instrumentor.instrument(
        tracer_provider=tracers,
        meter_provider=meters,
        failure_hook=withdraw,
        spans="adopt",
        capture_message="full",
        disabled_sdks=["mistral"],
        token_usage=True,
    )
    return instrumentor


def tear_down(instrumentor: LLMErrorsInstrumentor) -> None:
    instrumentor.uninstrument()


def decide(error: Exception) -> str:
    verdict: Classification | None = classify(error, provider="openai", partial_output=False)
    if verdict is None:
        return "healthy"
    rule: HandlingRule = HANDLING[verdict.error_class]
    wait: float | None = verdict.retry_after
    retry: bool = verdict.retryable
    status: int | None = verdict.status_code
    return f"{verdict.error_class.value}/{verdict.reason} {rule.advice} {rule.audience} {wait} {retry} {status}"


def seconds_to_wait(error: Exception, attempt: int) -> float | None:
    advice = plan(error, provider="openai", model="gpt-5-mini", attempt=attempt)
    return advice.backoff_seconds if advice.is_retryable else None
