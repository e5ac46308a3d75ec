"""Background jobs: model calls that continue after the SDK has returned. The application polls the outcome.

The call is counted when it begins. A failure is reported once per job, even if the job is polled several times.
"""

from contextlib import suppress
from typing import TypeVar

from llm_errors.call import CallInfo

Kept = TypeVar("Kept")
LIMIT = 1024
"""The number of latest jobs that are remembered."""

_begun: dict[str, CallInfo] = {}
_told: dict[str, None] = {}


def settled(info: CallInfo, job: str, failed: bool) -> None:
    """A call that started a background job has returned, or its stream has ended."""
    if failed:
        _remember(_told, job, None)
    else:
        _remember(_begun, job, info)


def begun_as(job: str) -> CallInfo | None:
    """The call that started a job, if it was made in this process."""
    return _begun.get(job)


def is_news(job: str) -> bool:
    """Whether the failure of a job was not reported before. The job is then marked as reported."""
    if not job or job in _told:
        return False
    _remember(_told, job, None)
    return True


def _remember(kept: dict[str, Kept], job: str, what: Kept) -> None:
    while len(kept) >= LIMIT:
        with suppress(KeyError, StopIteration, RuntimeError):  # another thread removed it first
            del kept[next(iter(kept))]
    kept[job] = what
