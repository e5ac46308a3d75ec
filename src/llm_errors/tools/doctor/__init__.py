"""`llm-errors doctor`: what the instrumentation sees here, and what would keep a failure from the pager."""
