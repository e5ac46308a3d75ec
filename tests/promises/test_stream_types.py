"""Streams and their helpers keep type, attributes and protocol, and are observed once.

Handed cases: ins-stream-isinstance, ins-helper-stream-not-awaited.
"""

import inspect
from typing import Any

import pytest

from tests.promises.wire import (
    APIS,
    CHAT,
    CHUNKS,
    GEMINI,
    MESSAGES,
    RESPONSES,
    SDK,
    STAINLESS,
    asked,
    half,
    stream,
    streamed,
    whole,
)


def test_a_stream_is_the_sdks_own(provider, connect, observed):
    for api in STAINLESS:
        sdk = pytest.importorskip(SDK[api])
        with stream(api, connect(api, provider([streamed(api)]).url)) as seen:
            assert type(seen) is sdk.Stream
            assert isinstance(seen, sdk.Stream)
            assert seen.response.headers["content-type"] == "text/event-stream"
            assert next(seen)
            assert len(list(seen)) == CHUNKS[api] - 1
    assert observed.outcomes() == {"ok": 3}


async def test_an_async_stream_is_the_sdks_own(provider, aconnect, observed):
    for api in STAINLESS:
        sdk = pytest.importorskip(SDK[api])
        async with await stream(api, aconnect(api, provider([streamed(api)]).url, True)) as seen:
            assert type(seen) is sdk.AsyncStream
            assert seen.response.headers["content-type"] == "text/event-stream"
            assert await seen.__anext__()
            assert len([chunk async for chunk in seen]) == CHUNKS[api] - 1
    assert observed.outcomes() == {"ok": 3}


@pytest.mark.parametrize("api", APIS)
def test_chunks_equal_the_bare_ones(api, provider, connect, instrument, telemetry):
    client = connect(api, provider([streamed(api)]).url)
    bare = stream(api, client)
    said = list(bare)
    instrument()
    seen = stream(api, client)
    assert type(seen) is type(bare)
    assert inspect.isgenerator(seen) == inspect.isgenerator(bare)
    again = list(seen)
    assert [type(chunk) for chunk in again] == [type(chunk) for chunk in said]
    assert len(again) == CHUNKS[api]
    assert telemetry.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", APIS)
async def test_async_chunks_equal_the_bare_ones(api, provider, aconnect, instrument, telemetry):
    client = half(api, aconnect(api, provider([streamed(api)]).url, True))
    bare = await stream(api, client)
    said = [chunk async for chunk in bare]
    instrument()
    seen = await stream(api, client)
    assert type(seen) is type(bare)
    assert inspect.isasyncgen(seen) == inspect.isasyncgen(bare)
    assert [type(chunk) async for chunk in seen] == [type(chunk) for chunk in said]
    assert telemetry.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_stream_has_no_public_attribute_more_than_the_bare_one(api, provider, connect, instrument):
    client = connect(api, provider([streamed(api)]).url)
    with stream(api, client) as bare:
        names = set(dir(bare))
    instrument()
    with stream(api, client) as seen:
        assert {n for n in set(dir(seen)) - names if not n.startswith("_")} == set()


@pytest.mark.parametrize("api", STAINLESS)
def test_an_exhausted_stream_stays_exhausted(api, provider, connect, observed):
    seen = stream(api, connect(api, provider([streamed(api)]).url))
    list(seen)
    with pytest.raises(StopIteration):
        next(seen)
    assert list(seen) == []
    seen.close()
    assert observed.outcomes() == {"ok": 1}


def chat_helper(client: Any) -> Any:
    return getattr(client.chat.completions, "stream", None) or client.beta.chat.completions.stream


def test_the_chat_helper_gives_the_whole(provider, connect, observed):
    client = connect(CHAT, provider([streamed(CHAT)]).url)
    with chat_helper(client)(**asked(CHAT)) as seen:
        assert type(seen).__name__ == "ChatCompletionStream"
        assert seen.get_final_completion().choices[0].message.content == "one two"
    assert observed.outcomes() == {"ok": 1}
    assert len(observed.spans()) == 1


async def test_the_async_chat_helper_gives_the_whole(provider, aconnect, observed):
    client = aconnect(CHAT, provider([streamed(CHAT)]).url, True)
    async with chat_helper(client)(**asked(CHAT)) as seen:
        kinds = [event.type async for event in seen]
        assert (await seen.get_final_completion()).choices[0].message.content == "one two"
    assert "content.delta" in kinds
    assert observed.outcomes() == {"ok": 1}


def test_the_responses_helper_gives_the_whole(provider, connect, observed):
    client = connect(RESPONSES, provider([streamed(RESPONSES)]).url)
    with client.responses.stream(**asked(RESPONSES)) as seen:
        assert type(seen).__name__ == "ResponseStream"
        assert seen.get_final_response().output_text == "one two"
    assert observed.outcomes() == {"ok": 1}


