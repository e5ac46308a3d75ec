"""Whether what is counted arrives: the exporter's settings as OpenTelemetry reads them, and where they point to."""

import os
import socket
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from llm_errors.tools.doctor.finding import Finding, fault, good, note

WAIT = 2.0
"""Seconds given to a connection attempt."""
RECOMMENDED_INTERVAL = 15_000
"""Milliseconds between metric exports with which a page arrives within 30 s."""


def examine(environ: Mapping[str, str] | None = None, short_lived: bool = False) -> Iterator[Finding]:
    """Examine the settings; `short_lived` means the set-up with delta temporality for processes that live briefly."""
    env = os.environ if environ is None else environ
    yield from _switches(env)
    yield from _identity(env)
    yield from _exporters(env)
    yield _temporality(env, short_lived)
    yield _interval(env)


def _switches(env: Mapping[str, str]) -> Iterator[Finding]:
    if env.get("OTEL_SDK_DISABLED", "").lower() == "true":
        yield fault("OTEL_SDK_DISABLED=true: nothing is recorded at all", "Unset it.")
    disabled = [n.strip() for n in env.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").split(",")]
    if "llm_errors" in disabled or "*" in disabled:
        yield fault(
            "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS switches llm_errors off", "Take llm_errors (or *) out of the list."
        )


def _identity(env: Mapping[str, str]) -> Iterator[Finding]:
    pairs = (pair.partition("=") for pair in env.get("OTEL_RESOURCE_ATTRIBUTES", "").split(","))
    resource = {key.strip(): value.strip() for key, _, value in pairs}
    service = env.get("OTEL_SERVICE_NAME") or resource.get("service.name")
    if service:
        yield good(f"service.name is {service}")
    else:
        yield fault(
            "service.name is not set: alerts could not say whose failure it is",
            "Set OTEL_SERVICE_NAME=<your service>.",
        )
    if "service.instance.id" in resource:
        yield note(
            f"service.instance.id is fixed to {resource['service.instance.id']}: two processes overwrite each other",
            "Leave it out (the SDK makes one per process), or make sure that it is unique per process.",
        )


def _exporters(env: Mapping[str, str]) -> Iterator[Finding]:
    for signal in ("METRICS", "TRACES", "LOGS"):
        chosen = env.get(f"OTEL_{signal}_EXPORTER", "otlp")
        if chosen.strip().lower() == "none":
            grade = fault if signal == "METRICS" else note
            yield grade(
                f"OTEL_{signal}_EXPORTER=none: {signal.lower()} are not exported", "Unset it, or set it to otlp."
            )
        elif "otlp" in chosen:
            yield _reachable(signal, *_endpoint(env, signal))
        else:
            yield good(f"{signal.lower()} go to {chosen}")


def _endpoint(env: Mapping[str, str], signal: str) -> tuple[str, str]:
    """Endpoint and protocol of a signal, by OpenTelemetry's order of precedence."""
    protocol = env.get(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL") or env.get("OTEL_EXPORTER_OTLP_PROTOCOL") or "grpc"
    default = "http://localhost:4317" if protocol == "grpc" else "http://localhost:4318"
    endpoint = env.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT") or env.get("OTEL_EXPORTER_OTLP_ENDPOINT") or default
    return endpoint, protocol


def _reachable(signal: str, endpoint: str, protocol: str) -> Finding:
    split = urlsplit(endpoint if "://" in endpoint else f"//{endpoint}")
    try:
        port = split.port or {"https": 443, "http": 80}.get(split.scheme, 4317 if protocol == "grpc" else 4318)
        with socket.create_connection((split.hostname or "", port), timeout=WAIT):
            return good(f"{signal.lower()} go by {protocol} to {endpoint}, which answers")
    except (OSError, ValueError) as error:
        return fault(
            f"{signal.lower()} go by {protocol} to {endpoint}, which cannot be reached: {error}",
            "Start the Collector there, or set OTEL_EXPORTER_OTLP_ENDPOINT (and _PROTOCOL: grpc or http/protobuf).",
        )


def _temporality(env: Mapping[str, str], short_lived: bool) -> Finding:
    name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
    chosen = env.get(name, "cumulative").lower()
    wanted = "delta" if short_lived else "cumulative"
    if chosen == wanted:
        return good(f"metric temporality is {chosen}")
    if short_lived:
        return fault(f"{name} is {chosen}: short-lived processes would overwrite each other", f"Set {name}=delta.")
    return fault(
        f"{name}={chosen}: counters would not add up in Prometheus",
        f"Set {name}=cumulative, or use the short-lived set-up (collector-config/short-lived.yaml) and --short-lived.",
    )


def _interval(env: Mapping[str, str]) -> Finding:
    given = env.get("OTEL_METRIC_EXPORT_INTERVAL", "60000")
    remedy = f"Set OTEL_METRIC_EXPORT_INTERVAL={RECOMMENDED_INTERVAL} (milliseconds): a page then arrives within 30 s."
    if not given.isdecimal():
        return fault(f"OTEL_METRIC_EXPORT_INTERVAL={given} is no number of milliseconds", remedy)
    if int(given) > RECOMMENDED_INTERVAL:
        return note(f"metrics are exported every {int(given) / 1000:g} s", remedy)
    return good(f"metrics are exported every {int(given) / 1000:g} s")
