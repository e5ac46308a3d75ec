"""Peers, which are other instrumentations of the same SDK: whether one is active, and whether it created the current span.

A peer is recognised by the dependencies that its instrumentor declares and by the attributes of its spans.
"""

import re
import sys
from functools import lru_cache
from types import FrameType
from typing import Any

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor
from opentelemetry.trace import Span

from llm_errors import semconv

MODEL_OPERATIONS = frozenset(
    ("chat", "generate_content", "text_completion", "completion", "embeddings", "embedding", "messages", "speech",
     "transcription", "image_generation", "moderation", "rerank")
)  # fmt: skip
"""Values of `gen_ai.operation.name` that mean one model call, from the GenAI conventions and from peers."""

AGENT_OPERATIONS = frozenset(("invoke_agent", "invoke_workflow"))
"""Values of `gen_ai.operation.name` that mean the run of an agent."""
_AGENT_KINDS = {"openinference.span.kind": frozenset(("AGENT", "CHAIN")),
                "traceloop.span.kind": frozenset(("agent", "task", "workflow"))}  # fmt: skip
"""Attributes that peers set on the span of an agent or a chain, with their values."""

INFERENCE_SCOPES = ("com.anthropic.sdk.python", "logfire.openai", "logfire.anthropic")
"""Scopes in which every CLIENT span is an inference span, even if its attributes are not set yet."""

_LATE = (
    ("openinference.instrumentation.litellm", re.compile("")),
    ("openinference.instrumentation.llama_index", re.compile(
        r"(?!\w*(?:Engine|Agent|Workflow)\.)\w+\.(?:a?(?:stream_)?(?:chat|complete)|_?a?_?get_\w*(?:text|query)_embeddings?)$")),
    ("openinference.instrumentation.haystack", re.compile(
        r"(?:\w*Generator\w*\.run(?:_async)?|CreateEmbeddings)$")),
    ("openinference.instrumentation.mistralai", re.compile("")),
    ("openinference.instrumentation.bedrock", re.compile(r"bedrock\.(?:converse|invoke_model)$")),
)  # fmt: skip
"""Instrumentations that set the attributes of a model call only when they end its span: the prefix of their scope, and a
pattern for the names of these spans."""
_LATE_AGENTS = (
    ("openinference.instrumentation.llama_index", re.compile(r"\w*(?:Agent|Workflow)\.\w+$")),
    ("openinference.instrumentation.haystack", re.compile(r"(?:Agent|\w*Pipeline)\.run\w*$")),
)
"""The same for spans of the run of an agent, or of a step in the run."""
_LAZY = ("llama-index-core", "llama_index.")
"""A framework that sends the request of a stream when the first chunk is read: its distribution, and its module prefix."""
_CALLED_BACK = ("langchain-core", "langchain_core.language_models.")
"""A framework that peers observe through callbacks, so that their spans may not be current: its distribution, and the prefix
of the modules that call models."""
_FRAMES = 48
"""The maximum number of stack frames that are searched."""
_REQUEST_TYPE = "llm.request.type"
"""The attribute that OpenLLMetry sets instead of `gen_ai.operation.name` for some frameworks."""

WITHOUT_DURATION = ("openinference.",)
"""Modules of instrumentors that do not record `gen_ai.client.operation.duration`."""

_SUPPRESSING = "logfire"
"""The peer that suppresses instrumentation around a model call. Its modules and its scope names begin with this name."""
_CALLING = "logfire._internal.integrations.llm_providers"
"""The package of this peer that calls the model. It identifies the call if its span was sampled out, and thus has no scope."""
_NATIVE = "com.anthropic.sdk.python"
"""The scope of the spans that anthropic 2 creates itself, even if instrumentation is suppressed."""

_OPENINFERENCE_KIND = "openinference.span.kind"
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_STANDS_ON = {"boto3": "botocore"}
"""A distribution that peers declare -> the distribution that makes its calls."""


def is_inference(span: Span, own_operation: str = "") -> bool:
    """Whether a recording span of a peer represents a model call, or the operation `own_operation`."""
    if not span.is_recording():
        return False
    attributes = getattr(span, "attributes", None)
    if attributes is None:  # a span of another tracing SDK, without readable attributes
        attributes = {}
    scope = _scope(span)
    if scope == semconv.SCOPE:
        return False  # a span of llm-errors: the call was made inside another call, for example in a middleware
    if own_operation in AGENT_OPERATIONS and is_agent(span):
        return True
    operation = attributes.get(semconv.OPERATION)
    if operation is not None:
        return operation in MODEL_OPERATIONS or operation == own_operation
    if attributes.get(_OPENINFERENCE_KIND) == "LLM" or attributes.get(_REQUEST_TYPE) in MODEL_OPERATIONS:
        return True
    return scope.startswith(INFERENCE_SCOPES) or _is_openlit(scope, span) or _tells_late(scope, span, _LATE)


