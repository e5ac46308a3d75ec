"""The Stainless family: generated SDKs with one `request` method per client and a `post_parser` hook for every answer.

The rows of these SDKs are in `providers`, the paths of model calls in `stainless_paths`. `stainless_tap` reads streams.

The adapter receives the answer through `options.post_parser`. The SDK calls it with the parsed model or the stream, for plain
calls, `with_raw_response` and `with_streaming_response`, before its own parse helpers can raise.

This module has more than 120 lines because one class observes all generations of these SDKs, which differ in how they send
requests, retry, and return answers.
"""

import sys
from collections.abc import Iterator, Sequence
from copy import copy
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import Answer
from llm_errors.extract.fields import field, number, parsed, text
from llm_errors.extract.openai_chat import ChatReader
from llm_errors.instrument import jobs
from llm_errors.instrument.adapters import native_span
from llm_errors.instrument.adapters.refusals import refusal
from llm_errors.instrument.adapters.stainless_paths import (
    BODIES,
    JOB_PATHS,
    JOB_READERS,
    JOBS,
    MODELS,
    Expected,
    endpoint_of,
    expected_of,
)
from llm_errors.instrument.adapters.stainless_tap import Unread, follow, is_stream, listener, share_with_native_span
from llm_errors.instrument.adapters.unusual import poll, poll_async, refresh, refresh_async
from llm_errors.instrument.endpoints import address_of
from llm_errors.instrument.finalizers import finalizer_of
from llm_errors.instrument.invocation import NOTHING, RETURNED, Invocation
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.instrument.tap import tap_times
from llm_errors.providers import Sdk, provider_of_host

_HELPERS = (("chat._completions", "ChatCompletionStream"), ("responses._responses", "ResponseStream"))
"""Stream helpers of openai that close the response without closing the stream. Those of other SDKs close the stream."""
_HELD = "_raw_stream"


