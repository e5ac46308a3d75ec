"""The files for Kubernetes: a kustomize base, two overlays, a component for short-lived processes, and what puts
llm-errors into applications.

Rules, routes, dashboards and the Collector's configuration are those of the other files; nothing is written twice.
"""

from llm_errors.monitoring.kubernetes.files import files

__all__ = ["files"]
