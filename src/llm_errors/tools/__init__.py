"""The command line: what people run around the instrumentation. Never imported by it."""
