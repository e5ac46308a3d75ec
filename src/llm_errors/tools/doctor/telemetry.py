"""Checks that counts can be added up and attributed: OpenTelemetry's switches, service identity, temporality, interval."""

import contextlib
import difflib
import os
from collections.abc import Iterator
from importlib import metadata

from llm_errors.tools.doctor import exporters
from llm_errors.tools.doctor.finding import Finding, fault, good, note, unchecked

RECOMMENDED_INTERVAL = 15_000
"""The interval of metric exports in milliseconds. With this interval an alert reaches the pager within 30 s."""
_TEMPORALITY = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
_COMPONENTS = {"OTEL_PYTHON_DISTRO": "opentelemetry_distro", "OTEL_PYTHON_CONFIGURATOR": "opentelemetry_configurator"}
"""Variable that selects a component of OpenTelemetry by name -> the group of entry points with these components."""
_SIMILAR = 0.93
"""The similarity (0 to 1) to a known variable from which a name counts as misspelt."""
_CONFIG_FILES = ("OTEL_CONFIG_FILE", "OTEL_EXPERIMENTAL_CONFIG_FILE")


def examine(short_lived: bool = False) -> Iterator[Finding]:
    """Examine the settings of OpenTelemetry. With `short_lived`, delta temporality is right instead of cumulative."""
    yield from _switches()
    yield from _misspelt()
    yield from _identity()
    pushed = [name for name in exporters.chosen("METRICS") if name != "prometheus"]
    if any(name.startswith("otlp") for name in pushed):
        yield _temporality(short_lived)
    if pushed:
        yield _interval()


def _switches() -> Iterator[Finding]:
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        yield fault("OTEL_SDK_DISABLED=true: nothing is recorded at all", "Unset it.")
    disabled = [n.strip() for n in os.environ.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").split(",")]
    if "llm_errors" in disabled or "*" in disabled:
        yield fault(
            "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS switches llm_errors off", "Take llm_errors (or *) out of the list."
        )
    for variable, group in _COMPONENTS.items():
        name = os.environ.get(variable, "").strip()
        if name and not metadata.entry_points(group=group, name=name):
            others = ", ".join(sorted(metadata.entry_points(group=group).names)) or "none"
            yield fault(
                f"{variable}={name}: not installed, so that no exporter is set up", f"Unset it; installed: {others}."
            )
    if os.environ.get("OTEL_TRACES_SAMPLER", "").strip().lower().endswith("always_off"):
        yield note("OTEL_TRACES_SAMPLER=always_off: no span is recorded; metrics and logs are")
    for name in _CONFIG_FILES:
        if os.environ.get(name):
            what = f"{name} is set: OpenTelemetry may be set up from that file instead of the variables examined here"
            yield unchecked(what, "Check the exporters that the file names.")


def _misspelt() -> Iterator[Finding]:
    """Report unknown names that resemble a variable of OpenTelemetry.

    Unknown names without such a resemblance are ignored: they may belong to another instrumentation.
    """
    known = _variables()
    for name in sorted(name for name in os.environ if name.startswith("OTEL_") and name not in known):
        for meant in difflib.get_close_matches(name, known, n=1, cutoff=_SIMILAR):
            yield unchecked(
                f"{name} is not a variable of OpenTelemetry for Python", f"Did you mean {meant}? Correct or unset it."
            )


def _variables() -> set[str]:
    """The variables that the installed packages of OpenTelemetry register."""
    known = set(_CONFIG_FILES)
    for point in metadata.entry_points(group="opentelemetry_environment_variables"):
        with contextlib.suppress(Exception):  # the package may not be importable
            known |= {name for name in vars(point.load()) if name.startswith("OTEL_")}
    return known


def _identity() -> Iterator[Finding]:
    pairs = (pair.partition("=") for pair in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "").split(","))
    resource = {key.strip(): value.strip() for key, _, value in pairs}
    service = os.environ.get("OTEL_SERVICE_NAME", "").strip() or resource.get("service.name")
    if service:
        yield good(f"service.name is {service}")
    else:
        yield fault(
            "service.name is not set: alerts cannot tell which service failed",
            "Set OTEL_SERVICE_NAME=<your service>.",
        )
    if "service.instance.id" in resource:
        yield note(
            f"service.instance.id is fixed to {resource['service.instance.id']}: two processes overwrite each other",
            "Leave it out (the SDK makes one per process), or make sure that it is unique per process.",
        )


def _temporality(short_lived: bool) -> Finding:
    chosen = os.environ.get(_TEMPORALITY, "").strip().lower() or "cumulative"
    wanted = "delta" if short_lived else "cumulative"
    if chosen == wanted:
        return good(f"metric temporality is {chosen}")
    if short_lived:
        what = f"metric temporality is {chosen}: short-lived processes would overwrite each other"
        return fault(what, f"Set {_TEMPORALITY}=delta.")
    return fault(
        f"{_TEMPORALITY}={chosen}: counters would not add up in Prometheus",
        "Set it to cumulative, or use the short-lived set-up (collector-config/short-lived.yaml) and --short-lived.",
    )


def _interval() -> Finding:
    given = os.environ.get("OTEL_METRIC_EXPORT_INTERVAL", "").strip() or "60000"
    remedy = f"Set OTEL_METRIC_EXPORT_INTERVAL={RECOMMENDED_INTERVAL} (milliseconds): a page then arrives within 30 s."
    if not given.isdecimal():
        return fault(f"not a number of milliseconds: OTEL_METRIC_EXPORT_INTERVAL={given}", remedy)
    if int(given) > RECOMMENDED_INTERVAL:
        return note(f"metrics are exported every {int(given) / 1000:g} s", remedy)
    return good(f"metrics are exported every {int(given) / 1000:g} s")
