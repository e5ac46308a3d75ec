"""The files for Kubernetes: a kustomize base, two overlays, a component for short-lived processes, and an image for the
OpenTelemetry operator.

Rules, routes, dashboards and the Collector's configuration are those of the other generated files.
"""

from llm_errors.monitoring.kubernetes.files import files

__all__ = ["files"]