class Stainless(Adapter):
    """The adapter of one SDK of the family.

    The provider comes from the class of the client, otherwise from the host, otherwise from the SDK's row.
    """

    def __init__(self, row: Sdk) -> None:
        self.row = row
        self._provider_by_class = row.provider_by_class
        self._model = MODELS.get(row.name, "model")
        self._clients = tuple(one for client in row.clients for one in client.pair)

    def targets(self) -> Iterator[Target]:
        """`request` of the clients (in anthropic 2 `_request`, inside its native span), the retry hook, and close methods."""
        base = f"{self.row.package}._base_client"
        for module, owner in self._clients:
            kind = Kind.ASYNC_CALL if owner.startswith("Async") else Kind.CALL
            optional = (module, owner) not in self._clients[:2]
            yield Target(module, owner, "request", kind, when=_has_no_native_span, optional=optional)
        yield Target(base, "SyncAPIClient", "_request", Kind.CALL, when=_has_native_span, optional=True)
        yield Target(base, "AsyncAPIClient", "_request", Kind.ASYNC_CALL, when=_has_native_span, optional=True)
        for owner, kind in (("SyncAPIClient", Kind.RETRY), ("AsyncAPIClient", Kind.ASYNC_RETRY)):
            yield Target(base, owner, "_sleep_for_retry", kind, when=_retries_in_a_loop)
            yield Target(base, owner, "_retry_request", kind, when=_retries_by_recursion, optional=True)
        for (module, owner), wrap in zip(self._clients[:2], (refresh, refresh_async), strict=True):
            yield Target(module, owner, "_send_with_auth_retry", wrap, optional=True)
        yield Target(base, "BaseClient", "_calculate_nonstreaming_timeout", refusal, optional=True)
        for module, resource, _ in JOBS:
            where = f"{self.row.package}.resources.{module}"
            yield Target(where, resource, "retrieve", poll, optional=True)
            yield Target(where, f"Async{resource}", "retrieve", poll_async, optional=True)
        yield Target(base, "", "finish_api_call_span", native_span.before_span_ends, optional=True)
        yield Target(f"{self.row.package}._tracing", "FirstEnd", "end", native_span.before_body_ends, optional=True)
        yield Target(f"{self.row.package}._streaming", "Stream", "close", Kind.CLOSE)
        yield Target(f"{self.row.package}._streaming", "AsyncStream", "close", Kind.ASYNC_CLOSE)
        yield Target(f"{self.row.package}._response", "APIResponse", "close", Kind.CLOSE)
        yield Target(f"{self.row.package}._response", "AsyncAPIResponse", "close", Kind.ASYNC_CLOSE)
        for module, helper in _HELPERS:
            inside = f"{self.row.package}.lib.streaming.{module}"
            yield Target(inside, helper, "close", Kind.CLOSE, optional=True, through=_HELD)
            yield Target(inside, f"Async{helper}", "close", Kind.ASYNC_CLOSE, optional=True, through=_HELD)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a POST to one of `PATHS`; None for any other request. Results are cached until the client's URL changes."""
        options = args[1] if len(args) > 1 else kwargs.get("options")
        if options is None:
            return None
        body, model, background = options.json_data, None, False
        if isinstance(body, BODIES):
            model, background = body.get(self._model) or body.get("model"), body.get("background") is True
        extra = options.extra_json
        if extra:  # the SDK merges both; the extra values take precedence
            model, background = extra.get(self._model, model), extra.get("background", background) is True
        model = model if isinstance(model, str) else None
        stream = expected_of(options) if kwargs.get("stream") else None
        native = kwargs.get("call") is not None  # anthropic 2 passes its own span, which is current
        asked = (options.method, options.url, model, stream, native, background)
        base = instance.__dict__.get("_base_url")
        try:
            known = _KNOWN.get(instance)
        except TypeError:  # the client has no hash, or does not support weak references
            return self._info(instance, *asked)
        if known is None or known[0] is not base or len(known[1]) >= _KNOWN_LIMIT:
            known = _remember(instance, base)
        if known is None:
            return self._info(instance, *asked)
        calls = known[1]
        if asked not in calls:
            calls[asked] = self._info(instance, *asked)
        return calls[asked]

    def _info(
        self,
        client: Any,
        method: str,
        url: str,
        model: str | None,
        stream: Expected | None = None,
        native: bool = False,
        background: bool = False,
    ) -> CallInfo | None:
        endpoint = endpoint_of(url, self.row.name) if method.lower() == "post" else None
        if endpoint is None:
            return None
        split = urlsplit(url)
        default = 80 if split.scheme == "http" else 443
        host, port = (
            (split.hostname, split.port or default)
            if split.hostname
            else address_of(field(client, "base_url", "_base_url"))
        )
        names = (c.__name__.removeprefix("Async") for c in type(client).__mro__)
        by_class = next((self._provider_by_class[name] for name in names if name in self._provider_by_class), None)
        provider = by_class or provider_of_host(host, port) or self.row.provider
        operation, reader = endpoint
        if reader is results.CHAT and stream is not None:
            reader = ChatReader(*stream)
        return self.info(
            provider=provider,
            operation=operation,
            model=text(model, 256) or None,
            stream=stream is not None,
            address=host,
            port=port,
            reader=reader,
            native_span=native,
            background=background or reader in JOB_READERS,
        )

    def begin(self, call: Invocation) -> None:
        """Install a `post_parser`, unless the SDK returns the parsed model or stream itself.

        The options are copied, because the application may use the given ones for another call.
        """
        placed = len(call.args) > 1
        options = call.args[1] if placed else call.kwargs["options"]
        wanted = call.args[0] if call.args else call.kwargs.get("cast_to")
        if wanted is type(None):
            return
        client: Any = type(call.instance)
        if _asks_for_no_more(vars(options), call.instance) and _is_returned(client, self.row.package, wanted):
            call.parsed = RETURNED
            return
        options = copy(options)
        options.post_parser = listener(call, options.post_parser, wanted)
        if placed:
            call.args = (call.args[0], options, *call.args[2:])
        else:
            call.kwargs = {**call.kwargs, "options": options}

    def returned(self, call: Invocation, result: Any) -> None:
        """The parsed result is the answer. A raw response ends when the application parses, closes or drops it.

        If the call is still running (before anthropic 2 ends its span), only a complete answer is read.
        """
        answer = call.parsed
        if answer is RETURNED and (hasattr(type(result), _OF_MODELS) or not is_stream(result)):
            call.settle(call.info.reader.whole(result))
        elif answer is not NOTHING and answer is not RETURNED:
            call.judge(result if type(result) is type(answer) else answer)
        elif call.running:
            body = exceptions.loaded(field(result, "http_response", "response"))
            if body is not None and not call.info.stream:
                call.judge_text(body)
        elif is_stream(result):
            follow(call, result)
        elif result is None:  # the application requested no result
            call.settle(Answer())
        else:
            self._returned_raw(call, result)

    def _returned_raw(self, call: Invocation, result: Any) -> None:
        response = field(result, "http_response", "response")
        own = response is None and number(field(result, "status_code")) is not None
        if own:
            response = result  # a response of the HTTP library, which the SDK will not parse
        if response is None or not hasattr(result, "__dict__"):
            call.judge(result)
            return
        body = None if call.info.stream else exceptions.loaded(response)
        if body is not None and (own or type(result).__name__.endswith(_BINARY)):
            call.judge_text(body)
            return
        if finalizer_of(result) is None:
            call.attach_finalizer(result, Answer if own else Unread(call, response))
            if body is None:
                tap_times(call, response)
        share_with_native_span(call, result, response)

    def attempt_failed(self, call: Invocation, kwargs: dict[str, Any]) -> Evidence | None:
        """Evidence from the failed response, or else from the exception that the SDK is handling."""
        response = kwargs.get("response")
        raised = sys.exc_info()[1]
        if response is None:
            return None if raised is None else exceptions.read(raised, self.row.dialect, call.info.provider)
        return exceptions.of_response(response, self.row.dialect, call.info.provider)

    def refused(self, instance: Any, exc: BaseException, given: Sequence[Any] = ()) -> CallInfo | None:
        """Describes a request that anthropic refuses because it may take too long without a stream. Its model is unknown."""
        return self._info(instance, "post", "/v1/messages", None) if isinstance(exc, ValueError) else None

    def polled(self, instance: Any, result: Any) -> tuple[CallInfo, Answer] | None:
        """Describes a background response that failed. Any other response was reported by the call that created it."""
        raw = exceptions.loaded(field(result, "http_response"))
        if raw is not None:
            result = parsed(raw)
        if field(result, "background") is False:
            return None
        info = self._job(instance)
        answer = None if info is None else info.reader.whole(result)
        return None if info is None or answer is None or answer.suspicion is None else (info, answer)

    def resumed(self, instance: Any, result: Any) -> CallInfo | None:
        """Describes the stream of a background response that the application resumes; None for any other result."""
        info = self._job(instance) if is_stream(result) else None
        return None if info is None else info._replace(stream=True, background=False, reader=jobs.Once(info.reader))

    def follow(self, call: Invocation, result: Any) -> None:
        """Read the events of a resumed stream."""
        follow(call, result)

    def _job(self, instance: Any) -> CallInfo | None:
        """Describes the call that began the polled job: a response, the run of an agent, or a task."""
        return self._info(field(instance, "_client"), "post", JOB_PATHS[type(instance).__name__], None)


