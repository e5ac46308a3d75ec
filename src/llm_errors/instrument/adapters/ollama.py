"""ollama: one method of a client sends every request. It returns an object, or a generator of the lines of a stream."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import causes, exceptions, results
from llm_errors.extract.answer import InDialect, Reader, embedded_error, suspect
from llm_errors.extract.fields import field, text
from llm_errors.extract.ollama import DIALECT
from llm_errors.instrument.adapters.generators import lazy, lazy_async
from llm_errors.instrument.adapters.received import OfReceived, Received, judge
from llm_errors.instrument.adapters.refusals import refusal, refusal_of_steps
from llm_errors.instrument.endpoints import address_of
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Function, Kind, Target
from llm_errors.instrument.wrappers import Edge

_MODULE = "ollama._client"
_VECTORS = InDialect(results.RESULTS, DIALECT)
APIS: dict[str, tuple[str, Reader]] = {
    "/api/chat": ("chat", OfReceived(results.OLLAMA, DIALECT)),
    "/api/generate": ("text_completion", OfReceived(results.OLLAMA, DIALECT)),
    "/api/embed": ("embeddings", OfReceived(_VECTORS, DIALECT)),
    "/api/embeddings": ("embeddings", OfReceived(_VECTORS, DIALECT)),
    "/v1/systemone": ("classification", OfReceived(InDialect(results.MEDIA, DIALECT), DIALECT)),
}
"""Path of a model call -> operation and reader.

Pulling, listing and copying models are not model calls, and neither is a web search.
"""
_UNREADABLE = frozenset(("json.JSONDecodeError", "pydantic_core.ValidationError"))
"""The exceptions that the SDK raises for a line that is not an answer."""


_COPIES = ("_copy_messages", "_copy_tools")
"""Functions that check messages and tools before the request object is created."""
_REQUESTS = {
    "ChatRequest": "/api/chat",
    "GenerateRequest": "/api/generate",
    "EmbedRequest": "/api/embed",
    "EmbeddingsRequest": "/api/embeddings",
    "SystemOneRequest": "/v1/systemone",
}
"""Class of a request -> path. The class checks all other arguments, and reads images when it is serialized."""


_IMAGES = "_copy_images"


def _refusal_of_images(edge: Edge, original: Function) -> Function:
    """The wrapper of the function that checks images. It ignores a chat, whose images are checked within `_COPIES`."""
    observed = refusal_of_steps(edge, original)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1).f_code.co_name
        return (observed if caller == "generate" else original)(*args, **kwargs)

    return wrapper


class Ollama(Adapter):
    """The adapter of ollama's clients."""

    def targets(self) -> Iterator[Target]:
        """The method of a call, which module functions such as `ollama.chat` use too, and the method of an attempt."""
        yield Target(_MODULE, "Client", "_request", lazy)
        yield Target(_MODULE, "AsyncClient", "_request", lazy_async)
        for function in _COPIES:
            yield Target(_MODULE, "", function, refusal_of_steps, optional=True)
        yield Target(_MODULE, "", _IMAGES, _refusal_of_images, optional=True)
        for request in _REQUESTS:
            yield Target("ollama._types", request, "__init__", refusal, optional=True)
            yield Target("ollama._types", request, "model_dump", refusal, optional=True)
        yield Target(_MODULE, "Client", "_request_raw", Kind.ATTEMPT, optional=True)
        yield Target(_MODULE, "AsyncClient", "_request_raw", Kind.ASYNC_ATTEMPT, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a request from its path: the third argument, after the class of the answer and the HTTP method."""
        api = APIS.get(args[2]) if len(args) > 2 else None
        if api is None:
            return None
        operation, reader = api
        host, port = address_of(field(field(instance, "_client"), "base_url"))
        return self.info(
            operation=operation,
            model=text(field(kwargs.get("json"), "model"), 256),
            stream=bool(kwargs.get("stream")),
            address=host,
            port=port,
            reader=reader,
        )

    def refused(self, instance: Any, exc: BaseException, given: Sequence[Any] = ()) -> CallInfo | None:
        """Describes a request with invalid arguments. The model is unknown if the messages or tools of a chat are invalid."""
        path = "/api/generate" if causes.passed(exc)[1:2] == (_IMAGES,) else "/api/chat"
        operation, reader = APIS[_REQUESTS.get(type(instance).__name__, path)]
        model = field(instance, "model") or (given[0] if given else None)
        return self.info(operation=operation, model=text(model, 256), reader=reader)

    def attempt_returned(self, call: Invocation, result: Any) -> None:
        """Keep the response until the SDK has created its object."""
        call.parsed = Received(result)

    def returned(self, call: Invocation, result: Any) -> None:
        """Read an answer that is an object."""
        judge(call, result)

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence from the HTTP library's error, which has the whole response.

        The SDK's error, which replaces it, has only a text and a status. An error in a line of a stream has no response, and
        the status -1.
        """
        names = causes.names(exc)
        if "ollama.ResponseError" in names:
            behind = exc.__context__
            if behind is not None and field(behind, "response") is not None:
                found = exceptions.read(behind, DIALECT, call.info.provider, call.ambient)
                return replace(found, exceptions=(names, *found.exceptions))
            found = embedded_error(DIALECT, {"error": field(exc, "error")})
        elif call.info.stream and not _UNREADABLE.isdisjoint(names):
            found = suspect(DIALECT, "unexpected_body")
        else:
            return None
        return replace(found, channel="thrown", provider=call.info.provider, exceptions=(names,))