def is_of_a_call(span: Span) -> bool:
    """Whether the span represents a model call. It may be a span of a peer or of llm-errors."""
    return _scope(span) == semconv.SCOPE or is_inference(span)


def is_agent(span: Span) -> bool:
    """Whether a recording span represents the run of an agent or a chain around model calls."""
    attributes = getattr(span, "attributes", None) if span.is_recording() else None
    scope = _scope(span)
    if attributes is None or scope == semconv.SCOPE:
        return False
    if attributes.get(semconv.OPERATION) in AGENT_OPERATIONS:
        return True
    return any(attributes.get(k) in v for k, v in _AGENT_KINDS.items()) or _tells_late(scope, span, _LATE_AGENTS)


def is_sampled_out(span: Span, by_framework: bool) -> bool:
    """Whether a sampler dropped the span of the SDK, of a framework or of a peer that represents the call.

    A span that is not recording, but has the sampled flag, was not dropped: it comes from a tracer without a provider.
    """
    return (by_framework and _is_dropped(span)) or _is_dropped_by_logfire(span)


def _is_dropped(span: Span) -> bool:
    context = span.get_span_context()
    return not span.is_recording() and context.is_valid and not context.trace_flags.sampled


def _is_dropped_by_logfire(span: Span) -> bool:
    is_its_own = type(span).__module__.startswith(f"{_SUPPRESSING}.")
    return is_its_own and _is_dropped(span) and _is_called_from(_CALLING)


def suppresses(span: Span) -> bool:
    """Whether a peer suppressed instrumentation around this call. That suppression is not meant for llm-errors."""
    scope = _scope(span)
    inside = scope.startswith(f"{_SUPPRESSING}.") or (scope == _NATIVE and _SUPPRESSING in sys.modules)
    return (inside and is_inference(span)) or _is_dropped_by_logfire(span)


def _scope(span: Any) -> str:
    return getattr(getattr(span, "instrumentation_scope", None), "name", "") or ""


def _is_openlit(scope: str, span: Any) -> bool:
    """OpenLIT sets the attributes of its span after the call, but the name of the span begins with the operation."""
    name = getattr(span, "name", "") or ""
    return scope.startswith("openlit") and name.partition(" ")[0] in MODEL_OPERATIONS


def _tells_late(scope: str, span: Span, late: tuple[tuple[str, re.Pattern[str]], ...]) -> bool:
    """Whether the name of a framework's span shows what the span represents."""
    names = next((names for start, names in late if scope.startswith(start)), None)
    return names is not None and names.match(getattr(span, "name", "") or "") is not None


def is_within_framework(stream: bool) -> bool:
    """Whether a framework makes the call, and a peer has a span for it that is not current, or not current any more."""
    return (stream and _is_of_peer(*_LAZY)) or _is_of_peer(*_CALLED_BACK)


def _is_of_peer(distribution: str, package: str) -> bool:
    """Whether the call is made from a package, and a peer is active for its distribution."""
    return package.partition(".")[0] in sys.modules and active(distribution)[0] and _is_called_from(package)


def _is_called_from(package: str) -> bool:
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__", "")).startswith(package):
            return True
        frame = frame.f_back
    return False


def active(distribution: str) -> tuple[bool, bool]:
    """Whether a peer is active for a distribution, and whether an active peer records the duration metric.

    This is checked at every call, because instrumentors can be switched on and off at any time. A process may load dozens of
    instrumentors for other libraries; those are skipped until another instrumentor class is loaded.
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
"""For each distribution: the instrumentor classes that were loaded, and which of them may instrument it."""


def _may_instrument(cls: Any, distribution: str) -> bool:
    """Whether a class may instrument the distribution. A class without an instance may: its dependencies are unknown."""
    if cls.__module__.startswith("llm_errors."):
        return False
    if cls._instance is None or distribution in _instruments(cls):
        return True
    return any(_may_instrument(nested, distribution) for nested in cls.__subclasses__())


@lru_cache(maxsize=256)
def _instruments(cls: Any) -> frozenset[str]:
    """The distributions in the declared dependencies of an instrumentor."""
    try:
        wanted = cls._instance.instrumentation_dependencies()
        names = (m[0].lower().replace("_", "-") for w in wanted if (m := _NAME.match(w)))
        return frozenset(_STANDS_ON.get(name, name) for name in names)
    except Exception:  # noqa: BLE001 - foreign code; if a peer raises, it instruments nothing
        return frozenset()