async def test_the_async_responses_helper_gives_the_whole(provider, aconnect, observed):
    client = aconnect(RESPONSES, provider([streamed(RESPONSES)]).url, True)
    async with client.responses.stream(**asked(RESPONSES)) as seen:
        assert (await seen.get_final_response()).output_text == "one two"
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("beta", [False, True], ids=["messages", "beta"])
@pytest.mark.parametrize("how", ["final text", "final message", "text stream", "events"])
def test_the_messages_helper_gives_the_whole(beta, how, provider, connect, observed):
    client = connect(MESSAGES, provider([streamed(MESSAGES)]).url)
    messages = client.beta.messages if beta else client.messages
    with messages.stream(**asked(MESSAGES)) as seen:
        if how == "final text":
            assert seen.get_final_text() == "one two"
        elif how == "final message":
            assert seen.get_final_message().content[0].text == "one two"
        elif how == "text stream":
            assert list(seen.text_stream) == ["one ", "two"]
        else:
            assert "text" in [event.type for event in seen]
        assert seen.response.status_code == 200
    assert observed.outcomes() == {"ok": 1}
    assert len(observed.spans()) == 1


@pytest.mark.parametrize("beta", [False, True], ids=["messages", "beta"])
@pytest.mark.parametrize("how", ["final text", "final message", "text stream"])
async def test_the_async_messages_helper_gives_the_whole(beta, how, provider, aconnect, observed):
    client = aconnect(MESSAGES, provider([streamed(MESSAGES)]).url, True)
    manager = (client.beta.messages if beta else client.messages).stream(**asked(MESSAGES))
    assert not inspect.isawaitable(manager)
    async with manager as seen:
        if how == "final text":
            assert await seen.get_final_text() == "one two"
        elif how == "final message":
            assert (await seen.get_final_message()).content[0].text == "one two"
        else:
            assert [piece async for piece in seen.text_stream] == ["one ", "two"]
    assert observed.outcomes() == {"ok": 1}
    assert len(observed.spans()) == 1


@pytest.mark.parametrize("api", STAINLESS)
def test_a_helper_that_is_left_early_is_cancelled(api, provider, connect, observed):
    client = connect(api, provider([streamed(api)]).url)
    opened = {
        CHAT: lambda: chat_helper(client)(**asked(CHAT)),
        RESPONSES: lambda: client.responses.stream(**asked(RESPONSES)),
        MESSAGES: lambda: client.messages.stream(**asked(MESSAGES)),
    }[api]()
    with opened as seen:
        next(iter(seen))
    assert observed.outcomes() == {"cancelled": 1}
    assert len(observed.spans()) == 1


TOOL_USE = {
    **whole(MESSAGES).json,
    "content": [{"type": "tool_use", "id": "t1", "name": "double", "input": {"number": 2}}],
    "stop_reason": "tool_use",
}


def test_a_tool_runner_makes_one_call_a_turn(provider, connect, observed):
    anthropic = pytest.importorskip("anthropic")
    from llm_errors.testing.provider import Reply

    @anthropic.beta_tool
    def double(number: int) -> str:
        """Twice the number.

        Args:
            number: what to double
        """
        return str(number * 2)

    client = connect(MESSAGES, provider([Reply(json=TOOL_USE), whole(MESSAGES)]).url)
    runner = client.beta.messages.tool_runner(**asked(MESSAGES), tools=[double])
    assert runner.until_done().content[0].text == "one two"
    assert observed.outcomes() == {"ok": 2}


def test_gemini_chats_stream_and_remember(provider, connect, instrument, telemetry):
    client = connect(GEMINI, provider([streamed(GEMINI)]).url)

    def remembered() -> int:
        chat = client.chats.create(model="m")
        assert "".join(chunk.text or "" for chunk in chat.send_message_stream("hello")) == "one two"
        return len(chat.get_history())

    bare = remembered()
    instrument()
    assert remembered() == bare
    assert telemetry.outcomes() == {"ok": 1}


def test_a_gemini_function_is_called_between_two_calls(provider, connect, observed):
    from llm_errors.testing.provider import Reply

    call = {"functionCall": {"name": "double", "args": {"number": 2}}}
    asks = {"candidates": [{"content": {"role": "model", "parts": [call]}, "finishReason": "STOP", "index": 0}]}
    asked_for: list[int] = []

    def double(number: int) -> int:
        """Twice the number."""
        asked_for.append(number)
        return number * 2

    client = connect(GEMINI, provider([Reply(json=asks), whole(GEMINI)]).url)
    answer = client.models.generate_content(model="m", contents="hello", config={"tools": [double]})
    assert answer.text == "one two"
    assert asked_for == [2]
    assert observed.outcomes() == {"ok": 2}
