"""generateContent and its relatives, as the wire's JSON."""

import pytest

from llm_errors import classify
from llm_errors.extract.results import GENERATE_CONTENT, RESULTS
from tests.core.verdicts import streamed, verdict

TEXT = [{"text": "Hi"}]


def candidate(finish="STOP", parts=TEXT, index=0):
    return {"index": index, "finishReason": finish, "content": {"role": "model", "parts": parts}}


def answer(*candidates, **more):
    return {"candidates": list(candidates), "modelVersion": "g", "responseId": "r", **more}


def blocked(reason):
    return {"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 8}}


WHOLE = [
    ("natural", answer(candidate()), None),
    ("no finish reason", answer(candidate(None)), None),
    ("an unspecified one", answer(candidate("FINISH_REASON_UNSPECIFIED")), None),
    ("a call", answer(candidate(parts=[{"functionCall": {"name": "f"}}])), None),
    ("token limit", answer(candidate("MAX_TOKENS")), "TRUNCATED/max_tokens"),
    ("safety", answer({"finishReason": "SAFETY"}), "OUTPUT_BLOCKED/safety"),
    ("safety beside a prompt feedback", {**answer({"finishReason": "SAFETY"}), **blocked("OTHER")}, "OUTPUT_BLOCKED/safety"),
    ("language", answer(candidate("LANGUAGE")), "OUTPUT_BLOCKED/language"),
    ("an image", answer(candidate("IMAGE_SAFETY", [])), "OUTPUT_BLOCKED/image_safety"),
    ("broken call", answer(candidate("MALFORMED_FUNCTION_CALL", [])), "TOOL_PROTOCOL/malformed_call"),
    ("too many calls", answer(candidate("TOO_MANY_TOOL_CALLS", [])), "TOOL_PROTOCOL/too_many_calls"),
    ("a new finish reason", answer(candidate("BRAND_NEW")), "UNKNOWN/unrecognised_finish_reason"),
    ("the second candidate", answer(candidate(), candidate("SPII", index=1)), "OUTPUT_BLOCKED/sensitive_data"),
    ("a blocked prompt", blocked("PROHIBITED_CONTENT"), "PROMPT_BLOCKED/prohibited_content"),
    ("an unspecified block", blocked("BLOCKED_REASON_UNSPECIFIED"), "PROMPT_BLOCKED/other"),
    ("a new block reason", blocked("BRAND_NEW"), "PROMPT_BLOCKED/other"),
    ("nothing", answer(candidate(parts=[])), "UNKNOWN/empty_response"),
    ("only a thought", answer(candidate(parts=[{"thought": True, "text": "hm"}])), "UNKNOWN/empty_response"),
    ("no candidates", {"candidates": [], "usageMetadata": {}}, "UNKNOWN/empty_response"),
    ("an error in its place", {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}, "RATE_LIMITED/requests"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), [w[1:] for w in WHOLE], ids=[w[0] for w in WHOLE])
def test_a_whole_answer(body, wanted):
    found = classify(body, provider="gcp.gemini")
    assert (found and f"{found.error_class}/{found.reason}") == wanted


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        ({}, "empty"),
        ({"modelVersion": "g"}, "empty"),
        ({"odd": 1}, "unexpected_body"),
        ("<html>", "unexpected_body"),
        ([1], "unexpected_body"),
    ],
    ids=repr,
)
def test_bodies_that_are_no_answer(body, fact):
    assert fact in GENERATE_CONTENT.whole(body).suspicion.facts


STREAMS = [
    ("natural", [answer(candidate(None)), answer(candidate("STOP", []))], None),
    ("a candidate again after its end", [answer(candidate()), answer(candidate(None))], None),
    ("a thought and an empty text", [answer(candidate("STOP", [{"thought": True}, {"text": ""}, *TEXT]))], None),
    ("cut", [answer(candidate(None))], "TRANSPORT/stream_cut"),
    ("blocked in the middle", [answer(candidate(None)), answer({"finishReason": "SAFETY"})], "OUTPUT_BLOCKED/safety"),
    ("blocked prompt", [blocked("SAFETY")], "PROMPT_BLOCKED/safety"),
    ("nothing", [], "UNKNOWN/empty_response"),
    ("one of two candidates never ends", [answer(candidate(None), candidate(None, index=1)), answer(candidate())], "TRANSPORT/stream_cut"),
]  # fmt: skip


@pytest.mark.parametrize(("chunks", "wanted"), [s[1:] for s in STREAMS], ids=[s[0] for s in STREAMS])
def test_a_stream(chunks, wanted):
    assert verdict(streamed(GENERATE_CONTENT, chunks)) == wanted


def test_the_content_free_facts():
    facts = GENERATE_CONTENT.whole(
        answer(candidate(), usageMetadata={"promptTokenCount": 8, "candidatesTokenCount": 2})
    )
    assert (facts.model, facts.id, facts.finish_reasons) == ("g", "r", ("STOP",))
    assert (facts.input_tokens, facts.output_tokens) == (8, 2)
    snake = GENERATE_CONTENT.whole(
        {"candidates": [candidate()], "usage_metadata": {"prompt_token_count": 8, "candidates_token_count": 2}}
    )
    assert (snake.input_tokens, snake.output_tokens) == (8, 2)


def test_content_is_seen_once():
    state = GENERATE_CONTENT.chunks()
    assert not state.has_content
    state.chunk(answer(candidate(None)))
    assert state.has_content


def test_a_reason_that_never_came_is_an_error_in_a_stream_only():
    assert streamed(GENERATE_CONTENT, [answer(candidate(None))]).finish_reasons == ("error",)
    assert GENERATE_CONTENT.whole(answer(candidate(None))).finish_reasons == ()


RESULT_BODIES = [
    ({"embeddings": [{"values": [1]}]}, None),
    ({"embedding": {"values": [1]}}, None),
    ({"predictions": [{"bytesBase64Encoded": "x"}]}, None),
    ({"predictions": [{"raiFilteredReason": "blocked"}]}, "OUTPUT_BLOCKED/image_safety"),
    ({"predictions": []}, "UNKNOWN/empty_response"),
    ({}, "UNKNOWN/empty_response"),
    ({"error": {"code": 404, "status": "NOT_FOUND"}}, "NOT_FOUND/model"),
    ("<html>", "UNKNOWN/unexpected_body"),
]


@pytest.mark.parametrize(("body", "wanted"), RESULT_BODIES, ids=repr)
def test_embeddings_and_images(body, wanted):
    assert verdict(RESULTS.whole(body)) == wanted


def test_a_stream_of_results_is_read_by_its_last_chunk():
    state = RESULTS.chunks()
    assert "empty" in state.end().suspicion.facts
    state.chunk({"embedding": {"values": [1]}})
    assert state.done
    assert state.end().suspicion is None
