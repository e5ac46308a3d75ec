"""The environment of the application: its own configuration, with additional exporters for `llm-errors run`.

Standard library only, because the application's processes import this module too.
"""

import os
import sysconfig
from collections.abc import Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ADDRESS: Final = "_LLM_ERRORS_RUN"
"""The variable with the host and port of the receiver.

It is not a setting of the user, so its name is outside `LLM_ERRORS_*`.
"""
PROCESS_HEADER: Final = "llm-errors-process"
EXPORTER: Final = "llm_errors_run"
"""The name of the exporters of `llm-errors run`, for all three signals."""
SIGNALS: Final = ("TRACES", "METRICS", "LOGS")
INSTALL: Final = "pip install 'llm-errors[otlp]'"
NEEDED: Final = {
    "opentelemetry.sdk": "opentelemetry-sdk",
    "opentelemetry.distro": "opentelemetry-distro",
    "opentelemetry.proto": "opentelemetry-proto",
    "opentelemetry.exporter.otlp.proto.common": "opentelemetry-exporter-otlp",
}
"""Module -> the package that contains it. All of them come with the extra `otlp`."""
PROMPT: Final = {"OTEL_BSP_SCHEDULE_DELAY": "500", "OTEL_BLRP_SCHEDULE_DELAY": "500"}
"""Spans and log records are sent after half a second unless the user set a delay, because a process may be killed."""
INSTRUMENTORS: Final = "opentelemetry_instrumentor"
BOOTSTRAP: Final = str(Path(__file__).parent / "bootstrap")


def missing_packages(needed: Mapping[str, str] = NEEDED) -> list[str]:
    """The packages that must be installed first. If OpenTelemetry cannot find llm-errors, it is one of them."""
    missing = [package for module, package in needed.items() if not _is_installed(module)]
    if not instrument_script().exists():
        missing.append("opentelemetry-instrument")
    if "llm_errors" not in entry_points(group=INSTRUMENTORS).names:
        missing.append("llm-errors")
    return missing


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False


def instrument_script() -> Path:
    """`opentelemetry-instrument` of this Python environment, not of another one on the PATH."""
    name = "opentelemetry-instrument" + (".exe" if os.name == "nt" else "")
    return Path(sysconfig.get_path("scripts")) / name


def environment(given: Mapping[str, str], address: str) -> dict[str, str]:
    """The environment variables of the application. Endpoints, headers, sampling and all other settings stay."""
    made = {**PROMPT, **given, ADDRESS: address}
    for signal in SIGNALS:
        made[f"OTEL_{signal}_EXPORTER"] = ",".join([*_configured(given, signal), EXPORTER])
    paths = [path for path in given.get("PYTHONPATH", "").split(os.pathsep) if path and path != BOOTSTRAP]
    made["PYTHONPATH"] = os.pathsep.join([*paths, BOOTSTRAP])
    return made


def _configured(given: Mapping[str, str], signal: str) -> list[str]:
    """The exporters that the user configured for a signal.

    The default of OpenTelemetry's distribution is OTLP. Without an endpoint, every export would fail on a developer's
    machine and print an error, so that default is left out.
    """
    named = given.get(f"OTEL_{signal}_EXPORTER")
    if named is not None:
        names = [name.strip() for name in named.split(",")]
        return [name for name in names if name and name.lower() not in ("none", EXPORTER)]
    endpoints = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    return ["otlp"] if any(given.get(name) for name in endpoints) else []


def hints(given: Mapping[str, str]) -> list[str]:
    """Settings that prevent the observation of calls, each with its remedy."""
    found = []
    if given.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        found.append("OTEL_SDK_DISABLED=true switches OpenTelemetry off: unset it")
    disabled = {name.strip() for name in given.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").split(",")}
    if disabled & {"llm_errors", "*"}:
        found.append("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS switches llm_errors off: remove it from the list")
    if given.get("OTEL_CONFIG_FILE"):
        found.append("OTEL_CONFIG_FILE replaces the exporters of `llm-errors run`: unset it for this run")
    return found
