"""The Fern family: generated SDKs with raw clients, which return the parsed answer or raise the typed exception.

The raw clients retry inside these methods. They return a stream as a context manager; a plain client enters it at the first
step of the generator that it returns.
"""

import sys
from collections.abc import Iterator
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions
from llm_errors.extract.fields import field, text
from llm_errors.extract.speech import AUDIO
from llm_errors.instrument.adapters.entered import entered, entered_async
from llm_errors.instrument.adapters.fern_apis import APIS, Api
from llm_errors.instrument.adapters.generators import lazy_when, lazy_when_async, stepping
from llm_errors.instrument.adapters.unreadable import unreadable
from llm_errors.instrument.endpoints import address_of
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Kind, Target, Wrap
from llm_errors.instrument.tap import JsonBody, beginning, tap_application, tap_body
from llm_errors.providers import Sdk, provider_of_host


def _streams(*args: Any, **kwargs: Any) -> bool:
    """Whether a generator was requested. An argument that is not given is `...` (Ellipsis), which is also true."""
    return kwargs.get("stream") is True


_WHOLE: tuple[Kind | Wrap, Kind | Wrap] = (Kind.CALL, Kind.ASYNC_CALL)
_STREAM: tuple[Kind | Wrap, Kind | Wrap] = (entered, entered_async)
_ASKED: tuple[Kind | Wrap, Kind | Wrap] = (lazy_when(_streams), lazy_when_async(_streams))
_GENERATOR: tuple[Kind | Wrap, Kind | Wrap] = (Kind.GENERATOR, stepping)
_KINDS = (_WHOLE, _STREAM, _ASKED, _GENERATOR)
"""For each list of methods in `Api`, in the same order: the kind of its methods, and the kind of their async twins."""
_MODELS = (
    *("model", "model_id", "model_name", "ml_model"),
    *("prompt_deployment_name", "workflow_deployment_name", "deployment_name"),
)
"""The arguments that name the model, or a prompt or a workflow that is stored on the server and has a model."""
_ENVIRONMENT = ("base", "production", "predict")
"""The attributes of an environment that may contain the address of the HTTP API. An SDK with several servers has one."""


class Fern(Adapter):
    """The adapter of one SDK of the family."""

    def __init__(self, row: Sdk) -> None:
        super().__init__(row)
        self._apis: dict[tuple[str, str, str], Api] = {}
        for api in APIS[row.name]:
            for method in " ".join((api.whole, api.streams, api.asked, api.generators)).split():
                self._apis[f"{row.package}.{api.module}", api.owner, method] = api

    def targets(self) -> Iterator[Target]:
        """The methods of the raw clients, and the function that computes the wait between two attempts."""
        for (module, owner, method), api in self._apis.items():
            call, async_call = next(
                kinds for names, kinds in zip(api[4:8], _KINDS, strict=True) if method in names.split()
            )
            yield Target(module, owner, method, call, optional=api.optional)
            yield Target(module, f"Async{owner}", method, async_call, optional=api.optional)
        http = f"{self.row.package}.core.http_client"
        yield Target(http, "", "_retry_timeout", Kind.RETRY)
        yield Target(http, "", "_retry_timeout_from_retries", Kind.RETRY, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a call of a raw client. Its arguments are keywords, except those that are parts of the path."""
        api = self._apis[target.module, target.owner.removeprefix("Async"), target.attribute]
        wrapper = field(instance, "_client_wrapper")
        host, port = address_of(_url(wrapper))
        return self.info(
            operation=api.operation,
            model=next(filter(None, (text(kwargs.get(name), 256) for name in _MODELS)), None),
            stream=target.kind in (*_STREAM, *_GENERATOR) or _streams(**kwargs),
            provider=self.provider(wrapper) or provider_of_host(host, port),
            address=host,
            port=port,
            reader=api.reader,
        )

    def provider(self, wrapper: Any) -> str:
        """The provider of the client, if it is not known from the host."""
        return ""

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge an answer, or follow a stream."""
        if not call.info.stream:
            call.judge(result.data if hasattr(result, "_response") else result)
            return
        response = result._response  # in older versions of these SDKs, the response has no public name
        headers = field(response, "headers")
        kind = text(field(headers, "content-type"), 128)
        chunks = None
        if "event-stream" in kind:
            tap_application(call, response)
        elif call.info.reader is AUDIO:
            is_text = kind.startswith(("application/json", "text/html"))
            chunks = JsonBody(AUDIO, call.info.dialect, headers) if is_text else None
        else:
            call.instead = []
            tap_body(response, beginning(call.instead))
        passing = call.follow_async if hasattr(result.data, "__anext__") else call.follow
        result._data = passing(result.data, chunks=chunks)

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence from a body that the SDK could not convert to an object. Such a body may be an error object."""
        return unreadable(call, exc)

    def attempt_failed(self, call: Invocation, kwargs: dict[str, Any]) -> Evidence | None:
        """Evidence from the failed response, or else from the network error that the SDK is handling."""
        dialect, provider = self.row.dialect, call.info.provider
        response, raised = kwargs.get("response"), sys.exc_info()[1]
        if response is None:
            return None if raised is None else exceptions.read(raised, dialect, provider, call.ambient)
        return exceptions.of_response(response, dialect, provider)


def _url(wrapper: Any) -> Any:
    """The base URL of the client. In an SDK with several servers, it is an attribute of the client's environment."""
    if hasattr(wrapper, "get_base_url"):
        return wrapper.get_base_url()
    return field(wrapper.get_environment(), *_ENVIRONMENT)
