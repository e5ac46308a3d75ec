"""The methods of the Fern family's raw clients that are model calls, by SDK. Accounts, lists, voices and files are not."""

from collections.abc import Mapping
from typing import NamedTuple

from llm_errors.extract import results
from llm_errors.extract.answer import InDialect, Reader
from llm_errors.extract.cohere import DIALECT as COHERE
from llm_errors.extract.cohere import PagesReader
from llm_errors.extract.data import DataReader


class Api(NamedTuple):
    """Methods of one raw client."""

    module: str
    """Its module, below the SDK's package."""
    owner: str
    operation: str
    reader: Reader
    whole: str = ""
    """The names of the methods that return an answer."""
    streams: str = ""
    """The names of the methods that are context managers of a stream."""
    optional: bool = False
    """Whether older releases do not have it."""


APIS: Mapping[str, tuple[Api, ...]] = {
    "cohere": (
        Api("v2.raw_client", "RawV2Client", "chat", results.COHERE, "chat", "chat_stream"),
        Api("v2.raw_client", "RawV2Client", "embeddings", InDialect(results.RESULTS, COHERE), "embed"),
        Api("v2.raw_client", "RawV2Client", "rerank", DataReader("results", COHERE), "rerank"),
        Api("v2.raw_client", "RawV2Client", "ocr", PagesReader(), "parse", optional=True),
        Api(
            "audio.transcriptions.raw_client",
            "RawTranscriptionsClient",
            "transcription",
            InDialect(results.MEDIA, COHERE),
            "create",
            optional=True,
        ),
        Api("raw_base_client", "RawBaseCohere", "chat", results.COHERE_V1, "chat", "chat_stream"),
        Api(
            "raw_base_client",
            "RawBaseCohere",
            "text_completion",
            results.COHERE_V1,
            "generate summarize",
            "generate_stream",
        ),
        Api("raw_base_client", "RawBaseCohere", "embeddings", InDialect(results.RESULTS, COHERE), "embed"),
        Api("raw_base_client", "RawBaseCohere", "rerank", DataReader("results", COHERE), "rerank"),
        Api("raw_base_client", "RawBaseCohere", "classification", DataReader("classifications", COHERE), "classify"),
    ),
}
"""The name of an SDK in `providers` -> its raw clients."""
