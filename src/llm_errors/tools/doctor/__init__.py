"""Implements `llm-errors doctor`, which checks what the instrumentation can observe, and what keeps alerts from firing."""
