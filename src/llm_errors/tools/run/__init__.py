"""`llm-errors run`: runs an application under `opentelemetry-instrument` and shows its failures, without any backend."""
