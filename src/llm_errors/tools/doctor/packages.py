"""Checks that this environment has the packages that `opentelemetry-instrument` needs, in compatible versions."""

import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from shutil import which

from llm_errors.tools.doctor.finding import Finding, fault, good, note, unchecked

LAUNCHER = "opentelemetry-instrument"
INSTALL = "pip install 'llm-errors[otlp]'"
PROVIDERS = "nothing is exported unless the application's own code sets up providers and exporters"
_BY_US = "llm-errors"
_INJECTED = "opentelemetry/instrumentation/auto_instrumentation"


def examine(in_code: bool = False) -> Iterator[Finding]:
    """Check packages, entry point and launcher. With `in_code` the application sets up OpenTelemetry in its own code."""
    yield _package("opentelemetry-sdk", f"opentelemetry-sdk is not installed: {PROVIDERS}, which need it")
    points = metadata.entry_points(group="opentelemetry_instrumentor", name="llm_errors")
    if not points:
        remedy = "Install llm-errors in this environment; being importable is not enough."
        yield fault(f"llm-errors is not registered here: {LAUNCHER} does not load it", remedy)
    if in_code:
        yield unchecked(f"OpenTelemetry is set up in code: {PROVIDERS}", "See: llm-errors docs quickstarts")
        return
    yield _package("opentelemetry-distro", f"opentelemetry-distro is not installed: {PROVIDERS}")
    if version("opentelemetry-distro"):  # without this package the launcher sets up no providers
        yield from _launcher()


def version(distribution: str) -> str:
    """The installed version of a distribution, or an empty text if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def is_older(found: str, least: str) -> bool:
    """Whether the version `found` is older than `least`. Only the leading numbers of both are compared."""
    return _numbers(found) < _numbers(least)


def _numbers(text: str) -> tuple[int, ...]:
    leading = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, leading[0].split("."))) if leading else ()


def _package(name: str, missing: str) -> Finding:
    found = version(name)
    if not found:
        return fault(missing, f"{INSTALL}; where the code sets OpenTelemetry up: llm-errors doctor --in-code")
    least = _least(name)
    if least and is_older(found, least):
        return fault(f"{name} {found} is too old", f"Upgrade to {least} or newer: {INSTALL} --upgrade")
    return good(f"{name} {found}")


def _least(name: str) -> str:
    """The oldest version of a distribution that llm-errors allows in its metadata, or an empty text."""
    try:
        wanted = metadata.requires(_BY_US) or []
    except metadata.PackageNotFoundError:
        return ""
    found = (re.match(rf"{re.escape(name)}\s*\(?>=\s*([\w.]+)", line) for line in wanted)
    return next((m[1] for m in found if m), "")


def launcher() -> str | None:
    """The path of `opentelemetry-instrument`: in this environment, even if that is not activated, or else on the PATH."""
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        found = which(LAUNCHER, path=str(folder))
        if found:
            return found
    return which(LAUNCHER)


def injected() -> str:
    """The entry of `PYTHONPATH` that starts OpenTelemetry in every Python process, or an empty text.

    The Kubernetes operator adds such an entry."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return next((entry for entry in entries if entry.rstrip("/").endswith(_INJECTED)), "")


def _launcher() -> Iterator[Finding]:
    if injected():
        yield good(f"every Python process here starts OpenTelemetry: PYTHONPATH has {injected()}")
        return
    found = launcher()
    own = {Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))}
    start = f"Start the application with it: {LAUNCHER} python app.py. Started otherwise, {PROVIDERS}."
    if found is None:
        yield fault(f"{LAUNCHER} is not installed", INSTALL)
    elif Path(found).parent not in own:
        yield fault(f"{found} belongs to another environment than {sys.executable}", f"{INSTALL}, in this environment")
    else:
        yield good(f"{LAUNCHER} is {found}", start)
    on_path = which(LAUNCHER)
    if found and on_path and Path(on_path).parent not in own:
        remedy = f"Activate this environment, or call {found}."
        yield note(f"{LAUNCHER} on the PATH is another one: {on_path}", remedy)
