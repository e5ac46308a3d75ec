"""litellm's functions for other things than chats: rerank, speech, transcripts, images, interactions and compacted responses."""

import asyncio
import inspect
import io
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from llm_errors.testing.provider import Reply

from .litellm_provider import GEMINI, OPENAI, error, litellm
from .test_litellm import found

pytestmark = pytest.mark.filterwarnings("ignore")  # litellm's own deprecations
COHERE, MISTRAL = "cohere/m", "mistral/m"
PAGE = {"index": 0, "markdown": "hi", "images": [], "dimensions": {"dpi": 1, "height": 1, "width": 1}}


def a_file(name: str) -> Any:
    content = io.BytesIO(b"\x89PNG\r\n\x1a\n" if name.endswith("png") else b"RIFF0000WAVEfmt ")
    content.name = name
    return content


def interaction(name: str) -> Callable[..., Any]:
    return getattr(pytest.importorskip("litellm.interactions", reason="only newer releases of litellm"), name)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Row:
    """A function, its async twin, what it is given, and a good answer."""

    plain: str
    awaited: str
    model: str
    given: Callable[[], dict[str, Any]]
    answer: Reply
    operation: str
    path: str = "/v1"
    module: Any = litellm

    def call(self, name: str, url: str) -> Any:
        """What the function returns."""
        function = getattr(self.module, name, None)
        if self.module is None:
            function = interaction(name)
        if function is None:
            pytest.skip(f"only newer releases of litellm have {name}")
        base = {"api_base": f"{url}{self.path}", "api_key": "k", "max_retries": 0, "timeout": 30}
        outcome = function(model=self.model, **base, **self.given())
        return asyncio.run(as_coroutine(outcome)) if inspect.isawaitable(outcome) else outcome


async def as_coroutine(outcome: Any) -> Any:
    return await outcome


IMAGE = Reply(json={"created": 1, "data": [{"b64_json": "aGk="}]})
OUTPUT = {"id": "i1", "type": "message", "role": "assistant", "status": "completed",
          "content": [{"type": "output_text", "text": "hi", "annotations": []}]}  # fmt: skip
COMPACTED = {"id": "r1", "object": "response.compaction", "created_at": 1, "output": [OUTPUT],
             "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}  # fmt: skip
INTERACTION = {"id": "i1", "object": "interaction", "model": "m", "status": "completed", "role": "model",
               "outputs": [{"type": "text", "text": "hi"}], "created": "2026-01-01T00:00:00Z"}  # fmt: skip
ROWS = (
    Row("rerank", "arerank", COHERE, lambda: {"query": "a", "documents": ["b"]},
        Reply(json={"id": "1", "results": [{"index": 0, "relevance_score": 0.5}], "meta": {}}), "rerank", "/v2/rerank"),
    Row("transcription", "atranscription", OPENAI, lambda: {"file": a_file("a.wav")}, Reply(json={"text": "hi"}), "transcription"),
    Row("speech", "aspeech", OPENAI, lambda: {"input": "hi", "voice": "alloy"},
        Reply(text="sound", headers={"content-type": "audio/mpeg"}), "speech"),
    Row("image_edit", "aimage_edit", OPENAI, lambda: {"image": a_file("a.png"), "prompt": "hi"}, IMAGE, "generate_content"),
    Row("image_variation", "aimage_variation", OPENAI, lambda: {"image": a_file("a.png")}, IMAGE, "generate_content"),
    Row("compact_responses", "acompact_responses", OPENAI, lambda: {"input": "hi"}, Reply(json=COMPACTED), "chat"),
    Row("ocr", "aocr", MISTRAL, lambda: {"document": {"type": "document_url", "document_url": "https://a.example/a.pdf"}},
        Reply(json={"pages": [PAGE], "model": "m", "usage_info": {"pages_processed": 1}}), "ocr"),
    Row("create", "acreate", GEMINI, lambda: {"input": "hi"}, Reply(json=INTERACTION), "generate_content", "", None),
)  # fmt: skip
each = pytest.mark.parametrize(
    ("row", "name"), [pytest.param(row, name, id=name) for row in ROWS for name in (row.plain, row.awaited)]
)


@each
def test_a_call_is_one_call_with_one_span(observed, provider, row, name):
    row.call(name, provider([row.answer]).url)
    assert found(observed) == ({"ok": 1}, {}, {}, 1)
    assert observed.span().attributes["gen_ai.operation.name"] == row.operation


@each
def test_an_error_of_the_provider_is_counted_once(observed, provider, row, name):
    refused = error(row.model, 401, "UNAUTHENTICATED" if row.model == GEMINI else "invalid_api_key")
    with pytest.raises(Exception):
        row.call(name, provider([refused]).url)
    assert found(observed) == ({"error": 1}, {"AUTH/invalid_key": 1}, {}, 1)


def event(kind: str, **more: Any) -> list[str]:
    return [f"data: {json.dumps({'event_type': kind, **more})}", ""]


BEGUN = [
    *event("interaction.created", interaction={**INTERACTION, "status": "in_progress", "outputs": []}),
    *event("content.delta", index=0, delta={"type": "text", "text": "hi"}),
]
ENDS = {
    "good": (Reply(sse=[*BEGUN, *event("interaction.completed", interaction=INTERACTION), "data: [DONE]", ""]), {}),
    "failed": (
        Reply(sse=[*BEGUN, *event("error", error={"code": "quota_exceeded", "message": "m"})]),
        {"RATE_LIMITED": 1},
    ),
    "cut": (Reply(sse=BEGUN, action="cut_mid_stream"), {"TRANSPORT": 1}),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", ["create", "acreate"])
def test_a_stream_of_an_interaction_is_one_call_that_ends_as_its_events_say(observed, provider, name, end):
    reply, errors = ENDS[end]
    asked = {"model": GEMINI, "input": "hi", "stream": True, "api_key": "k", "api_base": provider([reply]).url}

    async def read() -> None:
        async for _ in await interaction(name)(**asked):
            pass

    with suppress(Exception):
        if name == "create":
            list(interaction(name)(**asked))
        else:
            asyncio.run(read())
    assert (observed.outcomes(), observed.errors()) == ({"error" if errors else "ok": 1}, errors)
    assert len(observed.spans()) == 1
