"""Recording rules, alerts, routing and dashboards, derived from `llm_errors.taxonomy` and `llm_errors.semconv`.

Nothing here is imported by the instrumentation: these modules run when an operator generates files, never in an
application.
"""
