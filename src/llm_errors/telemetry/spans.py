"""The span of a call: someone else's that is current, or one of our own; and what is written on it."""

from collections.abc import Mapping
from functools import lru_cache
from time import time_ns
from types import MappingProxyType
from typing import Any

from opentelemetry import context as context_api
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from llm_errors import semconv
from llm_errors.adapters._protocol import CallInfo
from llm_errors.adapters._sink import Ending
from llm_errors.evidence import Classification, Evidence
from llm_errors.taxonomy import HANDLING, View
from llm_errors.telemetry import peers

Value = Any


class Scope:
    """The span a call is told on, if any. `own` spans are ours to describe, to give a status and to end."""

    span: Span | None = None
    own = False
    measured = False
    """Whether a peer measures the call's duration."""
    context: Context | None = None
    """The context in which the call is counted, so that exemplars and logs point at its span."""
    token: Any = None

    def settled_context(self) -> Context | None:
        """The context, made for a span of someone else's when there is something to tell in it."""
        if self.context is None and self.span is not None:
            self.context = trace.set_span_in_context(self.span)
        return self.context


class Spans:
    """Finds or makes the span of each call."""

    def __init__(self, tracer: Tracer, mode: str) -> None:
        self._tracer, self._mode = tracer, mode

    def open(self, scope: Scope, info: CallInfo, context: Context) -> None:
        """Adopt the current span if it is a model call's; else make one, unless a peer does or the setting says no.

        What has been done stands in `scope` should the next step fail: a span once made must end.
        """
        peer, scope.measured = peers.active(info.distribution)
        if info.operation not in peers.MODEL_OPERATIONS:
            scope.measured = True  # nobody measures a refused run as a model call, and neither do we
        if self._mode == "off":
            return
        current = trace.get_current_span(context)
        if current is not trace.INVALID_SPAN and peers.is_inference(current, info.operation):
            scope.span = current
        elif self._mode != "adopt" and not peer:
            name, attributes = _beginning(info)
            scope.span = span = self._tracer.start_span(name, context, SpanKind.CLIENT, attributes)
            scope.own = True
            scope.context = trace.set_span_in_context(span, context)
            scope.token = context_api.attach(scope.context)


@lru_cache(maxsize=256)
def _beginning(info: CallInfo) -> tuple[str, Mapping[str, Value]]:
    """The name of a call's span, and the attributes that samplers see."""
    attributes: dict[str, Value] = {semconv.OPERATION: info.operation, semconv.PROVIDER: info.provider}
    if info.model:
        attributes[semconv.REQUEST_MODEL] = info.model[:256]
    if info.stream:
        attributes[semconv.REQUEST_STREAM] = True
    if info.address:
        attributes[semconv.SERVER_ADDRESS] = info.address
        if info.port:
            attributes[semconv.SERVER_PORT] = info.port
    return (f"{info.operation} {info.model}" if info.model else info.operation), MappingProxyType(attributes)


def write(
    scope: Scope,
    ending: Ending,
    attributes: Mapping[str, Value],
    failure: Classification | None,
    failed_with: str | None,
) -> None:
    """Put the end of the call on its span, and end it if it is ours. An adopted span that has ended is left alone.

    `failed_with` is the `error.type`.
    """
    span = scope.span
    if span is None:
        return
    try:
        if span.is_recording():
            written = dict(attributes)
            if ending.retries:
                written[semconv.RETRY_COUNT] = ending.retries
            if scope.own:
                _conclude(span, written, ending, failure, failed_with)
            elif failure is not None or _Adopted.any_failed:
                _note_recovery(span, written, ending, failure)
            if written:
                span.set_attributes(written)
    finally:
        if scope.own:
            span.end(None if ending.ago == 0 else time_ns() - int(ending.ago * 1e9))


class _Adopted:
    """Spans of others."""

    any_failed = False
    """Whether a failure has ever been written on one: until then none needs to be searched for it."""


def _note_recovery(span: Any, written: dict[str, Value], ending: Ending, failure: Classification | None) -> None:
    """The last failure stands; a later success under the same span says that the first was recovered from."""
    if failure is not None:
        _Adopted.any_failed = True
    elif not ending.cancelled and semconv.ERROR_CLASS in (getattr(span, "attributes", None) or {}):
        written[semconv.ERROR_RECOVERED] = True


def _conclude(
    span: Span, written: dict[str, Value], ending: Ending, failure: Classification | None, failed_with: str | None
) -> None:
    """The conventions' facts beside ours, and the status, which in-band blocks and truncation leave unset."""
    _describe(written, ending)
    if failure is not None and not _is_policy_answer(failure):
        written[semconv.ERROR_TYPE] = failed_with
        span.set_status(Status(StatusCode.ERROR, f"{failure.error_class.value}/{failure.reason}"))


def _describe(written: dict[str, Value], ending: Ending) -> None:
    """The conventions' content-free facts about an answer."""
    answer = ending.answer
    if answer.model:
        written[semconv.RESPONSE_MODEL] = answer.model
    if answer.id:
        written[semconv.RESPONSE_ID] = answer.id
    if answer.finish_reasons:
        written[semconv.RESPONSE_FINISH_REASONS] = answer.finish_reasons
    if answer.input_tokens is not None:
        written[semconv.INPUT_TOKENS] = answer.input_tokens
    if answer.output_tokens is not None:
        written[semconv.OUTPUT_TOKENS] = answer.output_tokens
    if ending.time_to_first_chunk is not None:
        written[semconv.TIME_TO_FIRST_CHUNK] = ending.time_to_first_chunk
    if ending.cancelled:
        written[semconv.OUTCOME] = semconv.CANCELLED


def _is_policy_answer(failure: Classification) -> bool:
    """In-band blocks and truncation leave the status unset."""
    return failure.channel == semconv.IN_BAND and HANDLING[failure.error_class].view is View.POLICY


def error_type(evidence: Evidence | None, failure: Classification) -> str:
    """`error.type`: the raised exception's name, or for an in-band failure its class."""
    return (evidence.exception_type if evidence is not None else "") or failure.error_class.value
