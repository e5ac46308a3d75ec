"""The version of the package, which is also that of the instrumentation scope."""

__version__ = "0.1.0"
