"""What Bedrock's models say in their own JSON, whole and in pieces; what agents, flows and guardrails say."""

import base64
import json

import pytest

from llm_errors import classify
from llm_errors.extract import glimpse
from llm_errors.extract.bedrock_agents import AcceptedReader, EventsReader, PolicyReader, TextReader
from llm_errors.extract.bedrock_invoke import InvokeReader
from llm_errors.extract.guardrail import only_masks
from tests.core.verdicts import streamed, verdict

INVOKE = InvokeReader()
BLOCKED_TOPIC = {"topicPolicy": {"topics": [{"name": "T", "type": "DENY", "action": "BLOCKED"}]}}
MASKED_NAME = {"sensitiveInformationPolicy": {"piiEntities": [{"type": "NAME", "match": "x", "action": "ANONYMIZED"}]}}
CLAUDE = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
}
GUARDED = {"amazon-bedrock-guardrailAction": "INTERVENED"}
FAMILIES = [
    (CLAUDE, "ok"),
    ({**CLAUDE, "stop_reason": "max_tokens"}, "TRUNCATED/max_tokens"),
    ({**CLAUDE, "stop_reason": "refusal"}, "OUTPUT_BLOCKED/refusal"),
    ({**CLAUDE, "content": []}, "UNKNOWN/empty_response"),
    ({**CLAUDE, **GUARDED}, "OUTPUT_BLOCKED/guardrail"),
    ({**CLAUDE, **GUARDED, "amazon-bedrock-trace": {"guardrail": {"input": {"g": BLOCKED_TOPIC}}}}, "PROMPT_BLOCKED/guardrail"),
    ({**CLAUDE, **GUARDED, "amazon-bedrock-trace": {"guardrail": {"outputs": [{"g": BLOCKED_TOPIC}]}}}, "OUTPUT_BLOCKED/guardrail"),
    ({**CLAUDE, **GUARDED, "amazon-bedrock-trace": {"guardrail": {"outputs": [{"g": MASKED_NAME}]}}}, "ok"),
    ({"completion": "hi", "stop_reason": "stop_sequence", "stop": "x"}, "ok"),
    ({"completion": "hi", "stop_reason": "max_tokens"}, "TRUNCATED/max_tokens"),
    ({"results": [{"outputText": "hi", "completionReason": "FINISH"}], "inputTextTokenCount": 1}, "ok"),
    ({"results": [{"outputText": "hi", "completionReason": "LENGTH"}]}, "TRUNCATED/max_tokens"),
    ({"results": [{"outputText": "", "completionReason": "CONTENT_FILTERED"}]}, "OUTPUT_BLOCKED/content_filter"),
    ({"generation": "hi", "stop_reason": "stop", "prompt_token_count": 1}, "ok"),
    ({"generation": "hi", "stop_reason": "length"}, "TRUNCATED/max_tokens"),
    ({"generation": "", "stop_reason": "stop"}, "UNKNOWN/empty_response"),
    ({"outputs": [{"text": "hi", "stop_reason": "stop"}]}, "ok"),
    ({"outputs": [{"text": "hi", "stop_reason": "length"}]}, "TRUNCATED/max_tokens"),
    ({"completions": [{"data": {"text": "hi"}, "finishReason": {"reason": "endoftext"}}]}, "ok"),
    ({"completions": [{"data": {"text": "hi"}, "finishReason": {"reason": "length"}}]}, "TRUNCATED/max_tokens"),
    ({"text": "hi", "finish_reason": "COMPLETE", "generation_id": "g"}, "ok"),
    ({"text": "hi", "finish_reason": "MAX_TOKENS"}, "TRUNCATED/max_tokens"),
    ({"text": "", "finish_reason": "ERROR_TOXIC"}, "OUTPUT_BLOCKED/safety"),
    ({"text": "", "finish_reason": "TOOL_CALL", "tool_calls": [{"name": "f"}]}, "ok"),
    ({"generations": [{"text": "hi", "finish_reason": "ERROR_LIMIT"}]}, "TRUNCATED/context_window"),
    ({"generations": [{"text": "hi", "finish_reason": "ERROR"}]}, "SERVER/other"),
    ({"choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}]}, "ok"),
    ({"choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "length"}]}, "TRUNCATED/max_tokens"),
    ({"choices": [{"text": "hi", "stop_reason": "length"}]}, "TRUNCATED/max_tokens"),
    ({"message": "hi", "finishReason": "stop"}, "ok"),
    ({"message": "hi", "finishReason": "length"}, "TRUNCATED/max_tokens"),
    ({"output": {"message": {"content": [{"text": "hi"}]}}, "stopReason": "end_turn"}, "ok"),
    ({"output": {"message": {"content": [{"text": "hi"}]}}, "stopReason": "content_filtered"}, "OUTPUT_BLOCKED/content_filter"),
    ({"seeds": [1], "finish_reasons": [None], "images": ["aGk="]}, "ok"),
    ({"finish_reasons": ["Filter reason: prompt"], "images": []}, "PROMPT_BLOCKED/content_filter"),
    ({"finish_reasons": ["Filter reason: output image"], "images": []}, "OUTPUT_BLOCKED/content_filter"),
    ({"result": "success", "artifacts": [{"base64": "aGk=", "finishReason": "CONTENT_FILTERED"}]}, "OUTPUT_BLOCKED/content_filter"),
    ({"images": ["aGk="], "error": None}, "ok"),
    ({"embedding": [0.1], "inputTextTokenCount": 3}, "ok"),
    ({"embeddings": [[0.1]], "id": "i", "response_type": "embeddings_floats"}, "ok"),
    ({"embedding": []}, "UNKNOWN/empty_response"),
    ({"anything": "an imported model says"}, "ok"),
    ({}, "UNKNOWN/empty_response"),
    ({"generation": "hi", "stop_reason": "brand_new"}, "UNKNOWN/unrecognised_finish_reason"),
]  # fmt: skip


def event(said):
    return {"chunk": {"bytes": json.dumps(said).encode()}}


NATIVE = [
    ({"results": [{"outputText": "hi", "completionReason": "LENGTH"}]}, "TRUNCATED/max_tokens"),
    ({"results": [{"outputText": "", "completionReason": "CONTENT_FILTERED"}]}, "OUTPUT_BLOCKED/content_filter"),
    ({"results": [{"outputText": "hi", "completionReason": "FINISH"}]}, None),
    ({"generation": "hi", "stop_reason": "length"}, "TRUNCATED/max_tokens"),
    ({"generation": "hi", "stop_reason": "stop"}, None),
    ({"outputs": [{"text": "hi", "stop_reason": "length"}]}, "TRUNCATED/max_tokens"),
    ({"outputs": [{"text": "hi", "stop_reason": "stop"}]}, None),
    ({"completions": [{"data": {"text": "hi"}, "finishReason": {"reason": "length"}}]}, "TRUNCATED/max_tokens"),
    ({"completion": "hi", "stop_reason": "max_tokens"}, "TRUNCATED/max_tokens"),
    ({"completion": "hi", "stop_reason": "stop_sequence"}, None),
    ({"generations": [{"text": "hi", "finish_reason": "MAX_TOKENS"}]}, "TRUNCATED/max_tokens"),
    ({"embedding": [0.1], "inputTextTokenCount": 1}, None),
    ({"images": [], "finish_reasons": ["Filter reason: prompt"]}, "PROMPT_BLOCKED/content_filter"),
    ({**GUARDED, "completion": "no", "stop_reason": "stop_sequence"}, "OUTPUT_BLOCKED/guardrail"),
]


@pytest.mark.parametrize(("answer", "expected"), NATIVE, ids=range(len(NATIVE)))
def test_classify_knows_the_shape_of_a_plain_dictionary(answer, expected):
    found = classify(answer, provider="aws.bedrock")
    assert (found and f"{found.error_class.value}/{found.reason}") == expected


@pytest.mark.parametrize(("body", "expected"), FAMILIES, ids=range(len(FAMILIES)))
def test_an_answer_of_a_family(body, expected):
    assert (verdict(INVOKE.whole(body)) or "ok") == expected


MEASURED = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 1}}
BLOCK = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}}
PIECES = [
    ([BLOCK, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop", **MEASURED}], "ok"),
    ([BLOCK, {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}, {"type": "message_stop", **MEASURED}], "TRUNCATED/max_tokens"),
    ([BLOCK], "TRANSPORT/stream_cut"),
    ([{"outputText": "hi", "index": 0, "completionReason": None}, {"outputText": "", "completionReason": "LENGTH", **MEASURED}], "TRUNCATED/max_tokens"),
    ([{"generation": "hi", "stop_reason": None}, {"generation": "", "stop_reason": "stop", **MEASURED}], "ok"),
    ([{"generation": "hi", "stop_reason": None}], "TRANSPORT/stream_cut"),
    ([{"outputs": [{"text": "hi", "stop_reason": None}]}, {"outputs": [{"text": "", "stop_reason": "length"}]}], "TRUNCATED/max_tokens"),
    ([{"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": None}]}, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}], "ok"),
    ([{"contentBlockDelta": {"delta": {"text": "hi"}}}, {"messageStop": {"stopReason": "max_tokens"}}, {"metadata": {"usage": {}}, **MEASURED}], "TRUNCATED/max_tokens"),
    ([BLOCK, GUARDED, {"type": "message_stop"}], "OUTPUT_BLOCKED/guardrail"),
]  # fmt: skip


