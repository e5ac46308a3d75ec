"""fish-audio-sdk: one `request` method sends every request. It reads the whole body before it returns, even for a stream."""

from collections.abc import Iterator
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import exceptions
from llm_errors.extract.answer import Answer, suspect
from llm_errors.extract.fields import field, text
from llm_errors.extract.results import MEDIA
from llm_errors.instrument.endpoints import address_of
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.providers import provider_of_host

_WRAPPERS = "fishaudio.core.client_wrapper"
_PATHS = {"/v1/tts": "speech", "/v1/asr": "transcription"}
_TEXTS = ("application/json", "text/")


class FishAudio(Adapter):
    """The adapter of the client wrappers. Requests about voices and accounts have other paths, and are ignored."""

    def targets(self) -> Iterator[Target]:
        """`request` of the sync and of the async client wrapper."""
        yield Target(_WRAPPERS, "ClientWrapper", "request", Kind.CALL)
        yield Target(_WRAPPERS, "AsyncClientWrapper", "request", Kind.ASYNC_CALL)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a request from its path. A header names the model of a speech request; a transcription names no model."""
        operation = _PATHS.get(args[1] if len(args) > 1 else "")
        if operation is None:
            return None
        host, port = address_of(field(instance, "base_url"))
        return self.info(
            operation=operation,
            model=text(field(kwargs.get("headers"), "model"), 256),
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=MEDIA,
        )

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge the body: audio is not read, but it must not be empty."""
        body = exceptions.loaded(result) or b""
        kind = text(field(field(result, "headers"), "content-type"), 128)
        if kind.startswith(_TEXTS):
            call.judge_text(body)
        else:
            call.settle(Answer(None if body else suspect(call.info.dialect, "empty")))
