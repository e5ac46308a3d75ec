"""Background jobs: model calls that go on when the SDK has returned, and whose end shows only when it is asked for.

The call counts when it begins. A failure is told once per job, however often and by whichever way it is asked for.
"""

from contextlib import suppress
from typing import TypeVar

from llm_errors.call import CallInfo

Kept = TypeVar("Kept")
LIMIT = 1024
"""Jobs that are remembered, the latest ones."""

_begun: dict[str, CallInfo] = {}
_told: dict[str, None] = {}


def settled(info: CallInfo, job: str, failed: bool) -> None:
    """A call that asked for a background job has returned, or its stream has ended."""
    if failed:
        _remember(_told, job, None)
    else:
        _remember(_begun, job, info)


def begun_as(job: str) -> CallInfo | None:
    """The call that began a job, if it was one of this process."""
    return _begun.get(job)


def is_news(job: str) -> bool:
    """Whether a job's failure has not been told yet; from now on it has."""
    if not job or job in _told:
        return False
    _remember(_told, job, None)
    return True


def _remember(kept: dict[str, Kept], job: str, what: Kept) -> None:
    while len(kept) >= LIMIT:
        with suppress(KeyError, StopIteration, RuntimeError):  # another thread was faster
            del kept[next(iter(kept))]
    kept[job] = what
