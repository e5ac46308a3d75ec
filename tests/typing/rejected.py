"""Never run: type-checked only. What users get wrong is told; an `ignore` that is not needed would be an error."""

from opentelemetry.trace import Span

from llm_errors import Classification, LLMErrorsInstrumentor


def two_arguments(span: Span | None, verdict: Classification) -> None: ...


LLMErrorsInstrumentor().instrument(failure_hook=two_arguments)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
LLMErrorsInstrumentor().instrument(spans="sometimes")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
LLMErrorsInstrumentor().instrument(span="auto")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
