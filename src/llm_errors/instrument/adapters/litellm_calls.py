"""Reports a call of one of litellm's functions when the function returns, unless a nested SDK call was reported instead.

This module has more than 120 lines because a call can end in five ways, and litellm alters what the provider sent differently
in each: an answer, a stream, a coroutine, a failure, or a response that it could not read.
"""

from collections.abc import AsyncGenerator, Coroutine
from dataclasses import replace
from time import perf_counter
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import causes, exceptions, results
from llm_errors.extract.answer import Answer, Chunks
from llm_errors.extract.fields import field, text
from llm_errors.extract.native_finish import RewrittenChunks, judged
from llm_errors.instrument.adapters.litellm_apis import BY_NAME, Api, info_of
from llm_errors.instrument.adapters.litellm_passed_on import PASSED_ON, EventBytes, followed
from llm_errors.instrument.adapters.litellm_requests import Requests
from llm_errors.instrument.adapters.litellm_streams import FOLLOWED, FollowedStream
from llm_errors.instrument.finalizers import FINALIZER, Process, StreamFinalizer
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.nested import NESTED, reset
from llm_errors.instrument.protocol import Function
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly

_GENERATED = frozenset(("chat", "text_completion"))
"""The operations whose answers have a finish reason."""
BEGUN = "_llm_errors_begun"
"""The attribute that is added to litellm's record of an observed call. Its value is true if an attempt has failed."""
_METADATA = ("metadata", "litellm_metadata")


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
        self._record, self._stream = kwargs.get("litellm_logging_obj"), api.streams or bool(kwargs.get("stream"))
        self._replaces = _follows_a_failure(self._record, kwargs)
        if self._record is not None:
            vars(self._record).setdefault(BEGUN, False)
        self.requests = Requests(api.name if asynchronous else "", self._record)
        self._started = perf_counter()

    @classmethod
    def begin(cls, edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> "ModelCall | None":
        """The call that begins. None if an async function calls its synchronous twin only to prepare the request."""
        around, name = NESTED.get(), edge.target.attribute
        if not edge.patcher.active or (isinstance(around, Requests) and around.enters(name)):
            return None
        return cls(edge, BY_NAME[name], args, kwargs)

    def returned(self, result: Any) -> Any:
        """The function returned an answer, a stream, or a coroutine that its async twin awaits. Returns what the caller gets.

        If an SDK was called, its adapter has reported the call. If an earlier attempt failed, the span around both attempts
        is marked as recovered when this attempt has succeeded, which for a stream is known only at its end.
        """
        if isinstance(result, Coroutine):
            return result
        if self._replaces:
            self.requests.replaces(self._observed.recorder)
        if self.requests.began:
            self.requests.handled(self._stream)
            return result
        token = NESTED.set(self.requests)  # so that the requests learn how this call ends
        try:
            call = self._late()
        finally:
            reset(token)
        return result if call is None else self._report(call, result)

    def _report(self, call: Invocation, result: Any) -> Any:
        """Report what litellm itself received."""
        try:
            if not FOLLOWED.isdisjoint(c.__name__ for c in type(result).__mro__):
                self._follow(call, result)
            elif isinstance(result, AsyncGenerator):
                self.requests.response = None
                return followed(call, result, self._chunks(call), StreamFinalizer(call))
            elif hasattr(result, "__next__") or hasattr(result, "__anext__"):
                call.settle(Answer())  # a stream of an unknown class: only its beginning is observed
            else:
                call.settle(self._answer(result, call.info.dialect))
        finally:
            call.leave()
        return result

    def failed(self, exc: BaseException) -> None:
        """The function raised `exc`. If an SDK call inside it failed, the adapter of that SDK has reported the failure."""
        inner = self.requests.began
        if self._record is not None:
            vars(self._record)[BEGUN] = True
        if inner and (self.requests.failed or exceptions.is_cancellation(exc)):
            return
        call = self._late()
        if call is None:
            return
        call.counted = bool(inner)
        try:
            unusable = None if inner else self._unusable(exc, call.info.dialect)
            if unusable is None:
                call.failed(exc)
            else:
                call.settle(Answer(), unusable)
        finally:
            call.leave()

    def _late(self) -> Invocation | None:
        if self._generation != Process.generation:
            return None
        adapter = self._observed.adapter
        info = info_of(adapter, self._api, self._record, self._model, self._stream, self.requests.url)
        return self._observed.late(info, self._started)

    def _answer(self, result: Any, dialect: str) -> Answer:
        body = exceptions.loaded(self.requests.response) or b""
        if self._api.operation in _GENERATED:
            return judged(self._api.reader, result, body, dialect)
        return self._api.reader.whole(result)

    def _follow(self, call: Invocation, stream: Any) -> None:
        self.requests.response = None
        call.expect(self._chunks(call))
        call.finalizer_number += 1
        vars(stream)[FINALIZER] = FollowedStream(call, self.requests)

    def _chunks(self, call: Invocation) -> Chunks:
        requests, chunks = self.requests, self._api.reader.chunks()
        if self._api.reader is results.CHAT:
            return RewrittenChunks(chunks, lambda: requests.native, call.info.dialect)
        return EventBytes(chunks) if self._api.reader in PASSED_ON else chunks

    def _unusable(self, exc: BaseException, dialect: str) -> Evidence | None:
        """Evidence from a successful response that litellm could not convert into an answer. None for any other failure."""
        body = exceptions.loaded(self.requests.response) if self.requests.response is not None else None
        chain = tuple(causes.names(link) for link in causes.chain(exc))
        if body is None or any(map(causes.is_transport, chain)):
            return None
        unusable = judged(self._api.reader, exceptions.loaded_body(self.requests.response), body, dialect).suspicion
        return None if unusable is None else replace(unusable, channel="thrown", exceptions=chain)


def _follows_a_failure(record: Any, kwargs: dict[str, Any]) -> bool:
    """Whether an attempt replaces a failed one, according to litellm's record of the call or to the router's arguments."""
    if kwargs.get("fallback_depth") or (record is not None and vars(record).get(BEGUN)):
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
        return quietly("returned", result, call.returned, result)

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
        return quietly("returned", result, call.returned, result)

    return wrapper
