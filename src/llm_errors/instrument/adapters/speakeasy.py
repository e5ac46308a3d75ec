"""The Speakeasy family: generated SDKs with one resource class per API and their own retry loop.

A method of a resource class sends the request and raises the typed error. A returned stream iterates over
`stream.generator`. The rows are in `providers`.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import causes, exceptions, results
from llm_errors.extract.answer import InDialect, Reader
from llm_errors.extract.fields import field, text
from llm_errors.extract.orq import AGENT, DEPLOYMENT
from llm_errors.instrument.adapters.unreadable import INVALID, names_of, unreadable
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.instrument.tap import tap_application
from llm_errors.providers import provider_of_host

ASYNC = "_async"


APIS: dict[str, tuple[str, Reader]] = {
    "Chat": ("chat", results.CHAT),
    "Agents": ("chat", results.CHAT),
    "Fim": ("text_completion", results.CHAT),
    "Conversations": ("chat", results.CONVERSATIONS),
    "Responses": ("chat", results.RESPONSES),
    "BetaResponses": ("chat", results.RESPONSES),
    "Embeddings": ("embeddings", results.DATA),
    "Classifiers": ("moderation", results.MODERATIONS),
    "Classifiers.classify": ("classification", results.MODERATIONS),
    "Classifiers.classify_chat": ("classification", results.MODERATIONS),
    "Decisions": ("classification", results.MEDIA),
    "SystemOne": ("classification", results.MEDIA),
    "Rerank": ("rerank", results.MODERATIONS),
    "Ocr": ("ocr", results.PAGES),
    "Transcriptions": ("transcription", results.MEDIA),
    "STT": ("transcription", results.MEDIA),
    "Speech": ("speech", results.MEDIA),
    "TTS": ("speech", results.MEDIA),
    "Images": ("generate_content", results.DATA),
    "OrqCompletions": ("chat", results.CHAT),
    "Completions": ("text_completion", results.CHAT),
    "Deployments": ("chat", DEPLOYMENT),
    "OrqResponses": ("invoke_agent", AGENT),
    "Moderations": ("moderation", results.MODERATIONS),
    "Classify": ("classification", results.MEDIA),
    "Router": ("ocr", results.PAGES),
    "Generations": ("generate_content", results.DATA),
    "Edits": ("generate_content", results.DATA),
    "Variations": ("generate_content", results.DATA),
    "Translations": ("transcription", results.MEDIA),
    "VideoGeneration": ("generate_content", results.MEDIA),
}
"""Resource class, or one method of it, -> operation and reader, for all SDKs of the family."""
OWN_APIS: dict[str, dict[str, tuple[str, Reader]]] = {"orq": {"Agents": ("invoke_agent", AGENT)}}
"""SDK in `providers` -> resource class -> operation and reader, for classes that have another meaning in that SDK."""
_MODELS = ("model", "agent_id", "key", "agent_key")
"""The arguments that name the model, or an agent or a deployment that has one."""


class Speakeasy(Adapter):
    """The adapter of one SDK of the family."""

    def targets(self) -> Iterator[Target]:
        """The methods of the resource classes, the function that is called between two attempts, and close methods."""
        for client in self.row.clients:
            for method in client.methods:
                yield Target(client.module, client.name, method, Kind.CALL, optional=True)
                yield Target(client.module, client.name, method + ASYNC, Kind.ASYNC_CALL, optional=True)
        tools = f"{self.row.package}.utils"
        yield Target(f"{tools}.retries", "", "_get_sleep_interval", Kind.RETRY, optional=True)
        streams = f"{tools}.eventstreaming"
        # mistralai 1 closes a stream only by leaving its context.
        for method, twin in (("close", "close"), ("__exit__", "__aexit__")):
            yield Target(streams, "EventStream", method, Kind.CLOSE, optional=True)
            yield Target(streams, "EventStreamAsync", twin, Kind.ASYNC_CLOSE, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a call, whose arguments are all keywords. The name of an agent or a deployment replaces the model's."""
        method = target.attribute.removesuffix(ASYNC)
        operation, reader = self._apis.get(f"{target.owner}.{method}") or self._apis[target.owner]
        url = kwargs.get("server_url") or self._server_url(instance)
        host, port = split_address(url) if isinstance(url, str) else (None, None)
        return self.info(
            operation=operation,
            model=next(filter(None, (text(kwargs.get(name), 256) for name in _MODELS)), None),
            stream="stream" in method or kwargs.get("stream") is True,
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=reader,
        )

    @cached_property
    def _apis(self) -> dict[str, tuple[str, Reader]]:
        """The APIs, with readers for the dialect of this SDK."""
        apis = {**APIS, **OWN_APIS.get(self.row.name, {})}
        return {name: (operation, InDialect(reader, self.row.dialect)) for name, (operation, reader) in apis.items()}

    def _server_url(self, instance: Any) -> Any:
        given = field(field(instance, "sdk_configuration"), "server_url")
        return given or instance._get_url(None, None)

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge an answer, or follow a stream."""
        if hasattr(result, "generator"):
            follow(call, result)
        else:
            call.judge(result)

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence from what pydantic refuses: an argument of the caller, or an event of a stream, which may be an error."""
        if _is_of_request(exc):
            facts = frozenset(("refused_by_sdk",))
            return Evidence("thrown", self.row.dialect, call.info.provider, facts=facts, exceptions=(names_of(exc),))
        if call.kwargs and not call.kwargs.get("model"):
            found = exceptions.read(exc, self.row.dialect, call.info.provider, call.ambient)
            return replace(found, facts=found.facts | {"names_no_model"})
        return unreadable(call, exc) if call.info.stream else None

    def attempt_failed(self, call: Invocation, kwargs: dict[str, Any]) -> Evidence | None:
        """Evidence from the exception that the retry loop is handling: a network error, or one with the failed response."""
        raised = sys.exc_info()[1]
        return None if raised is None else exceptions.read(raised, self.row.dialect, call.info.provider, call.ambient)


def _is_of_request(exc: BaseException) -> bool:
    """Whether pydantic refused the request. Functions named `unmarshal...` convert the bodies and events of answers."""
    if INVALID not in causes.names(exc):
        return False
    passed = causes.passed(exc)
    return "get_pydantic_model" in passed or not any(name.startswith("unmarshal") for name in passed)


def follow(call: Invocation, stream: Any) -> None:
    """Read the chunks of a stream as they pass."""
    tap_application(call, stream.response)
    call.attach_finalizer(stream)
    passing = call.follow_async if hasattr(stream, "__anext__") else call.follow
    stream.generator = passing(stream.generator)
