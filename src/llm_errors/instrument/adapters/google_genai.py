"""google-genai: one client class sends every request of the Gemini Developer API and Vertex AI, and returns JSON text.

This adapter parses the text of a whole answer. Of a stream, it parses only the chunks that may contain an important field.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import glimpse, results
from llm_errors.extract.answer import Answer, Chunks, Reader
from llm_errors.extract.fields import field, parsed, text
from llm_errors.extract.google import DIALECT, GenerateContentChunks
from llm_errors.extract.google_jobs import OPERATION, state_of
from llm_errors.instrument.adapters.refusals import refusal
from llm_errors.instrument.adapters.unusual import poll, poll_async
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.protocol import Adapter, Kind, Target

_CLIENT = "google.genai._api_client"


class WireReader:
    """Reads answers that the SDK returns as JSON text in an attribute `body`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def whole(self, result: Any) -> Answer:
        """Parse the text and read it."""
        body = field(result, "body")
        known = isinstance(body, str | bytes) and body != ""
        return glimpse.read(self._reader, DIALECT, body) if known else self._reader.whole({} if body == "" else body)

    def chunks(self) -> Chunks:
        """A new state for one stream."""
        return WireChunks()


class WireChunks:
    """The state of one stream of JSON texts. After the first content, only chunks with an important field are parsed."""

    __slots__ = ("_chunks",)

    def __init__(self) -> None:
        self._chunks = GenerateContentChunks()

    @property
    def done(self) -> bool:
        """Whether every candidate has finished."""
        return self._chunks.done

    def chunk(self, chunk: Any) -> None:
        """Read one chunk.

        JSON escapes quotes inside generated text, so the search for a quoted field name cannot match there.
        """
        body = chunk.body
        if not self._chunks.has_content or '"finishReason"' in body or '"promptFeedback"' in body:
            self._chunks.chunk(_outline(body) if glimpse.is_long(body) else parsed(body))

    def end(self) -> Answer:
        """The answer after the last chunk."""
        return self._chunks.end()


def _outline(body: str) -> dict[str, Any]:
    """A short substitute for a chunk that is too long to parse: some content, and the finish reasons of the candidates."""
    ended = [{"index": i, "finishReason": reason} for i, reason in enumerate(glimpse.values(body, "finishReason"))]
    first = ended[0] if ended else {}
    return {"candidates": [{**first, "content": {"parts": [{"text": "..."}]}}, *ended[1:]]}


_GENERATE, _RESULTS = WireReader(results.GENERATE_CONTENT), WireReader(results.RESULTS)
_OPERATION = WireReader(OPERATION)
VERBS = {
    "generateContent": ("generate_content", _GENERATE),
    "streamGenerateContent": ("generate_content", _GENERATE),
    "embedContent": ("embeddings", _RESULTS),
    "batchEmbedContents": ("embeddings", _RESULTS),
    "predict": ("generate_content", _RESULTS),
    "predictLongRunning": ("generate_content", _OPERATION),
}
"""The verb after the colon in the path of a model call. Token counts, batches, files and caches are not model calls."""


_JOBS = (("google.genai.operations", "Operations"), ("google.genai.batches", "Batches"))
"""Resource classes with a method `get` that polls a long-running operation or a batch."""
_MODELS = "google.genai.models"
CONVERTERS = ("_GenerateContentParameters_to_mldev", "_GenerateContentParameters_to_vertex")
"""Functions that convert the caller's arguments to the JSON request, and raise if they cannot."""


@lru_cache(maxsize=512)
def _call_of(path: str) -> tuple[str, str, Reader] | None:
    """Model, operation and reader of a path such as `models/gemini-3:generateContent?alt=sse`."""
    resource, _, verb = path.partition("?")[0].rpartition(":")
    known = VERBS.get(verb)
    return (text(resource.rpartition("/")[2], 256), *known) if known else None


class GoogleGenai(Adapter):
    """The adapter of google-genai's request methods."""

    def targets(self) -> Iterator[Target]:
        """The four request methods, the two methods that make one attempt, and the functions that poll or refuse."""
        for attribute, kind in (
            ("request", Kind.CALL),
            ("async_request", Kind.ASYNC_CALL),
            ("request_streamed", Kind.GENERATOR),
            ("async_request_streamed", Kind.ASYNC_GENERATOR),
            ("_request_once", Kind.ATTEMPT),
            ("_async_request_once", Kind.ASYNC_ATTEMPT),
        ):
            yield Target(_CLIENT, "BaseApiClient", attribute, kind)
        for module, owner in _JOBS:
            yield Target(module, owner, "get", poll, optional=True)
            yield Target(module, f"Async{owner}", "get", poll_async, optional=True)
        for converter in CONVERTERS:
            yield Target(_MODELS, "", converter, refusal, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a request whose path has one of `VERBS`; None for any other request."""
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
            background=reader is _OPERATION,
        )

    def polled(self, instance: Any, result: Any) -> tuple[CallInfo, Answer] | None:
        """Describes a long-running operation, or a batch, that failed as a whole; None for any other state."""
        answer = state_of(result)
        info = None if answer.suspicion is None else self._info(instance._api_client, "unknown:predictLongRunning")
        return None if info is None else (info._replace(model=None, background=False), answer)

    def refused(self, instance: Any, exc: BaseException, given: Sequence[Any] = ()) -> CallInfo | None:
        """Describes a call that the SDK refuses: the selected API does not know an argument, or its type is wrong."""
        model = text(field(given[0] if given else None, "model"), 256)
        return self._info(instance, f"{model}:generateContent")
