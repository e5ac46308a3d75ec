"""cohere: the raw clients of both API versions return the parsed answer or raise the typed exception.

Retries happen below them. A stream is a context manager of the raw client. The plain clients enter it at the first step of
a generator.
"""

import sys
from collections.abc import Iterator
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import InDialect, Reader
from llm_errors.extract.cohere import DIALECT
from llm_errors.extract.data import DataReader
from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.entered import entered, entered_async
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Kind, Target, Wrap
from llm_errors.instrument.tap import beginning, tap_application, tap_body
from llm_errors.providers import provider_of_host

_HTTP = "cohere.core.http_client"
_V2 = "RawV2Client"
_DATA = InDialect(results.RESULTS, DIALECT)
_RANKS, _CLASSES = DataReader("results", DIALECT), DataReader("classifications", DIALECT)
APIS: dict[str, tuple[str, Reader]] = {
    "chat": ("chat", results.COHERE_V1),
    "chat_stream": ("chat", results.COHERE_V1),
    "generate": ("text_completion", results.COHERE_V1),
    "generate_stream": ("text_completion", results.COHERE_V1),
    "summarize": ("text_completion", results.COHERE_V1),
    "embed": ("embeddings", _DATA),
    "rerank": ("rerank", _RANKS),
    "classify": ("classification", _CLASSES),
}
"""Method -> operation and reader. Version 2 has its own `chat`."""
_CLIENTS = (
    ("cohere.v2.raw_client", _V2, "chat chat_stream embed rerank"),
    (
        "cohere.raw_base_client",
        "RawBaseCohere",
        "chat chat_stream generate generate_stream embed rerank classify summarize",
    ),
)
_WHOLE: tuple[Kind | Wrap, Kind | Wrap] = (Kind.CALL, Kind.ASYNC_CALL)
_STREAM: tuple[Kind | Wrap, Kind | Wrap] = (entered, entered_async)


class Cohere(Adapter):
    """The adapter of cohere's raw clients."""

    def targets(self) -> Iterator[Target]:
        """The methods of the raw clients, and the function that computes the wait between two attempts."""
        for module, client, methods in _CLIENTS:
            for method in methods.split():
                call, async_call = _STREAM if method.endswith("_stream") else _WHOLE
                yield Target(module, client, method, call)
                yield Target(module, f"Async{client}", method, async_call)
        yield Target(_HTTP, "", "_retry_timeout", Kind.RETRY)
        yield Target(_HTTP, "", "_retry_timeout_from_retries", Kind.RETRY, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """All arguments are keywords. The default of an argument is `...` (Ellipsis)."""
        operation, reader = APIS[target.attribute]
        if target.owner.endswith(_V2) and operation == "chat":
            reader = results.COHERE
        wrapper = field(instance, "_client_wrapper")
        url = wrapper.get_base_url()
        host, port = split_address(url) if isinstance(url, str) else (None, None)
        return self.info(
            operation=operation,
            model=text(kwargs.get("model"), 256),
            stream=target.attribute.endswith("_stream"),
            provider=_cloud(wrapper) or provider_of_host(host, port),
            address=host,
            port=port,
            reader=reader,
        )

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge an answer, or follow the stream in its response."""
        if not call.info.stream:
            call.judge(result.data)
            return
        response = result._response  # older versions have no public name for it
        if _is_event_stream(response):
            tap_application(call, response)
        else:
            call.instead = []
            tap_body(response, beginning(call.instead))
        passing = call.follow_async if hasattr(result.data, "__anext__") else call.follow
        result._data = passing(result.data)

    def attempt_failed(self, call: Invocation, kwargs: dict[str, Any]) -> Evidence | None:
        """Evidence from the failed response, or else from the network error that the SDK is handling."""
        response, raised = kwargs.get("response"), sys.exc_info()[1]
        if response is None:
            return None if raised is None else exceptions.read(raised, DIALECT, call.info.provider, call.ambient)
        return exceptions.of_response(response, DIALECT, call.info.provider)


def _cloud(wrapper: Any) -> str:
    """The AWS service that answers, if the client signs its requests for AWS. A hook of the SDK contains its name."""
    hooks = field(field(field(wrapper, "httpx_client"), "httpx_client"), "event_hooks")
    for hook in field(hooks, "request") or ():
        if field(hook, "__module__") == "cohere.aws_client":
            held = [text(cell.cell_contents) for cell in hook.__closure__]
            return "aws.sagemaker" if "sagemaker" in held else "aws.bedrock"
    return ""


def _is_event_stream(response: Any) -> bool:
    return "event-stream" in text(field(field(response, "headers"), "content-type"), 128)
