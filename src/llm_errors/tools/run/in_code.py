"""Lets `llm-errors run` observe applications that set up OpenTelemetry in their own code.

`opentelemetry-instrument` sets providers first, and OpenTelemetry then refuses the providers of the application with a warning.
This module lets the providers of the application replace the first ones, and makes them report to `llm-errors run` too.

OpenTelemetry loads this module in every process that `opentelemetry-instrument` starts, so it imports nothing at the top.
"""


def respect() -> None:
    """Allow the application to set providers again, and add the exporters of `llm-errors run` to all new providers."""
    import os

    from llm_errors.safety import quietly
    from llm_errors.tools.run.environment import ADDRESS

    if ADDRESS in os.environ:
        for step in (_allow_to_set, _add_exporters, _allow_to_instrument):
            quietly("run: providers in code", None, step)


def _allow_to_set() -> None:
    from importlib import import_module

    for module, once in (
        ("opentelemetry.trace", "_TRACER_PROVIDER_SET_ONCE"),
        ("opentelemetry.metrics._internal", "_METER_PROVIDER_SET_ONCE"),
        ("opentelemetry._logs._internal", "_LOGGER_PROVIDER_SET_ONCE"),
    ):
        holder = import_module(module)
        if hasattr(holder, once):  # an OpenTelemetry release without this attribute refuses the application's provider
            setattr(holder, once, type(getattr(holder, once))())


def _add_exporters() -> None:
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from llm_errors.tools.run.exporters import RunLogExporter, RunMetricReader, RunSpanExporter

    make_tracers, make_loggers, make_meters = TracerProvider.__init__, LoggerProvider.__init__, MeterProvider.__init__

    def tracers(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        make_tracers(self, *args, **kwargs)
        self.add_span_processor(BatchSpanProcessor(RunSpanExporter()))

    def loggers(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        make_loggers(self, *args, **kwargs)
        self.add_log_record_processor(BatchLogRecordProcessor(RunLogExporter()))

    def meters(self, metric_readers=(), *args, **kwargs):  # type: ignore[no-untyped-def]
        make_meters(self, [*metric_readers, RunMetricReader()], *args, **kwargs)

    TracerProvider.__init__, LoggerProvider.__init__, MeterProvider.__init__ = tracers, loggers, meters  # type: ignore[method-assign]


def _allow_to_instrument() -> None:
    """Let `instrument()` in the application replace the instrumentation that `opentelemetry-instrument` applied."""
    from llm_errors.instrumentor import LLMErrorsInstrumentor

    instrument = LLMErrorsInstrumentor.instrument

    def anew(self, **kwargs):  # type: ignore[no-untyped-def]
        if self.is_instrumented_by_opentelemetry:
            self.uninstrument()
        instrument(self, **kwargs)

    LLMErrorsInstrumentor.instrument = anew  # type: ignore[method-assign]
