"""google-adk's `LlmResponse` by its fields; tests/adk has the real ones."""

import pytest

from llm_errors.reading.adk import LlmResponseReader
from tests.core.verdicts import streamed, verdict

READER = LlmResponseReader()


def response(*parts, **more):
    return {"content": {"parts": list(parts)}, "finish_reason": "STOP", **more}


HI = {"text": "Hi"}
RESPONSES = [
    ("words", [response(HI)], None),
    ("a call", [response({"function_call": {"name": "f"}})], None),
    ("grounding alone", [response(grounding_metadata={"x": 1})], None),
    ("an unspecified reason", [response(HI, finish_reason="FINISH_REASON_UNSPECIFIED")], None),
    ("ADK's code for an end", [response(HI, error_code="STOP")], None),
    ("content in the partial ones", [response(HI, partial=True), response()], None),
    ("white space", [response({"text": " "})], "UNKNOWN/empty_response"),
    ("a thought", [response({"text": "hm", "thought": True})], "UNKNOWN/empty_response"),
    ("nothing, by ADK's code", [response(error_code="MODEL_RETURNED_NO_CONTENT")], "UNKNOWN/empty_response"),
    ("nothing at all", [], "UNKNOWN/empty_response"),
    ("cut off", [response(HI, finish_reason="MAX_TOKENS", error_code="MAX_TOKENS")], "TRUNCATED/max_tokens"),
    ("a partial one is not judged", [response(partial=True, finish_reason="SAFETY"), response(HI)], None),
    ("blocked prompt", [response(finish_reason=None, error_code="SAFETY")], "PROMPT_BLOCKED/safety"),
    ("broken arguments", [response(error_code="JSON_PARSE_ERROR")], "TOOL_PROTOCOL/invalid_arguments"),
    ("an error", [response(error_code="RESOURCE_EXHAUSTED", error_message="m")], "RATE_LIMITED/requests"),
]  # fmt: skip


@pytest.mark.parametrize(("responses", "wanted"), [r[1:] for r in RESPONSES], ids=[r[0] for r in RESPONSES])
def test_the_responses_of_a_call(responses, wanted):
    assert verdict(streamed(READER, responses)) == wanted


def test_the_content_free_facts():
    used = {"prompt_token_count": 8, "candidates_token_count": 2}
    facts = READER.whole(response(HI, model_version="g", usage_metadata=used))
    assert (facts.model, facts.finish_reasons, facts.input_tokens, facts.output_tokens) == ("g", ("STOP",), 8, 2)
