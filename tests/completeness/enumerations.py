"""What SDKs declare in enumerations that no annotation of a field names."""

import importlib
import inspect
import typing
from collections.abc import Callable, Iterator

from llm_errors.decision import decide
from llm_errors.evidence import Classification, Evidence
from tests.completeness import probes
from tests.completeness.probes import Probe
from tests.completeness.walking import Value

ABSENT = ("FINISH_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED")
"""Members that say that there is none."""


def of(probe: Probe, *paths: str, names: bool = False) -> Callable[[], Iterator[tuple[Value, Probe]]]:
    """The members of the enumerations at `module:Class`, by their values or by their names, each with the probe."""

    def declared() -> Iterator[tuple[Value, Probe]]:
        for path in paths:
            module, _, inside = path.partition(":")
            found = importlib.import_module(module)
            for part in inside.split("."):
                found = getattr(found, part)
            for member in found:  # type: ignore[attr-defined]
                value = member.name if names else str(member.value)
                if value not in ABSENT:
                    yield Value(inside, value), probe

    return declared


def literals(probe: Probe, module: str, owner: str, name: str) -> Callable[[], Iterator[tuple[Value, Probe]]]:
    """The literal values of one field of a class whose fields cannot be walked, each with the probe."""

    def declared() -> Iterator[tuple[Value, Probe]]:
        cls = getattr(importlib.import_module(module), owner)
        for value in typing.get_args(inspect.get_annotations(cls)[name]):
            yield Value(f"{owner}.{name}", value), probe

    return declared


def reasons_of_reka() -> Iterator[tuple[Value, Probe]]:
    """The finish reasons of reka: literals of a union that also allows any other value."""
    union = importlib.import_module("reka.types.finish_reason").FinishReason
    for value in typing.get_args(typing.get_args(union)[0]):
        yield Value("FinishReason", value), probes.reka


def both(*several: Callable[[], Iterator[tuple[Value, Probe]]]) -> Callable[[], Iterator[tuple[Value, Probe]]]:
    """What all of these declare."""
    return lambda: (entry for declared in several for entry in declared())


def qianfan_code(value: str) -> Classification | None:
    """An error that qianfan raises with this number."""
    return decide(
        Evidence(dialect="openai", codes=(value,), exceptions=(("qianfan.APIError", "qianfan.QianfanError"),))
    )
