"""qianfan: for each version of the API, one method of a base class sends the requests of every resource."""

from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import vendors
from llm_errors.extract.answer import Reader
from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.generators import eager_when, eager_when_async
from llm_errors.instrument.adapters.methods import Methods
from llm_errors.instrument.endpoints import address_of
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Target
from llm_errors.providers import provider_of_host

_BASE = "qianfan.resources.llm.base"
RESOURCES: dict[str, tuple[str, Reader]] = {
    "Embedding": ("embeddings", vendors.QIANFAN_DATA),
    "Reranker": ("rerank", vendors.QIANFAN_RESULTS),
    "Completion": ("text_completion", vendors.QIANFAN),
}
"""Resource class -> operation and reader. All other classes are for chat."""


def _streams(resource: Any, model: Any = None, stream: Any = False, *args: Any, **kwargs: Any) -> bool:
    return stream is True


class Qianfan(Methods):
    """The adapter of qianfan's resources."""

    others = tuple(
        Target(_BASE, owner, name, wrap, optional=True)
        for owner in ("BaseResourceV1", "BaseResourceV2")
        for name, wrap in (("_request", eager_when(_streams)), ("_arequest", eager_when_async(_streams)))
    )

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a request. Its first two arguments are the model, and whether to stream."""
        names = (cls.__name__ for cls in type(instance).__mro__)
        operation, reader = next((RESOURCES[name] for name in names if name in RESOURCES), ("chat", vendors.QIANFAN))
        host, port = address_of(text(field(field(instance, "config"), "BASE_URL")))
        return self.info(
            operation=operation,
            model=text((args[0] if args else None) or field(instance, "_model", "_endpoint"), 256),
            stream=_streams(instance, *args, **kwargs),
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=reader,
        )

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge an answer. If it is a stream, the wrapper follows it."""
        if not call.info.stream:
            call.judge(result)