@pytest.mark.parametrize(("pieces", "expected"), PIECES, ids=range(len(PIECES)))
def test_a_stream_of_a_family(pieces, expected):
    assert (verdict(streamed(INVOKE, map(event, pieces))) or "ok") == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("<html>", "UNKNOWN/unexpected_body"),
        ([{"generated_text": "hi", "details": {"finish_reason": "length"}}], "TRUNCATED/max_tokens"),
        ({"error": {"message": "m", "type": "overloaded_error"}}, "SERVER/overloaded"),
        ({"choices": [{"index": 0}]}, "ok"),
    ],
)
def test_what_is_no_answer_of_a_family(said, expected):
    assert (verdict(INVOKE.whole(said)) or "ok") == expected


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], "UNKNOWN/empty_response"),
        ([{"PayloadPart": {"Bytes": b"data: {}"}}], "ok"),
        ([{"PayloadPart": {"Bytes": base64.b64encode(b"x")}}], "ok"),
        ([event({"anything": 1})], "ok"),
        ([event({"error": {"message": "m", "type": "overloaded_error"}})], "SERVER/overloaded"),
    ],
)
def test_a_stream_of_no_family(events, expected):
    assert (verdict(streamed(INVOKE, events)) or "ok") == expected


def test_a_stream_ends_for_good_with_the_measurements():
    state = INVOKE.chunks()
    assert not state.chunk(event({"generation": "hi", "stop_reason": "stop"}))
    assert state.done
    assert state.chunk(event({"generation": "", "stop_reason": "stop", **MEASURED}))


