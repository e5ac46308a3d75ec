"""Finds or creates the span of a call, which may be the current span of another instrumentation, and writes attributes."""

from collections.abc import Mapping
from functools import lru_cache
from time import time_ns
from types import MappingProxyType
from typing import Any

from opentelemetry import context as context_api
from opentelemetry import trace
from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY as _SUPPRESSED
from opentelemetry.context import Context
from opentelemetry.instrumentation.utils import _SUPPRESS_INSTRUMENTATION_KEY_PLAIN as _SUPPRESSED_PLAIN
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from llm_errors import semconv
from llm_errors.call import CallInfo, CallOutcome
from llm_errors.evidence import Classification, Evidence
from llm_errors.safety import report_internal_error
from llm_errors.taxonomy import HANDLING, View
from llm_errors.telemetry import peers

Value = Any


class Scope:
    """The span that records a call, if any. If `own` is true, llm-errors created it, sets its status and ends it."""

    span: Span | None = None
    ambient: Span | None = None
    """The span that was current when the call began, unless it is `span`. Log records refer to it if `span` is None."""
    own = False
    measured = False
    """Whether another instrumentation records the duration of the call."""
    context: Context | None = None
    """The context in which the call is counted, so that exemplars and log records refer to its span."""
    token: Any = None
    around: Mapping[str, Value] = MappingProxyType({})
    """Attributes of the enclosing span: the name of the agent and the id of the conversation."""

    def settled_context(self) -> Context | None:
        """The context. For an adopted or ambient span it is created when it is first needed."""
        span = self.ambient if self.span is None else self.span
        if self.context is None and span is not None:
            self.context = trace.set_span_in_context(span)
        return self.context


class Spans:
    """Finds or creates the span of each call."""

    def __init__(self, tracer: Tracer, mode: str) -> None:
        self._tracer, self._mode = tracer, mode

    def open(self, info: CallInfo, ago: float = 0.0) -> Scope | None:
        """Adopt the current span if it belongs to a model call; otherwise create one, which began `ago` seconds before now.

        No span is created if another instrumentation creates it or the setting forbids it. The result is None if
        instrumentation is suppressed; a peer that suppresses only other instrumentations does not count. If a step fails, the
        scope keeps the results of earlier steps, because a created span must be ended. A span that is not sampled is not made
        current, because that would change the trace headers that the SDK sends.
        """
        context = context_api.get_current()
        if _is_suppressed(context):
            return None
        scope = Scope()
        try:
            peer, scope.measured = _peer(info)
            current = trace.get_current_span(context)
            if current is not trace.INVALID_SPAN:
                scope.around = _around(current)
            if (
                current is not trace.INVALID_SPAN
                and self._mode != "off"
                and peers.is_inference(current, info.operation)
            ):
                scope.span = current
            elif self._mode == "auto" and not peer and not peers.is_sampled_out(current, info.native_span):
                name, attributes = _beginning(info)
                began = time_ns() - int(ago * 1e9) if ago else None
                span = self._tracer.start_span(
                    name, context, SpanKind.CLIENT, {**attributes, **scope.around}, start_time=began
                )
                if span.is_recording():
                    scope.span, scope.own = span, True
                    scope.context = trace.set_span_in_context(span, context)
                    scope.token = context_api.attach(scope.context)
            if scope.span is not current and current is not trace.INVALID_SPAN:
                scope.ambient = current
        except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every call
            report_internal_error("open", error)
        return scope

    def open_on(self, info: CallInfo, agent: Span | None, create: bool) -> Scope | None:
        """The scope of a failure that a framework detects: on the span of the agent while it is recording.

        If there is none, a span is created only if `create` is true. Otherwise the failure appears only in metrics and logs.
        """
        current = trace.get_current_span()
        if agent is None or not agent.is_recording() or self._mode == "off":
            if create:
                return self.open(info)
            agent = None
        if _is_suppressed(context_api.get_current()):
            return None
        scope = Scope()
        if agent is not None:
            scope.span, scope.around = agent, _around(agent)
        elif current is not trace.INVALID_SPAN:
            scope.ambient, scope.around = current, _around(current)
        return scope

    def leave(self, scope: Scope) -> None:
        """Stop making the created span current."""
        if scope.token is not None:
            context_api.detach(scope.token)
            scope.token = None  # the token would keep the whole context alive until a stream ends


def _peer(info: CallInfo) -> tuple[bool, bool]:
    """Whether a peer creates the span of the call, and whether one records its duration."""
    found, duration = peers.active(info.distribution)
    if info.around:
        outer, outer_duration = peers.active(info.around)
        found, duration = found or outer, duration or outer_duration
    return found or peers.is_within_framework(info.stream), duration


def _is_suppressed(context: Context) -> bool:
    """Whether instrumentation is suppressed, other than by a peer that suppresses only other instrumentations."""
    suppressed = context.get(_SUPPRESSED) or context.get(_SUPPRESSED_PLAIN)  # the check of `is_instrumentation_enabled`
    return bool(suppressed) and not peers.suppresses(trace.get_current_span(context))


