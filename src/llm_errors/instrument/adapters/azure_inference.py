"""azure-ai-inference: chat completions and embeddings of Azure's models. Its stream classes define `__next__`."""

import sys
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.fields import field
from llm_errors.instrument.adapters import steps
from llm_errors.instrument.adapters.methods import Method, Methods
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Kind, Target

_SYNC, _ASYNC, _STREAMS = (
    "azure.ai.inference._patch",
    "azure.ai.inference.aio._patch",
    "azure.ai.inference.models._patch",
)
_POLICIES = "azure.core.pipeline.policies"
_CLIENTS = (
    ("ChatCompletionsClient", "complete", "chat", results.CHAT),
    ("EmbeddingsClient", "embed", "embeddings", results.DATA),
    ("ImageEmbeddingsClient", "embed", "embeddings", results.DATA),
)


class AzureInference(Methods):
    """The adapter of azure-ai-inference's clients."""

    only_models = False  # applications import the patched HTTP or cloud library for other purposes too

    methods = tuple(
        Method(module, owner, name, kind, operation, reader)
        for module, kind in ((_SYNC, Kind.CALL), (_ASYNC, Kind.ASYNC_CALL))
        for owner, name, operation, reader in _CLIENTS
    )
    others = (
        Target(_STREAMS, "StreamingChatCompletions", "__next__", steps.step),
        Target(_STREAMS, "AsyncStreamingChatCompletions", "__anext__", steps.step_async),
        Target(_STREAMS, "StreamingChatCompletions", "close", steps.close),
        Target(_STREAMS, "AsyncStreamingChatCompletions", "aclose", steps.close_async),
        Target(f"{_POLICIES}._retry", "RetryPolicy", "sleep", Kind.RETRY),
        Target(f"{_POLICIES}._retry_async", "AsyncRetryPolicy", "sleep", Kind.ASYNC_RETRY),
    )

    def model(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The model that the call, its request body or the client names. It is often unknown: many endpoints have one model."""
        body = args[0] if args else kwargs.get("body")
        return kwargs.get("model") or field(body, "model") or field(instance, "_model")

    def url(self, instance: Any, kwargs: dict[str, Any]) -> Any:
        """The endpoint of the client."""
        return field(field(instance, "_config"), "endpoint")

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge an answer, or follow a stream."""
        if hasattr(type(result), "__next__") or hasattr(type(result), "__anext__"):
            steps.begin(call, result)
        else:
            call.judge(result)

    def attempt_failed(self, call: Invocation, kwargs: dict[str, Any]) -> Evidence | None:
        """Evidence from the failed response, or else from the network error that the SDK is handling."""
        response, raised = field(kwargs.get("response"), "http_response"), sys.exc_info()[1]
        if response is not None:
            return exceptions.of_response(response, self.row.dialect, call.info.provider)
        return None if raised is None else exceptions.read(raised, self.row.dialect, call.info.provider, call.ambient)
