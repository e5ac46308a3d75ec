"""Lists what an installed SDK knows, and what of it no rule decides."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from tests.completeness import probes, walking
from tests.completeness.table import Vocabulary


@dataclass
class Findings:
    """What was found in one installed SDK. `known` names everything, `undecided` and `beside` parts of it."""

    known: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)


def judge(row: Vocabulary) -> Findings:
    """Try every exception and every value of an installed SDK."""
    found = Findings()
    for name, where, is_decided in _tried(row):
        found.known.append(name)
        if name in row.beside or where in row.beside:
            found.beside.append(name)
        elif not is_decided:
            found.undecided.append(name)
    return found


def _tried(row: Vocabulary) -> Iterator[tuple[str, str, bool]]:
    for name, cls in walking.exceptions(*row.errors).items():
        yield name, name, all(map(probes.is_decided, probes.raised(cls)))
    in_types = ((value, row.probe(value.field)) for value in walking.values(row.wanted, *row.types))
    for value, probe in chain(in_types, row.declared()):
        yield str(value), value.field, probe is not None and probes.is_decided(probe(value.value))
