"""Wraps the callables of xai-sdk's gRPC stubs: the remote methods that are model calls, and those that poll a deferred job."""

from collections.abc import AsyncIterator
from time import perf_counter
from typing import Any, NamedTuple, Protocol, runtime_checkable

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import xai
from llm_errors.extract.answer import Answer, Reader
from llm_errors.extract.fields import field, text
from llm_errors.instrument import jobs
from llm_errors.instrument.adapters.generators import lazily
from llm_errors.instrument.protocol import Function, Kind, Target
from llm_errors.instrument.wrappers import WRAPPERS, Edge, before, before_async
from llm_errors.safety import quietly

_STUB = "_stub"
_TAPPED = "_llm_errors_tapped"
"""The attribute of a stub with the patcher that replaced its callables, and with the original callables."""


class Api(NamedTuple):
    """The API of one remote method."""

    operation: str
    reader: Reader
    streams: bool = False
    begins_job: bool = False


APIS: dict[str, Api] = {
    "GetCompletion": Api("chat", xai.COMPLETION),
    "GetCompletionChunk": Api("chat", xai.COMPLETION, streams=True),
    "StartDeferredCompletion": Api("chat", xai.JOB, begins_job=True),
    "GenerateImage": Api("generate_content", xai.IMAGES),
    "GenerateVideo": Api("generate_content", xai.JOB, begins_job=True),
    "ExtendVideo": Api("generate_content", xai.JOB, begins_job=True),
}
"""Remote methods that are model calls. Tokenizing, listing, and managing files, batches or stored answers is not included."""
POLLS = {"GetDeferredCompletion": "chat", "GetDeferredVideo": "generate_content"}
"""Remote methods that poll a deferred job."""


@runtime_checkable
class PollsJobs(Protocol):
    """An adapter that reads the state of a deferred job."""

    def read(self, exc: BaseException) -> Evidence:
        """Evidence from an exception."""
        ...

    def polled(self, method: str, job: str, answer: Answer) -> tuple[CallInfo, Answer]:
        """The call that began the job with the id `job`, and the answer about the state of the job."""
        ...


def tapping_own(edge: Edge, original: Function) -> Function:
    """The wrapper of a constructor that receives a stub."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        quietly("begin", None, _tap, edge, args, kwargs)
        return result

    return wrapper


def tapping(edge: Edge, original: Function) -> Function:
    """The wrapper of a method that is about to use a stub."""
    return before(original, "begin", _tap, edge)


def tapping_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""
    return before_async(original, "begin", _tap, edge)


def _tap(edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Replace the callables of the stub by wrappers, once per patcher."""
    stub = vars(vars(args[0])[_STUB])
    if not edge.patcher.active:
        return
    tapped = stub.get(_TAPPED)
    if tapped is not None and tapped[0] is edge.patcher:
        return
    own = {name: stub[name] for name in (*APIS, *POLLS) if name in stub} if tapped is None else tapped[1]
    for name, function in own.items():
        stub[name] = _wrapped(edge, name, function)
    stub[_TAPPED] = (edge.patcher, own)


def _wrapped(edge: Edge, name: str, function: Any) -> Function:
    """The wrapper of one callable. On an asynchronous channel, it returns a gRPC call that is awaited or iterated."""
    inner = Edge(edge.patcher, edge.adapter, edge.recorder, Target("xai_sdk.proto", "", name, Kind.CALL))
    asynchronous = type(function).__module__.startswith("grpc.aio")
    if name in POLLS:
        return (_polls_async if asynchronous else _polls)(inner, function)
    if not APIS[name].streams:
        return WRAPPERS[Kind.ASYNC_CALL if asynchronous else Kind.CALL](inner, function)
    return _streams_async(inner, function) if asynchronous else WRAPPERS[Kind.GENERATOR](inner, function)


def _streams_async(edge: Edge, original: Function) -> Function:
    """The wrapper of a stream on an asynchronous channel. Closing the stream cancels the gRPC call that yields its chunks."""

    async def start(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        return _chunks(original(*args, **kwargs))

    observed = lazily(edge, start)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return observed(*args, **kwargs) if edge.patcher.active else original(*args, **kwargs)

    return wrapper


async def _chunks(call: Any) -> AsyncIterator[Any]:
    try:
        async for chunk in call:
            yield chunk
    finally:
        call.cancel()


def _polls(edge: Edge, original: Function) -> Function:
    """The wrapper of a remote method that polls a deferred job."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except Exception as exc:
            quietly("poll", None, _report, edge, (*args, *kwargs.values()), exc)
            raise
        quietly("poll", None, _report, edge, (*args, *kwargs.values()), result)
        return result

    return wrapper


def _polls_async(edge: Edge, original: Function) -> Function:
    """The same for an asynchronous channel."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = await original(*args, **kwargs)
        except Exception as exc:
            quietly("poll", None, _report, edge, (*args, *kwargs.values()), exc)
            raise
        quietly("poll", None, _report, edge, (*args, *kwargs.values()), result)
        return result

    return wrapper


def _report(edge: Edge, given: tuple[Any, ...], result: Any) -> None:
    """Report the failure of a deferred job once, however often it is polled. The request is the first argument."""
    adapter, job = edge.adapter, text(field(given[0], "request_id"), 256)
    if not edge.patcher.active or not isinstance(adapter, PollsJobs):
        return
    answer = Answer(adapter.read(result)) if isinstance(result, Exception) else xai.deferred(result)
    if answer.suspicion is None or not jobs.is_news(job):
        return
    info, answer = adapter.polled(edge.target.attribute, job, answer)
    call = edge.late(info._replace(background=False), perf_counter())
    if call is not None:
        call.counted = True  # the call was counted when the job began
        call.settle(answer)
        call.leave()
