"""Answers of Ollama, of both versions of Cohere's API and of Hugging Face's text generation, as the wire's JSON."""

import json
from types import SimpleNamespace

import pytest

from llm_errors.classify import decide
from llm_errors.extract import exceptions, results
from llm_errors.extract.cohere import PagesReader
from llm_errors.extract.tgi import LinesReader, TextGenerationReader
from tests.core.verdicts import of_chunks, told

TGI = TextGenerationReader()
CHAT_LINES = LinesReader(results.CHAT)


def data(event):
    return f"data: {json.dumps(event)}"


def delta(content, finish=None):
    return data({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]})


PARSED = {"id": "p", "pages": [{"markdown": "hi"}]}


@pytest.mark.parametrize(
    ("reader", "whole", "verdict"),
    [
        (PagesReader(), {**PARSED, "finish_reason": "COMPLETE"}, "ok"),
        (PagesReader(), PARSED, "ok"),
        (PagesReader(), {**PARSED, "finish_reason": "MAX_TOKENS"}, "TRUNCATED/max_tokens"),
        (PagesReader(), {"pages": [], "finish_reason": "MAX_TOKENS"}, "UNKNOWN/empty_response"),
        (PagesReader(), {"odd": 1}, "UNKNOWN/unexpected_body"),
        (results.OLLAMA, {"message": {"content": "hi"}, "done": True, "done_reason": "stop"}, "ok"),
        (results.OLLAMA, {"response": "", "done": True, "done_reason": "load"}, "ok"),
        (results.OLLAMA, {"response": "hi", "done": True, "done_reason": "length"}, "TRUNCATED/max_tokens"),
        (results.OLLAMA, {"message": {"thinking": "so"}, "done_reason": "length"}, "TRUNCATED/reasoning_tokens"),
        (results.OLLAMA, {"response": "", "done": True}, "UNKNOWN/empty_response"),
        (results.OLLAMA, {"odd": 1}, "UNKNOWN/unexpected_body"),
        (results.COHERE_V1, {"text": "hi", "finish_reason": "COMPLETE"}, "ok"),
        (
            results.COHERE_V1,
            {"generations": [{"text": "a"}, {"text": "", "finish_reason": "ERROR_TOXIC"}]},
            "OUTPUT_BLOCKED/safety",
        ),
        (results.COHERE_V1, {"text": "", "search_queries": [{"text": "q"}]}, "ok"),
        (results.COHERE_V1, {"text": "", "finish_reason": "COMPLETE"}, "UNKNOWN/empty_response"),
        (results.COHERE_V1, "<html>", "UNKNOWN/unexpected_body"),
        (TGI, [{"generated_text": "hi"}], "ok"),
        (TGI, {"generated_text": "hi", "details": {"finish_reason": "length"}}, "TRUNCATED/max_tokens"),
        (TGI, {"generated_text": ""}, "UNKNOWN/empty_response"),
        (TGI, {"odd": 1}, "UNKNOWN/unexpected_body"),
    ],
)
def test_what_a_whole_answer_comes_to(reader, whole, verdict):
    assert told(reader.whole(whole)) == verdict


@pytest.mark.parametrize(
    ("reader", "chunks", "verdict"),
    [
        (results.OLLAMA, [{"response": "a"}, {"response": "b"}], "TRANSPORT/stream_cut"),
        (results.OLLAMA, [{"response": "a"}, {"response": "", "done": True}], "ok"),
        (results.COHERE_V1, [{"event_type": "text-generation", "text": "a"}, {"event_type": "x"}], "TRANSPORT/stream_cut"),
        (results.COHERE_V1, [{"event_type": "stream-end", "finish_reason": "COMPLETE"}], "UNKNOWN/empty_response"),
        (results.COHERE_V1, [{"event_type": "stream-error", "finish_reason": "ERROR", "err": "it broke"}], "SERVER/other"),
        (results.COHERE_V1,
         [{"event_type": "text-generation", "text": "a"}, {"event_type": "stream-end", "finish_reason": "MAX_TOKENS"}],
         "TRUNCATED/max_tokens"),
        (results.COHERE_V1,
         [{"event_type": "text-generation", "text": "a"}, {"event_type": "stream-end", "finish_reason": "COMPLETE"}], "ok"),
        (results.COHERE, [{"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "it broke"}}], "SERVER/other"),
        (TGI, [{"token": {"text": "a"}}], "TRANSPORT/stream_cut"),
        (TGI, [{"token": {"text": "a"}, "generated_text": "a", "details": {"finish_reason": "eos_token"}}], "ok"),
        (CHAT_LINES, [delta("a"), "", delta("b"), delta("c"), delta("d"), delta("", "length"), "data: [DONE]"], "TRUNCATED/max_tokens"),
        (CHAT_LINES, [delta("a"), data({"error": "it broke", "error_type": "overloaded"})], "SERVER/overloaded"),
        (CHAT_LINES, ["<html>", "x" * 20_000, "y"], "UNKNOWN/unexpected_body"),
        (CHAT_LINES, [], "UNKNOWN/empty_response"),
        (CHAT_LINES, ["data: not json", delta("a", "stop")], "ok"),
    ],
)  # fmt: skip
def test_what_a_stream_comes_to(reader, chunks, verdict):
    assert told(of_chunks(reader, *chunks)) == verdict


def test_the_numbers_of_tokens_may_be_floating_point_numbers():
    used = {"tokens": {"input_tokens": 3.0, "output_tokens": 2}}
    answer = results.COHERE_V1.whole({"text": "hi", "finish_reason": "COMPLETE", "meta": used})
    assert (answer.input_tokens, answer.output_tokens) == (3, 2)


def test_lines_hold_a_whole_answer_as_text():
    assert told(CHAT_LINES.whole(b'{"choices": []}')) == "UNKNOWN/empty_response"


def test_a_failed_response_of_which_no_exception_was_made_is_read_like_one():
    response = SimpleNamespace(status_code=429, _content=b'{"message": "slow down"}', headers={"retry-after": "3"})
    found = decide(exceptions.of_response(response, "cohere", "cohere"))
    assert (found.error_class, found.status_code, found.retry_after) == ("RATE_LIMITED", 429, 3.0)
