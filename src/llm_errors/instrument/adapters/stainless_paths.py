"""The requests of Stainless SDKs that are model calls: their paths, and what a stream in their answer will contain."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from llm_errors.extract import results
from llm_errors.extract.answer import Reader
from llm_errors.extract.fields import field, number
from llm_errors.extract.llama import LLAMA

CHAT, COMPLETION, EMBEDDINGS, GENERATE = "chat", "text_completion", "embeddings", "generate_content"
SPEECH, TRANSCRIPTION, MODERATION, RERANK = "speech", "transcription", "moderation", "rerank"

PATHS: Mapping[str, tuple[str, Reader]] = {
    "/chat/completions": (CHAT, results.CHAT),
    "/v1/chat": (CHAT, results.CHAT),
    "/responses": (CHAT, results.RESPONSES),
    "/completions": (COMPLETION, results.CHAT),
    "/v1/messages": (CHAT, results.MESSAGES),
    "/embeddings": (EMBEDDINGS, results.DATA),
    "/moderations": (MODERATION, results.MODERATIONS),
    "/images/generations": (GENERATE, results.DATA),
    "/images/edits": (GENERATE, results.DATA),
    "/images/variations": (GENERATE, results.DATA),
    "/audio/speech": (SPEECH, results.MEDIA),
    "/audio/transcriptions": (TRANSCRIPTION, results.MEDIA),
    "/audio/translations": (TRANSCRIPTION, results.MEDIA),
    "/rerank": (RERANK, results.MODERATIONS),
    "/interactions": (GENERATE, results.INTERACTIONS),
}
"""The path endings of POST requests that are model calls. Batches, files, counts, lists and cancellations are not."""

OWN_PATHS: Mapping[str, Mapping[str, tuple[str, Reader] | None]] = {
    "perplexity": {"/async/chat/completions": None},
    "llama-api": {"/chat/completions": (CHAT, LLAMA)},
    "llama-stack": {
        "/inference/chat-completion": (CHAT, LLAMA),
        "/inference/completion": (COMPLETION, results.MEDIA),
        "/inference/embeddings": (EMBEDDINGS, results.RESULTS),
        "/turn": ("invoke_agent", results.MEDIA),
    },
    "zeroentropy": {
        "/models/embed": (EMBEDDINGS, results.MODERATIONS),
        "/models/rerank": (RERANK, results.MODERATIONS),
    },
    "volcengine": {"/embeddings/multimodal": (EMBEDDINGS, results.MEDIA)},
}
"""Path endings with another meaning in one SDK, by its name. None means that the path only creates a job."""

BODIES = (dict, Mapping)
"""`dict` comes first because `isinstance` with it is faster than with an abstract class."""

Expected = tuple[int, bool]
"""What a stream will contain: the number of choices, and whether usage follows the last choice."""


def expected_of(options: Any) -> Expected:
    """Reads the request body, which `extra_body` overrides. Each prompt of a list has its own choices."""
    body, added = options.json_data, getattr(options, "extra_json", None)
    asked = {**(body if isinstance(body, BODIES) else {}), **(added if isinstance(added, BODIES) else {})}
    prompt, usage = asked.get("prompt"), asked.get("usage")
    prompts = len(prompt) if isinstance(prompt, list) and not all(isinstance(token, int) for token in prompt) else 1
    told = field(asked.get("stream_options"), "include_usage") is True or field(usage, "include") is True
    return (number(asked.get("n")) or 1) * prompts, told


_RUNS = ("/runs", "/submit_tool_outputs")
_RUN = re.compile(r"/threads(?:/[^/]+)?/runs(?:/[^/]+/submit_tool_outputs)?$")
"""The path of a request that begins or continues the run of an assistant. It contains the id of the thread."""


def endpoint_of(url: str, sdk: str) -> tuple[str, Reader] | None:
    """Operation and reader of a model call, from the URL of a POST request of an SDK. None if it is not a model call."""
    path = urlsplit(url).path.rstrip("/")
    for ending, own in OWN_PATHS.get(sdk, {}).items():
        if path.endswith(ending):
            return own
    if path.endswith(_RUNS) and _RUN.search(path):
        return "invoke_agent", results.RUNS
    parts = path.rsplit("/", 2)
    return PATHS.get("/" + "/".join(parts[-2:])) or PATHS.get("/" + parts[-1]) if path else None
