"""Which SDKs are installed, whether every patch point is where it is expected, and whose span will carry the class."""

from collections.abc import Iterator
from importlib import import_module, metadata

from llm_errors.adapters import ALL
from llm_errors.adapters._driver import Driver
from llm_errors.adapters._protocol import Adapter
from llm_errors.doctor.finding import Finding, fault, good, note
from llm_errors.instrumentor import LLMErrorsInstrumentor


def examine() -> list[Finding]:
    """Import and patch every installed SDK, in this process only, and report."""
    instrumentor = LLMErrorsInstrumentor()
    mine = not instrumentor.is_instrumented_by_opentelemetry
    if mine:
        instrumentor.instrument()
    try:
        return list(_all(instrumentor.driver))
    finally:
        if mine:
            instrumentor.uninstrument()


def _all(driver: Driver | None) -> Iterator[Finding]:
    installed = [(adapter, version) for adapter in ALL if (version := _version(adapter.distribution))]
    if not installed:
        yield note("No supported SDK is installed here.", "Run this in the application's environment.")
    if driver is None:
        yield fault("llm-errors could not be started; its log says why", "Please report the log.")
        return
    for adapter, version in installed:
        yield _patches(adapter, version, driver)
        yield from _peers(adapter)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _patches(adapter: Adapter, version: str, driver: Driver) -> Finding:
    for target in adapter.targets():
        try:
            import_module(target.module)
        except ImportError:
            continue  # an optional part of the SDK, or a part of another major
    states = {t.name: driver.found.get(t.name, "switched off") for t in adapter.targets()}
    patched = sum(state == "patched" for state in states.values())
    moved = [t.name for t in adapter.targets() if states[t.name] == "missing" and not t.optional]
    if not patched and set(states.values()) == {"switched off"}:
        return note(f"{adapter.distribution} {version}: switched off", "See LLM_ERRORS_DISABLED_SDKS.")
    if moved:
        return fault(
            f"{adapter.distribution} {version}: {patched} patch points found, moved: {', '.join(moved)}",
            f"Tested with {adapter.distribution}{adapter.versions}; please report this version.",
        )
    if not patched:
        return fault(
            f"{adapter.distribution} {version}: installed, but it cannot be imported or has none of the patch points",
            f"Tested with {adapter.distribution}{adapter.versions}.",
        )
    return good(f"{adapter.distribution} {version}: {patched} patch points found")


def _peers(adapter: Adapter) -> Iterator[Finding]:
    """Other instrumentations that say they instrument this SDK."""
    for point in metadata.entry_points(group="opentelemetry_instrumentor"):
        wanted = (point.dist.requires or []) if point.dist is not None else []
        names = {
            r.split(";")[0].split(" ")[0].split(">")[0].split("=")[0].split("~")[0] for r in wanted if "extra" in r
        }
        if adapter.distribution in names and not point.value.startswith("llm_errors."):
            yield note(
                f"{adapter.distribution}: {point.name} instruments it too; the class is written onto its span where "
                "that is current, else metrics and log carry it",
            )
