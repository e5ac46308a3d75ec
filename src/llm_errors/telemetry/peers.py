"""Other instrumentations of the same SDK: whether one is active, and whose span the current one is.

Peers are recognised by what they say of themselves: the dependencies of their instrumentor, and the attributes of their
spans.
"""

import re
from collections.abc import Iterator
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

SUPPRESSING = ("logfire.",)
"""Scopes of peers that suppress instrumentation around the model call itself, to keep the spans of HTTP libraries out."""

_OPENINFERENCE_KIND = "openinference.span.kind"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def is_inference(span: Span, own_operation: str = "") -> bool:
    """Whether a span that still records stands for a model call of someone else's, or for `own_operation`."""
    if not span.is_recording():
        return False
    attributes = getattr(span, "attributes", None) or {}
    operation = attributes.get(semconv.OPERATION)
    if operation is not None:
        return operation in MODEL_OPERATIONS or operation == own_operation
    if attributes.get(_OPENINFERENCE_KIND) == "LLM":
        return True
    scope = _scope(span)
    return scope.startswith(INFERENCE_SCOPES) or _is_openlit(scope, span)


def suppresses(span: Span) -> bool:
    """Whether suppression in the context is the doing of the peer whose span is current, and so not meant for us."""
    return _scope(span).startswith(SUPPRESSING) and is_inference(span)


def _scope(span: Any) -> str:
    return getattr(getattr(span, "instrumentation_scope", None), "name", "") or ""


def _is_openlit(scope: str, span: Any) -> bool:
    """OpenLIT sets a span's attributes after the call; its span's name begins with the operation."""
    name = getattr(span, "name", "") or ""
    return scope.startswith("openlit") and name.partition(" ")[0] in MODEL_OPERATIONS


def active(distribution: str) -> tuple[bool, bool]:
    """Whether another instrumentor is active for an SDK, and whether one of those records the duration metric."""
    modules = [cls.__module__ for cls in _instrumentors() if _is_active(cls) and distribution in _instruments(cls)]
    return bool(modules), any(not module.startswith(WITHOUT_DURATION) for module in modules)


def _instrumentors() -> Iterator[type]:
    """Every instrumentor class that has been loaded, but ours."""
    pending = BaseInstrumentor.__subclasses__()
    for cls in pending:
        pending.extend(cls.__subclasses__())
        if not cls.__module__.startswith("llm_errors."):
            yield cls


def _is_active(cls: Any) -> bool:
    return bool(getattr(getattr(cls, "_instance", None), "_is_instrumented_by_opentelemetry", False))


@lru_cache(maxsize=256)
def _instruments(cls: Any) -> frozenset[str]:
    """The distributions that an instrumentor says it instruments."""
    try:
        wanted = cls._instance.instrumentation_dependencies()
        return frozenset(m[0].lower() for w in wanted if (m := _NAME.match(w)))
    except Exception:  # noqa: BLE001 - foreign code; a peer that cannot say is taken not to instrument
        return frozenset()
