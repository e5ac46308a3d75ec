"""The requests of Stainless SDKs that are model calls: their paths and jobs, and what a stream in their answer will contain."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from llm_errors.extract import results, speech
from llm_errors.extract.answer import Reader
from llm_errors.extract.fields import field, number
from llm_errors.extract.letta import LETTA, RUN
from llm_errors.extract.llama import LLAMA
from llm_errors.extract.tasks import TASKS

CHAT, COMPLETION, EMBEDDINGS, GENERATE = "chat", "text_completion", "embeddings", "generate_content"
SPEECH, TRANSCRIPTION, MODERATION, RERANK = "speech", "transcription", "moderation", "rerank"
AGENT = "invoke_agent"

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
"""Path ending of a POST request -> operation and reader. Batches, files, counts, lists and cancellations are no model calls."""

OWN_PATHS: Mapping[str, Mapping[str, tuple[str, Reader] | None]] = {
    "perplexity": {"/async/chat/completions": None},
    "llama-api": {"/chat/completions": (CHAT, LLAMA)},
    "llama-stack": {
        "/inference/chat-completion": (CHAT, LLAMA),
        "/inference/completion": (COMPLETION, results.MEDIA),
        "/inference/embeddings": (EMBEDDINGS, results.RESULTS),
        "/turn": (AGENT, results.MEDIA),
    },
    "zeroentropy": {
        "/models/embed": (EMBEDDINGS, results.MODERATIONS),
        "/models/rerank": (RERANK, results.MODERATIONS),
    },
    "volcengine": {"/embeddings/multimodal": (EMBEDDINGS, results.MEDIA)},
    "cartesia": {
        **dict.fromkeys(("/tts/bytes", "/infill/bytes", "/voice-changer/bytes"), (SPEECH, results.MEDIA)),
        **dict.fromkeys(("/tts/sse", "/voice-changer/sse"), (SPEECH, speech.SPEECH)),
        "/stt": (TRANSCRIPTION, results.MEDIA),
    },
    "runwayml": {
        **dict.fromkeys(
            (
                *("/image_to_video", "/text_to_video", "/video_to_video", "/text_to_image", "/character_performance"),
                *("/generate/image", "/generate/video", "/image_upscale", "/video_upscale", "/video_to_hdr"),
                *("/avatar_videos", "/video_to_audio", "/sound_effect", "/voice_isolation", "/generate/audio"),
            ),
            (GENERATE, TASKS),
        ),
        **dict.fromkeys(("/text_to_speech", "/speech_to_speech", "/voice_dubbing"), (SPEECH, TASKS)),
    },
    "letta": {
        **dict.fromkeys(
            ("/agents/*/messages", "/agents/*/messages/stream", "/conversations/*/messages"), (AGENT, LETTA)
        ),
        **dict.fromkeys(("/groups/*/messages", "/groups/*/messages/stream"), (AGENT, LETTA)),
        "/agents/*/messages/async": (AGENT, RUN),
    },
    "parallel": {"/tasks/runs": (AGENT, TASKS)},
}
"""SDK -> path ending -> operation and reader, if the path means something else in that SDK. `*` is an id.

None instead of the pair means that the path only creates a job.
"""

MODELS: Mapping[str, str] = {"cartesia": "model_id", "letta": "override_model", "parallel": "processor"}
"""SDK -> the field of the request body that names the model, if it is not `model`."""

JOBS = (
    ("responses.responses", "Responses", "/responses"),
    ("beta.threads.runs.runs", "Runs", "/threads/runs"),
    ("tasks", "TasksResource", "/image_to_video"),
    ("runs.runs", "RunsResource", "/agents/id/messages/async"),
    ("task_run", "TaskRunResource", "/tasks/runs"),
)
"""Resource classes with a method `retrieve` that polls a background job, and a path that starts one: of openai, runwayml,
letta and parallel-web."""
JOB_PATHS = {name: path for _, resource, path in JOBS for name in (resource, f"Async{resource}")}
JOB_READERS: tuple[Reader, ...] = (results.RUNS, TASKS, RUN)
"""The readers of APIs that only start a job."""

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
    usage_follows = field(asked.get("stream_options"), "include_usage") is True or field(usage, "include") is True
    return (number(asked.get("n")) or 1) * prompts, usage_follows


_RUNS = ("/runs", "/submit_tool_outputs")
_RUN = re.compile(r"/threads(?:/[^/]+)?/runs(?:/[^/]+/submit_tool_outputs)?$")
"""The path of a request that begins or continues the run of an assistant. It contains the id of the thread."""


def endpoint_of(url: str, sdk: str) -> tuple[str, Reader] | None:
    """Operation and reader of a model call, from the URL of a POST request of an SDK. None if it is not a model call."""
    path = urlsplit(url).path.rstrip("/")
    for ending, own in OWN_PATHS.get(sdk, {}).items():
        if _ends(path, ending):
            return own
    if path.endswith(_RUNS) and _RUN.search(path):
        return AGENT, results.RUNS
    parts = path.rsplit("/", 2)
    return PATHS.get("/" + "/".join(parts[-2:])) or PATHS.get("/" + parts[-1]) if path else None


def _ends(path: str, ending: str) -> bool:
    parts = ending.split("/")[1:]
    found = path.split("/")[-len(parts) :]
    return len(found) == len(parts) and all(part in ("*", given) for part, given in zip(parts, found, strict=True))
