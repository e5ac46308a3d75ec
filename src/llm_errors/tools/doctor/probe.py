"""An empty OTLP request, sent by the exporter that is configured: with its protocol, headers, TLS and address."""

import os
import re
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any

from llm_errors.tools.doctor import log_capture
from llm_errors.tools.doctor.finding import Finding, fault, good

WAIT = 4.0
"""Seconds given to one request with its repetitions."""

_REMEDIES = (
    ("unauthenticated|permission_denied|code: 40[13]|unauthorized|forbidden",
     "The receiver refuses the credentials: check OTEL_EXPORTER_OTLP_HEADERS."),
    ("missingschema|invalidschema|no scheme|no connection adapters|invalid url|missing an http|unsupported protocol",
     "Write the endpoint with its scheme, such as http://localhost:4318."),
    ("certificate_verify_failed|certificate verify failed",
     "Name the authority's certificate in OTEL_EXPORTER_OTLP_CERTIFICATE."),
    ("wrong_version_number|wrong version number|ssl|tls|handshake",
     "One side speaks TLS and the other does not: use http:// for a receiver without TLS, https:// for one with it."),
    ("http1|http/1|frame_size|settings frame|http2|protocol error|connection dropped",
     "This is a port for OTLP over HTTP: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or use the gRPC port (4317)."),
    ("badstatusline|remotedisconnected|without response|connection aborted|malformed|illegal|incompleteread|reset by peer",
     "This may be a port for OTLP over gRPC: set OTEL_EXPORTER_OTLP_PROTOCOL=grpc, or use the HTTP port (4318)."),
    ("code: 404|code: 405|unimplemented|not found",
     "The receiver takes nothing at this address: OTEL_EXPORTER_OTLP_ENDPOINT gets /v1/<signal> appended, "
     "OTEL_EXPORTER_OTLP_<SIGNAL>_ENDPOINT is used as it is."),
    ("name or service not known|name resolution|nodename|dns|no address",
     "The host's name cannot be resolved: check OTEL_EXPORTER_OTLP_ENDPOINT."),
    ("no such file|certificate", "Check the files that OTEL_EXPORTER_OTLP_CERTIFICATE and its relatives name."),
)  # fmt: skip
"""What an exporter's complaint means, the narrowest first."""
_PROTOCOLS = {"otlp_proto_grpc": "OTLP/gRPC", "otlp_proto_http": "OTLP/HTTP"}
UNREACHABLE = "Start the Collector there, or set OTEL_EXPORTER_OTLP_ENDPOINT (and _PROTOCOL: grpc or http/protobuf)."
"""The remedy where an exporter only says that it could not deliver."""


def setting(signal: str, name: str) -> str:
    """A setting of an OTLP exporter: the signal's own, else the general one."""
    own = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal}_{name}", "")
    return (own or os.environ.get(f"OTEL_EXPORTER_OTLP_{name}", "")).strip()


def send_nothing(signal: str, point: EntryPoint, said: dict[int, list[str]]) -> Finding:
    """Make the exporter, export no data with it, and say how it went. `said`: what OpenTelemetry's loggers log."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # grpc's own log would go to the terminal
    what = signal.lower()
    try:
        exporter = point.load()(timeout=WAIT)
    except Exception as error:  # noqa: BLE001 - whatever an exporter raises is the finding
        return fault(f"{what}: the exporter {point.name} cannot be set up: {_named(error)}", _remedy(str(error)))
    place = f"{what}: {_PROTOCOLS.get(point.name, point.name)} to {_shown(exporter, signal)}"
    try:
        sent = _export(signal, exporter).name == "SUCCESS"
    except Exception as error:  # noqa: BLE001 - the same
        return fault(f"{place}: {_named(error)}", _remedy(_named(error)))
    finally:
        exporter.shutdown()
    complaints = log_capture.mine(said)
    ignored = [c for c in complaints if "header" in c.lower()]
    if ignored:
        return fault(f"{place}: {_clipped(ignored[0])}", "Write OTEL_EXPORTER_OTLP_HEADERS as name=value,name=value.")
    if sent:
        return good(f"{place} accepts an empty request")
    telling = next((c for c in complaints if _remedy(c) != UNREACHABLE), (complaints or ["refused"])[-1])
    detail = re.search(r"details: (.+)|(code: [1-9].+)", telling, re.IGNORECASE | re.DOTALL)
    return fault(f"{place}: {_clipped(detail[1] or detail[2] if detail else telling)}", _remedy(telling))


def _export(signal: str, exporter: Any) -> Any:
    if signal == "METRICS":
        return exporter.export(import_module("opentelemetry.sdk.metrics.export").MetricsData(resource_metrics=[]))
    return exporter.export([])


def _shown(exporter: Any, signal: str) -> str:
    """The address as the exporter understood it, without a password in it."""
    address = str(getattr(exporter, "_endpoint", "") or setting(signal, "ENDPOINT") or "its default address")
    return re.sub(r"//[^/@]*@", "//", address)


def _named(error: Exception) -> str:
    return _clipped(f"{type(error).__name__}: {error}")


def _clipped(text: str) -> str:
    """The complaint in one line of bearable length."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"


def _remedy(complaint: str) -> str:
    lowered = complaint.lower()
    return next((remedy for pattern, remedy in _REMEDIES if re.search(pattern, lowered)), UNREACHABLE)
