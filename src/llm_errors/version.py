"""The package's version: the instrumentation scope's version too."""

__version__ = "0.1.0"
