"""Defines a finding of `llm-errors doctor`: its grade, a statement, and a remedy."""

from dataclasses import dataclass
from enum import Enum


class Grade(Enum):
    """The severity of a finding. If one finding is a fault, the exit code of the command is 1."""

    GOOD = "ok"
    NOTE = "note"
    UNCHECKED = "?"
    FAULT = "FAULT"


@dataclass(frozen=True)
class Finding:
    """A statement about the environment. The remedy is empty if there is nothing to do."""

    grade: Grade
    what: str
    remedy: str = ""


def good(what: str, remedy: str = "") -> Finding:
    """A finding that needs no action."""
    return Finding(Grade.GOOD, what, remedy)


def note(what: str, remedy: str = "") -> Finding:
    """A finding that is worth knowing but is not a fault."""
    return Finding(Grade.NOTE, what, remedy)


def unchecked(what: str, remedy: str = "") -> Finding:
    """A finding about something that may keep failures from being reported, but cannot be checked from here."""
    return Finding(Grade.UNCHECKED, what, remedy)


def fault(what: str, remedy: str) -> Finding:
    """A finding about something that keeps failures from being reported."""
    return Finding(Grade.FAULT, what, remedy)
