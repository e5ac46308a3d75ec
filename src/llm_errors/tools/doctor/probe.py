"""Checks an OTLP exporter: an empty request shows whether protocol, address, headers and TLS settings fit the receiver."""

import os
import re
import socket
import urllib.request
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any
from urllib.parse import urlsplit

from llm_errors.tools.doctor import log_capture
from llm_errors.tools.doctor.finding import Finding, fault, good

WAIT = 4.0
"""The time limit in seconds for one request, including its retries."""
_CONNECT = 2.0
"""The time limit in seconds for a test connection. It is made only if the failed request shows no reason."""

_GRPC, _HTTP = "OTLP/gRPC", "OTLP/HTTP"
_PROTOCOLS = {"otlp_proto_grpc": _GRPC, "otlp_proto_http": _HTTP}
_EITHER = (_GRPC, _HTTP)
_REMEDIES = (
    (_EITHER, "unauthenticated|permission_denied|code: 40[13]|unauthorized|forbidden",
     "The receiver refuses the credentials: check OTEL_EXPORTER_OTLP_HEADERS."),
    (_EITHER, "missingschema|invalidschema|no scheme|no connection adapters|invalid url|missing an http|unsupported protocol",
     "Write the endpoint with its scheme, such as http://localhost:4318."),
    (_EITHER, "certificate_verify_failed|certificate verify failed",
     "Name the authority's certificate in OTEL_EXPORTER_OTLP_CERTIFICATE."),
    (_EITHER, "wrong_version_number|wrong version number|ssl|tls|handshake",
     "One side speaks TLS and the other does not: use http:// for a receiver without TLS, https:// for one with it."),
    ((_GRPC,), "http1|http/1|frame_size|settings frame|http2|protocol error|connection dropped|reset by peer|socket closed",
     "This may be a port for OTLP over HTTP: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or use the gRPC port (4317)."),
    ((_HTTP,), "badstatusline|remotedisconnected|without response|connection aborted|malformed|illegal|incompleteread"
     "|reset by peer|protocol error",
     "This may be a port for OTLP over gRPC: set OTEL_EXPORTER_OTLP_PROTOCOL=grpc, or use the HTTP port (4318)."),
    (_EITHER, "name or service not known|name resolution|nodename|dns|no address|domain name not found|lookup failed",
     "The host's name cannot be resolved: check OTEL_EXPORTER_OTLP_ENDPOINT."),
    (_EITHER, "code: 404|code: 405|code: 501|unimplemented|not found",
     "The receiver takes nothing at this address: OTEL_EXPORTER_OTLP_ENDPOINT gets /v1/<signal> appended, "
     "OTEL_EXPORTER_OTLP_<SIGNAL>_ENDPOINT is used as it is."),
    (_EITHER, "no such file|certificate", "Check the files that OTEL_EXPORTER_OTLP_CERTIFICATE and its relatives name."),
)  # fmt: skip
"""Rows of protocols, a pattern in an exporter's message, and the remedy. The most specific pattern comes first."""
UNREACHABLE = "Start the Collector there, or set OTEL_EXPORTER_OTLP_ENDPOINT (and _PROTOCOL: grpc or http/protobuf)."
"""The remedy if the message of an exporter matches no pattern."""


@dataclass(frozen=True)
class Refused:
    """An empty request for one signal that the receiver at `address` did not accept. `complaint` is the exporter's message."""

    signal: str
    protocol: str
    address: str
    complaint: str
    remedy: str

    @property
    def receiver(self) -> tuple[str, str]:
        """Identifies the receiver: equal for the exporters of several signals that send to the same receiver."""
        return self.protocol, re.sub(rf"/v1/{self.signal}$", "/v1/<signal>", self.address)


def setting(signal: str, name: str) -> str:
    """A setting of an OTLP exporter: the variable of the signal if it is set, else the variable for all signals."""
    own = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal}_{name}", "")
    return (own or os.environ.get(f"OTEL_EXPORTER_OTLP_{name}", "")).strip()


