"""Recording rules, alerts, routing and dashboards, derived from `llm_errors.taxonomy` and `llm_errors.semconv`.

The instrumentation imports nothing from here. These modules run when an operator generates files, never in an application.
"""
