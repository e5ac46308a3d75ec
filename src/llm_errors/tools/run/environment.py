"""Decides the environment variables of the application: its own configuration, and additional exporters.

The processes of the application import this module too, so it needs the standard library only.
"""

import os
import sysconfig
from collections.abc import Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ADDRESS: Final = "_LLM_ERRORS_RUN"
"""The variable with the host and port at which `llm-errors run` receives telemetry. Its name begins with `_`, because users do
not set it."""
PROCESS_HEADER: Final = "llm-errors-process"
EXPORTER: Final = "llm_errors_run"
"""The name of the exporters of `llm-errors run` in `OTEL_*_EXPORTER`. It is the same for all three signals."""
SIGNALS: Final = ("TRACES", "METRICS", "LOGS")
INSTALL: Final = "pip install 'llm-errors[otlp]'"
NEEDED: Final = {
    "opentelemetry.sdk": "opentelemetry-sdk",
    "opentelemetry.distro": "opentelemetry-distro",
    "opentelemetry.proto": "opentelemetry-proto",
    "opentelemetry.exporter.otlp.proto.common": "opentelemetry-exporter-otlp",
}
"""Module that `llm-errors run` needs -> the package that contains the module. The extra `otlp` installs all of them."""
PROMPT: Final = {"OTEL_BSP_SCHEDULE_DELAY": "500", "OTEL_BLRP_SCHEDULE_DELAY": "500"}
"""A process may be killed, so spans and log records are sent after half a second. A delay that the user set is kept."""
INSTRUMENTORS: Final = "opentelemetry_instrumentor"
BOOTSTRAP: Final = str(Path(__file__).parent / "bootstrap")


def missing_packages(needed: Mapping[str, str] = NEEDED) -> list[str]:
    """The packages that are missing. llm-errors itself counts as missing if OpenTelemetry does not find its entry point."""
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
    """The path of `opentelemetry-instrument` in this Python environment. The PATH may lead to another environment."""
    name = "opentelemetry-instrument" + (".exe" if os.name == "nt" else "")
    return Path(sysconfig.get_path("scripts")) / name


def environment(given: Mapping[str, str], address: str) -> dict[str, str]:
    """The environment variables of the application.

    Exporters of `llm-errors run` are added to the exporters that the user configured. All other settings are kept.
    """
    made = {**PROMPT, **given, ADDRESS: address}
    for signal in SIGNALS:
        made[f"OTEL_{signal}_EXPORTER"] = ",".join([*_configured(given, signal), EXPORTER])
    paths = [path for path in given.get("PYTHONPATH", "").split(os.pathsep) if path and path != BOOTSTRAP]
    made["PYTHONPATH"] = os.pathsep.join([*paths, BOOTSTRAP])
    return made


def _configured(given: Mapping[str, str], signal: str) -> list[str]:
    """The exporters that the user configured for a signal.

    opentelemetry-distro exports by OTLP unless an exporter is configured. This default counts only if an endpoint is set:
    without an endpoint, every export would fail on a developer's machine and print an error.
    """
    named = given.get(f"OTEL_{signal}_EXPORTER")
    if named is not None:
        names = [name.strip() for name in named.split(",")]
        return [name for name in names if name and name.lower() not in ("none", EXPORTER)]
    endpoints = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    return ["otlp"] if any(given.get(name) for name in endpoints) else []


def hints(given: Mapping[str, str]) -> list[str]:
    """Sentences about settings that prevent the observation of calls. Each contains the remedy."""
    found = []
    if given.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        found.append("OTEL_SDK_DISABLED=true switches OpenTelemetry off: unset it")
    disabled = {name.strip() for name in given.get("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "").split(",")}
    if disabled & {"llm_errors", "*"}:
        found.append("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS switches llm_errors off: remove it from the list")
    if given.get("OTEL_CONFIG_FILE"):
        found.append("OTEL_CONFIG_FILE replaces the exporters of `llm-errors run`: unset it for this run")
    return found
