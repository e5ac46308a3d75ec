"""google-genai: one client class carries every request of the Gemini Developer API and Vertex AI, with JSON text as its
answer.

The answer's text is read here: whole answers once, of a stream only the chunks that can hold a turning point.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import glimpse, results
from llm_errors.extract.answer import Answer, Chunks, Reader
from llm_errors.extract.fields import field, parsed, text
from llm_errors.extract.google import DIALECT, GenerateContentChunks
from llm_errors.instrument.adapters.unusual import refusal
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.protocol import Adapter, Kind, Target

_CLIENT = "google.genai._api_client"


class WireReader:
    """Reads answers that arrive as JSON text in `body`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def whole(self, result: Any) -> Answer:
        """Parse and read."""
        body = field(result, "body")
        known = isinstance(body, str | bytes) and body != ""
        return glimpse.read(self._reader, DIALECT, body) if known else self._reader.whole({} if body == "" else body)

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
            self._chunks.chunk(_outline(body) if glimpse.is_long(body) else parsed(body))

    def end(self) -> Answer:
        """What was seen."""
        return self._chunks.end()


def _outline(body: str) -> dict[str, Any]:
    """A chunk that is too long to be parsed, in its own shape: some content, and the reasons why candidates ended."""
    ended = [{"index": i, "finishReason": reason} for i, reason in enumerate(glimpse.values(body, "finishReason"))]
    first = ended[0] if ended else {}
    return {"candidates": [{**first, "content": {"parts": [{"text": "..."}]}}, *ended[1:]]}


_GENERATE, _RESULTS = WireReader(results.GENERATE_CONTENT), WireReader(results.RESULTS)
VERBS = {
    "generateContent": ("generate_content", _GENERATE),
    "streamGenerateContent": ("generate_content", _GENERATE),
    "embedContent": ("embeddings", _RESULTS),
    "batchEmbedContents": ("embeddings", _RESULTS),
    "predict": ("generate_content", _RESULTS),
}
"""The verb behind the colon of a model call's path; counting tokens, batches, files and caches are none."""


_MODELS = "google.genai.models"
CONVERTERS = ("_GenerateContentParameters_to_mldev", "_GenerateContentParameters_to_vertex")
"""Functions that make the request's JSON of the caller's arguments, and raise where they cannot."""


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
        for converter in CONVERTERS:
            yield Target(_MODELS, "", converter, refusal, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """A model call is a path with one of `VERBS`."""
        return self._info(instance, args[1] if len(args) > 1 else kwargs.get("path"))

    def _info(self, instance: Any, path: Any) -> CallInfo | None:
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

    def refused(self, instance: Any, exc: BaseException, given: Sequence[Any] = ()) -> CallInfo | None:
        """Arguments that the SDK does not make a request of: not known to the API at hand, or of a wrong kind."""
        model = text(field(given[0] if given else None, "model"), 256)
        return self._info(instance, f"{model}:generateContent")
