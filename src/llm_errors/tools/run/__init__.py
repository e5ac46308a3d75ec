"""The first look without any backend: an application runs under `opentelemetry-instrument`, and what it reports is shown."""
