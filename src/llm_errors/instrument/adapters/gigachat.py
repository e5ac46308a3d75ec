"""gigachat: the methods of the client and of its threads. Decorators of these methods retry, and renew the token."""

import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import causes, exceptions, results
from llm_errors.extract.answer import Reader
from llm_errors.extract.fields import field
from llm_errors.extract.gigachat import CHAT, MESSAGES, THREAD
from llm_errors.instrument.adapters.generators import stepping
from llm_errors.instrument.adapters.methods import Method, Methods
from llm_errors.instrument.adapters.unreadable import names_of, unreadable
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Kind, Target, Wrap

_CLIENT, _THREADS = "gigachat.client", "gigachat.threads"
_APIS: tuple[tuple[str, str, str, str, Reader], ...] = (
    (_CLIENT, "chat", "_chat_create", "_achat_create", MESSAGES),
    (_CLIENT, "chat", "_chat", "_achat", CHAT),
    (_CLIENT, "embeddings", "embeddings", "aembeddings", results.DATA),
    (_CLIENT, "classification", "check_ai", "acheck_ai", results.MEDIA),
    (_THREADS, "chat", "run_messages", "run_messages", THREAD),
    (_THREADS, "chat", "rerun_messages", "rerun_messages", THREAD),
)
_STREAMS: tuple[tuple[str, str, str, str, Reader], ...] = (
    (_CLIENT, "chat", "_chat_stream", "_achat_stream", MESSAGES),
    (_CLIENT, "chat", "_stream", "_astream", CHAT),
    (_THREADS, "chat", "run_messages_stream", "run_messages_stream", CHAT),
    (_THREADS, "chat", "rerun_messages_stream", "rerun_messages_stream", CHAT),
)
_OWNERS = {
    _CLIENT: ("GigaChatSyncClient", "GigaChatAsyncClient"),
    _THREADS: ("ThreadsSyncClient", "ThreadsAsyncClient"),
}
_WHOLE: tuple[Kind | Wrap, Kind | Wrap] = (Kind.CALL, Kind.ASYNC_CALL)
_PARTS: tuple[Kind | Wrap, Kind | Wrap] = (Kind.GENERATOR, stepping)
_REFUSES = ("_parse_chat", "_parse_chat_completion", "_parse_message")
"""Functions that validate the arguments of a call."""


class GigaChat(Methods):
    """The adapter of gigachat's client."""

    methods = tuple(
        Method(module, owner, name, kind, operation, reader, kinds is _PARTS, 1 if module == _CLIENT else None)
        for apis, kinds in ((_APIS, _WHOLE), (_STREAMS, _PARTS))
        for module, operation, *names, reader in apis
        for owner, name, kind in zip(_OWNERS[module], names, kinds, strict=True)
    )
    others = (
        Target("gigachat.retry", "", "_calculate_backoff", Kind.RETRY),
        Target(_CLIENT, "_BaseClient", "_reset_token", Kind.RETRY),
    )

    def model(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The model in the arguments or in the payload, or else the client's default. Embeddings have another default."""
        if len(args) > 1 or "model" in kwargs or hasattr(instance, "_base_client"):
            return kwargs.get("model")
        payload = kwargs.get("payload", args[0] if args else None)
        if isinstance(payload, list) or "texts" in kwargs:
            return "Embeddings"
        return field(payload, "model") or field(_settings(instance), "model")

    def url(self, instance: Any, kwargs: dict[str, Any]) -> Any:
        """The base URL of the client."""
        return field(_settings(instance), "base_url")

    def read_failure(
        self, call: Invocation, exc: BaseException, names: tuple[str, ...], response: Any
    ) -> Evidence | None:
        """Evidence from the body of a failed response, or from what pydantic refused: arguments, or an error in an answer."""
        if "gigachat.ResponseError" in names:
            return self._of_response(call, exc, names)
        if "pydantic_core.ValidationError" not in names:
            return None
        if any(name in _REFUSES for name in causes.passed(exc)):
            refused = frozenset(("refused_by_sdk",))
            return Evidence(dialect=self.row.dialect, facts=refused, exceptions=(names_of(exc),))
        return unreadable(call, exc)

    def attempt_failed(self, call: Invocation, kwargs: dict[str, Any]) -> Evidence | None:
        """Evidence from the exception that the SDK is handling."""
        raised = sys.exc_info()[1]
        if raised is None:
            return None
        names = causes.names(raised)
        if "gigachat.ResponseError" in names:
            return self._of_response(call, raised, names)
        return exceptions.read(raised, self.row.dialect, call.info.provider, call.ambient)

    def _of_response(self, call: Invocation, exc: BaseException, names: tuple[str, ...]) -> Evidence:
        rebuilt = SimpleNamespace(
            status_code=field(exc, "status_code"), _content=field(exc, "content"), headers=field(exc, "headers")
        )
        found = exceptions.of_response(rebuilt, self.row.dialect, call.info.provider)
        return replace(found, exceptions=(names,))


def _settings(instance: Any) -> Any:
    return field(instance, "_settings") or field(field(instance, "_base_client"), "_settings")
