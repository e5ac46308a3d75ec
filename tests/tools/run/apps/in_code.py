"""An application that sets OpenTelemetry up in its own code, as the page says, and prints what its own exporters got:
`python in_code.py URL`."""

import sys

import openai
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from llm_errors import LLMErrorsInstrumentor

resource = Resource.create({"service.name": "shop"})
spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
traces = TracerProvider(resource=resource)
traces.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(traces)
metrics.set_meter_provider(MeterProvider([reader], resource=resource))
_logs.set_logger_provider(LoggerProvider(resource=resource))
LLMErrorsInstrumentor().instrument()

client = openai.OpenAI(base_url=f"{sys.argv[1]}/v1", api_key="test", max_retries=0)
for _ in range(5):
    try:
        client.chat.completions.create(model="gpt-5-mini", messages=[])
    except openai.OpenAIError as error:
        print(type(error).__name__)

for found in reader.get_metrics_data().resource_metrics:
    for metric in (metric for scope in found.scope_metrics for metric in scope.metrics):
        if metric.name == "llm_errors_total":
            print(found.resource.attributes["service.name"], sum(point.value for point in metric.data.data_points))
print([span.name for span in spans.get_finished_spans()])
