"""Counters that are incremented by calls and read when metrics are collected.

`Counter.add` of the OpenTelemetry SDK takes longer than reading a healthy answer. An observable counter exports the same
monotonic sum.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import NamedTuple

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import CallbackOptions, Counter, Meter, Observation
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, Span, SpanContext

from llm_errors.telemetry.labels import Labels, Values


class Count:
    """The sum of one attribute set. `next(steps)` adds one, and is atomic between threads.

    `exemplar` is the span of the first sampled call since the last collection.
    """

    __slots__ = ("_attributes", "_looks", "exemplar", "steps")

    def __init__(self, attributes: dict[str, str]) -> None:
        # Reading the sum also advances the counter by one; `_looks` counts the reads, to subtract them.
        self.steps, self._looks = count(), count()
        self.exemplar: SpanContext | None = None
        self._attributes = attributes

    def offer(self, span: Span) -> None:
        """Keep the span of a counted call as the exemplar, if it is sampled and there is none yet."""
        context = span.get_span_context()
        if context.trace_flags.sampled:
            self.exemplar = context

    def observed(self) -> Observation:
        """The sum so far. An exemplar is reported once."""
        total = next(self.steps) - next(self._looks)
        exemplar, self.exemplar = self.exemplar, None
        # Without an exemplar, the current span must not become one.
        span = INVALID_SPAN if exemplar is None else NonRecordingSpan(exemplar)
        return Observation(total, self._attributes, trace.set_span_in_context(span, Context()))


class Tally(Labels[Count]):
    """All sums of one counter, by the values of its attributes."""

    def __init__(self, *names: str) -> None:
        super().__init__(Count, *names)

    def observed(self) -> list[Observation]:
        """Every sum so far."""
        return [known.observed() for known in list(self.values())]


class Counted(NamedTuple):
    """A counter's name, unit and description, and the names of its attributes."""

    name: str
    unit: str
    description: str
    attributes: tuple[str, ...]


class Total:
    """One counter: an observable counter that reads `tally`, or an ordinary one if `tally` is None."""

    __slots__ = ("_collected", "_counter", "_labels", "tally")

    def __init__(
        self, meter: Meter, observable: bool, what: Counted, collected: Callable[[], None] | None = None
    ) -> None:
        self.tally = Tally(*what.attributes) if observable else None
        self._collected = collected
        self._counter: Counter | None = None
        self._labels = Labels(dict, *what.attributes)
        if observable:
            meter.create_observable_counter(what.name, [self._observe], what.unit, what.description)
        else:
            self._counter = meter.create_counter(what.name, what.unit, what.description)

    def add(self, values: Values, span: Span | None, context: Context | None) -> None:
        """Add one. The span, or else the span of the context, may become the exemplar."""
        if self._counter is not None:
            self._counter.add(1, self._labels[values], context)
        elif self.tally is not None:
            counted = self.tally[values]
            next(counted.steps)
            if counted.exemplar is None:
                counted.offer(span or trace.get_current_span(context))

    def _observe(self, options: CallbackOptions) -> Iterable[Observation]:
        if self._collected is not None:
            self._collected()
        return [] if self.tally is None else self.tally.observed()
