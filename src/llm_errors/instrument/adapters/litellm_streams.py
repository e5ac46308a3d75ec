"""Observes the streams of litellm by patching methods of their classes: applications check the class of a stream.

Some streams send their request only when their first chunk is read.
"""

from typing import Any

from llm_errors.instrument.finalizers import StreamFinalizer, finalizer_of
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.nested import NESTED, NestedCalls, reset
from llm_errors.instrument.protocol import Function
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly

CHAT_STREAM = ("litellm.litellm_core_utils.streaming_handler", "CustomStreamWrapper")
_EVENTS = "litellm.responses.streaming_iterator"
_MESSAGES = "AnthropicMessagesStreamingResponse"
STREAMS = (
    (*CHAT_STREAM, True, True),
    (_EVENTS, "SyncResponsesAPIStreamingIterator", True, False),
    (_EVENTS, "ResponsesAPIStreamingIterator", False, True),
    (_EVENTS, "MockResponsesAPIStreamingIterator", True, True),
    ("litellm.google_genai.streaming_iterator", "GoogleGenAIGenerateContentStreamingIterator", True, False),
    ("litellm.google_genai.streaming_iterator", "AsyncGoogleGenAIGenerateContentStreamingIterator", False, True),
    ("litellm.interactions.streaming_iterator", "SyncInteractionsAPIStreamingIterator", True, False),
    ("litellm.interactions.streaming_iterator", "InteractionsAPIStreamingIterator", False, True),
    ("litellm.llms.anthropic.messages.native.streaming_iterator", _MESSAGES, False, True),
    ("litellm.llms.anthropic.pass_through.messages.streaming_iterator", _MESSAGES, False, True),
)
"""The classes of streams: module, name, whether they are iterators, whether they are async iterators."""
FOLLOWED = frozenset(name for _, name, _, _ in STREAMS)
"""The names of these classes."""


class FollowedStream(StreamFinalizer):
    """The finalizer of a stream, with the SDK calls and requests inside its call."""

    __slots__ = ("requests",)

    def __init__(self, call: Invocation, requests: NestedCalls) -> None:
        super().__init__(call)
        self.requests = requests


def _next(edge: Edge, args: tuple[Any, ...]) -> FollowedStream | None:
    found = finalizer_of(args[0]) if edge.patcher.active else None
    if not isinstance(found, FollowedStream) or not found.counts:
        return None
    found.call.waiting = True
    return found


def next_chunk(edge: Edge, original: Function) -> Function:
    """The wrapper of `__next__`."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        stream = quietly("chunk", None, _next, edge, args)
        if stream is None:
            return original(*args, **kwargs)
        token = NESTED.set(stream.requests)
        try:
            chunk = original(*args, **kwargs)
        except StopIteration:
            quietly("stream", None, stream.call.exhausted)
            raise
        except BaseException as exc:
            quietly("stream", None, stream.call.failed, exc)
            raise
        finally:
            reset(token)
        stream.call.waiting = False
        quietly("chunk", None, stream.call.passed, chunk)
        return chunk

    return wrapper


def next_chunk_async(edge: Edge, original: Function) -> Function:
    """The wrapper of `__anext__`."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        stream = quietly("chunk", None, _next, edge, args)
        if stream is None:
            return await original(*args, **kwargs)
        token = NESTED.set(stream.requests)
        try:
            chunk = await original(*args, **kwargs)
        except StopAsyncIteration:
            quietly("stream", None, stream.call.exhausted)
            raise
        except BaseException as exc:
            quietly("stream", None, stream.call.failed, exc)
            raise
        finally:
            reset(token)
        stream.call.waiting = False
        quietly("chunk", None, stream.call.passed, chunk)
        return chunk

    return wrapper


def fetched(edge: Edge, original: Function) -> Function:
    """The wrapper of the method that sends the request of a stream. A router calls it before it asks for a chunk."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        stream = quietly("chunk", None, _next, edge, args)
        if stream is None:
            return original(*args, **kwargs)
        token = NESTED.set(stream.requests)
        try:
            return original(*args, **kwargs)
        except BaseException as exc:
            quietly("stream", None, stream.call.failed, exc)
            raise
        finally:
            reset(token)

    return wrapper


def fetched_async(edge: Edge, original: Function) -> Function:
    """The same for the coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        stream = quietly("chunk", None, _next, edge, args)
        if stream is None:
            return await original(*args, **kwargs)
        token = NESTED.set(stream.requests)
        try:
            return await original(*args, **kwargs)
        except BaseException as exc:
            quietly("stream", None, stream.call.failed, exc)
            raise
        finally:
            reset(token)

    return wrapper


def closed(edge: Edge, original: Function) -> Function:
    """The wrapper of `close`. litellm also closes a stream before it raises the failure of a chunk."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        finally:
            quietly("close", None, _close, edge, args)

    return wrapper


def closed_async(edge: Edge, original: Function) -> Function:
    """The same for `aclose`."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return await original(*args, **kwargs)
        finally:
            quietly("close", None, _close, edge, args)

    return wrapper


def _close(edge: Edge, args: tuple[Any, ...]) -> None:
    found = finalizer_of(args[0]) if edge.patcher.active else None
    if found is not None and not found.call.waiting:
        found.end()
