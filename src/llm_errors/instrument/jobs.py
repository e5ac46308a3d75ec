"""Background jobs: model calls that continue after the SDK has returned. The application polls the outcome.

The call is counted when it begins. A failure is reported once per job, even if the job is polled several times.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from llm_errors.call import CallInfo

if TYPE_CHECKING:
    from llm_errors.extract.answer import Answer, Chunks, Reader

Kept = TypeVar("Kept")
LIMIT = 1024
"""The number of jobs that are remembered."""

_begun: dict[str, CallInfo] = {}
_reported: dict[str, None] = {}


def settled(info: CallInfo, job: str, failed: bool) -> None:
    """A call that started a background job has returned, or its stream has ended."""
    if failed:
        _remember(_reported, job, None)
    else:
        _remember(_begun, job, info)


def begun_as(job: str) -> CallInfo | None:
    """The call that started a job, if it was made in this process."""
    return _begun.get(job)


def is_news(job: str) -> bool:
    """Whether the failure of a job was not reported before. Marks the job as reported."""
    if not job or job in _reported:
        return False
    _remember(_reported, job, None)
    return True


class Once:
    """Reads the stream of a job that the application resumes. A failure that was reported before is ignored."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader

    def whole(self, result: Any) -> "Answer":
        """Read the job."""
        return _news(self._reader.whole(result))

    def chunks(self) -> "OnceChunks":
        """A new state for a resumed stream."""
        return OnceChunks(self._reader.chunks())


class OnceChunks:
    """The state of one resumed stream."""

    __slots__ = ("_chunks",)

    def __init__(self, chunks: "Chunks") -> None:
        self._chunks = chunks

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._chunks.done

    def chunk(self, chunk: Any) -> bool | None:
        """Read one chunk."""
        return self._chunks.chunk(chunk)

    def end(self) -> "Answer":
        """The answer after the last chunk. A stream that was cut off says nothing about the job."""
        answer = self._chunks.end()
        return _news(answer) if self._chunks.done else answer


def _news(answer: "Answer") -> "Answer":
    known = answer.suspicion is not None and bool(answer.id) and not is_news(answer.id)
    return answer._replace(suspicion=None) if known else answer


def _remember(kept: dict[str, Kept], job: str, what: Kept) -> None:
    while len(kept) >= LIMIT:
        with suppress(KeyError, StopIteration, RuntimeError):  # another thread removed it first
            del kept[next(iter(kept))]
    kept[job] = what
