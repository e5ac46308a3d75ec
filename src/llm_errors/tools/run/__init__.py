"""Implements `llm-errors run`, which runs an application and shows how its LLM calls fail. It needs no backend."""
