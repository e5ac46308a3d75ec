"""google-genai: one client class carries every request of the Gemini Developer API and Vertex AI, with JSON text as its
answer.

The answer's text is read here: whole answers once, of a stream only the chunks that can hold a turning point.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import results
from llm_errors.extract.answer import Answer, Chunks, Reader
from llm_errors.extract.fields import field, parsed, text
from llm_errors.extract.google import GenerateContentChunks
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.protocol import Adapter, Kind, Target

_CLIENT = "google.genai._api_client"


class WireReader:
    """Reads answers that arrive as JSON text in `body`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def whole(self, result: Any) -> Answer:
        """Parse and read."""
        return self._reader.whole(_body(result))

    def chunks(self) -> Chunks:
        """A fresh state."""
        return WireChunks()


class WireChunks:
    """The state of one stream of JSON texts. After the first content only chunks with a turning point are parsed."""

    __slots__ = ("_chunks",)

    def __init__(self) -> None:
        self._chunks = GenerateContentChunks()

    @property
    def done(self) -> bool:
        """Whether every candidate has finished."""
        return self._chunks.done

    def chunk(self, chunk: Any) -> None:
        """Look at one chunk.

        A quoted name inside generated text is escaped in JSON, so the search cannot be misled by it.
        """
        body = chunk.body
        if not self._chunks.has_content or '"finishReason"' in body or '"promptFeedback"' in body:
            self._chunks.chunk(parsed(body))

    def end(self) -> Answer:
        """What was seen."""
        return self._chunks.end()


def _body(result: Any) -> Any:
    body = field(result, "body")
    return {} if body == "" else parsed(body)


_GENERATE, _RESULTS = WireReader(results.GENERATE_CONTENT), WireReader(results.RESULTS)
VERBS = {
    "generateContent": ("generate_content", _GENERATE),
    "streamGenerateContent": ("generate_content", _GENERATE),
    "embedContent": ("embeddings", _RESULTS),
    "batchEmbedContents": ("embeddings", _RESULTS),
    "predict": ("generate_content", _RESULTS),
}
"""The verb behind the colon of a model call's path; counting tokens, batches, files and caches are none."""


@lru_cache(maxsize=512)
def _call_of(path: str) -> tuple[str, str, Reader] | None:
    """Model, operation and reader of a path such as `models/gemini-3:generateContent?alt=sse`."""
    resource, _, verb = path.partition("?")[0].rpartition(":")
    known = VERBS.get(verb)
    return (text(resource.rpartition("/")[2], 256), *known) if known else None


class GoogleGenai(Adapter):
    """The adapter of google-genai's request methods."""

    def targets(self) -> Iterator[Target]:
        """The four request methods and the two that make one attempt."""
        for attribute, kind in (
            ("request", Kind.CALL),
            ("async_request", Kind.ASYNC_CALL),
            ("request_streamed", Kind.GENERATOR),
            ("async_request_streamed", Kind.ASYNC_GENERATOR),
            ("_request_once", Kind.ATTEMPT),
            ("_async_request_once", Kind.ASYNC_ATTEMPT),
        ):
            yield Target(_CLIENT, "BaseApiClient", attribute, kind)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """A model call is a path with one of `VERBS`."""
        path = args[1] if len(args) > 1 else kwargs.get("path")
        known = _call_of(path) if isinstance(path, str) else None
        if known is None:
            return None
        model, operation, reader = known
        url = field(field(instance, "_http_options"), "base_url")
        host, port = split_address(url) if isinstance(url, str) else (None, None)
        provider = "gcp.vertex_ai" if instance.vertexai else "gcp.gemini"
        stream = "streamGenerateContent" in str(path)
        return self.info(
            provider=provider,
            operation=operation,
            model=model,
            stream=stream,
            address=host,
            port=port,
            reader=reader,
        )
