"""Implements `llm-errors review`, which lists recurring UNKNOWN failures and suggests a rule for each."""
