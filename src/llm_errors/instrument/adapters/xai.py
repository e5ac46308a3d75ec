"""xai-sdk: a gRPC client. A stub has one callable per remote method, which this adapter wraps.

The SDK's own span is current inside these callables. A stub belongs to a client, so its callables are replaced when an object
of the SDK is about to use it: a chat when it is created, the clients for images and videos when they are called.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results, xai
from llm_errors.extract.answer import Answer, Reader
from llm_errors.extract.fields import field, text
from llm_errors.instrument import jobs
from llm_errors.instrument.adapters.generators import lazily
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Function, Kind, Target
from llm_errors.instrument.wrappers import WRAPPERS, Edge
from llm_errors.safety import quietly

_STUB = "_stub"
_TAPPED = "_llm_errors_tapped"
"""The attribute of a stub with the patcher that replaced its callables, and with the original callables."""
_HOST, _PORT = "api.x.ai", 443


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
_CLIENTS = {
    "image": ("sample", "sample_batch"),
    "video": ("start", "get", "generate", "extend", "extend_start"),
}
"""The modules of the SDK's clients that call a stub directly, and their methods."""


class XaiSdk(Adapter):
    """The adapter of xai-sdk's chats and clients."""

    def targets(self) -> Iterator[Target]:
        """The methods that are about to use a stub, and the method that parses an answer."""
        yield Target("xai_sdk.chat", "BaseChat", "__init__", _tapping_own)
        for side, wrap, outer in (
            ("sync", _tapping, Kind.OUTER_CALL),
            ("aio", _tapping_async, Kind.ASYNC_OUTER_CALL),
        ):
            yield Target(f"xai_sdk.{side}.chat", "Chat", "parse", outer, optional=True)
            for module, methods in _CLIENTS.items():
                for method in methods:
                    yield Target(f"xai_sdk.{side}.{module}", "Client", method, wrap, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """The call of a remote method, which has the request as its only argument, or of the chat's method that parses."""
        api = APIS.get(target.attribute)
        if api is None:
            return self._info("chat", field(field(instance, "_proto"), "model"), results.MEDIA)
        return self._info(api.operation, field(args[0], "model"), api.reader, api.streams, api.begins_job)

    def _info(
        self, operation: str, model: Any, reader: Reader, streams: bool = False, begins_job: bool = False
    ) -> CallInfo:
        return self.info(
            operation=operation,
            model=text(model, 256),
            stream=streams,
            address=_HOST,
            port=_PORT,
            reader=reader,
            background=begins_job,
        )

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence from a gRPC error, which does not show its SDK. It is read in the dialect of xai."""
        return self.read(exc, call.ambient)

    def read(self, exc: BaseException, ambient: int = 0) -> Evidence:
        """Evidence from an exception."""
        return replace(exceptions.read(exc, self.row.dialect, self.row.provider, ambient), dialect=self.row.dialect)

    def polled(self, method: str, job: str, answer: Answer) -> tuple[CallInfo, Answer]:
        """The call that began a job, and the answer about its state."""
        info = jobs.begun_as(job) or self._info(POLLS[method], None, xai.JOB)
        return info, answer._replace(id=job)


def _tapping_own(edge: Edge, original: Function) -> Function:
    """The wrapper of a constructor that receives a stub."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        quietly("begin", None, _tap, edge, args[0])
        return result

    return wrapper


def _tapping(edge: Edge, original: Function) -> Function:
    """The wrapper of a method that is about to use a stub."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        quietly("begin", None, _tap, edge, args[0])
        return original(*args, **kwargs)

    return wrapper


def _tapping_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        quietly("begin", None, _tap, edge, args[0])
        return await original(*args, **kwargs)

    return wrapper


def _tap(edge: Edge, holder: Any) -> None:
    """Replace the callables of the stub by wrappers, once per patcher."""
    stub = vars(vars(holder)[_STUB])
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
    """The wrapper of a stream on an asynchronous channel. Its gRPC call is iterated, and closed like an async generator."""

    async def start(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        return _chunks(original(*args, **kwargs))

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return lazily(edge, start, args, kwargs)

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
            quietly("poll", None, _report, edge, args[0], exc)
            raise
        quietly("poll", None, _report, edge, args[0], result)
        return result

    return wrapper


def _polls_async(edge: Edge, original: Function) -> Function:
    """The same for an asynchronous channel."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = await original(*args, **kwargs)
        except Exception as exc:
            quietly("poll", None, _report, edge, args[0], exc)
            raise
        quietly("poll", None, _report, edge, args[0], result)
        return result

    return wrapper


def _report(edge: Edge, request: Any, result: Any) -> None:
    """Report the failure of a deferred job once, however often it is polled."""
    adapter, job = edge.adapter, text(field(request, "request_id"), 256)
    if not edge.patcher.active or not isinstance(adapter, XaiSdk):
        return
    answer = Answer(adapter.read(result)) if isinstance(result, Exception) else xai.deferred(result)
    if answer.suspicion is None or not jobs.is_news(job):
        return
    info, answer = adapter.polled(edge.target.attribute, job, answer)
    call = edge.late(info._replace(background=False), perf_counter())
    if call is not None:
        call.counted = True  # it was counted when it began
        call.settle(answer)
        call.leave()