def send_nothing(signal: str, point: EntryPoint, logged: dict[int, list[str]]) -> Finding | Refused:
    """Create the exporter, export an empty request, and report the result.

    `logged` contains the messages that the loggers of OpenTelemetry emit meanwhile, by thread.
    """
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # grpc's own log would go to the terminal
    what, protocol = signal.lower(), _PROTOCOLS.get(point.name, point.name)
    try:
        exporter = point.load()(timeout=WAIT)
    except Exception as error:  # noqa: BLE001 - every exception of an exporter is a finding
        remedy = _remedy(str(error), protocol)
        return fault(f"{what}: the exporter {point.name} cannot be set up: {_named(error)}", remedy)
    address = _shown(exporter, signal)
    try:
        sent = _export(signal, exporter).name == "SUCCESS"
    except Exception as error:  # noqa: BLE001 - every exception of an exporter is a finding
        return _refused(what, protocol, address, _named(error))
    finally:
        exporter.shutdown()
    complaints = log_capture.mine(logged)
    ignored = [c for c in complaints if "header" in c.lower()]
    if ignored:
        remedy = "Write OTEL_EXPORTER_OTLP_HEADERS as name=value,name=value."
        return Refused(what, protocol, address, _clipped(ignored[0]), remedy)
    if sent:
        return good(f"{what}: {protocol} to {address} accepts an empty request")
    telling = next((c for c in complaints if _remedy(c, protocol) != UNREACHABLE), (complaints or [""])[-1])
    return _refused(what, protocol, address, telling)


def _refused(signal: str, protocol: str, address: str, telling: str) -> Refused:
    """The refusal of a request. If the exporter's message shows no reason, a test connection may show it."""
    if _remedy(telling, protocol) == UNREACHABLE:
        telling = _connection(address) or telling or "refused"
    complaint = _clipped(_cause(telling))
    return Refused(signal, protocol, address, complaint, _remedy(telling, protocol))


def _cause(logged: str) -> str:
    """The cause in a log message of an exporter, without the sentence around it."""
    detail = re.search(r"details: (.+)|(code: [1-9].+)|Transient error (.+?) encountered while exporting", logged,
                       re.IGNORECASE | re.DOTALL)  # fmt: skip
    return next(filter(None, detail.groups())) if detail else logged


def _connection(address: str) -> str:
    """The reason why a connection to the address fails. The text is empty if the connection succeeds or a proxy is set."""
    parts = urlsplit(address if "//" in address else f"//{address}")
    if urllib.request.getproxies() or not parts.hostname:
        return ""
    try:
        port = parts.port or {"http": 80}.get(parts.scheme, 443)
        socket.create_connection((parts.hostname, port), timeout=_CONNECT).close()
    except ConnectionRefusedError:
        return f"connection refused: nothing listens on port {port} of {parts.hostname}"
    except TimeoutError:
        return f"{parts.hostname} does not answer on port {port} within {_CONNECT:g} s"
    except (OSError, ValueError) as error:
        return str(error)
    return ""


def _export(signal: str, exporter: Any) -> Any:
    if signal == "METRICS":
        return exporter.export(import_module("opentelemetry.sdk.metrics.export").MetricsData(resource_metrics=[]))
    return exporter.export([])


def _shown(exporter: Any, signal: str) -> str:
    """The address that the exporter uses, without a password."""
    address = str(getattr(exporter, "_endpoint", "") or setting(signal, "ENDPOINT") or "its default address")
    return re.sub(r"//[^/@]*@", "//", address)


def _named(error: Exception) -> str:
    return _clipped(f"{type(error).__name__}: {error}")


def _clipped(text: str) -> str:
    """The text in one line of at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"


def _remedy(complaint: str, protocol: str) -> str:
    lowered = complaint.lower()
    found = (remedy for spoken, pattern, remedy in _REMEDIES if protocol in spoken and re.search(pattern, lowered))
    return next(found, UNREACHABLE)


def rank(remedy: str) -> int:
    """The position of a remedy among all remedies, which are sorted from specific to general."""
    remedies = [row[-1] for row in _REMEDIES]
    if remedy in remedies:
        return remedies.index(remedy)
    return len(remedies) + (remedy == UNREACHABLE)
