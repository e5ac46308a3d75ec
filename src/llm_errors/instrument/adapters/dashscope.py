"""dashscope: a request object sends every HTTP request, and another one runs every task on a websocket.

Both return an answer, a failure, or a generator for a stream. This module has more than 120 lines because answers, tasks,
polled jobs and refusals are observed in different functions.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import causes, dashscope
from llm_errors.extract.answer import Answer
from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.generators import lazy_when, lazy_when_async
from llm_errors.instrument.adapters.refusals import refusal
from llm_errors.instrument.adapters.unusual import poll, poll_async
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Function, Target
from llm_errors.instrument.wrappers import Edge
from llm_errors.providers import provider_of_host
from llm_errors.safety import quietly

_HTTP, _API = "dashscope.api_entities.http_request", "dashscope.client.base_api"
_SOCKET = "dashscope.api_entities.websocket_request"
_SERVICES, _TASKS = "/services/", "/tasks/"
_VALIDATES = "_validate_params"
"""The method of the SDK's base classes that looks for the API key of a call. Polls, lists and files do so elsewhere."""
_BESIDE = (
    *("dashscope.tokenizers.", "dashscope.audio.asr.vocabulary", "dashscope.audio.asr.asr_phrase_manager"),
    "dashscope.audio.tts_v2.enrollment",
)
"""Modules that use the same base classes for requests that are not model calls."""
_DEEP = 16
"""The number of stack frames in which `_VALIDATES` is searched for."""
OPERATIONS = (
    ("generation", "chat"),
    ("embedding", "embeddings"),
    ("rerank", "rerank"),
    ("asr", "transcription"),
    ("tts", "speech"),
)
"""Part of the path after `services` -> operation. All other services generate images and videos."""


def _streams(request: Any, *args: Any, **kwargs: Any) -> bool:
    return bool(request.stream)


def _called_or_polled(edge: Edge, original: Function) -> Function:
    """The wrapper of the method that sends asynchronous requests. Some of them are model calls, others poll a task."""
    return lazy_when_async(_streams)(edge, poll_async(edge, original))


def _validated() -> str | None:
    """The model of the call for which the SDK is looking for an API key; None if this is not a model call."""
    frame, model = sys._getframe(1), None
    for _ in range(_DEEP):
        module = text(frame.f_globals.get("__name__"), 64)
        if module.startswith(_BESIDE):
            return None
        if frame.f_code.co_name == _VALIDATES and module == _API:
            model = text(frame.f_locals.get("model"), 256)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return model


def _sent(edge: Edge, original: Function) -> Function:
    """The wrapper of the function that sends a request, and repeats it if the connection was closed."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = edge.active(())
        if call is None or not args:
            return original(*args, **kwargs)
        send, *more = args
        return original(lambda: _attempt(call, send), *more, **kwargs)

    return wrapper


def _attempt(call: Invocation, send: Function) -> Any:
    quietly("attempt", None, call.attempt_begins)
    try:
        return send()
    except BaseException as exc:
        quietly("attempt", None, call.attempt_failed, exc)
        raise


def _sent_async(edge: Edge, original: Function) -> Function:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = edge.active(())
        if call is None or not args:
            return await original(*args, **kwargs)
        send, *more = args
        return await original(lambda: _attempt_async(call, send), *more, **kwargs)

    return wrapper


async def _attempt_async(call: Invocation, send: Function) -> Any:
    quietly("attempt", None, call.attempt_begins)
    try:
        return await send()
    except BaseException as exc:
        quietly("attempt", None, call.attempt_failed, exc)
        raise


class Dashscope(Adapter):
    """The adapter of dashscope."""

    def targets(self) -> Iterator[Target]:
        """The methods of the request objects, the functions that send or poll, and the functions that may refuse a call."""
        yield Target(_HTTP, "HttpRequest", "call", lazy_when(_streams))
        yield Target(_HTTP, "HttpRequest", "aio_call", _called_or_polled)
        yield Target(_API, "", "_handle_http_response", poll, optional=True)
        yield Target(_SOCKET, "WebSocketRequest", "call", lazy_when(_streams), optional=True)
        yield Target(_SOCKET, "WebSocketRequest", "aio_call", lazy_when_async(_streams), optional=True)
        yield Target(_HTTP, "", "_send_with_retry", _sent, optional=True)
        yield Target(_HTTP, "", "send_with_retry_async", _sent_async, optional=True)
        for name in ("_build_api_request", "get_default_api_key"):
            yield Target(_API, "", name, refusal, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a POST to a service. Files, polled tasks, assistants and fine-tuning are not model calls: None."""
        url = text(field(instance, "url"))
        if target.module == _SOCKET:
            return self._task(instance, url)
        if field(instance, "method") != "POST" or _SERVICES not in url:
            return None
        model = text(field(field(instance, "data"), "model"), 256)
        return self._info(url, model, bool(field(instance, "stream")), field(instance, "async_request") is True)

    def _task(self, instance: Any, url: str) -> CallInfo:
        """Describes a task, which has a websocket of its own."""
        data = field(instance, "data")
        path = "/".join(text(field(data, name), 64) for name in ("task_group", "task", "function"))
        info = self._info(_SERVICES + path, text(field(data, "model"), 256), bool(field(instance, "stream")))
        host, port = split_address(url)
        reader = dashscope.TASKS.get(info.operation, info.reader)
        return info._replace(
            provider=provider_of_host(host, port) or self.row.provider,
            address=host,
            port=port,
            reader=dashscope.OnSocket(reader, instance),
        )

    def _info(self, url: str, model: str, stream: bool = False, background: bool = False) -> CallInfo:
        path = url.partition(_SERVICES)[2]
        operation = next((name for part, name in OPERATIONS if part in path), "generate_content")
        host, port = split_address(url)
        return self.info(
            operation=operation,
            model=model,
            stream=stream,
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=dashscope.CHAT if operation == "chat" else dashscope.OUTPUT,
            background=background,
        )

    def polled(self, instance: Any, result: Any) -> tuple[CallInfo, Answer] | None:
        """Describes a task that failed after it was accepted. `instance` is the request, or the HTTP response to it."""
        url = text(field(instance, "url"))
        if _TASKS not in url or text(field(instance, "method"), 8) == "POST":
            return None
        answer = dashscope.OUTPUT.whole(result)
        return None if answer.suspicion is None else (self._info(url, ""), answer)

    def refused(self, instance: Any, exc: BaseException, given: Sequence[Any] = ()) -> CallInfo | None:
        """Describes a call without an API key, or a call that is refused when its request object is created.

        The function that creates the object has the model as its first argument, which is `instance` here.
        """
        is_own = any(name.startswith("dashscope.") for name in causes.names(exc))
        model = _validated() if instance is None else text(instance, 256)
        return self._info("", model) if is_own and model is not None else None
