"""Lets the OpenTelemetry operator add llm-errors to applications. The operator's Python image is extended by this package."""

from typing import Final

from llm_errors.monitoring.kubernetes.tiers import AGENT, OTLP_HTTP, PREFIX
from llm_errors.monitoring.kubernetes.workloads import Resource
from llm_errors.monitoring.options import INTERVAL_SECONDS
from llm_errors.version import __version__

OPERATOR_IMAGE: Final = "ghcr.io/open-telemetry/opentelemetry-operator/autoinstrumentation-python:0.66b0"
IMAGE: Final = f"registry.example.com/autoinstrumentation-python-llm-errors:{__version__}"
ENDPOINT: Final = f"http://{AGENT.name}.{PREFIX}:{OTLP_HTTP}"

DOCKERFILE: Final = f"""\
# The operator's image for Python with llm-errors in it.
#   docker build --tag {IMAGE} .
ARG OPERATOR_IMAGE={OPERATOR_IMAGE}

FROM python:3.12-slim AS package
# The operator's image has all other requirements. Applications on Python 3.10 need tomli, here without its compiled modules.
RUN pip install --no-cache-dir --no-deps --no-compile --target /llm-errors llm-errors=={__version__} \\
 && pip install --no-cache-dir --no-deps --no-compile --target /llm-errors --platform any --only-binary :all: tomli \\
 && chmod -R go+rX /llm-errors

FROM ${{OPERATOR_IMAGE}}
COPY --from=package /llm-errors /autoinstrumentation
COPY --from=package /llm-errors /autoinstrumentation-musl
"""


def instrumentation() -> Resource:
    """The operator's resource `Instrumentation`. Applications refer to it in the annotation `inject-python`."""
    variables = {
        "OTEL_METRIC_EXPORT_INTERVAL": f"{INTERVAL_SECONDS * 1000}",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        **{f"OTEL_{signal}_EXPORTER": "otlp" for signal in ("TRACES", "METRICS", "LOGS")},
    }
    return {
        "apiVersion": "opentelemetry.io/v1alpha1",
        "kind": "Instrumentation",
        "metadata": {"name": PREFIX, "namespace": PREFIX},
        "spec": {
            "exporter": {"endpoint": ENDPOINT},
            "propagators": ["tracecontext", "baggage"],
            "sampler": {"type": "parentbased_always_on"},
            "python": {
                "image": IMAGE,
                "env": [{"name": name, "value": value} for name, value in variables.items()],
            },
        },
    }
