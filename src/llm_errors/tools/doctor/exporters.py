"""Checks the exporter of each signal. The exporter is chosen as `opentelemetry-instrument` chooses it.

`probe` tests OTLP exporters with an empty request. Other exporters are only reported.
"""

import contextlib
import os
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata

from llm_errors.tools.doctor import log_capture, packages, probe
from llm_errors.tools.doctor.finding import Finding, fault, good, note, unchecked
from llm_errors.tools.doctor.probe import Refused

SIGNALS = ("METRICS", "TRACES", "LOGS")
_BY_PROTOCOL = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
_INSTALL = {
    "otlp_proto_grpc": packages.INSTALL,
    "otlp_proto_http": packages.INSTALL,
    "prometheus": "pip install opentelemetry-exporter-prometheus",
}
_NOTHING = "opentelemetry-instrument then sets up no exporter at all, for any signal"


@dataclass(frozen=True)
class Unusable:
    """An exporter that cannot be set up for a signal.

    `what` does not name the signal, so that one finding can report the same problem of several signals.
    """

    signal: str
    what: str
    remedy: str


Outcome = Finding | Refused | Unusable


def examine() -> Iterator[Finding]:
    """Examine the exporters of metrics, traces and logs, in this order. They are tested in parallel."""
    for group in map(_group, SIGNALS):
        for point in metadata.entry_points(group=group):
            if point.name.startswith("otlp"):
                with contextlib.suppress(Exception):  # `_signal` reports the failure
                    point.load()
    with log_capture.warnings_of("opentelemetry") as logged, ThreadPoolExecutor(len(SIGNALS)) as pool:
        found = list(pool.map(lambda signal: _signal(signal, logged), SIGNALS))
    yield from agreed([finding for findings in found for finding in findings])


def agreed(found: Sequence[Outcome]) -> list[Finding]:
    """Merges the outcomes of all signals: a cause that several signals share is reported once, where it occurs first."""
    return _agreed_refusals(_agreed_unusable(found))


def _agreed_unusable(found: Sequence[Outcome]) -> list[Finding | Refused]:
    """Merge the outcomes of signals that cannot use an exporter for the same reason into one finding."""
    signals: dict[tuple[str, str], list[str]] = {}
    for one in found:
        if isinstance(one, Unusable):
            signals.setdefault((one.what, one.remedy), []).append(one.signal)
    findings: list[Finding | Refused] = []
    for one in found:
        if not isinstance(one, Unusable):
            findings.append(one)
        elif suffering := signals.pop((one.what, one.remedy), []):
            findings.append(fault(f"{', '.join(suffering)}: {one.what}", one.remedy))
    return findings


def _agreed_refusals(found: Sequence[Finding | Refused]) -> list[Finding]:
    """Merge refusals of several signals by the same receiver into one finding, with the most specific remedy."""
    by_receiver: dict[object, list[Refused]] = {}
    for each in (one for one in found if isinstance(one, Refused)):
        by_receiver.setdefault(each.receiver, []).append(each)
    causes: dict[tuple[object, str], list[Refused]] = {}
    for receiver, refusals in by_receiver.items():
        narrowest = min((each.remedy for each in refusals), key=probe.rank)
        for each in refusals:
            remedy = narrowest if each.remedy == probe.UNREACHABLE else each.remedy
            causes.setdefault((receiver, remedy), []).append(each)
    shown = {id(refusals[0]): (remedy, refusals) for (_, remedy), refusals in causes.items()}
    return [
        one if isinstance(one, Finding) else _cause(*shown[id(one)])
        for one in found
        if isinstance(one, Finding) or id(one) in shown
    ]


def _cause(remedy: str, refusals: list[Refused]) -> Finding:
    protocol, receiver = refusals[0].receiver
    telling = next((each for each in refusals if each.remedy == remedy), refusals[0])
    address = receiver if len(refusals) > 1 else refusals[0].address
    signals = ", ".join(each.signal for each in refusals)
    return fault(f"{signals}: {protocol} to {address}: {telling.complaint}", remedy)


