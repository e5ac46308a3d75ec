"""A counter that every call steps, whose sums are asked for only when metrics are collected.

To add to a counter of the OpenTelemetry SDK takes longer than to judge a good answer. Collected, the two kinds of counter
are the same monotonic sum.
"""

from itertools import count

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import Observation
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, Span, SpanContext

from llm_errors.telemetry.labels import Labels


class Count:
    """The sum of one attribute set: `next(steps)` adds one, which no thread can interrupt.

    `exemplar` is the span of the first sampled call since the last collection.
    """

    __slots__ = ("_attributes", "_looks", "exemplar", "steps")

    def __init__(self, attributes: dict[str, str]) -> None:
        self.steps, self._looks = count(), count()  # to look is a step, too
        self.exemplar: SpanContext | None = None
        self._attributes = attributes

    def offer(self, span: Span) -> None:
        """A span that has been counted."""
        context = span.get_span_context()
        if context.trace_flags.sampled:
            self.exemplar = context

    def observed(self) -> Observation:
        """The sum so far. A span is told once."""
        total = next(self.steps) - next(self._looks)
        exemplar, self.exemplar = self.exemplar, None
        span = INVALID_SPAN if exemplar is None else NonRecordingSpan(exemplar)  # never the one that collects
        return Observation(total, self._attributes, trace.set_span_in_context(span, Context()))


class Tally(Labels[Count]):
    """All sums of one counter, by the values of its attributes."""

    def __init__(self, *names: str) -> None:
        super().__init__(Count, *names)

    def observed(self) -> list[Observation]:
        """Every sum so far."""
        return [known.observed() for known in list(self.values())]
