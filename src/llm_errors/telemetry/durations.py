"""The buckets of the conventions' histograms, and the attribute sets of durations, each with the buckets that hold an exemplar.

Of all that fall into a bucket between two collections the OpenTelemetry SDK keeps one, and to offer it one takes longer
than to count a call. So each bucket is offered the first.
"""

from bisect import bisect_left

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span

from llm_errors.telemetry.labels import Labels

BUCKETS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""Seconds: the GenAI conventions' advice for `gen_ai.client.operation.duration`, which times to the first chunk share."""
TOKEN_BUCKETS = tuple(4**n for n in range(14))
"""The conventions' advice for `gen_ai.client.token.usage`: 1 to 67,108,864."""

_NOBODY = trace.set_span_in_context(trace.INVALID_SPAN, Context())
"""A context that offers no exemplar. An empty one would stand for the current one."""


class Durations:
    """One attribute set."""

    __slots__ = ("_offered", "attributes")

    def __init__(self, attributes: dict[str, str]) -> None:
        self.attributes = attributes
        self._offered: set[int] = set()

    def context(self, seconds: float, span: Span | None, context: Context | None) -> Context | None:
        """The context to record a duration in: that of its call, unless an exemplar of its bucket waits for collection."""
        bucket = bisect_left(BUCKETS, seconds)
        if bucket in self._offered:
            return _NOBODY
        if span is not None and span.get_span_context().trace_flags.sampled:
            self._offered.add(bucket)
        return context

    def collected(self) -> None:
        """What was offered is gone."""
        self._offered.clear()


class DurationsOfAll(Labels[Durations]):
    """Those of every attribute set."""

    def __init__(self, *names: str) -> None:
        super().__init__(Durations, *names)

    def collected(self) -> None:
        """Metrics are being collected."""
        for durations in list(self.values()):
            durations.collected()
