"""Generates recording rules, alerts, routing and dashboards from `llm_errors.taxonomy` and `llm_errors.semconv`.

These modules run when an operator generates files, never in an application. The instrumentation does not import them.
"""
