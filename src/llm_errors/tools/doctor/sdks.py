"""Checks which SDKs are installed, which patch points are missing, and which other instrumentations observe the SDKs."""

import re
from collections.abc import Iterator
from importlib import import_module, metadata

from llm_errors.instrument.adapters import ALL
from llm_errors.instrument.patcher import Patcher
from llm_errors.instrument.protocol import Adapter, Target
from llm_errors.instrumentor import LLMErrorsInstrumentor
from llm_errors.tools.doctor import log_capture, packages
from llm_errors.tools.doctor.finding import Finding, fault, good, note, unchecked


def examine() -> list[Finding]:
    """Import and patch every installed SDK in this process, and report which patch points were found."""
    instrumentor = LLMErrorsInstrumentor()
    mine = not instrumentor.is_instrumented_by_opentelemetry
    with log_capture.warnings_of("llm_errors"):  # the findings below report the same problems
        if mine:
            instrumentor.instrument()
        try:
            return list(_all(instrumentor.patcher))
        finally:
            if mine:
                instrumentor.uninstrument()


def _all(patcher: Patcher | None) -> Iterator[Finding]:
    installed = {a.row.distribution: version for a in ALL if (version := packages.version(a.row.distribution))}
    if not installed:
        yield unchecked("no supported SDK is installed here", "Run this in the application's environment.")
    if patcher is None:
        yield fault("llm-errors could not be started; its log says why", "Please report the log.")
        return
    for distribution, version in installed.items():
        adapters = [a for a in ALL if a.row.distribution == distribution]
        yield _patches(distribution, version, adapters, patcher)
        yield from _peers(distribution)


def _patches(distribution: str, version: str, adapters: list[Adapter], patcher: Patcher) -> Finding:
    """One finding for all adapters of a distribution. Some adapters are for other major versions than the installed one."""
    targets = [target for adapter in adapters for target in adapter.targets()]
    for target in targets:
        try:
            import_module(target.module)
        except Exception:  # noqa: BLE001 - an SDK may raise anything if another package is incompatible
            continue  # the module is an optional part of the SDK, or a part of another major version
    states = {t.name: patcher.found.get(t.name, "switched off") for t in targets}
    patched = sum(state == "patched" for state in states.values())
    missing = [t for t in targets if states[t.name] == "missing" and not t.optional]
    moved = [t.name for t in missing]
    tested = " or ".join(dict.fromkeys(adapter.row.versions for adapter in adapters))
    if not patched and set(states.values()) == {"switched off"}:
        return note(f"{distribution} {version}: switched off", "See LLM_ERRORS_DISABLED_SDKS.")
    oldest = [m[1] for adapter in adapters if (m := re.search(r">=?\s*([\d.]+)", adapter.row.versions))]
    if oldest and all(packages.is_older(version, least) for least in oldest):
        return fault(f"unsupported {distribution} {version}", f"Upgrade to {distribution}{adapters[0].row.versions}.")
    if moved:
        what = f"{distribution} {version}: {patched} patch points found; not found: {', '.join(moved)}"
        return fault(what, f"{_lost(missing)} Tested with {distribution} {tested}; please report this version.")
    if not patched:
        what = f"{distribution} {version} is installed, but cannot be imported or has none of the patch points"
        return fault(what, f"Tested with {distribution} {tested}.")
    return good(f"{distribution} {version}: {patched} patch points found")


def _lost(missing: list[Target]) -> str:
    """A sentence about what is not observed without these patch points."""
    if all(target.attribute == "_sleep_for_retry" for target in missing):
        return "Only retries that the SDK hides are not counted."
    if all(target.lost for target in missing):
        return f"Then {missing[0].lost}."
    return "Calls through them will not be observed."


def _peers(distribution: str) -> Iterator[Finding]:
    """Other instrumentations that declare this SDK as a dependency."""
    for point in metadata.entry_points(group="opentelemetry_instrumentor"):
        if point.dist is None or point.value.startswith("llm_errors."):
            continue
        wanted = {
            m[0].lower().replace("_", "-") for r in point.dist.requires or [] if "extra" in r and (m := _NAME.match(r))
        }
        if distribution in wanted:
            yield note(
                f"{distribution} is also instrumented by {point.dist.name}; the class is added to its span when "
                "current, otherwise only to metrics and logs",
            )


_NAME = re.compile(r"[A-Za-z0-9._-]+")
