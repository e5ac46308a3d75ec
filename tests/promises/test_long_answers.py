"""Size is no failure: long healthy answers through the real SDKs, in whatever form the application asks for them."""

import sys
from typing import Any

import pytest

from llm_errors.testing.provider import Reply
from tests.promises.wire import CHAT, GEMINI, MESSAGES, RESPONSES, STAINLESS, WHOLE, asked, collected, method, streamed

LENGTH = 2_000_000
LONG = "QUJD" * (LENGTH // 4)
EMBEDDING = [0.0123456789] * (LENGTH // 13)


def long(api: str) -> Reply:
    """A healthy answer of the API whose text is long."""
    said: dict[str, Any] = {
        CHAT: {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": LONG}}]},
        RESPONSES: {
            "output": [{"id": "o", "type": "message", "role": "assistant", "status": "completed", "content": [
                {"type": "output_text", "text": LONG, "annotations": []}]}],
        },
        MESSAGES: {"content": [{"type": "text", "text": LONG}]},
    }[api]  # fmt: skip
    return Reply(json={**WHOLE[api], **said})


@pytest.mark.parametrize("how", ["", "with_raw_response"])
@pytest.mark.parametrize("api", STAINLESS)
def test_a_long_answer_parsed_by_the_sdk_or_never(api, how, provider, connect, observed):
    method(api, connect(api, provider([long(api)]).url), how)(**asked(api))
    assert collected(observed.outcomes) == {"ok": 1}


@pytest.mark.parametrize("how", ["parse", "json", "read", "text"])
@pytest.mark.parametrize("api", STAINLESS)
def test_a_long_answer_that_the_application_reads_itself(api, how, provider, connect, observed):
    with method(api, connect(api, provider([long(api)]).url), "with_streaming_response")(**asked(api)) as response:
        getattr(response, how)()
    assert collected(observed.outcomes) == {"ok": 1}


A_DICT = pytest.param(
    dict,
    marks=pytest.mark.skipif(
        sys.version_info < (3, 11), reason="openai takes a generic alias on Python 3.11 and newer"
    ),
)


@pytest.mark.parametrize("cast_to", [str, A_DICT, object])
def test_a_long_answer_cast_to_a_text_or_to_plain_json(cast_to, provider, connect, observed):
    client = connect(CHAT, provider([long(CHAT)]).url)
    kind = dict[str, Any] if cast_to is dict else cast_to
    assert client.post("/chat/completions", body={"model": "m"}, cast_to=kind)
    assert collected(observed.outcomes) == {"ok": 1}


def test_long_images_and_embeddings_of_openai(provider, connect, observed):
    image = {"created": 1, "data": [{"b64_json": LONG}]}
    vectors = {"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": EMBEDDING}]}
    client = connect(
        CHAT, provider([Reply(json=image), Reply(json=vectors), Reply(json=image), Reply(json=vectors)]).url
    )
    client.images.generate(model="m", prompt="x")
    client.embeddings.create(model="m", input="x", encoding_format="float")
    client.images.with_raw_response.generate(model="m", prompt="x")
    client.embeddings.with_raw_response.create(model="m", input="x", encoding_format="float")
    assert collected(lambda: observed.outcomes() == {"ok": 4})


def drawn(**end: str) -> dict[str, Any]:
    image = {"inlineData": {"mimeType": "image/png", "data": LONG}}
    return {"candidates": [{"content": {"role": "model", "parts": [image]}, **end, "index": 0}]}


def test_a_long_answer_of_gemini_whole_and_streamed(provider, connect, observed):
    client = connect(
        GEMINI, provider([Reply(json=drawn(finishReason="STOP")), streamed(GEMINI, [drawn(finishReason="STOP")])]).url
    )
    assert client.models.generate_content(model="m", contents="x").candidates
    assert list(client.models.generate_content_stream(model="m", contents="x"))
    assert observed.outcomes() == {"ok": 2}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_long_answer_of_gemini_that_was_blocked_is_told(stream, provider, connect, observed):
    blocked = drawn(finishReason="IMAGE_SAFETY")
    client = connect(GEMINI, provider([streamed(GEMINI, [blocked]) if stream else Reply(json=blocked)]).url)
    if stream:
        list(client.models.generate_content_stream(model="m", contents="x"))
    else:
        client.models.generate_content(model="m", contents="x")
    assert observed.reasons() == {("OUTPUT_BLOCKED", "image_safety"): 1}


def test_a_long_chunk_of_gemini_without_its_end_is_a_cut_stream(provider, connect, observed):
    client = connect(GEMINI, provider([streamed(GEMINI, [drawn()])]).url)
    list(client.models.generate_content_stream(model="m", contents="x"))
    assert observed.reasons() == {("TRANSPORT", "stream_cut"): 1}


def test_long_embeddings_of_gemini(provider, connect, observed):
    client = connect(GEMINI, provider([Reply(json={"embeddings": [{"values": EMBEDDING}]})]).url)
    assert client.models.embed_content(model="m", contents="x").embeddings
    assert observed.outcomes() == {"ok": 1}
