"""One finding of an examination: its grade, what is so, and what to do about it."""

from dataclasses import dataclass
from enum import Enum


class Grade(Enum):
    """How grave a finding is; a fault makes the command exit 1."""

    GOOD = "ok"
    NOTE = "note"
    UNCHECKED = "?"
    FAULT = "FAULT"


@dataclass(frozen=True)
class Finding:
    """What is so, and the remedy where there is something to do."""

    grade: Grade
    what: str
    remedy: str = ""


def good(what: str, remedy: str = "") -> Finding:
    """Nothing has to be done."""
    return Finding(Grade.GOOD, what, remedy)


def note(what: str, remedy: str = "") -> Finding:
    """Works, but worth knowing."""
    return Finding(Grade.NOTE, what, remedy)


def unchecked(what: str, remedy: str = "") -> Finding:
    """May keep failures from being reported, and cannot be seen from here."""
    return Finding(Grade.UNCHECKED, what, remedy)


def fault(what: str, remedy: str) -> Finding:
    """Keeps failures from being reported."""
    return Finding(Grade.FAULT, what, remedy)
