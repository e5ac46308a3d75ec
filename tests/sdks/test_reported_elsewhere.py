"""Kinds of failure that users of Anthropic, Bedrock, Vertex and Gemini report in public, as the SDKs raise them."""

import importlib
import json

import pytest

from llm_errors import classify


def _raised(client, status, body, headers=None):
    """The exception that the client makes of an error response."""
    library = importlib.import_module(type(client._client).__mro__[-2].__module__.split(".")[0])
    request = library.Request("POST", "http://127.0.0.1:9/v1/messages")
    response = library.Response(status, request=request, headers=headers, json=body)
    return client._make_status_error("m", body=body, response=response)


def _verdict(error):
    found = classify(error)
    return f"{found.error_class}/{found.reason}"


def error(kind, message="x", **more):
    return {"type": "error", "error": {"type": kind, "message": message, **more}}


def bad(message):
    return error("invalid_request_error", message)


def googles(code, status, reason, message="x"):
    return {"error": {"code": code, "status": status, "message": message, "details": [{"reason": reason}]}}


ANTHROPIC = {
    "organization": (400, bad("This organization has been disabled."), "AUTH/account_disabled"),
    "expired token": (401, error("authentication_error", "OAuth token has expired."), "AUTH/expired"),
    "tokens of a minute": (
        429, error("rate_limit_error", "would exceed your rate limit of 9 input tokens per minute"), "RATE_LIMITED/tokens"),
    "connections": (
        429, error("rate_limit_error", "Number of concurrent connections has exceeded your rate limit"), "RATE_LIMITED/concurrency"),
    "pixels": (
        400, bad("messages.1.image: At least one of the image dimensions exceed max allowed size: 8 pixels"), "BAD_REQUEST/invalid_media"),
    "weight of an image": (400, bad("messages.1.image: image exceeds 5 MB maximum"), "BAD_REQUEST/invalid_media"),
    "pdf": (400, bad("messages.1.pdf: The PDF specified was not valid."), "BAD_REQUEST/invalid_media"),
    "two uses of an id": (400, bad("messages.1: `tool_use` ids must be unique"), "BAD_REQUEST/malformed_history"),
    "thinking first": (
        400, bad("messages.1: Expected `thinking` or `redacted_thinking`, but found `tool_use`."), "BAD_REQUEST/malformed_history"),
    "thinking changed": (
        400, bad("messages.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."),
        "BAD_REQUEST/malformed_history"),
    "signature": (400, bad("messages.1: Invalid `signature` in `thinking` block"), "BAD_REQUEST/malformed_history"),
    "output": (400, bad("Output blocked by content filtering policy"), "OUTPUT_BLOCKED/content_filter"),
    "in mid-stream: long prompt": (200, bad("prompt is too long: 9 tokens > 8 maximum"), "BAD_REQUEST/context_overflow"),
    "in mid-stream: output": (200, bad("Output blocked by content filtering policy"), "OUTPUT_BLOCKED/content_filter"),
    "in mid-stream: nothing known": (200, bad("x"), "BAD_REQUEST/invalid_parameter"),
    "plan without long prompts": (
        429, error("rate_limit_error", "Extra usage is required for long context requests."), "CALL_BUDGET/billing"),
    "no extra usage left": (400, bad("You're out of extra usage. Add more and keep going."), "CALL_BUDGET/billing"),
    "extra usage not claimed": (
        400, bad("Third-party apps now draw from your extra usage, not your plan limits."), "CALL_BUDGET/billing"),
    "a gateway without its quotes": (
        400, bad("messages.1: tool_use ids were found without tool_result blocks immediately after: t."), "BAD_REQUEST/malformed_history"),
    "a busy minute of the account": (
        429, error("rate_limit_error", "This request would exceed your account's rate limit."), "RATE_LIMITED/requests"),
    "prefill": (400, bad("This model does not support assistant message prefill."), "BAD_REQUEST/unsupported"),
    "pages": (400, bad("messages.4.pdf: A maximum of 100 PDF pages may be provided."), "BAD_REQUEST/invalid_media"),
    "number of images": (400, bad("too many images and documents: 104 + 1 > 100"), "BAD_REQUEST/invalid_media"),
    "unreadable pdf": (400, bad("Could not process PDF"), "BAD_REQUEST/invalid_media"),
    "deepseek: thinking left out of the history": (
        400, bad("The `content[].thinking` in the thinking mode must be passed back to the API."), "BAD_REQUEST/malformed_history"),
    "vertex: tokens, named in the text": (
        429, googles(429, "RESOURCE_EXHAUSTED", "", "Quota exceeded for online_prediction_input_tokens_per_minute_per_base_model."),
        "RATE_LIMITED/tokens"),
    "vertex: requests, named in the text": (
        429, googles(429, "RESOURCE_EXHAUSTED", "", "Quota exceeded for online_prediction_requests_per_base_model."),
        "RATE_LIMITED/requests"),
    "vertex: Anthropic's error as the message of Google's": (
        400, googles(400, "INVALID_ARGUMENT", "", json.dumps(bad("prompt is too long: 9 tokens > 8 maximum"))),
        "BAD_REQUEST/context_overflow"),
    "glm: balance beside a type": (429, error("rate_limit_error", code="1113"), "CALL_BUDGET/billing"),
    "glm: balance as the type": (429, error("1113"), "CALL_BUDGET/billing"),
    "minimax: balance": (500, error("api_error", "insufficient balance (1008)"), "CALL_BUDGET/billing"),
    "foundry: role": (401, {"error": {"code": "PermissionDenied", "message": "x"}}, "AUTH/permission_denied"),
    "foundry: deployment": (404, {"error": {"code": "DeploymentNotFound", "message": "x"}}, "NOT_FOUND/deployment"),
    "vertex: billing": (403, googles(403, "PERMISSION_DENIED", "BILLING_DISABLED"), "CALL_BUDGET/billing"),
    "vertex: expired": (401, googles(401, "UNAUTHENTICATED", "ACCESS_TOKEN_EXPIRED"), "AUTH/expired"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ANTHROPIC)
def test_anthropic(kind):
    status, body, verdict = ANTHROPIC[kind]
    with pytest.importorskip("anthropic").Anthropic(api_key="k", base_url="http://127.0.0.1:9") as client:
        assert _verdict(_raised(client, status, body)) == verdict


def named(exception):
    return {"x-amzn-errortype": f"{exception}:http://internal.amazon.com/"}


BEDROCK = {
    "expired, named": (403, "x", named("ExpiredTokenException"), "AUTH/expired"),
    "key, named": (403, "x", named("UnrecognizedClientException"), "AUTH/invalid_key"),
    "not ready, named": (429, "x", named("ModelNotReadyException"), "SERVER/model_not_ready"),
    "timeout, named": (408, "x", named("ModelTimeoutException"), "TIMEOUT/provider"),
    "model, named": (424, "x", named("ModelErrorException"), "SERVER/model_error"),
    "quota, named": (400, "x", named("ServiceQuotaExceededException"), "RATE_LIMITED/service_quota"),
    "tokens, named": (429, "Too many tokens, please wait.", named("ThrottlingException"), "RATE_LIMITED/tokens"),
    "day, named": (429, "Too many tokens per day, please wait.", named("ThrottlingException"), "RATE_LIMITED/daily_quota"),
    "length, named": (400, "Input is too long for requested model.", named("ValidationException"), "BAD_REQUEST/context_overflow"),
    "tokens": (429, "Too many tokens, please wait.", None, "RATE_LIMITED/tokens"),
    "day": (429, "Too many tokens per day, please wait.", None, "RATE_LIMITED/daily_quota"),
    "model": (400, "The provided model identifier is invalid.", None, "NOT_FOUND/model"),
    "on demand": (400, "Invocation with on-demand throughput isn\u2019t supported.", None, "BAD_REQUEST/unsupported"),
    "country": (400, "Access is not allowed from unsupported countries.", None, "AUTH/region"),
    "expired": (403, "The security token included in the request is expired", None, "AUTH/expired"),
    "key": (403, "The security token included in the request is invalid.", None, "AUTH/invalid_key"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BEDROCK)
def test_bedrock(kind):
    status, message, headers, verdict = BEDROCK[kind]
    bedrock = pytest.importorskip("anthropic").AnthropicBedrock
    with bedrock(aws_access_key="a", aws_secret_key="b", aws_region="us-east-1") as client:
        assert _verdict(_raised(client, status, {"message": message}, headers)) == verdict


def day(**metadata):
    return {"reason": "RATE_LIMIT_EXCEEDED", "metadata": metadata}


GEMINI = {
    "prepaid": (429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", {}, "CALL_BUDGET/billing"),
    "cap": (429, "RESOURCE_EXHAUSTED", "Your project has exceeded its monthly spending cap.", {}, "CALL_BUDGET/spend_limit"),
    "day, by its metadata": (429, "RESOURCE_EXHAUSTED", "x", day(quota_limit="RequestsPerDayPerUser"), "RATE_LIMITED/daily_quota"),
    "capacity": (429, "RESOURCE_EXHAUSTED", "x", {"reason": "MODEL_CAPACITY_EXHAUSTED"}, "SERVER/overloaded"),
    "demand": (503, "UNAVAILABLE", "This model is currently experiencing high demand.", {}, "SERVER/overloaded"),
    "answers of functions": (
        400, "INVALID_ARGUMENT", "ensure that the number of function response parts is equal to the calls", {},
        "BAD_REQUEST/malformed_history"),
    "order": (
        400, "INVALID_ARGUMENT", "ensure that function call turn comes immediately after a user turn", {}, "BAD_REQUEST/malformed_history"),
    "signature": (
        400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts.", {},
        "BAD_REQUEST/malformed_history"),
    "image": (400, "INVALID_ARGUMENT", "Provided image is not valid.", {}, "BAD_REQUEST/invalid_media"),
    "tools together": (400, "INVALID_ARGUMENT", "Tool use with function calling is unsupported", {}, "BAD_REQUEST/unsupported"),
    "leaked key": (403, "PERMISSION_DENIED", "Your API key was reported as leaked.", {}, "AUTH/invalid_key"),
    "terms": (
        403, "PERMISSION_DENIED", "This service has been disabled in this account for violation of Terms of\n\t\tService.", {},
        "AUTH/account_disabled"),
    "cancelled there": (499, "CANCELLED", "The operation was cancelled.", {"reason": "backendError"}, "SERVER/internal"),
    "size": (400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 9 bytes.", {}, "BAD_REQUEST/request_too_large"),
    "billed users": (
        400, "INVALID_ARGUMENT", "Imagen API is only accessible to billed users at this time.", {}, "CALL_BUDGET/billing"),
    "practices": (
        400, "INVALID_ARGUMENT", "This prompt has words that violate Google's Responsible AI practices.", {}, "PROMPT_BLOCKED/safety"),
}  # fmt: skip


@pytest.mark.parametrize("kind", GEMINI)
def test_gemini(kind):
    errors = pytest.importorskip("google.genai.errors")
    code, status, message, detail, verdict = GEMINI[kind]
    body = {"error": {"code": code, "status": status, "message": message, "details": [detail]}}
    assert _verdict(errors.APIError(code, body)) == verdict
