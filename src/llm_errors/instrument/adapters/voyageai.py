"""voyageai: embeddings and reranking. The attempts are made in a loop inside the client's methods."""

from types import SimpleNamespace
from typing import Any

from llm_errors.extract import results
from llm_errors.extract.data import DataReader
from llm_errors.extract.fields import field
from llm_errors.instrument.adapters.methods import Method, Methods
from llm_errors.instrument.adapters.received import Received
from llm_errors.instrument.invocation import NOTHING, Invocation
from llm_errors.instrument.protocol import Function, Kind, Target
from llm_errors.instrument.tap import LIMIT
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly

_REQUESTOR = "voyageai.api_resources.api_requestor"
_VECTORS = DataReader("embeddings")
_APIS = (
    ("embed", "embeddings", _VECTORS, 1),
    ("multimodal_embed", "embeddings", _VECTORS, 1),
    ("contextualized_embed", "embeddings", results.MODERATIONS, 1),
    ("rerank", "rerank", results.MODERATIONS, 2),
)
_CLIENTS = (("voyageai.client", "Client", Kind.CALL), ("voyageai.client_async", "AsyncClient", Kind.ASYNC_CALL))


def _interpreted(edge: Edge, original: Function) -> Function:
    """The wrapper of the method that interprets a response. It keeps the body: the SDK mistakes some errors for answers."""

    def keep(args: tuple[Any, ...], body: Any, status: Any, headers: Any) -> None:
        call = edge.active(args)
        if call is None or not isinstance(body, str):
            return
        call.parsed = NOTHING
        if len(body) <= LIMIT or body.startswith("<"):  # a longer body has the vectors of a good answer
            content = body[:LIMIT].encode()
            call.parsed = Received(SimpleNamespace(status_code=status, _content=content, headers=headers))

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        quietly("attempt", None, keep, args, *(*args[1:], *kwargs.values())[:3])
        return original(*args, **kwargs)

    return wrapper


class VoyageAi(Methods):
    """The adapter of voyageai's clients."""

    methods = tuple(
        Method(module, owner, name, kind, operation, reader, False, position)
        for module, owner, kind in _CLIENTS
        for name, operation, reader, position in _APIS
    )
    others = (
        Target(_REQUESTOR, "APIRequestor", "request", Kind.ATTEMPT),
        Target(_REQUESTOR, "APIRequestor", "arequest", Kind.ASYNC_ATTEMPT),
        Target(_REQUESTOR, "APIRequestor", "_interpret_response_line", _interpreted, optional=True),
    )

    def url(self, instance: Any, kwargs: dict[str, Any]) -> Any:
        """The base URL of the client."""
        return field(field(instance, "_params"), "base_url")

    def attempt_returned(self, call: Invocation, result: Any) -> None:
        """Does nothing, because `_interpreted` has kept the response already."""
