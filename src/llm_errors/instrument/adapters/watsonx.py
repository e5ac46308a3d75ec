"""ibm-watsonx-ai: the methods of `ModelInference`. An error in a stream is a text with the body and the status."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import embedded_error
from llm_errors.extract.fields import field, parsed, text
from llm_errors.extract.vendors import WATSONX, WATSONX_ANSWERS
from llm_errors.instrument.adapters.generators import lazy_when
from llm_errors.instrument.adapters.methods import Method, Methods
from llm_errors.instrument.adapters.waits import waits, waits_async
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Kind, Target

_MODELS = ("ibm_watsonx_ai.foundation_models.inference.model_inference", "ModelInference")
_RETRIES = (
    "ibm_watsonx_ai._wrappers.httpx.rate_limited_retry.rate_limited_retry_decorator",
    "RateLimitedRetryDecorator",
)
_FAILED = re.compile(r"Request failed with: \(?(?P<body>.*?)\s+\(?(?P<status>\d{3})\)", re.DOTALL)


def _one_by_one(*args: Any, **kwargs: Any) -> bool:
    """Whether `generate` returns a generator of the answers to several prompts."""
    return bool(kwargs.get("async_mode", args[_ASYNC_MODE] if len(args) > _ASYNC_MODE else False))


_ASYNC_MODE = 7
"""The position of the argument `async_mode`, after the object."""


class Watsonx(Methods):
    """The adapter of ibm-watsonx-ai."""

    methods = (
        Method(*_MODELS, "chat", Kind.CALL, "chat", results.CHAT, False),
        Method(*_MODELS, "achat", Kind.ASYNC_CALL, "chat", results.CHAT, False),
        Method(*_MODELS, "chat_stream", Kind.GENERATOR, "chat", results.CHAT, True),
        Method(*_MODELS, "achat_stream", Kind.ASYNC_GENERATOR, "chat", results.CHAT, True),
        Method(*_MODELS, "generate", lazy_when(_one_by_one), "text_completion", WATSONX_ANSWERS, False),
        Method(*_MODELS, "agenerate", Kind.ASYNC_CALL, "text_completion", WATSONX_ANSWERS, False),
        Method(*_MODELS, "generate_text_stream", Kind.GENERATOR, "text_completion", results.MEDIA, True),
        Method(*_MODELS, "agenerate_stream", Kind.ASYNC_GENERATOR, "text_completion", WATSONX, True),
        Method(
            "ibm_watsonx_ai.foundation_models.embeddings.embeddings",
            "Embeddings",
            "generate",
            Kind.CALL,
            "embeddings",
            results.MODERATIONS,
            False,
        ),
        Method(
            "ibm_watsonx_ai.foundation_models.rerank.rerank",
            "Rerank",
            "generate",
            Kind.CALL,
            "rerank",
            results.MODERATIONS,
            False,
        ),
    )
    others = (
        Target(*_RETRIES, "_handle_backoff", waits(1), optional=True),
        Target(*_RETRIES, "_handle_async_backoff", waits_async(1), optional=True),
    )

    def model(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The model of the called object, or the deployment that it uses instead."""
        return field(instance, "model_id", "deployment_id")

    def url(self, instance: Any, kwargs: dict[str, Any]) -> Any:
        """The URL in the credentials of the client."""
        return text(field(field(field(instance, "_client"), "credentials"), "url"))

    def read_failure(
        self, call: Invocation, exc: BaseException, names: tuple[str, ...], response: Any
    ) -> Evidence | None:
        """Evidence from the text of an error without a response: of a stream before its first event, or of an error event."""
        if "ibm_watsonx_ai.WMLClientError" not in names or field(exc, "response") is not None:
            return None
        failed = _FAILED.match(text(field(exc, "error_msg")))
        if failed is not None:
            rebuilt = SimpleNamespace(status_code=int(failed["status"]), _content=failed["body"].encode(), headers=None)
            found = exceptions.of_response(rebuilt, self.row.dialect, call.info.provider)
            return replace(found, exceptions=(names,))
        event = parsed(text(field(exc, "reason")))
        if not call.info.stream or not event:
            return None
        return replace(embedded_error(self.row.dialect, event), exceptions=(names,))
