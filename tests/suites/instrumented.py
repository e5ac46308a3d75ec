"""A plugin of pytest: the SDK's tests run with us on, strictly, and with providers of our own that record everything."""

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from llm_errors import LLMErrorsInstrumentor


def pytest_configure() -> None:
    LLMErrorsInstrumentor().instrument(
        strict=True,
        tracer_provider=TracerProvider(sampler=ALWAYS_ON, shutdown_on_exit=False),
        meter_provider=MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False),
    )
