"""aleph-alpha-client: one method per API. The SDK raises built-in exceptions with the status and the body as arguments."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import Reader
from llm_errors.extract.fields import field, number
from llm_errors.extract.vendors import ALEPH
from llm_errors.instrument.adapters.generators import stepping
from llm_errors.instrument.adapters.methods import Method, Methods
from llm_errors.instrument.adapters.waits import waits
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Kind, Target

_MODULE = "aleph_alpha_client.aleph_alpha_client"
_APIS: tuple[tuple[str, str, Reader], ...] = (
    ("complete", "text_completion", ALEPH),
    ("chat", "chat", ALEPH),
    *((name, "embeddings", results.MEDIA) for name in ("embed", "embeddings", "semantic_embed", "instructable_embed")),
    *((name, name, results.MEDIA) for name in ("explain", "translate", "rerank")),
)
_STREAMS = (("complete_with_streaming", "text_completion"), ("chat_with_streaming", "chat"))


class AlephAlpha(Methods):
    """The adapter of the clients. Batch embeddings call one of these methods for each batch."""

    only_models = False  # applications import the patched HTTP or cloud library for other purposes too

    methods = (
        *(
            Method(_MODULE, owner, name, kind, operation, reader, False, 1)
            for owner, kind in (("Client", Kind.CALL), ("AsyncClient", Kind.ASYNC_CALL))
            for name, operation, reader in _APIS
            if (owner, name) != ("AsyncClient", "embeddings")  # only the synchronous client has it
        ),
        *(Method(_MODULE, "AsyncClient", name, stepping, operation, ALEPH, True, 1) for name, operation in _STREAMS),
    )
    others = (
        Target("urllib3.util.retry", "Retry", "sleep", waits(1)),
        Target("aiohttp_retry.retry_options", "ExponentialRetry", "get_timeout", waits(2), optional=True),
    )

    def url(self, instance: Any, kwargs: dict[str, Any]) -> Any:
        """The address of the client: its attribute `host` contains a URL."""
        return field(instance, "host")

    def read_failure(
        self, call: Invocation, exc: BaseException, names: tuple[str, ...], response: Any
    ) -> Evidence | None:
        """Evidence from the arguments of the error."""
        status = number(exc.args[0]) if len(exc.args) == 2 else None
        if status is None or not isinstance(exc.args[1], str) or isinstance(exc, ConnectionError):
            return None
        rebuilt = SimpleNamespace(status_code=status, _content=exc.args[1].encode(), headers=None)
        found = exceptions.of_response(rebuilt, self.row.dialect, call.info.provider)
        return replace(found, exceptions=(names,))
