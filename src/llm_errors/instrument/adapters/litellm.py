"""litellm: the functions that call an SDK or send an HTTP request. Router and proxy call these functions too.

For some providers litellm calls an SDK, and the adapter of that SDK reports the call. For the others it sends the request
itself, and this adapter reports the call. Which of the two happened is known only when the function returns, so the call is
reported then. The functions are patched inside litellm's decorator, which retries, falls back, and answers from a cache.
Therefore each attempt is one call, and an answer from the cache is not a call.
"""

from collections.abc import Coroutine, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

from llm_errors import providers
from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import causes, exceptions, results
from llm_errors.extract.answer import Answer, Reader
from llm_errors.extract.fields import field, text
from llm_errors.extract.litellm import is_its_own
from llm_errors.extract.native_finish import NativeFinish, RewrittenChunks, judged
from llm_errors.instrument.adapters.litellm_streams import (
    FollowedStream,
    closed,
    closed_async,
    fetched,
    fetched_async,
    next_chunk,
    next_chunk_async,
)
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.finalizers import FINALIZER, Process
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.nested import NESTED, NestedCalls, reset
from llm_errors.instrument.protocol import Adapter, Function, Target
from llm_errors.instrument.tap import tap_body
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly


class Api(NamedTuple):
    """A function of litellm that is a model call. The name of its async twin begins with `a`."""

    module: str
    name: str
    operation: str
    reader: Reader
    model: int = 0
    """The position of the argument `model`."""


APIS = (
    Api("litellm.main", "completion", "chat", results.CHAT),
    Api("litellm.main", "text_completion", "text_completion", results.CHAT, model=1),
    Api("litellm.main", "embedding", "embeddings", results.DATA),
    Api("litellm.main", "transcription", "transcription", results.MEDIA),
    Api("litellm.main", "speech", "speech", results.MEDIA),
    Api("litellm.images.main", "image_generation", "generate_content", results.DATA, model=1),
    Api("litellm.images.main", "image_edit", "generate_content", results.DATA, model=2),
    Api("litellm.responses.main", "responses", "chat", results.RESPONSES, model=1),
    Api("litellm.rerank_api.main", "rerank", "rerank", results.MODERATIONS),
)
_BY_NAME = {name: api for api in APIS for name in (api.name, f"a{api.name}")}
_GENERATED = frozenset(("chat", "text_completion"))
"""Operations with a finish reason."""
_CHAT_STREAM = ("litellm.litellm_core_utils.streaming_handler", "CustomStreamWrapper")
_EVENTS = "litellm.responses.streaming_iterator"
_STREAMS = (
    (*_CHAT_STREAM, True, True),
    (_EVENTS, "SyncResponsesAPIStreamingIterator", True, False),
    (_EVENTS, "ResponsesAPIStreamingIterator", False, True),
    (_EVENTS, "MockResponsesAPIStreamingIterator", True, True),
)
"""The classes of streams: module, name, whether they are iterators, whether they are async iterators."""
_FOLLOWED = frozenset(name for _, name, _, _ in _STREAMS)
_HTTP = "litellm.llms.custom_httpx.http_handler"
_BEGUN = "_llm_errors_begun"
"""The attribute that is added to litellm's record of an observed call. Its value is true if an attempt has failed."""
_METADATA = ("metadata", "litellm_metadata")


class LiteLlm(Adapter):
    """The adapter of litellm."""

    def targets(self) -> Iterator[Target]:
        """The functions, the HTTP handlers that they call, the streams that they return, and the failure handler."""
        for api in APIS:
            yield Target(api.module, "", api.name, model_call, undecorated=True)
            yield Target(api.module, "", f"a{api.name}", model_call_async, undecorated=True)
        yield Target(_HTTP, "HTTPHandler", "post", request, optional=True)
        yield Target(_HTTP, "AsyncHTTPHandler", "post", request_async, optional=True)
        for module, name, plain, asynchronous in _STREAMS:
            if plain:
                yield Target(module, name, "__next__", next_chunk)
                yield Target(module, name, "close", closed, optional=True)
            if asynchronous:
                yield Target(module, name, "__anext__", next_chunk_async)
                yield Target(module, name, "aclose", closed_async, optional=True)
        yield Target(*_CHAT_STREAM, "fetch_sync_stream", fetched, optional=True)
        yield Target(*_CHAT_STREAM, "fetch_stream", fetched_async, optional=True)
        yield Target("litellm.litellm_core_utils.litellm_logging", "Logging", "failure_handler", refusal, optional=True)

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence from an error inside a stream. litellm's exception has only its message, and an invented status."""
        kind = text(field(call.chunks, "error"), 64)
        if not kind:
            return None
        read = exceptions.read(exc, call.info.dialect, call.info.provider, call.ambient)
        return replace(read, status=None, codes=tuple(dict.fromkeys((kind, *read.codes))))

    def told(self, api: Api, record: Any, model: str, stream: bool, url: str) -> CallInfo:
        """The CallInfo of a call, from litellm's record of the call if there is one, or else from the model's name."""
        named, _, rest = model.partition("/")
        vendor = _vendor(record) or (named if rest else "")
        known = providers.provider(vendor)
        host, port = split_address(url) if url else (None, None)
        if known is None:
            known = providers.provider(providers.provider_of_host(host, port))
        asked = text(field(field(record, "model_call_details"), "model"), 256) or model
        return self.info(
            operation=api.operation,
            model=asked.removeprefix(f"{vendor}/"),
            stream=stream,
            provider=known.name if known is not None else vendor,
            address=host,
            port=port,
            dialect=known.dialect if known is not None else "",
            reader=api.reader,
        )