AGENT, FLOW = EventsReader(("chunk",)), EventsReader(("flowOutputEvent",), "flowCompletionEvent")
SAID, FLOWN = {"chunk": {"bytes": b"hi"}}, {"flowOutputEvent": {"content": {}}}
DONE = {"flowCompletionEvent": {"completionReason": "SUCCESS"}}


def traced(action, **assessments):
    return {"trace": {"trace": {"guardrailTrace": {"action": action, **assessments}}}}


@pytest.mark.parametrize(
    ("reader", "events", "expected"),
    [
        (AGENT, [SAID], "ok"),
        (AGENT, [], "UNKNOWN/empty_response"),
        (AGENT, [traced("NONE"), SAID], "ok"),
        (AGENT, [traced("INTERVENED", inputAssessments=[BLOCKED_TOPIC]), SAID], "PROMPT_BLOCKED/guardrail"),
        (AGENT, [traced("INTERVENED", outputAssessments=[BLOCKED_TOPIC]), SAID], "OUTPUT_BLOCKED/guardrail"),
        (AGENT, [traced("INTERVENED", outputAssessments=[MASKED_NAME]), SAID], "ok"),
        (FLOW, [FLOWN, DONE], "ok"),
        (FLOW, [FLOWN], "TRANSPORT/stream_cut"),
        (FLOW, [FLOWN, {"flowCompletionEvent": {"completionReason": "NEW"}}], "UNKNOWN/unrecognised_finish_reason"),
        (
            TextReader(),
            [{"output": {"text": "no"}}, {"guardrail": {"action": "INTERVENED"}}],
            "OUTPUT_BLOCKED/guardrail",
        ),
        (PolicyReader(), [], "ok"),
        (AcceptedReader(), [], "ok"),
    ],
)
def test_events(reader, events, expected):
    assert (verdict(streamed(reader, events)) or "ok") == expected


def test_a_flow_ends_for_good_with_its_completion():
    assert FLOW.chunks().chunk(DONE)


@pytest.mark.parametrize(
    ("reader", "answer", "expected"),
    [
        (TextReader(), {"output": {"text": "hi"}}, "ok"),
        (TextReader(), {"output": {"text": ""}}, "UNKNOWN/empty_response"),
        (TextReader(), {"output": {"text": "no"}, "guardrailAction": "INTERVENED"}, "OUTPUT_BLOCKED/guardrail"),
        (TextReader(), {}, "UNKNOWN/unexpected_body"),
        (AcceptedReader(), {"invocationArn": "a"}, "ok"),
        (AcceptedReader(), "<html>", "UNKNOWN/unexpected_body"),
        (AGENT, "<html>", "UNKNOWN/unexpected_body"),
        (PolicyReader("INPUT"), {"action": "GUARDRAIL_INTERVENED", "assessments": []}, "PROMPT_BLOCKED/guardrail"),
        (PolicyReader("OUTPUT"), {"action": "GUARDRAIL_INTERVENED", "assessments": [MASKED_NAME]}, "ok"),
        (PolicyReader("OUTPUT"), {"action": "NONE"}, "ok"),
        (PolicyReader("OUTPUT"), "<html>", "UNKNOWN/unexpected_body"),
    ],
)
def test_whole_answers(reader, answer, expected):
    assert (verdict(reader.whole(answer)) or "ok") == expected


def test_a_guardrail_that_masks_and_blocks_has_not_only_masked():
    assert only_masks([MASKED_NAME])
    assert not only_masks([MASKED_NAME, BLOCKED_TOPIC])
    assert not only_masks([])


def test_a_body_that_is_only_text_is_read_by_its_family():
    answer = glimpse.read(INVOKE, "bedrock", b'{"generation": "hi", "stop_reason": "length"}')
    assert verdict(answer) == "TRUNCATED/max_tokens"
