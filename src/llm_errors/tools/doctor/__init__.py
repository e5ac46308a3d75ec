"""`llm-errors doctor`: checks what the instrumentation can observe here, and what would prevent alerts about failures."""
