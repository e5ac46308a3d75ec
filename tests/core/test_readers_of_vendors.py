"""Answers of DashScope, Meta's Llama API, watsonx, Qianfan, Aleph Alpha, Replicate and Google's generated clients, as plain
data. The tests with the real SDKs are in tests/sdks/longtail."""

from enum import Enum, IntEnum
from types import SimpleNamespace

import pytest

from llm_errors.extract import dashscope, exceptions, llama, vendors
from llm_errors.extract.google_proto import PROTO
from tests.core.verdicts import of_chunks, told


def output(**fields):
    return {"status_code": 200, "output": fields}


def of_watsonx(text, reason="eos_token"):
    return {"model_id": "granite", "results": [{"generated_text": text, "stop_reason": reason, "input_token_count": 3}]}


def llama_event(text="", **fields):
    return {"id": "1", "event": {"delta": {"type": "text", "text": text}, **fields}}


TOKENS = [{"metric": "num_prompt_tokens", "value": 3.0}, {"metric": "num_completion_tokens", "value": 5.0}]


class _Reason(IntEnum):
    NONE, STOP, SAFETY = 0, 1, 3


class _Part(SimpleNamespace):
    @staticmethod
    def pb(part):
        return SimpleNamespace(WhichOneof=lambda _: part.kind)


def candidate(reason, *parts):
    return SimpleNamespace(finish_reason=reason, content=SimpleNamespace(parts=list(parts)))


def generated(*candidates, **fields):
    return SimpleNamespace(candidates=list(candidates), **fields)


TEXT, CALL, EMPTY = _Part(kind="text", text="hi"), _Part(kind="function_call"), _Part(kind=None)


@pytest.mark.parametrize(
    ("reader", "whole", "verdict"),
    [
        (dashscope.CHAT, output(text="hi", finish_reason="stop"), "ok"),
        (
            dashscope.CHAT,
            output(choices=[{"finish_reason": "length", "message": {"content": "h"}}]),
            "TRUNCATED/max_tokens",
        ),
        (dashscope.CHAT, {"status_code": 200, "output": None}, "UNKNOWN/unexpected_body"),
        (dashscope.CHAT, {"status_code": 429, "code": "Throttling", "message": "slow down"}, "RATE_LIMITED/requests"),
        (dashscope.OUTPUT, output(embeddings=[{"embedding": [1]}]), "ok"),
        (dashscope.OUTPUT, output(embeddings=[]), "UNKNOWN/empty_response"),
        (dashscope.OUTPUT, output(task_status="SUCCEEDED"), "ok"),
        (
            dashscope.OUTPUT,
            output(task_status="FAILED", task_id="t", code="DataInspectionFailed"),
            "PROMPT_BLOCKED/content_filter",
        ),
        (dashscope.OUTPUT, {"status_code": 200}, "UNKNOWN/unexpected_body"),
        (
            llama.LLAMA,
            {"completion_message": {"content": {"text": "hi"}, "stop_reason": "stop"}, "metrics": TOKENS},
            "ok",
        ),
        (llama.LLAMA, {"completion_message": {"content": "h", "stop_reason": "length"}}, "TRUNCATED/max_tokens"),
        (llama.LLAMA, {"odd": 1}, "UNKNOWN/unexpected_body"),
        (vendors.WATSONX, of_watsonx("hi"), "ok"),
        (vendors.WATSONX_ANSWERS, of_watsonx("h", "max_tokens"), "TRUNCATED/max_tokens"),
        (vendors.WATSONX_ANSWERS, [of_watsonx("h"), of_watsonx("h", "max_tokens")], "TRUNCATED/max_tokens"),
        (vendors.WATSONX_ANSWERS, [of_watsonx("h", "max_tokens"), of_watsonx("h")], "TRUNCATED/max_tokens"),
        (vendors.WATSONX_ANSWERS, [of_watsonx("h"), of_watsonx("h")], "ok"),
        (vendors.WATSONX_ANSWERS, [], "UNKNOWN/empty_response"),
        (vendors.WATSONX, of_watsonx("h", "not_finished"), "ok"),
        (vendors.WATSONX, {"odd": 1}, "UNKNOWN/unexpected_body"),
        (vendors.QIANFAN, {"body": {"result": "hi", "finish_reason": "normal"}}, "ok"),
        (vendors.QIANFAN, {"body": {"result": "h", "is_truncated": True}}, "TRUNCATED/max_tokens"),
        (vendors.QIANFAN, {"body": {"result": "h", "finish_reason": "length"}}, "TRUNCATED/max_tokens"),
        (vendors.QIANFAN, {"body": {"result": "", "function_call": {"name": "f", "arguments": "{}"}}}, "ok"),
        (vendors.QIANFAN, {"body": {"result": "no", "need_clear_history": True}}, "PROMPT_BLOCKED/content_filter"),
        (vendors.QIANFAN, {"body": {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}}, "ok"),
        (vendors.QIANFAN, {"body": {"odd": 1}}, "UNKNOWN/unexpected_body"),
        (vendors.QIANFAN, "<html>", "UNKNOWN/unexpected_body"),
        (vendors.QIANFAN_DATA, {"body": {"data": [{"embedding": [1]}]}}, "ok"),
        (vendors.QIANFAN_RESULTS, {"results": []}, "UNKNOWN/empty_response"),
        (
            vendors.ALEPH,
            {"completions": [{"completion": "hi", "finish_reason": "maximum_tokens"}]},
            "TRUNCATED/max_tokens",
        ),
        (vendors.ALEPH, {"completions": [{"completion": "hi"}]}, "ok"),
        (vendors.ALEPH, {"message": {"content": "hi"}, "finish_reason": "stop"}, "ok"),
        (vendors.ALEPH, {"odd": 1}, "UNKNOWN/unexpected_body"),
        (vendors.REPLICATE, {"id": "p", "status": "succeeded"}, "ok"),
        (vendors.REPLICATE, {"id": "p", "status": "processing"}, "ok"),
        (PROTO, generated(candidate(_Reason.STOP, TEXT)), "ok"),
        (PROTO, generated(candidate(_Reason.STOP, CALL)), "ok"),
        (PROTO, generated(candidate(_Reason.SAFETY, EMPTY)), "OUTPUT_BLOCKED/safety"),
        (PROTO, generated(SimpleNamespace(finish_reason=7, content=None)), "UNKNOWN/unrecognised_finish_reason"),
        (PROTO, generated(prompt_feedback=SimpleNamespace(block_reason=_Reason.SAFETY)), "PROMPT_BLOCKED/safety"),
        (PROTO, SimpleNamespace(odd=1), "UNKNOWN/unexpected_body"),
    ],
)
def test_a_whole_answer(reader, whole, verdict):
    assert told(reader.whole(whole)) == verdict