def agent_span(scope: Scope | None = None) -> Span | None:
    """The current span, or the one around a call, if it records the run of an agent or a chain."""
    around = trace.get_current_span() if scope is None else scope.ambient
    return around if around is not None and peers.is_agent(around) else None


def enclosing_span() -> Span | None:
    """The current span, unless it represents a model call. A framework's span around several attempts is such a span."""
    around = trace.get_current_span()
    return around if around.is_recording() and not peers.is_of_a_call(around) else None


def recovered(agent: Span, handled: bool) -> None:
    """Write on the span around model calls whether a failure was followed by a success."""
    if agent.is_recording():
        agent.set_attribute(semconv.ERROR_RECOVERED, handled)


@lru_cache(maxsize=256)
def _beginning(info: CallInfo) -> tuple[str, dict[str, Value]]:
    """The name of the span and the attributes that samplers see."""
    attributes: dict[str, Value] = {semconv.OPERATION: info.operation, semconv.PROVIDER: info.provider}
    if info.model:
        attributes[semconv.REQUEST_MODEL] = info.model[:256]
    if info.stream:
        attributes[semconv.REQUEST_STREAM] = True
    if info.address:
        attributes[semconv.SERVER_ADDRESS] = info.address
        if info.port:
            attributes[semconv.SERVER_PORT] = info.port
    return (f"{info.operation} {info.model}" if info.model else info.operation), attributes


def _around(enclosing: Span) -> dict[str, Value]:
    """The agent and the conversation that the enclosing span names, so that failures can be searched by them."""
    attributes = getattr(enclosing, "attributes", None)
    if not attributes:
        return {}
    found = {name: attributes.get(name) for name in (semconv.AGENT_NAME, semconv.CONVERSATION_ID)}
    return {name: value[:256] for name, value in found.items() if isinstance(value, str) and value}


def write(
    scope: Scope,
    ending: CallOutcome,
    attributes: Mapping[str, Value],
    failure: Classification | None,
    failed_with: str | None,
) -> None:
    """Write the outcome of the call on its span, and end the span if llm-errors created it.

    An adopted span that has ended is not changed. `failed_with` is the `error.type`.
    """
    span = scope.span
    if span is None:
        return
    if not scope.own:
        _annotate(span, ending, attributes, failure)
        return
    try:
        answer, written = ending.answer, {**attributes}
        facts = (
            answer.model or None,
            answer.id or None,
            [*answer.finish_reasons] or None,  # the OpenTelemetry SDK handles a list faster than a tuple
            answer.input_tokens,
            answer.output_tokens,
            ending.time_to_first_chunk,
            ending.retries or None,
            semconv.CANCELLED if ending.cancelled else None,
        )
        for name, value in zip(_FACTS, facts, strict=True):
            if value is not None:
                written[name] = value
        if failure is not None and not _is_policy_answer(failure):
            written[semconv.ERROR_TYPE] = failed_with
            span.set_status(Status(StatusCode.ERROR, f"{failure.error_class.value}/{failure.reason}"))
        span.set_attributes(written)
    finally:
        span.end(None if ending.ago == 0 else time_ns() - int(ending.ago * 1e9))


_FACTS = (
    semconv.RESPONSE_MODEL,
    semconv.RESPONSE_ID,
    semconv.RESPONSE_FINISH_REASONS,
    semconv.INPUT_TOKENS,
    semconv.OUTPUT_TOKENS,
    semconv.TIME_TO_FIRST_CHUNK,
    semconv.RETRY_COUNT,
    semconv.OUTCOME,
)
"""The attributes of a created span, in the order of `facts` in `write`."""


class _Adopted:
    """State that all adopted spans share."""

    any_failed = False
    """Whether a failure was ever written on an adopted span. Until then, no span needs to be checked for recovery."""


def _annotate(span: Any, ending: CallOutcome, attributes: Mapping[str, Value], failure: Classification | None) -> None:
    """Write on the adopted span. The span keeps its last failure; a later success marks that failure as recovered."""
    if failure is None and not ending.retries and not _Adopted.any_failed:
        return
    if not span.is_recording():
        return
    written = {**attributes}
    if ending.retries:
        written[semconv.RETRY_COUNT] = ending.retries
    if failure is not None:
        _Adopted.any_failed = True
    elif not ending.cancelled and semconv.ERROR_CLASS in (getattr(span, "attributes", None) or {}):
        written[semconv.ERROR_RECOVERED] = True
    span.set_attributes(written)


def _is_policy_answer(failure: Classification) -> bool:
    """Whether the failure is an in-band block or truncation. The status of the span then stays unset."""
    return failure.channel == semconv.IN_BAND and HANDLING[failure.error_class].view is View.POLICY


def error_type(evidence: Evidence | None, failure: Classification) -> str:
    """`error.type`: the name of the raised exception, or the error class of an in-band failure."""
    return (evidence.exception_type if evidence is not None else "") or failure.error_class.value
