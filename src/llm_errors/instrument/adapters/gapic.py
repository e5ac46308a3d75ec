"""Google's generated clients, over gRPC and REST. google-generativeai and vertexai's model classes use them."""

from collections.abc import Iterator
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import Reader
from llm_errors.extract.fields import field, text
from llm_errors.extract.google_proto import PROTO
from llm_errors.instrument.adapters import steps
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.finalizers import finalizer_of
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Function, Kind, Target
from llm_errors.instrument.wrappers import Edge
from llm_errors.providers import provider_of_host
from llm_errors.safety import quietly

METHODS: dict[str, tuple[str, Reader]] = {
    "generate_content": ("chat", PROTO),
    "stream_generate_content": ("chat", PROTO),
    "embed_content": ("embeddings", results.RESULTS),
    "batch_embed_contents": ("embeddings", results.RESULTS),
    "predict": ("generate_content", results.RESULTS),
}
"""Method -> operation and reader. Each client has some of these methods."""
_SERVICES = {
    "google.ai.generativelanguage": (("v1beta", "v1"), "generative_service", "GenerativeService"),
    "google.cloud.aiplatform": (("v1", "v1beta1"), "prediction_service", "PredictionService"),
}
"""Package -> versions of the API, module and name of the service."""


def _retried(edge: Edge, original: Function) -> Function:
    """The wrapper of the function that is called after a failed attempt. It raises, unless another attempt follows."""

    def observe(exc: Any) -> None:
        call = edge.active(())
        if call is not None and isinstance(exc, BaseException):
            call.retried(exceptions.read(exc, call.info.dialect, call.info.provider, call.ambient))

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        quietly("retry", None, observe, args[0] if args else kwargs.get("exc"))
        return result

    return wrapper


class Gapic(Adapter):
    """The adapter of the generated clients of one API."""

    only_models = False  # applications import the patched HTTP or cloud library for other purposes too

    def targets(self) -> Iterator[Target]:
        """The methods of the clients, sync and async; the function that decides about retries; the steps of streams."""
        versions, module, service = _SERVICES[self.row.package]
        for version in versions:
            path = f"{self.row.package}_{version}.services.{module}"
            for name in METHODS:
                yield Target(f"{path}.client", f"{service}Client", name, Kind.CALL, optional=True)
                yield Target(f"{path}.async_client", f"{service}AsyncClient", name, Kind.ASYNC_CALL, optional=True)
        for retry in ("retry_unary", "retry_unary_async"):
            yield Target(f"google.api_core.retry.{retry}", "", "_retry_error_helper", _retried, optional=True)
        yield Target("google.api_core.grpc_helpers", "_StreamingResponseIterator", "__next__", steps.step)
        reads = ("google.api_core.grpc_helpers_async", "_WrappedStreamResponseMixin", "read")
        yield Target(*reads, steps.read_async, optional=True)
        yield Target("google.api_core.rest_streaming", "ResponseIterator", "__next__", steps.step, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a call. The request is an object or a dict; its fields can also be passed as keyword arguments."""
        operation, reader = METHODS[target.attribute]
        request = args[0] if args else kwargs.get("request")
        named = field(request, "model", "endpoint") or kwargs.get("model") or kwargs.get("endpoint")
        address = text(field(field(instance, "transport"), "host"))
        host, port = split_address(f"https://{address}") if address else (None, None)
        return self.info(
            operation=operation,
            model=text(named, 256).rpartition("/")[2],
            stream=target.attribute.startswith("stream_"),
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=reader,
        )

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge an answer, or follow a stream: in its `__next__` or `read`, or in the generator that iterates over it."""
        if not call.info.stream:
            call.judge(result)
            return
        steps.begin(call, result)
        if hasattr(result, "_wrapped_aiter"):
            result._wrapped_async_generator = call.follow_async(result._wrapped_aiter(), finalizer_of(result))