def chosen(signal: str) -> list[str]:
    """The names in `OTEL_<SIGNAL>_EXPORTER`. The list is empty if the signal is not exported.

    Without the variable the name is `otlp`, the default of opentelemetry-distro.
    """
    names = [name.strip() for name in os.environ.get(f"OTEL_{signal}_EXPORTER", "otlp").split(",")]
    return [] if [n.lower() for n in names] in (["none"], [""]) else names


def _group(signal: str) -> str:
    return f"opentelemetry_{signal.lower()}_exporter"


def _signal(signal: str, logged: dict[int, list[str]]) -> Sequence[Outcome]:
    names = chosen(signal)
    if not names:
        variable = f"OTEL_{signal}_EXPORTER"
        grade = fault if signal == "METRICS" else note
        what = f"{variable}={os.environ.get(variable, '')}: {signal.lower()} are not exported"
        return [grade(what, f"Unset it, or set {variable}=otlp.")]
    return [_exporter(signal, name, logged) for name in names]


def _exporter(signal: str, name: str, logged: dict[int, list[str]]) -> Outcome:
    component = _component(signal, name)
    if isinstance(component, Unusable):
        return component
    group = _group(signal)
    points = metadata.entry_points(group=group, name=component)
    if not points:
        return _missing(signal, component, sorted(metadata.entry_points(group=group).names))
    if component == "console":
        alone = len(chosen(signal)) == 1
        what = "standard output and stored nowhere" if alone else "standard output, too"
        return note(f"{signal.lower()} are printed to {what} (console)")
    if component == "prometheus":
        return _prometheus()
    if component.startswith("otlp"):
        return probe.send_nothing(signal, next(iter(points)), logged)
    return unchecked(f"{signal.lower()} go to the exporter {component!r}, which is installed; not tried")


def _component(signal: str, name: str) -> str | Unusable:
    """The name of the entry point for the name of an exporter. For `otlp` it depends on the protocol."""
    if name != "otlp":
        return name
    protocol = probe.setting(signal, "PROTOCOL") or "grpc"
    if protocol in _BY_PROTOCOL:
        return _BY_PROTOCOL[protocol]
    what = f"OTLP protocol {protocol!r} is not supported by OpenTelemetry for Python: {_NOTHING}"
    return Unusable(signal.lower(), what, "Set OTEL_EXPORTER_OTLP_PROTOCOL to grpc or http/protobuf.")


def _missing(signal: str, component: str, installed: list[str]) -> Unusable:
    others = ", ".join(installed) or "none"
    remedy = _INSTALL.get(component) or f"Name an installed exporter in OTEL_{signal}_EXPORTER: {others}."
    if component == "otlp_proto_grpc" and "otlp_proto_http" in installed:
        remedy += ", or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, whose exporter is installed"
    return Unusable(signal.lower(), f"the exporter {component!r} is not installed; {_NOTHING}", remedy)


def _prometheus() -> Finding:
    host = os.environ.get("OTEL_EXPORTER_PROMETHEUS_HOST", "localhost")
    port = os.environ.get("OTEL_EXPORTER_PROMETHEUS_PORT", "9464")
    if not port.isdecimal() or int(port) > 65535:
        return fault(f"OTEL_EXPORTER_PROMETHEUS_PORT={port} is not a port", "Unset it (9464), or give a number.")
    try:
        with socket.create_server((host, int(port))):
            pass
    except OSError as error:
        what = f"metrics are served at http://{host}:{port}/metrics, where this process cannot listen: {error.strerror}"
        remedy = "Fine if your application has the port; a second process or worker needs a port of its own."
        return unchecked(what, remedy)
    return good(f"metrics are served at http://{host}:{port}/metrics while the application runs (prometheus)")
