"""Wrappers of functions that are not model calls but show the outcome of one.

They poll a background job, or repeat a request with a new token.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer
from llm_errors.instrument import jobs
from llm_errors.instrument.protocol import Function
from llm_errors.instrument.wrappers import Edge, before, before_async
from llm_errors.safety import quietly

_REFRESHED = "retried"
"""The argument that openai passes when it repeats a request with a new token, outside its retry loop."""


@runtime_checkable
class Polling(Protocol):
    """An adapter of an SDK with background jobs."""

    def polled(self, instance: Any, result: Any) -> tuple[CallInfo, Answer] | None:
        """The call and the answer of a failed background job; None for any other result."""
        ...


@runtime_checkable
class Resuming(Protocol):
    """An adapter of an SDK with background jobs that have a resumable stream."""

    def resumed(self, instance: Any, result: Any) -> CallInfo | None:
        """The call of a resumed stream; None for any other result."""
        ...

    def follow(self, call: Any, result: Any) -> None:
        """Read the chunks of the stream as they pass."""
        ...


def _polled(edge: Edge, given: Sequence[Any], result: Any) -> None:
    """The application polled a background job. Report its failure once."""
    adapter: Any = edge.adapter
    if not edge.patcher.active or not isinstance(adapter, Polling) or not given:
        return
    if isinstance(adapter, Resuming) and (resumed := adapter.resumed(given[0], result)) is not None:
        _follow(edge, adapter, resumed, given, result)
        return
    found = adapter.polled(given[0], result)
    if found is None or not jobs.is_news(found[1].id):
        return
    info, answer = found
    call = edge.late(jobs.begun_as(answer.id) or info, perf_counter())
    if call is not None:
        call.counted = True  # the call was counted when the job began
        call.settle(answer)
        call.leave()


def _follow(edge: Edge, adapter: Resuming, info: CallInfo, given: Sequence[Any], result: Any) -> None:
    """The application resumes the stream of a job. The id of the job is the first argument."""
    begun = jobs.begun_as(given[1]) if len(given) > 1 and isinstance(given[1], str) else None
    call = edge.late(info if begun is None else info._replace(model=begun.model), perf_counter())
    if call is not None:
        call.counted = True  # the call was counted when the job began
        call.leave()
        adapter.follow(call, result)


def poll(edge: Edge, original: Function) -> Function:
    """The wrapper of a function that returns the state of a job."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        quietly("poll", None, _polled, edge, (*args, *kwargs.values()), result)
        return result

    return wrapper


def poll_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = await original(*args, **kwargs)
        quietly("poll", None, _polled, edge, (*args, *kwargs.values()), result)
        return result

    return wrapper


def _refreshed(edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    call = edge.active(args) if kwargs.get(_REFRESHED) else None
    if call is not None:  # the old token had expired
        call.retried(Evidence(dialect=call.info.dialect, provider=call.info.provider, status=401))


def refresh(edge: Edge, original: Function) -> Function:
    """The wrapper of a method that calls itself to repeat a request with a new token."""
    return before(original, "retry", _refreshed, edge)


def refresh_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""
    return before_async(original, "retry", _refreshed, edge)