_KNOWN: WeakKeyDictionary[Any, tuple[Any, dict[Any, CallInfo | None]]] = WeakKeyDictionary()
"""For each client: its base URL, and the cached calls."""
_KNOWN_LIMIT = 256
"""The maximum number of cached calls per client: paths may contain identifiers."""


_OWN_BASE_URL = ("BaseClient", "OpenAI", "AsyncOpenAI")
"""Classes of the SDKs that define `base_url`. Nothing is cached if another class, or openai's module client, defines it."""


def _remember(client: Any, base: Any) -> tuple[Any, dict[Any, CallInfo | None]] | None:
    """A new cache entry. None for a client that computes its base URL, because a change could not be noticed."""
    owner = next((c for c in type(client).__mro__ if "base_url" in vars(c)), None)
    if base is None or owner is None or owner.__name__ not in _OWN_BASE_URL:
        return None
    known: tuple[Any, dict[Any, CallInfo | None]] = (base, {})
    _KNOWN[client] = known
    return known


def _asks_for_no_more(options: dict[str, Any], client: Any) -> bool:
    """Whether no `post_parser` and no headers (which can request a raw response) are given; unset values are SDK objects.

    A call then needs no hook, which saves 8 % of what observing it costs (32,600 of 406,000 instructions, callgrind).
    """
    given = callable(options.get("post_parser")) or hasattr(options.get("headers"), "keys")
    return not given and not client.__dict__.get("_custom_headers", True)


_BINARY = "BinaryAPIResponse"
"""The end of the class names of answers that are not parsed: `BinaryAPIResponse` and its async twin."""
_OF_MODELS = "model_config"
"""An attribute of every pydantic model class."""


@lru_cache(maxsize=512)
def _is_returned(client: Any, package: str, wanted: Any) -> bool:
    """Whether a client returns the parsed object of the class `wanted` itself, if the call asks for nothing more.

    A client class of the application may return anything. A client of anthropic 2 with middlewares may parse several
    answers and return another one.
    """
    own = f"{client.__module__}.".startswith(f"{package}.")
    return own and isinstance(wanted, type) and hasattr(wanted, _OF_MODELS) and not _has_native_span(client)


def _retries_by_recursion(client: type) -> bool:
    """Whether `request` calls itself for another attempt, as in openai before 1.76 and SDKs generated before that release."""
    return hasattr(client, "_retry_request")


def _retries_in_a_loop(client: type) -> bool:
    return not _retries_by_recursion(client)


def _has_native_span(client: type) -> bool:
    """Whether the SDK creates its own span around `_request` (anthropic 2)."""
    return hasattr(client, "_copy_and_prepare") and hasattr(client, "_tracer")


def _has_no_native_span(client: type) -> bool:
    return not _has_native_span(client)
