"""Lists the functions of litellm that are model calls, and builds a CallInfo from litellm's record of a call."""

from typing import Any, NamedTuple

from llm_errors import providers
from llm_errors.call import CallInfo
from llm_errors.extract import results
from llm_errors.extract.answer import Reader
from llm_errors.extract.fields import field, text
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.protocol import Adapter


class Api(NamedTuple):
    """A function of litellm that is a model call. If `twin` is empty, the name of its async twin begins with `a`."""

    module: str
    name: str
    operation: str
    reader: Reader
    model: int = 0
    """The position of the argument `model`."""
    twin: str = ""
    streams: bool = False
    """Whether the function always returns a stream."""
    newer: bool = False
    """Whether older releases of litellm lack the function."""

    @property
    def awaited(self) -> str:
        """The name of the async twin."""
        return self.twin or f"a{self.name}"


_MESSAGES = (
    "litellm.llms.anthropic.messages.native.handler",
    "litellm.llms.anthropic.pass_through.messages.handler",
    "litellm.llms.anthropic.experimental_pass_through.messages.handler",
)
"""The modules of Anthropic's Messages API in newer and in older releases of litellm."""
APIS = (
    Api("litellm.main", "completion", "chat", results.CHAT),
    Api("litellm.main", "text_completion", "text_completion", results.CHAT, model=1),
    Api("litellm.main", "embedding", "embeddings", results.DATA),
    Api("litellm.main", "transcription", "transcription", results.MEDIA),
    Api("litellm.main", "speech", "speech", results.MEDIA),
    Api("litellm.images.main", "image_generation", "generate_content", results.DATA, model=1),
    Api("litellm.images.main", "image_edit", "generate_content", results.DATA, model=2),
    Api("litellm.images.main", "image_variation", "generate_content", results.DATA, model=1),
    Api("litellm.responses.main", "responses", "chat", results.RESPONSES, model=1),
    Api("litellm.responses.main", "compact_responses", "chat", results.RESPONSES, model=1, newer=True),
    Api("litellm.interactions.main", "create", "generate_content", results.INTERACTIONS),
    Api("litellm", "ocr", "ocr", results.PAGES, newer=True),
    Api("litellm.rerank_api.main", "rerank", "rerank", results.MODERATIONS),
    Api("litellm.google_genai.main", "generate_content", "generate_content", results.GENERATE_CONTENT),
    Api(
        "litellm.google_genai.main",
        "generate_content_stream",
        "generate_content",
        results.GENERATE_CONTENT,
        streams=True,
    ),
    *(
        Api(module, "anthropic_messages_handler", "chat", results.MESSAGES, model=2, twin="anthropic_messages")
        for module in _MESSAGES
    ),
)
BY_NAME = {name: api for api in APIS for name in (api.name, api.awaited)}


def info_of(adapter: Adapter, api: Api, record: Any, model: str, stream: bool, url: str) -> CallInfo:
    """The CallInfo of a call, from litellm's record of the call if there is one, or else from the model's name."""
    named, _, rest = model.partition("/")
    vendor = vendor_of(record) or (named if rest else "")
    known = providers.provider(vendor)
    host, port = split_address(url) if url else (None, None)
    if known is None:
        known = providers.provider(providers.provider_of_host(host, port))
    asked = text(field(field(record, "model_call_details"), "model"), 256) or model
    return adapter.info(
        operation=api.operation,
        model=asked.removeprefix(f"{vendor}/"),
        stream=stream,
        provider=known.name if known is not None else vendor,
        address=host,
        port=port,
        dialect=known.dialect if known is not None else "",
        reader=api.reader,
    )


def vendor_of(record: Any) -> str:
    """litellm's name of the provider, which it determines early in a call."""
    return text(field(field(record, "model_call_details"), "custom_llm_provider"), 64)