def _vendor(record: Any) -> str:
    """litellm's name of the provider, which it determines early in a call."""
    return text(field(field(record, "model_call_details"), "custom_llm_provider"), 64)


class Requests(NestedCalls):
    """The SDK calls and HTTP requests inside one call of litellm."""

    __slots__ = ("_record", "entered", "native", "response", "twin", "url")

    def __init__(self, twin: str, record: Any) -> None:
        super().__init__()
        self.twin, self._record = twin, record
        """The synchronous function that the async function calls to prepare its request. It is not a separate call."""
        self.entered = False
        self.url = ""
        self.response: Any = None
        self.native: NativeFinish | None = None

    def enters(self, name: str) -> bool:
        """Whether a function that begins is the twin of this call. A second one is a separate call."""
        enters = name == self.twin and not self.entered
        self.entered = self.entered or enters
        return enters

    def named(self, info: CallInfo) -> CallInfo:
        """The CallInfo of an SDK call. litellm knows the provider of a host that is unknown otherwise."""
        vendor = "" if providers.provider_of_host(info.address, info.port) else _vendor(self._record)
        known = providers.provider(vendor)
        provider = known.name if known is not None else vendor
        return info._replace(provider=provider or info.provider, around="litellm")

    def sent(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """litellm sends a request with its HTTP handler."""
        self.url = text(kwargs["url"] if "url" in kwargs else args[1])

    def answered(self, response: Any) -> None:
        """The response has arrived. A stream is observed while it is read."""
        self.response = response
        self.native = None
        if exceptions.loaded(response) is None:
            self.native = NativeFinish()
            tap_body(response, self.native)


class ModelCall:
    """One call of a function of litellm, which ends when the function returns a result or a stream, or raises."""

    __slots__ = (
        "_api",
        "_generation",
        "_model",
        "_observed",
        "_record",
        "_replaces",
        "_started",
        "_stream",
        "requests",
    )

    def __init__(self, edge: Edge, api: Api, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        asynchronous = edge.target.attribute != api.name
        self._observed, self._api, self._generation = edge, api, Process.generation
        self._model = text(kwargs.get("model") or (args[api.model] if len(args) > api.model else ""), 256)
        self._record, self._stream = kwargs.get("litellm_logging_obj"), bool(kwargs.get("stream"))
        self._replaces = _follows_a_failure(self._record, kwargs)
        if self._record is not None:
            vars(self._record).setdefault(_BEGUN, False)
        self.requests = Requests(api.name if asynchronous else "", self._record)
        self._started = perf_counter()

    @classmethod
    def begin(cls, edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> "ModelCall | None":
        """The call that begins. None if this is an async function's preparation of its request."""
        around, name = NESTED.get(), edge.target.attribute
        if not edge.patcher.active or (isinstance(around, Requests) and around.enters(name)):
            return None
        return cls(edge, _BY_NAME[name], args, kwargs)

    def returned(self, result: Any) -> None:
        """The function returned an answer, a stream, or a coroutine that its async twin awaits.

        If an SDK was called, its adapter has reported the call. If an earlier attempt failed, the span around both attempts
        is marked as recovered.
        """
        if isinstance(result, Coroutine):
            return
        failed = self.requests.failed if self.requests.began else self._report(result)
        recorder = self._observed.recorder
        # A stream may still fail, so it does not recover anything yet.
        span = recorder.enclosing_span() if self._replaces and not failed and not self._stream else None
        if span is not None:
            recorder.recovered(span, True)

    def _report(self, result: Any) -> bool:
        """Report what litellm itself received, and return whether it is a failure."""
        call, failed = self._late(), False
        if call is None:
            return failed
        try:
            if not _FOLLOWED.isdisjoint(c.__name__ for c in type(result).__mro__):
                self._follow(call, result)
            elif hasattr(result, "__next__") or hasattr(result, "__anext__"):
                call.settle(Answer())  # a stream of an unknown class: only its beginning is observed
            else:
                answer = self._answer(result, call.info.dialect)
                failed = answer.suspicion is not None
                call.settle(answer)
        finally:
            call.leave()
        return failed

    def failed(self, exc: BaseException) -> None:
        """The function raised. If an SDK call failed before, it has reported the failure."""
        inner = self.requests.began
        if self._record is not None:
            vars(self._record)[_BEGUN] = True
        if inner and (self.requests.failed or exceptions.is_cancellation(exc)):
            return
        call = self._late()
        if call is None:
            return
        call.counted = bool(inner)
        try:
            said = None if inner else self._unusable(exc, call.info.dialect)
            if said is None:
                call.failed(exc)
            else:
                call.settle(Answer(), said)
        finally:
            call.leave()

    def _late(self) -> Invocation | None:
        adapter = self._observed.adapter
        if self._generation != Process.generation or not isinstance(adapter, LiteLlm):
            return None
        info = adapter.told(self._api, self._record, self._model, self._stream, self.requests.url)
        return self._observed.late(info, self._started)

    def _answer(self, result: Any, dialect: str) -> Answer:
        body = exceptions.loaded(self.requests.response) or b""
        if self._api.operation in _GENERATED:
            return judged(self._api.reader, result, body, dialect)
        return self._api.reader.whole(result)

    def _follow(self, call: Invocation, stream: Any) -> None:
        requests = self.requests
        requests.response = None
        chunks = self._api.reader.chunks()
        if self._api.reader is results.CHAT:
            chunks = RewrittenChunks(chunks, lambda: requests.native, call.info.dialect)
        call.expect(chunks)
        call.finalizer_number += 1
        vars(stream)[FINALIZER] = FollowedStream(call, requests)

    def _unusable(self, exc: BaseException, dialect: str) -> Evidence | None:
        """Evidence from a successful response that litellm could not convert into an answer. None for any other failure."""
        body = exceptions.loaded(self.requests.response) if self.requests.response is not None else None
        chain = tuple(causes.names(link) for link in causes.chain(exc))
        if body is None or any(map(causes.is_transport, chain)):
            return None
        said = judged(self._api.reader, exceptions.loaded_body(self.requests.response), body, dialect).suspicion
        return None if said is None else replace(said, channel="thrown", exceptions=chain)


def _follows_a_failure(record: Any, kwargs: dict[str, Any]) -> bool:
    """Whether an attempt replaces a failed one, according to litellm's record of the call or to the router's arguments."""
    if kwargs.get("fallback_depth") or (record is not None and vars(record).get(_BEGUN)):
        return True
    return any(bool(field(kwargs.get(name), "previous_models")) for name in _METADATA)


def model_call(edge: Edge, original: Function) -> Function:
    """The wrapper of a function of litellm that is a model call."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = quietly("begin", None, ModelCall.begin, edge, args, kwargs)
        if call is None:
            return original(*args, **kwargs)
        token = NESTED.set(call.requests)
        try:
            result = original(*args, **kwargs)
        except BaseException as exc:
            reset(token)
            quietly("failed", None, call.failed, exc)
            raise
        reset(token)
        quietly("returned", None, call.returned, result)
        return result

    return wrapper


def model_call_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = quietly("begin", None, ModelCall.begin, edge, args, kwargs)
        if call is None:
            return await original(*args, **kwargs)
        token = NESTED.set(call.requests)
        try:
            result = await original(*args, **kwargs)
        except BaseException as exc:
            reset(token)
            quietly("failed", None, call.failed, exc)
            raise
        reset(token)
        quietly("returned", None, call.returned, result)
        return result

    return wrapper


def request(edge: Edge, original: Function) -> Function:
    """The wrapper of the method with which litellm sends a request itself."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        requests = NESTED.get()
        if not isinstance(requests, Requests):
            return original(*args, **kwargs)
        quietly("attempt", None, requests.sent, args, kwargs)
        response = original(*args, **kwargs)
        quietly("attempt", None, requests.answered, response)
        return response

    return wrapper


def request_async(edge: Edge, original: Function) -> Function:
    """The same for the coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        requests = NESTED.get()
        if not isinstance(requests, Requests):
            return await original(*args, **kwargs)
        quietly("attempt", None, requests.sent, args, kwargs)
        response = await original(*args, **kwargs)
        quietly("attempt", None, requests.answered, response)
        return response

    return wrapper


def refusal(edge: Edge, original: Function) -> Function:
    """The wrapper of the method that litellm calls for every failure, also if a budget or a guardrail refuses a call."""

    def refused(record: Any, exc: BaseException) -> None:
        api = _BY_NAME.get(text(field(record, "call_type"), 64))
        adapter = edge.adapter
        own = isinstance(exc, Exception) and is_its_own(causes.names(exc))
        if not own or api is None or _BEGUN in vars(record) or not isinstance(adapter, LiteLlm):
            return
        vars(record)[_BEGUN] = True
        model = text(field(record, "model"), 256)
        call = edge.late(adapter.told(api, record, model, bool(field(record, "stream")), ""), perf_counter())
        if call is not None:
            call.failed(exc)
            call.leave()

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        exc = kwargs["exception"] if "exception" in kwargs else args[1] if len(args) > 1 else None
        if isinstance(exc, BaseException):
            quietly("refused", None, refused, args[0], exc)
        return original(*args, **kwargs)

    return wrapper
