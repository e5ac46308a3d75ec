"""Defines the script of the demo as data: the tickets of a support desk, and the fault that each ticket meets.

The desk reads the questions, and the provider reads the faults. This module needs the standard library only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

EVERY: Final = 1_000_000
"""A number of attempts that no SDK reaches, so that every attempt fails."""

FLASH, LITE, MINI = "gemini-3-flash", "gemini-3-flash-lite", "gpt-5-mini"
SONNET, RETIRED = "claude-sonnet-5", "gpt-4-32k"


@dataclass(frozen=True)
class Fault:
    """A fault of a scene. `name` is a key of `stage.FAULTS`.

    It hits as many tickets of the scene as `tickets` says. The first `attempts` attempts of each such ticket fail.
    """

    name: str
    tickets: int
    attempts: int = EVERY


@dataclass(frozen=True)
class Scene:
    """A part of the morning, in which the desk does one task for a number of tickets."""

    at: str
    title: str
    task: str
    model: str
    tickets: int
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class Ticket:
    """A question, and the fault that the provider plays for its first `attempts`. Most tickets have no fault."""

    number: int
    question: str
    fault: str = ""
    attempts: int = 0


def _quota(refused: int, absorbed: int) -> tuple[Fault, ...]:
    """The faults of calls above the quota per minute.

    The `refused` calls fail, and the `absorbed` calls succeed when the SDK retries.
    """
    return Fault("quota", refused), Fault("quota", absorbed, attempts=1)


SCENES: Final = (
    Scene("07:30", "sort the weekend's mail", "sort", MINI, 120, (Fault("cut_off", 6),)),
    Scene("07:45", "look orders up", "look_up", MINI, 60, (Fault("broken_call", 2),)),
    Scene("08:00", "answer: the desk opens", "answer", FLASH, 100, _quota(0, 2)),
    Scene("08:15", "answer: the queue grows", "answer", FLASH, 100, (*_quota(2, 4), Fault("blocked_prompt", 3))),
    Scene("08:30", "answer: everyone is back", "answer", FLASH, 100, (*_quota(4, 6), Fault("safety_stop", 4))),
    Scene("08:45", "answer: over the quota", "answer", FLASH, 100, (*_quota(6, 8), Fault("blocked_prompt", 4))),
    Scene("09:00", "answer: far over it", "answer", FLASH, 100, (*_quota(8, 10), Fault("safety_stop", 3))),
    Scene("09:05", "suggest replies", "suggest", LITE, 50, (Fault("empty", 3),)),
    Scene("09:10", "letters to customers", "letter", SONNET, 80, (Fault("overloaded", 5), Fault("refusal", 4))),
    Scene("09:20", "live chat", "chat", MINI, 60, (Fault("dropped", 2), Fault("hanging", 2))),
    Scene("09:30", "long threads in one page", "summary", SONNET, 40, (Fault("too_long", 3),)),
    Scene("09:40", "a forgotten digest", "digest", RETIRED, 6, (Fault("retired", 6),)),
    Scene("09:45", "somebody rotates a key", "summary", SONNET, 10, (Fault("revoked", 10),)),
    Scene("09:55", "the account runs dry", "invoice", MINI, 12, (Fault("spent", 7),)),
)

_QUESTIONS: Final = (
    "Where is my parcel?",
    "Can I return a gift without the receipt?",
    "My invoice shows the wrong address.",
    "How do I change my delivery date?",
    "The app logs me out every hour.",
)


def tickets(scene: Scene) -> tuple[Ticket, ...]:
    """The tickets of a scene in order. The faults of the scene are spread evenly over its tickets."""
    first = 1000 + sum(s.tickets for s in SCENES[: SCENES.index(scene)])
    hits = [fault for fault in scene.faults for _ in range(fault.tickets)]
    hit = {(2 * i + 1) * scene.tickets // (2 * len(hits)): fault for i, fault in enumerate(hits)}
    return tuple(_ticket(first + i, hit.get(i)) for i in range(scene.tickets))


def _ticket(number: int, fault: Fault | None) -> Ticket:
    question = f"Ticket {number}: {_QUESTIONS[number % len(_QUESTIONS)]}"
    return Ticket(number, question, fault.name, fault.attempts) if fault else Ticket(number, question)


@dataclass(frozen=True)
class Case:
    """A ticket of the afternoon, when the desk follows `llm_errors.recovery`, and the model that the desk asks first.

    `tokens` is the length of the conversation.
    """

    provider: str
    model: str
    ticket: Ticket
    tokens: int


def _case(number: int, provider: str, model: str, fault: str, attempts: int = EVERY, tokens: int = 400) -> Case:
    return Case(provider, model, _ticket(number, Fault(fault, 1, attempts)), tokens)


CASES: Final = (
    _case(9001, "gcp.gemini", FLASH, "quota", attempts=1),
    _case(9002, "anthropic", SONNET, "busy", attempts=2),
    _case(9003, "openai", MINI, "hanging", attempts=1),
    _case(9004, "anthropic", SONNET, "forbidden", attempts=1),
    _case(9005, "anthropic", SONNET, "revoked", attempts=1),
    _case(9006, "openai", RETIRED, "retired"),
    _case(9007, "openai", MINI, "broken_call", attempts=1),
    _case(9008, "anthropic", SONNET, "too_long", attempts=1, tokens=212_000),
    _case(9009, "openai", MINI, "spent"),
    _case(9010, "gcp.gemini", FLASH, "nothing"),
    _case(9011, "gcp.gemini", FLASH, "blocked_prompt"),
)
"""The cases of the afternoon. Each shows another kind of recovery plan."""


def all_tickets() -> Iterator[Ticket]:
    """All tickets of the day."""
    for scene in SCENES:
        yield from tickets(scene)
    yield from (case.ticket for case in CASES)
