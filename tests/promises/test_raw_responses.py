"""`with_raw_response`, `with_streaming_response` and parse helpers work as without us, and are observed.

Handed cases: ins-raw-response-plain, ins-raw-response-stream, ins-with-streaming-response.
"""

import inspect
from time import perf_counter
from typing import Any

import openai
import pytest

from llm_errors.instrument import invocation
from llm_errors.testing.provider import Reply
from tests.promises.wire import (
    CHAT,
    MESSAGES,
    RESPONSES,
    STAINLESS,
    asked,
    collected,
    failure,
    method,
    stalled,
    streamed,
    text,
    until,
    whole,
)

HEADERS = {"x-ratelimit-remaining-tokens": "7"}
RAW, STREAMING = "with_raw_response", "with_streaming_response"


def with_headers(reply: Reply) -> Reply:
    return Reply(**{**vars(reply), "headers": HEADERS})


async def parsed(raw: Any, **how: Any) -> Any:
    """`parse()` is awaitable on the async clients of some SDKs."""
    result = raw.parse(**how)
    return await result if inspect.isawaitable(result) else result


@pytest.mark.parametrize("api", STAINLESS)
def test_a_raw_response_is_settled_when_it_is_parsed(api, provider, connect, observed):
    client = connect(api, provider([with_headers(whole(api))]).url)
    raw = method(api, client, RAW)(**asked(api))
    assert raw.headers["x-ratelimit-remaining-tokens"] == "7"
    first = raw.parse()
    assert raw.parse() is first
    assert text(api, first) == "one two"
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_raw_response_that_the_clients_own_headers_ask_for_is_settled(api, provider, connect, observed):
    client = connect(api, provider([whole(api)]).url).with_options(default_headers={"X-Stainless-Raw-Response": "true"})
    assert text(api, method(api, client)(**asked(api)).parse()) == "one two"
    assert collected(lambda: observed.outcomes()) == {"ok": 1}


