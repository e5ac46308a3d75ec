"""Answers of GigaChat, as plain data. The tests with the real SDK are in tests/sdks/longtail."""

import pytest

from llm_errors.extract.gigachat import CHAT, MESSAGES, THREAD
from tests.core.verdicts import of_chunks, told


def messages(finish="stop", text="hi", **message):
    said = {"role": "assistant", "content": [{"text": text}], **message}
    return {"message_id": "c", "model": "m", "messages": [said], "finish_reason": finish,
            "usage": {"input_tokens": 3, "output_tokens": 2}}  # fmt: skip


def thread(finish="stop", content="hi"):
    return {"message_id": "c", "model": "m", "message": {"role": "assistant", "content": content}, "finish_reason": finish,
            "usage": {"prompt_tokens": 3, "completion_tokens": 2}}  # fmt: skip


def choice(finish="stop", content="hi"):
    return {"choices": [{"index": 0, "finish_reason": finish, "message": {"content": content}}]}


@pytest.mark.parametrize(
    ("reader", "answer", "verdict"),
    [
        (CHAT, choice(), "ok"),
        (CHAT, choice("error"), "TOOL_PROTOCOL/invalid_arguments"),
        (CHAT, choice("blacklist"), "PROMPT_BLOCKED/blocklist"),
        (MESSAGES, messages(), "ok"),
        (MESSAGES, messages(None), "ok"),
        (MESSAGES, messages(None, "hi", finish_reason="length"), "TRUNCATED/max_tokens"),
        (MESSAGES, messages("stop", "", function_call={"name": "f"}), "ok"),
        (MESSAGES, messages("stop", ""), "UNKNOWN/empty_response"),
        (MESSAGES, {"error": {"code": "insufficient_quota"}}, "CALL_BUDGET/insufficient_quota"),
        (MESSAGES, {"usage": {"input_tokens": 3}}, "UNKNOWN/unexpected_body"),
        (THREAD, thread(), "ok"),
        (THREAD, thread("length"), "TRUNCATED/max_tokens"),
        (THREAD, {"status": 429, "message": "slow down"}, "RATE_LIMITED/upstream"),
        (THREAD, {"thread_id": "t"}, "UNKNOWN/unexpected_body"),
    ],
)
def test_whole_answers(reader, answer, verdict):
    assert told(reader.whole(answer)) == verdict


@pytest.mark.parametrize("answer", [MESSAGES.whole(messages()), THREAD.whole(thread())])
def test_the_facts_of_an_answer(answer):
    assert answer[1:] == ("m", "c", ("stop",), 3, 2)


PIECE = {"messages": [{"content": [{"text": "hi"}]}]}
USED = {"usage": {"input_tokens": 3, "output_tokens": 2}}


@pytest.mark.parametrize(
    ("reader", "chunks", "verdict"),
    [
        (MESSAGES, [PIECE, {"finish_reason": "stop"}, USED], "ok"),
        (MESSAGES, [PIECE, {"finish_reason": "error"}], "TOOL_PROTOCOL/invalid_arguments"),
        (MESSAGES, [PIECE], "TRANSPORT/stream_cut"),
        (MESSAGES, [{"event": "e"}, {"error": {"code": "invalid_api_key"}}], "AUTH/invalid_key"),
        (THREAD, [{"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}], "ok"),
    ],
)
def test_streams(reader, chunks, verdict):
    assert told(of_chunks(reader, *chunks)) == verdict


def test_a_stream_is_done_with_its_finish_reason():
    state = MESSAGES.chunks()
    state.chunk(PIECE)
    assert not state.done
    state.chunk({"finish_reason": "stop"})
    assert state.done
