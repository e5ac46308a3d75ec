"""A counter that every call steps, and so one whose sums are asked for only when metrics are collected.

An addition to a counter of the OpenTelemetry SDK takes longer than all else that is done for a call that went well,
the span and the histogram excepted. Collected, both kinds of counter are the same monotonic sum.
"""

from itertools import count
from threading import Lock

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import Observation
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, SpanContext

from llm_errors.telemetry.labels import Labels


class Count:
    """The sum of one attribute set: `next(steps)` adds one, which no thread can interrupt; `last` is the exemplar's span."""

    __slots__ = ("_attributes", "_looks", "last", "steps")

    def __init__(self, attributes: dict[str, str]) -> None:
        self.steps = count()
        self.last: SpanContext | None = None
        self._attributes, self._looks = attributes, 0

    def observed(self) -> Observation:
        """The sum so far. The span is told once. One thread at a time."""
        total = next(self.steps) - self._looks  # to look is a step, too
        self._looks += 1
        last, self.last = self.last, None
        span = INVALID_SPAN if last is None else NonRecordingSpan(last)  # never the one that collects
        return Observation(total, self._attributes, trace.set_span_in_context(span, Context()))


class Tally(Labels[Count]):
    """All sums of one counter, by the values of its attributes."""

    def __init__(self, *names: str) -> None:
        super().__init__(Count, *names)
        self._looking = Lock()

    def observed(self) -> list[Observation]:
        """Every sum so far."""
        with self._looking:
            return [known.observed() for known in list(self.values())]
