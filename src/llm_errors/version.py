"""The version of the package and of its OpenTelemetry instrumentation scope."""

__version__ = "0.1.0"
