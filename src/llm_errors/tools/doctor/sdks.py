"""Which SDKs are installed, whether every patch point is where it is expected, and whose span will carry the class."""

from collections.abc import Iterator
from importlib import import_module, metadata

from llm_errors.instrument.adapters import ALL
from llm_errors.instrument.patcher import Patcher
from llm_errors.instrument.protocol import Adapter
from llm_errors.instrumentor import LLMErrorsInstrumentor
from llm_errors.tools.doctor.finding import Finding, fault, good, note


def examine() -> list[Finding]:
    """Import and patch every installed SDK, in this process only, and report."""
    instrumentor = LLMErrorsInstrumentor()
    mine = not instrumentor.is_instrumented_by_opentelemetry
    if mine:
        instrumentor.instrument()
    try:
        return list(_all(instrumentor.patcher))
    finally:
        if mine:
            instrumentor.uninstrument()


def _all(patcher: Patcher | None) -> Iterator[Finding]:
    installed = {a.row.distribution: version for a in ALL if (version := _version(a.row.distribution))}
    if not installed:
        yield note("No supported SDK is installed here.", "Run this in the application's environment.")
    if patcher is None:
        yield fault("llm-errors could not be started; its log says why", "Please report the log.")
        return
    for distribution, version in installed.items():
        adapters = [a for a in ALL if a.row.distribution == distribution]
        yield _patches(distribution, version, adapters, patcher)
        yield from _peers(distribution)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _patches(distribution: str, version: str, adapters: list[Adapter], patcher: Patcher) -> Finding:
    """One finding over all adapters of a distribution: some are for its other majors."""
    targets = [target for adapter in adapters for target in adapter.targets()]
    for target in targets:
        try:
            import_module(target.module)
        except ImportError:
            continue  # an optional part of the SDK, or a part of another major
    states = {t.name: patcher.found.get(t.name, "switched off") for t in targets}
    patched = sum(state == "patched" for state in states.values())
    moved = [t.name for t in targets if states[t.name] == "missing" and not t.optional]
    tested = " or ".join(f"{distribution}{adapter.row.versions}" for adapter in adapters)
    if not patched and set(states.values()) == {"switched off"}:
        return note(f"{distribution} {version}: switched off", "See LLM_ERRORS_DISABLED_SDKS.")
    if moved:
        found = f"{patched} patch points found, moved: {', '.join(moved)}"
        return fault(f"{distribution} {version}: {found}", f"Tested with {tested}; please report this version.")
    if not patched:
        found = "it cannot be imported, or has none of the patch points"
        return fault(f"{distribution} {version} is installed, but {found}", f"Tested with {tested}.")
    return good(f"{distribution} {version}: {patched} patch points found")


def _peers(distribution: str) -> Iterator[Finding]:
    """Other instrumentations that say they instrument this SDK."""
    for point in metadata.entry_points(group="opentelemetry_instrumentor"):
        wanted = (point.dist.requires or []) if point.dist is not None else []
        names = {
            r.split(";")[0].split(" ")[0].split(">")[0].split("=")[0].split("~")[0] for r in wanted if "extra" in r
        }
        if distribution in names and not point.value.startswith("llm_errors."):
            yield note(
                f"{distribution}: {point.name} instruments it too; the class is written onto its span where "
                "that is current, else metrics and log carry it",
            )
