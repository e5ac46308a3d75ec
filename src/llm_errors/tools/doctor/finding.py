"""One finding of an examination: how grave it is, what is so, and what to do about it."""

from dataclasses import dataclass
from enum import Enum


class Grade(Enum):
    """How grave a finding is; a fault makes the command exit 1."""

    GOOD = "ok"
    NOTE = "note"
    FAULT = "FAULT"


@dataclass(frozen=True)
class Finding:
    """What is so, and the remedy where there is something to do."""

    grade: Grade
    what: str
    remedy: str = ""


def good(what: str) -> Finding:
    """Nothing to do."""
    return Finding(Grade.GOOD, what)


def note(what: str, remedy: str = "") -> Finding:
    """Works, but worth knowing."""
    return Finding(Grade.NOTE, what, remedy)


def fault(what: str, remedy: str) -> Finding:
    """Keeps failures from being seen."""
    return Finding(Grade.FAULT, what, remedy)
