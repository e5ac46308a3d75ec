"""The span of a call: someone else's that is current, or one of our own; and what is written on it."""

from collections.abc import Mapping
from typing import Any

from opentelemetry import context as context_api
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from llm_errors import semconv
from llm_errors.adapters._protocol import CallInfo
from llm_errors.adapters._sink import Ending
from llm_errors.evidence import Classification
from llm_errors.reading.answer import Answer
from llm_errors.taxonomy import HANDLING, View
from llm_errors.telemetry import peers

Value = Any


class Scope:
    """The span a call is told on, if any. `own` spans are ours to describe, to give a status and to end."""

    __slots__ = ("context", "duration", "own", "span")

    def __init__(self, span: Span | None, own: bool, duration: bool) -> None:
        self.span, self.own, self.duration = span, own, duration
        self.context = trace.set_span_in_context(span) if span is not None and own else None

    def settled_context(self) -> Any:
        """The context in which the call is counted, so that exemplars and logs point at its span."""
        if self.context is None and self.span is not None:
            self.context = trace.set_span_in_context(self.span)
        return self.context


class Spans:
    """Finds or makes the span of each call."""

    def __init__(self, tracer: Tracer, mode: str) -> None:
        self._tracer, self._mode = tracer, mode

    def open(self, info: CallInfo) -> Scope:
        """Adopt the current span if it is a model call's; else make one, unless a peer does or the setting says no."""
        peer, duration = peers.active(info.distribution)
        if info.operation not in peers.MODEL_OPERATIONS:
            duration = True  # nobody measures a refused run as a model call, and neither do we
        if self._mode == "off":
            return Scope(None, False, not duration)
        current = trace.get_current_span()
        if peers.is_inference(current, info.operation):
            return Scope(current, False, not duration)
        if self._mode == "adopt" or peer:
            return Scope(None, False, not duration)
        name = f"{info.operation} {info.model}" if info.model else info.operation
        span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=_start_attributes(info))
        return Scope(span, True, not duration)


def _start_attributes(info: CallInfo) -> dict[str, Value]:
    attributes: dict[str, Value] = {semconv.OPERATION: info.operation, semconv.PROVIDER: info.provider}
    if info.model:
        attributes[semconv.REQUEST_MODEL] = info.model[:256]
    if info.stream:
        attributes[semconv.REQUEST_STREAM] = True
    if info.address:
        attributes[semconv.SERVER_ADDRESS] = info.address
        if info.port:
            attributes[semconv.SERVER_PORT] = info.port
    return attributes


def enter(scope: Scope) -> Any:
    """Make our own span current."""
    return context_api.attach(scope.context) if scope.context is not None else None


def leave(token: Any) -> None:
    """Undo `enter`."""
    if token is not None:
        context_api.detach(token)


def write(scope: Scope, ending: Ending, failure: Classification | None, attributes: Mapping[str, Value]) -> None:
    """Put the end of the call on its span, and end it if it is ours. An adopted span that has ended is left alone."""
    span = scope.span
    if span is None:
        return
    try:
        if span.is_recording():
            written = dict(attributes)
            if ending.retries:
                written[semconv.RETRY_COUNT] = ending.retries
            (_write_own if scope.own else _write_adopted)(span, written, ending, failure)
    finally:
        if scope.own:
            span.end()


def _write_adopted(span: Any, written: dict[str, Value], ending: Ending, failure: Classification | None) -> None:
    """The last failure stands; a later success under the same span says that the first was recovered from."""
    healthy = failure is None and not ending.cancelled
    if healthy and semconv.ERROR_CLASS in (getattr(span, "attributes", None) or {}):
        written[semconv.ERROR_RECOVERED] = True
    if written:
        span.set_attributes(written)


def _write_own(span: Span, written: dict[str, Value], ending: Ending, failure: Classification | None) -> None:
    """The conventions' facts beside ours, and the status, which in-band blocks and truncation leave unset."""
    _describe(written, ending)
    if failure is not None and not _is_policy_answer(failure):
        written[semconv.ERROR_TYPE] = error_type(ending, failure)
        span.set_status(Status(StatusCode.ERROR, f"{failure.error_class.value}/{failure.reason}"))
    elif ending.cancelled:
        written[semconv.OUTCOME] = semconv.CANCELLED
    if written:
        span.set_attributes(written)


def _describe(written: dict[str, Value], ending: Ending) -> None:
    """The conventions' content-free facts about an answer."""
    answer: Answer = ending.answer
    for name, value in (
        (semconv.RESPONSE_MODEL, answer.model),
        (semconv.RESPONSE_ID, answer.id),
        (semconv.RESPONSE_FINISH_REASONS, answer.finish_reasons),
    ):
        if value:
            written[name] = value
    if answer.input_tokens is not None:
        written[semconv.INPUT_TOKENS] = answer.input_tokens
    if answer.output_tokens is not None:
        written[semconv.OUTPUT_TOKENS] = answer.output_tokens
    if ending.time_to_first_chunk is not None:
        written[semconv.TIME_TO_FIRST_CHUNK] = ending.time_to_first_chunk


def _is_policy_answer(failure: Classification) -> bool:
    """In-band blocks and truncation leave the status unset."""
    return failure.channel == semconv.IN_BAND and HANDLING[failure.error_class].view is View.POLICY


def error_type(ending: Ending, failure: Classification) -> str:
    """`error.type`: the raised exception's name, or for an in-band failure its class."""
    return (ending.evidence.exception_type if ending.evidence else "") or failure.error_class.value
