"""Other instrumentations of the same SDK: whether one is active, and whose span the current one is.

Peers are recognised by what they say of themselves: the dependencies of their instrumentor, and the attributes of their
spans.
"""

import re
import sys
from functools import lru_cache
from typing import Any

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor
from opentelemetry.trace import Span

from llm_errors import semconv

MODEL_OPERATIONS = frozenset(
    ("chat", "generate_content", "text_completion", "completion", "embeddings", "embedding", "messages", "speech",
     "transcription", "image_generation", "moderation", "rerank")
)  # fmt: skip
"""Values of `gen_ai.operation.name` that mean one model call, the conventions' and those that peers use."""

INFERENCE_SCOPES = ("com.anthropic.sdk.python", "logfire.openai", "logfire.anthropic")
"""Scopes whose every CLIENT span is an inference span, with or without attributes by the time we look."""

WITHOUT_DURATION = ("openinference.",)
"""Modules of instrumentors that have no `gen_ai.client.operation.duration`."""

_SUPPRESSING = "logfire"
"""The peer, by its module and the beginning of its scopes, that suppresses instrumentation around the model call itself."""
_NATIVE = "com.anthropic.sdk.python"
"""The scope of the spans that Anthropic's SDK makes itself; it makes them whatever is suppressed."""

_OPENINFERENCE_KIND = "openinference.span.kind"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def is_inference(span: Span, own_operation: str = "") -> bool:
    """Whether a span that still records stands for a model call of someone else's, or for `own_operation`."""
    if not span.is_recording():
        return False
    attributes = getattr(span, "attributes", None)
    if attributes is None:  # another SDK's span
        attributes = {}
    scope = _scope(span)
    if scope == semconv.SCOPE:
        return False  # our own span around a call that makes another one, in a middleware say
    operation = attributes.get(semconv.OPERATION)
    if operation is not None:
        return operation in MODEL_OPERATIONS or operation == own_operation
    if attributes.get(_OPENINFERENCE_KIND) == "LLM":
        return True
    return scope.startswith(INFERENCE_SCOPES) or _is_openlit(scope, span)


def is_sampled_out(span: Span) -> bool:
    """Whether a sampler has dropped the span. One of a tracer without a provider repeats its parent's context instead."""
    return not span.is_recording() and not span.get_span_context().trace_flags.sampled


def suppresses(span: Span) -> bool:
    """Whether suppression in the context is the doing of a peer around this very call, and so not meant for us."""
    scope = _scope(span)
    inside = scope.startswith(f"{_SUPPRESSING}.") or (scope == _NATIVE and _SUPPRESSING in sys.modules)
    return inside and is_inference(span)


def _scope(span: Any) -> str:
    return getattr(getattr(span, "instrumentation_scope", None), "name", "") or ""


def _is_openlit(scope: str, span: Any) -> bool:
    """OpenLIT sets a span's attributes after the call; its span's name begins with the operation."""
    name = getattr(span, "name", "") or ""
    return scope.startswith("openlit") and name.partition(" ")[0] in MODEL_OPERATIONS


def active(distribution: str) -> tuple[bool, bool]:
    """Whether another instrumentor is active for an SDK, and whether one of those records the duration metric.

    Asked at every call, since instrumentors come and go without a word; but a process may have dozens of them for other
    libraries, which need not be looked at again while no further one is loaded.
    """
    found = duration = False
    loaded = BaseInstrumentor.__subclasses__()
    known = _KNOWN.get(distribution)
    if known is None or known[0] != loaded:
        known = _KNOWN[distribution] = (loaded, [cls for cls in loaded if _may_instrument(cls, distribution)])
    asked = [*known[1]]
    for cls in asked:
        asked += cls.__subclasses__()
        instance = cls._instance
        if instance is None or not instance._is_instrumented_by_opentelemetry:
            continue
        if distribution in _instruments(cls):
            found = True
            duration = duration or not cls.__module__.startswith(WITHOUT_DURATION)
    return found, duration


_KNOWN: dict[str, tuple[list[Any], list[Any]]] = {}
"""By distribution: the instrumentors that were loaded, and those among them that may instrument it."""


def _may_instrument(cls: Any, distribution: str) -> bool:
    """Not one of ours or of other libraries. What has not been made yet cannot be asked."""
    if cls.__module__.startswith("llm_errors."):
        return False
    if cls._instance is None or distribution in _instruments(cls):
        return True
    return any(_may_instrument(nested, distribution) for nested in cls.__subclasses__())


@lru_cache(maxsize=256)
def _instruments(cls: Any) -> frozenset[str]:
    """The distributions that an instrumentor says it instruments."""
    try:
        wanted = cls._instance.instrumentation_dependencies()
        return frozenset(m[0].lower() for w in wanted if (m := _NAME.match(w)))
    except Exception:  # noqa: BLE001 - foreign code; a peer that cannot say is taken not to instrument
        return frozenset()
