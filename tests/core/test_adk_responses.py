"""google-adk's `LlmResponse` by its fields; tests/adk has the real ones."""

from types import SimpleNamespace

import pytest

from llm_errors import classify
from llm_errors.extract.adk import LlmResponseReader, is_call_limit, model_of, provider_of
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


UNSET = dict.fromkeys(("content", "partial", "turn_complete", "error_code", "error_message", "usage_metadata"))
USED = {"prompt_token_count": 8, "candidates_token_count": 2}


class Response(SimpleNamespace):
    """Stands for ADK's class: told by what it declares."""

    model_fields = {**UNSET, "finish_reason": None, "interrupted": None}


OF_UNKNOWN_ORIGIN = [
    ("words", response(HI), None),
    ("a class of ADK's with nothing set", Response(**UNSET), "UNKNOWN/empty_response"),
    ("a class of ADK's", Response(**{**UNSET, **response(HI), "usage_metadata": USED}), None),
    ("a dump of everything", {**UNSET, **response(HI), "usage_metadata": USED}, None),
    ("a dump of nothing", {**UNSET, "interrupted": None}, "UNKNOWN/empty_response"),
    ("a camel's dump", {"content": {"parts": [{"functionCall": {"name": "f"}}]}, "turnComplete": None, "usageMetadata": {}}, None),
    ("a camel's failure", {"errorCode": "MAX_TOKENS", "finishReason": "MAX_TOKENS", "modelVersion": "g"}, "TRUNCATED/max_tokens"),
    ("no content but usage", {"finish_reason": "STOP", "usage_metadata": USED}, "UNKNOWN/empty_response"),
    ("cut off", response(HI, finish_reason="MAX_TOKENS", error_code="MAX_TOKENS"), "TRUNCATED/max_tokens"),
    ("a blocked prompt", {"error_code": "MODEL_ARMOR", "error_message": "m"}, "PROMPT_BLOCKED/guardrail"),
    ("a camel's blocked prompt", {"errorCode": "SAFETY", "errorMessage": "m"}, "PROMPT_BLOCKED/safety"),
    ("a camel's event", {"author": "a", "actions": {}, "invocationId": "i"}, None),
    ("a model's error", {"error_code": "RESOURCE_EXHAUSTED", "error_message": "m"}, "RATE_LIMITED/requests"),
    ("no candidate", {"error_code": "UNKNOWN_ERROR", "error_message": "Unknown error."}, "UNKNOWN/empty_response"),
    ("an unknown error", {"error_code": "UNKNOWN_ERROR", "error_message": "m"}, "UNKNOWN/unexpected_body"),
    ("interrupted, with words", {"interrupted": True, **response(HI, finish_reason=None)}, None),
    ("interrupted", {"interrupted": True}, None),
    ("the end of a turn", {"turn_complete": True}, None),
    ("a transcript", {"turn_complete": None, "output_transcription": {"text": "Hi"}}, None),
    ("an event of the framework's own", {"turn_complete": None, "author": "a", "actions": {"state_delta": {"x": 1}}}, None),
    ("an empty answer as an event", {"finish_reason": "STOP", "author": "a", "usage_metadata": USED}, "UNKNOWN/empty_response"),
    ("what a live session has used", Response(**{**UNSET, "usage_metadata": USED, "model_version": "g"}), None),
    ("what a turn has used", {"turnComplete": True, "usageMetadata": {}, "author": "a"}, None),
    ("a part of an answer", response({"text": "hm", "thought": True}, partial=True), None),
    ("Gemini's own answer", {"candidates": [{"content": {"parts": [HI]}, "finishReason": "STOP"}], "interrupted": None}, None),
    ("OpenAI's own answer", {"choices": [{"finish_reason": "stop", "message": {"content": "Hi"}}], "turn_complete": None}, None),
    ("another finish reason at the top", {"finish_reason": "COMPLETE", "message": {}}, "UNKNOWN/empty_response"),
    ("another error_code", {"error_code": 17, "error_msg": "m"}, "UNKNOWN/unexpected_body"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), [o[1:] for o in OF_UNKNOWN_ORIGIN], ids=[o[0] for o in OF_UNKNOWN_ORIGIN])
def test_a_response_among_others(body, wanted):
    found = classify(body)
    assert (found and f"{found.error_class}/{found.reason}") == wanted


def test_the_content_free_facts():
    used = {"prompt_token_count": 8, "candidates_token_count": 2}
    facts = READER.whole(response(HI, model_version="g", usage_metadata=used))
    assert (facts.model, facts.finish_reasons, facts.input_tokens, facts.output_tokens) == ("g", ("STOP",), 8, 2)


MODELS = [
    ("", False, "gcp.gemini"),
    ("gemini-3-pro", False, "gcp.gemini"),
    ("gemini-3-pro", True, "gcp.vertex_ai"),
    ("projects/p/locations/l/publishers/google/models/gemini-3", False, "gcp.gemini"),
    ("claude-opus-5", True, "anthropic"),
    ("openai/gpt-5", False, "openai"),
    ("bedrock/titan", False, "aws.bedrock"),
    ("somebody/model", False, "somebody"),
    ("projects/p/locations/l/endpoints/1", False, "other"),
    ("my-model", False, "other"),
    ("/model", False, "other"),
]


@pytest.mark.parametrize(("model", "vertex", "provider"), MODELS, ids=[f"{m[0]} {m[1]}" for m in MODELS])
def test_the_provider_of_a_model(model, vertex, provider, monkeypatch):
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", str(vertex).upper())
    assert provider_of(model) == provider


def test_the_model_of_an_agent_is_a_name_or_an_object_with_one():
    assert model_of(SimpleNamespace(model="gemini-3")) == "gemini-3"
    assert model_of(SimpleNamespace(model=SimpleNamespace(model="openai/gpt-5"))) == "openai/gpt-5"
    assert model_of(None) == ""


def test_the_call_limit_is_recognised_by_the_name_of_its_exception():
    assert is_call_limit(type("LlmCallsLimitExceededError", (Exception,), {})())
    assert not is_call_limit(ValueError())