def test_a_raw_stream_that_the_clients_own_headers_ask_for_is_followed(provider, connect, observed):
    raw_ones = {"X-Stainless-Raw-Response": "true"}
    client = connect(CHAT, provider([streamed(CHAT)]).url).with_options(default_headers=raw_ones)
    stream = method(CHAT, client)(**asked(CHAT, stream=True)).parse()
    next(stream)
    stream.close()
    assert observed.outcomes() == {"cancelled": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_call_with_a_header_of_its_own_is_observed(api, provider, connect, observed):
    client = connect(api, provider([whole(api)]).url)
    assert text(api, method(api, client)(**asked(api), extra_headers={"x-a": "b"})) == "one two"
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", STAINLESS)
async def test_an_async_raw_response_is_settled_when_it_is_parsed(api, provider, aconnect, observed):
    client = aconnect(api, provider([with_headers(whole(api))]).url, True)
    raw = await method(api, client, RAW)(**asked(api))
    assert raw.headers["x-ratelimit-remaining-tokens"] == "7"
    first = await parsed(raw)
    assert await parsed(raw) is first
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_raw_response_has_the_bare_type(api, provider, connect, instrument):
    client = connect(api, provider([whole(api)]).url)
    bare = method(api, client, RAW)(**asked(api))
    instrument()
    seen = method(api, client, RAW)(**asked(api))
    assert type(seen) is type(bare)
    assert type(seen.parse()) is type(bare.parse())


@pytest.mark.parametrize("api", STAINLESS)
@pytest.mark.parametrize(("reply", "outcome", "errors"), [("whole", "ok", {}), ("error", "error", {"SERVER": 1})])
def test_a_raw_response_that_nobody_parses_is_settled_when_it_is_dropped(
    api, reply, outcome, errors, provider, connect, observed
):
    said = whole(api) if reply == "whole" else Reply(json={"error": {"message": "no", "code": 502}})
    client = connect(api, provider([said]).url)
    raw = method(api, client, RAW)(**asked(api))
    # Anthropic's SDK ends its own span at once: what is to stand on it is judged before.
    assert observed.outcomes() == {} or api == MESSAGES
    del raw
    assert collected(observed.outcomes) == {outcome: 1}
    assert observed.errors() == errors


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
def test_a_raw_response_lasts_as_long_as_its_call_did(api, provider, connect, observed, monkeypatch):
    client = connect(api, provider([whole(api)]).url)
    raw = method(api, client, RAW)(**asked(api))
    later = perf_counter() + 3600
    monkeypatch.setattr(invocation, "perf_counter", lambda: later)
    raw.parse()
    span = observed.span()
    assert (span.end_time - span.start_time) < 60e9
    ((_, duration),) = observed.points("gen_ai.client.operation.duration")
    assert duration.sum < 60


@pytest.mark.parametrize("api", STAINLESS)
def test_an_error_inside_a_raw_200_has_its_class(api, provider, connect, observed):
    client = connect(api, provider([Reply(json={"error": {"message": "upstream", "code": 502}, "user_id": "u"})]).url)
    method(api, client, RAW)(**asked(api)).parse()
    assert observed.errors() == {"SERVER": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_raw_stream_gives_headers_first_and_is_followed(api, provider, connect, observed):
    client = connect(api, provider([with_headers(streamed(api))]).url)
    raw = method(api, client, RAW)(**asked(api, stream=True))
    assert raw.headers["x-ratelimit-remaining-tokens"] == "7"
    assert raw.http_response.status_code == 200
    chunks = raw.parse()
    assert raw.parse() is chunks
    assert observed.outcomes() == {}
    assert len(list(chunks)) > 2
    assert observed.outcomes() == {"ok": 1}
    assert observed.span().end_time


@pytest.mark.parametrize("api", STAINLESS)
def test_a_raw_response_that_is_dropped_leaves_its_stream_observed(api, provider, connect, observed):
    client = connect(api, provider([streamed(api)]).url)
    chunks = method(api, client, RAW)(**asked(api, stream=True)).parse()
    assert next(chunks)
    assert observed.outcomes() == {}
    chunks.close()
    assert observed.outcomes() == {"cancelled": 1}


@pytest.mark.parametrize("api", STAINLESS)
async def test_an_async_raw_stream_gives_headers_first_and_is_followed(api, provider, aconnect, observed):
    client = aconnect(api, provider([with_headers(streamed(api))]).url, True)
    raw = await method(api, client, RAW)(**asked(api, stream=True))
    assert raw.headers["x-ratelimit-remaining-tokens"] == "7"
    assert len([chunk async for chunk in await parsed(raw)]) > 2
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", STAINLESS)
@pytest.mark.parametrize("raw", [RAW, STREAMING])
def test_a_failure_of_a_raw_call_is_thrown_once(api, raw, provider, connect, observed):
    client = connect(api, provider([failure(api, 404)]).url)
    with pytest.raises(Exception, match="no") as caught:
        getattr(method(api, client, raw)(**asked(api)), "__enter__", bool)()
    assert type(caught.value).__name__ == "NotFoundError"
    assert observed.errors() == {"NOT_FOUND": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_streaming_response_gives_its_first_line_before_the_rest_is_sent(api, provider, connect, observed):
    server = provider([stalled(api)])
    client = connect(api, server.url)
    with method(api, client, STREAMING)(**asked(api, stream=True)) as response:
        assert response.http_response.status_code == 200
        assert not response.http_response.is_stream_consumed
        lines = response.iter_lines()
        assert next(lines)
        assert not server.release.is_set()
        server.release.set()
        assert len(list(lines)) > 3
    assert observed.outcomes() == {"ok": 1}
    assert observed.span().end_time


@pytest.mark.parametrize("api", STAINLESS)
async def test_an_async_streaming_response_gives_its_first_line_before_the_rest_is_sent(
    api, provider, aconnect, observed
):
    server = provider([stalled(api)])
    client = aconnect(api, server.url, True)
    async with method(api, client, STREAMING)(**asked(api, stream=True)) as response:
        assert not response.http_response.is_stream_consumed
        lines = response.iter_lines()
        assert await lines.__anext__()
        assert not server.release.is_set()
        server.release.set()
        assert len([line async for line in lines]) > 3
    assert observed.outcomes() == {"ok": 1}
    assert observed.span().end_time


@pytest.mark.parametrize("api", STAINLESS)
@pytest.mark.parametrize("access", ["read", "json", "text", "parse", "nothing"])
def test_a_streaming_response_of_a_plain_call_is_settled_however_it_is_read(api, access, provider, connect, observed):
    client = connect(api, provider([whole(api)]).url)
    with method(api, client, STREAMING)(**asked(api)) as response:
        if access != "nothing":
            assert getattr(response, access)()
    assert observed.outcomes() == {"ok": 1}
    assert len(observed.spans()) == 1


@pytest.mark.parametrize("access", ["read", "json", "text", "parse"])
@pytest.mark.parametrize("api", STAINLESS)
def test_an_error_inside_a_200_is_seen_however_it_is_read(api, access, provider, connect, observed):
    client = connect(api, provider([Reply(json={"error": {"message": "upstream", "code": 502}})]).url)
    with method(api, client, STREAMING)(**asked(api)) as response:
        getattr(response, access)()
    assert observed.errors() == {"SERVER": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_parsed_streaming_response_is_followed(api, provider, connect, observed):
    client = connect(api, provider([streamed(api)]).url)
    with method(api, client, STREAMING)(**asked(api, stream=True)) as response:
        assert len(list(response.parse())) > 2
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_an_error_of_the_application_inside_a_streaming_response_stays_its_own(api, provider, connect, observed):
    client = connect(api, provider([whole(api)]).url)
    mine = ValueError("mine")
    with pytest.raises(ValueError) as caught, method(api, client, STREAMING)(**asked(api)):
        raise mine
    assert caught.value is mine
    assert observed.errors() == {}
    assert len(observed.spans()) == 1


LONG = {
    **whole(CHAT).json,
    "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "{"}}],
}


def test_a_helper_that_raises_over_an_answer_is_thrown_with_the_answers_class(provider, connect, observed):
    import openai

    client = connect(CHAT, provider([Reply(json=LONG)]).url)
    with pytest.raises(openai.LengthFinishReasonError) as caught:
        client.chat.completions.parse(model="m", messages=[], response_format={"type": "json_object"})
    assert caught.value.completion.id == "c1"
    assert observed.reasons() == {("TRUNCATED", "max_tokens"): 1}


def test_a_helper_that_raises_in_a_raw_parse_counts_once(provider, connect, observed):
    import openai

    client = connect(CHAT, provider([Reply(json=LONG)]).url)
    raw = client.chat.completions.with_raw_response.parse(
        model="m", messages=[], response_format={"type": "json_object"}
    )
    for _ in range(2):
        with pytest.raises(openai.LengthFinishReasonError):
            raw.parse()
    assert observed.errors() == {"TRUNCATED": 1}
    assert observed.outcomes() == {"error": 1}


@pytest.mark.parametrize("api", [CHAT, RESPONSES, MESSAGES])
def test_an_answer_that_does_not_fit_the_schema_is_thrown_by_the_helper(api, provider, connect, observed):
    import pydantic

    class Wanted(pydantic.BaseModel):
        number: int

    client = connect(api, provider([whole(api)]).url)
    helpers = {
        CHAT: lambda: client.chat.completions.parse(**asked(api), response_format=Wanted),
        RESPONSES: lambda: client.responses.parse(**asked(api), text_format=Wanted),
        MESSAGES: lambda: parse_messages(**asked(api), output_format=Wanted),
    }
    parse_messages = api == MESSAGES and (getattr(client.messages, "parse", None) or client.beta.messages.parse)
    with pytest.raises(pydantic.ValidationError):
        helpers[api]()
    assert observed.reasons() == {("TOOL_PROTOCOL", "schema_mismatch"): 1}
    assert until(observed.outcomes) == {"error": 1}


READS = {
    "bytes": lambda response: list(response.iter_bytes()),
    "lines": lambda response: list(response.iter_lines()),
    "read": lambda response: response.read(),
}


@pytest.mark.parametrize("how", READS)
@pytest.mark.parametrize("api", STAINLESS)
def test_a_body_that_breaks_while_the_application_reads_it_is_a_failure(api, how, provider, connect, observed):
    cut = Reply(**{**vars(streamed(api)), "action": "cut_mid_stream"})
    client = connect(api, provider([cut]).url)
    with (
        pytest.raises(Exception, match="closed"),
        method(api, client, STREAMING)(**asked(api, stream=True)) as response,
    ):
        READS[how](response)
    assert observed.errors() == {"TRANSPORT": 1}


@pytest.mark.parametrize("api", STAINLESS)
async def test_a_body_that_breaks_while_it_is_awaited_is_a_failure(api, provider, aconnect, observed):
    cut = Reply(**{**vars(streamed(api)), "action": "cut_mid_stream"})
    client = aconnect(api, provider([cut]).url, True)

    async def read() -> None:
        async with method(api, client, STREAMING)(**asked(api, stream=True)) as response:
            async for _ in response.iter_bytes():
                pass

    with pytest.raises(Exception, match="closed"):
        await read()
    assert observed.errors() == {"TRANSPORT": 1}


def test_an_error_that_the_application_raises_over_a_body_it_has_read_is_its_own(provider, connect, observed):
    client = connect(CHAT, provider([whole(CHAT)]).url)

    def use() -> None:
        with method(CHAT, client, STREAMING)(**asked(CHAT)) as response:
            response.read()
            raise openai.APIError("mine", request=response.http_request, body=None)

    with pytest.raises(openai.APIError, match="mine"):
        use()
    assert observed.outcomes() == {"ok": 1}


def test_another_request_that_breaks_inside_a_streaming_response_is_no_failure_of_it(provider, connect, observed):
    cut = Reply(**{**vars(streamed(CHAT)), "action": "cut_mid_stream"})
    client = connect(CHAT, provider([whole(CHAT)]).url)
    other = connect(CHAT, provider([cut]).url)
    with pytest.raises(openai.APIConnectionError), method(CHAT, client, STREAMING)(**asked(CHAT)):
        other.get("/anything", cast_to=str)
    assert observed.outcomes() == {"ok": 1}
