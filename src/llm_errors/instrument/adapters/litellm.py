"""litellm: the functions that call an SDK or send an HTTP request. Router and proxy call these functions too.

For some providers litellm calls an SDK, and the adapter of that SDK reports the call. For the others it sends the request
itself, and this adapter reports the call. Which of the two happened is known only when the function returns, so the call is
reported then. The functions are patched inside litellm's decorator, which retries, falls back, and answers from a cache.
Therefore each attempt is one call, and an answer from the cache is not a call.
"""

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import causes, exceptions
from llm_errors.extract.fields import field, text
from llm_errors.extract.litellm import is_its_own
from llm_errors.instrument.adapters.litellm_apis import APIS, BY_NAME, info_of
from llm_errors.instrument.adapters.litellm_calls import BEGUN, model_call, model_call_async
from llm_errors.instrument.adapters.litellm_requests import Requests, request, request_async
from llm_errors.instrument.adapters.litellm_streams import (
    CHAT_STREAM,
    STREAMS,
    closed,
    closed_async,
    fetched,
    fetched_async,
    next_chunk,
    next_chunk_async,
)
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.nested import NESTED, reset
from llm_errors.instrument.protocol import Adapter, Function, Target
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly

_HTTP = "litellm.llms.custom_httpx.http_handler"
_LOGGING = ("litellm.litellm_core_utils.litellm_logging", "Logging")


class LiteLlm(Adapter):
    """The adapter of litellm."""

    def targets(self) -> Iterator[Target]:
        """The functions, the HTTP handlers that they call, the streams that they return, and two methods of its logging."""
        for api in APIS:
            yield Target(api.module, "", api.name, model_call, undecorated=True, optional=api.newer)
            yield Target(api.module, "", api.awaited, model_call_async, undecorated=True, optional=api.newer)
        yield Target(_HTTP, "HTTPHandler", "post", request, optional=True)
        yield Target(_HTTP, "AsyncHTTPHandler", "post", request_async, optional=True)
        for module, name, plain, asynchronous in STREAMS:
            if plain:
                yield Target(module, name, "__next__", next_chunk)
                yield Target(module, name, "close", closed, optional=True)
            if asynchronous:
                yield Target(module, name, "__anext__", next_chunk_async)
                yield Target(module, name, "aclose", closed_async, optional=True)
        yield Target(*CHAT_STREAM, "fetch_sync_stream", fetched, optional=True)
        yield Target(*CHAT_STREAM, "fetch_stream", fetched_async, optional=True)
        yield Target(*_LOGGING, "failure_handler", refusal, optional=True)
        yield Target(*_LOGGING, "pre_call", outside, optional=True)

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence from an error inside a stream. litellm's exception has only its message, and an invented status."""
        kind = text(field(call.chunks, "error"), 64)
        if not kind:
            return None
        read = exceptions.read(exc, call.info.dialect, call.info.provider, call.ambient)
        return replace(read, status=None, codes=tuple(dict.fromkeys((kind, *read.codes))))


def refusal(edge: Edge, original: Function) -> Function:
    """The wrapper of the method that litellm calls for every failure. It reports calls that a budget or a guardrail refused."""

    def refused(record: Any, exc: BaseException) -> None:
        api = BY_NAME.get(text(field(record, "call_type"), 64))
        own = isinstance(exc, Exception) and is_its_own(causes.names(exc))
        if not own or api is None or BEGUN in vars(record):
            return
        vars(record)[BEGUN] = True
        model = text(field(record, "model"), 256)
        info = info_of(edge.adapter, api, record, model, bool(field(record, "stream")), "")
        call = edge.late(info, perf_counter())
        if call is not None:
            call.failed(exc)
            call.leave()

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        exc = kwargs["exception"] if "exception" in kwargs else args[1] if len(args) > 1 else None
        if isinstance(exc, BaseException):
            quietly("refused", None, refused, args[0], exc)
        return original(*args, **kwargs)

    return wrapper


def outside(edge: Edge, original: Function) -> Function:
    """The wrapper of the method that runs callbacks before the request. A model call that a callback makes is not nested."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        requests = NESTED.get()
        if not isinstance(requests, Requests):
            return original(*args, **kwargs)
        token = NESTED.set(requests.around)
        try:
            return original(*args, **kwargs)
        finally:
            reset(token)

    return wrapper