@pytest.mark.parametrize("status", ["failed", "a status of tomorrow"])
def test_a_prediction_of_replicate_that_failed_or_has_an_unknown_status_is_a_failure(status):
    assert told(vendors.REPLICATE.whole({"id": "p", "status": status, "error": "CUDA out of memory"})) != "ok"


class _Ends(str, Enum):
    CONTENT_FILTER = "content_filter"


@pytest.mark.parametrize(
    ("reader", "chunks", "verdict"),
    [
        (dashscope.CHAT, (output(text="h", finish_reason="null"), output(text="i", finish_reason="stop")), "ok"),
        (dashscope.CHAT, (output(text="h", finish_reason="null"),), "TRANSPORT/stream_cut"),
        (
            dashscope.CHAT,
            (
                output(text="h", finish_reason="null"),
                {"status_code": 400, "code": "DataInspectionFailed", "message": "no"},
            ),
            "PROMPT_BLOCKED/content_filter",
        ),
        (dashscope.OUTPUT, (output(audio={"data": "x"}),), "ok"),
        (dashscope.OUTPUT, (), "UNKNOWN/empty_response"),
        (llama.LLAMA, (llama_event("hi"), llama_event(stop_reason="stop", metrics=TOKENS)), "ok"),
        (llama.LLAMA, ({"event": {"delta": {"type": "tool_call"}, "stop_reason": "tool_calls"}},), "ok"),
        (llama.LLAMA, ({"error": {"message": "Too many requests", "code": "rate_limit"}},), "RATE_LIMITED/requests"),
        (vendors.WATSONX, (of_watsonx("hi", "not_finished"), of_watsonx("", "eos_token")), "ok"),
        (vendors.QIANFAN, ({"body": {"result": "hi"}}, {"body": {"result": "", "is_end": True}}), "ok"),
        (vendors.QIANFAN, ({"body": {"result": "hi"}},), "TRANSPORT/stream_cut"),
        (vendors.QIANFAN_DATA, ({},), "ok"),
        (vendors.ALEPH, ({"completion": "hi"}, {"finish_reason": "end_of_text"}), "ok"),
        (vendors.ALEPH, ({"content": "hi"}, _Ends.CONTENT_FILTER), "OUTPUT_BLOCKED/content_filter"),
        (vendors.REPLICATE, ({"event": "output"}, {"event": "done", "data": "{}"}), "ok"),
        (vendors.REPLICATE, ({"event": "output"},), "TRANSPORT/stream_cut"),
        (vendors.REPLICATE, ({"event": "done"},), "UNKNOWN/empty_response"),
        (PROTO, (generated(candidate(0, TEXT)), generated(candidate(_Reason.STOP))), "ok"),
    ],
)
def test_a_stream(reader, chunks, verdict):
    assert told(of_chunks(reader, *chunks)) == verdict


@pytest.mark.parametrize("reason", ["error", "canceled"])
def test_a_stream_of_replicate_that_ends_with_a_reason_is_a_failure(reason):
    assert told(of_chunks(vendors.REPLICATE, {"event": "done", "data": f'{{"reason": "{reason}"}}'})) != "ok"


@pytest.mark.parametrize("reader", [dashscope.CHAT, llama.LLAMA, PROTO, vendors.ALEPH])
def test_a_stream_is_over_when_its_last_part_has_come(reader):
    assert not reader.chunks().done


def test_a_failure_ends_a_stream_of_dashscope():
    state = dashscope.CHAT.chunks()
    state.chunk({"status_code": 500, "code": "InternalError", "message": "no"})
    assert state.done


def test_the_code_of_qianfans_exception_is_read():
    assert exceptions.read(type("APIError", (Exception,), {"error_code": 336003, "error_msg": "no"})("no")).codes


def test_the_code_of_googles_api_core_is_read():
    error = type("GoogleAPICallError", (Exception,), {"grpc_status_code": SimpleNamespace(name="RESOURCE_EXHAUSTED")})(
        "no"
    )
    assert "RESOURCE_EXHAUSTED" in exceptions.read(error).codes
