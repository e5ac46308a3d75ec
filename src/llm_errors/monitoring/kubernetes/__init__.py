"""Generates the files for Kubernetes: a kustomize base, two overlays, a component for short-lived processes, and an image for
the OpenTelemetry operator.

Rules, routes, dashboards and the configuration of the Collectors are the same as in the other generated files.
"""

from llm_errors.monitoring.kubernetes.files import files

__all__ = ["files"]
