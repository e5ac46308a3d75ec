"""Kinds of failure that users of compatible servers report in public, through the SDK they use for them."""

import pytest

openai = pytest.importorskip("openai")

from llm_errors import classify  # noqa: E402
from llm_errors.demo.provider import Reply  # noqa: E402


def make(url, asynchronous):
    client = openai.AsyncOpenAI if asynchronous else openai.OpenAI
    return client(api_key="k", base_url=url + "/v1", max_retries=0, timeout=2.0)


def chat(client):
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])


def flat(message, kind="BadRequestError", code=400):
    return {"object": "error", "message": message, "type": kind, "param": None, "code": code}


def nested(message, **more):
    return {"error": {"message": message, **more}}


UPSTREAM = {"code": 429, "metadata": {"raw": "busy", "provider_name": "P"}}
REPORTED = {
    "vllm: context": (400, flat("This model's maximum context length is 8 tokens."), "BAD_REQUEST/context_overflow"),
    "vllm: limit below one": (400, flat("max_tokens must be at least 1, got -186."), "BAD_REQUEST/invalid_parameter"),
    "vllm: no such model": (404, flat("The model `m` does not exist.", "NotFoundError", 404), "NOT_FOUND/model"),
    "llama.cpp: context": (
        400, nested("too big", code=400, type="exceed_context_size_error"), "BAD_REQUEST/context_overflow"),
    "llama.cpp: loading": (
        503, nested("Loading model", code=503, type="unavailable_error"), "SERVER/unavailable"),
    "lm studio: context": (
        400, {"error": "Trying to keep 9 tokens. The model is loaded with context length of only 8 tokens"},
        "BAD_REQUEST/context_overflow"),
    "ollama: no such model": (
        404, nested('model "m" not found, try pulling it first', type="api_error"), "NOT_FOUND/model"),
    "deepseek: balance": (402, nested("Insufficient Balance", code="invalid_request_error"), "CALL_BUDGET/billing"),
    "deepseek behind a proxy": (
        400, nested("Insufficient Balance", code="invalid_request_error"), "CALL_BUDGET/billing"),
    "openrouter: upstream busy": (429, nested("Provider returned error", **UPSTREAM), "RATE_LIMITED/upstream"),
    "openrouter: free requests of the day": (
        429, nested("Rate limit exceeded: free-models-per-day", code=429), "RATE_LIMITED/daily_quota"),
    "openrouter: credits": (402, nested("This request requires more credits", code=402), "CALL_BUDGET/billing"),
    "openrouter: error beside an empty choice": (
        200, {**nested("Provider returned error", **UPSTREAM), "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": None}}]},
        "RATE_LIMITED/upstream"),
    "litellm: budget by type": (
        429, nested("over", type="budget_exceeded", code="429"), "CALL_BUDGET/spend_limit"),
    "litellm: budget by text": (
        400, nested("Budget has been exceeded! Current cost: 14, Max budget: 10", code="400"),
        "CALL_BUDGET/spend_limit"),
    "litellm: budget as an auth error": (
        400, nested("ExceededBudget: End User=u over budget.", type="auth_error", code=400), "CALL_BUDGET/spend_limit"),
    "litellm: key": (401, nested("Invalid proxy token", type="auth_error", code=401), "AUTH/invalid_key"),
    "azure: filter": (
        400, nested("filtered", code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"jailbreak": {"filtered": True, "detected": True}}}), "PROMPT_BLOCKED/jailbreak"),
    "azure: deployment": (404, nested("none", code="DeploymentNotFound"), "NOT_FOUND/deployment"),
    "azure: gateway": (401, {"statusCode": 401, "message": "Access denied"}, "AUTH/invalid_key"),
    "xai: key": (400, {"code": "Client specified an invalid argument", "error": "Incorrect API key provided: xx."},
        "AUTH/invalid_key"),
    "quoted text is the caller's": (
        400, nested("Invalid schema: unknown field 'maximum context length'", type="invalid_request_error"),
        "BAD_REQUEST/invalid_parameter"),
    "echoed input is the caller's": (
        400, nested("1 validation error, input_value=insufficient balance, credit balance"), "BAD_REQUEST/invalid_parameter"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REPORTED)
def test_a_reported_kind(play, kind):
    status, body, verdict = REPORTED[kind]
    seen = play(make, chat, Reply(status, json=body))
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


def test_gemini_says_the_region_in_words():
    errors = pytest.importorskip("google.genai.errors")
    body = {"error": {"code": 400, "status": "FAILED_PRECONDITION",
                      "message": "User location is not supported for the API use."}}  # fmt: skip
    found = classify(errors.ClientError(400, body))
    assert (found.error_class, found.reason) == ("AUTH", "region")
