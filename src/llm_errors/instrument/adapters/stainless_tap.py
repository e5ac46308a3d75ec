"""Reads the answers of Stainless SDKs: parsed by the SDK, as a stream, or as a raw response that may never be parsed."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from llm_errors.extract import exceptions, glimpse
from llm_errors.extract.answer import Answer
from llm_errors.extract.fields import field, number
from llm_errors.instrument.invocation import NOTHING, Invocation
from llm_errors.instrument.tap import beginning, mark_in, tap_application, tap_body
from llm_errors.safety import quietly, report_internal_error


def listener(call: Invocation, original: Any, wanted: Any) -> Callable[[Any], Any]:
    """Returns the `post_parser` hook. The SDK calls the hook with every answer or stream that it parses.

    A middleware may parse several answers while the SDK's method runs. The last one counts when the method returns.
    """
    chained = original if callable(original) else None

    def listen(result: Any) -> Any:
        streamed, call.parsed = False, NOTHING
        try:
            streamed = is_stream(result)
            if not streamed:
                call.parsed = _read(call, result) if wanted in _TEXTS else result
        except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every call
            report_internal_error("answer", error)
        try:
            final = result if chained is None else chained(result)
        except BaseException as exc:
            if not call.running:
                quietly("failed", None, call.failed, exc)
            raise
        if not call.running and call.unsettled:
            quietly("answer", None, *((follow, call, result) if streamed else (call.judge, call.parsed)))
        return final

    return listen


_TEXTS = (str, bytes)
"""Types that an application may request instead of a model."""


def _read(call: Invocation, result: Any) -> Any:
    return glimpse.read(call.info.reader, call.info.dialect, result) if isinstance(result, _TEXTS) else result


def is_stream(result: Any) -> bool:
    """Whether the object is a stream of the SDK or a stream class of the application."""
    kind: Any = type(result)
    return _is_kind_of_stream(kind) and _slot(result) is not None


_SLOTS = ("_iterator", "_stream_chunks")
"""The names of the attribute that holds the iterator of a stream, in the Stainless family and in copies of it."""


def _slot(stream: Any) -> str | None:
    return next((name for name in _SLOTS if hasattr(stream, name)), None)


@lru_cache(maxsize=512)
def _is_kind_of_stream(kind: Any) -> bool:
    return any("Stream" in c.__name__ for c in kind.__mro__)


def follow(call: Invocation, stream: Any) -> None:
    """Read the chunks of a stream as they pass, or the body that arrived instead of a stream."""
    content_type = str(field(field(stream.response, "headers"), "content-type") or "")
    if "html" in content_type or content_type.startswith("application/json"):
        call.instead = []
        tap_body(stream.response, beginning(call.instead))
    elif call.info.dialect == "openai":
        call.marked = mark_in(stream.response)
    tap_application(call, stream.response)
    call.attach_finalizer(stream)
    share_with_native_span(call, stream, stream.response)
    passing = call.follow_async if hasattr(stream, "__anext__") else call.follow
    slot = _slot(stream)
    assert slot is not None
    setattr(stream, slot, passing(getattr(stream, slot)))


def share_with_native_span(call: Invocation, holder: Any, response: Any) -> None:
    """anthropic 2 only: end the call just before the SDK ends its own span, while that span can still be annotated."""
    native = field(field(response, "stream"), "stream_observer")
    if native is not None:
        call.share_finalizer(holder, native)


class Unread:
    """The answer in a raw response that the application reads itself."""

    __slots__ = ("_call", "_response")

    def __init__(self, call: Invocation, response: Any) -> None:
        self._call, self._response = call, response

    def __call__(self) -> Answer:
        """A loaded body is read as an answer. Any other response is healthy, because its status was successful.

        Such a response has failed only if a network error is leaving the application's `with` block: the connection was lost.
        """
        body = exceptions.loaded(self._response)
        if body is None:
            return self._broken(sys.exc_info()[1])
        info = self._call.info
        return Answer() if info.stream else glimpse.read(info.reader, info.dialect, body)

    def _broken(self, raised: BaseException | None) -> Answer:
        request = field(raised, "request")
        if raised is None or request is None or request is not field(self._response, "request"):
            return Answer()
        evidence = exceptions.read(raised, self._call.info.dialect, self._call.info.provider)
        return Answer(replace(evidence, partial_output=bool(number(field(self._response, "num_bytes_downloaded")))))
