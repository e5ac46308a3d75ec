"""Kinds of failure that users of compatible servers report in public, through the SDK they use for them."""

import json

import pytest

openai = pytest.importorskip("openai")

from llm_errors import classify  # noqa: E402
from llm_errors.testing.provider import Reply  # noqa: E402


def make(url, asynchronous):
    client = openai.AsyncOpenAI if asynchronous else openai.OpenAI
    return client(api_key="k", base_url=url + "/v1", max_retries=0, timeout=120.0)


def chat(client):
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])


def flat(message, kind="BadRequestError", code=400):
    return {"object": "error", "message": message, "type": kind, "param": None, "code": code}


def nested(message, **more):
    return {"error": {"message": message, **more}}


def coded(code, message="", **more):
    return {"error": {"code": code, "message": message, **more}}


def googles(code, status, message, *details):
    """Gemini behind openai's wire format: the body is a list."""
    return [{"error": {"code": code, "status": status, "message": message, "details": list(details)}}]


BAD = "invalid_request_error"
LIMIT = {"type": "tokens", "code": "rate_limit_exceeded"}


def behind(error):
    """A router's error about the request, with that of the provider behind it."""
    return coded(400, "Provider returned error", metadata={"raw": json.dumps(error), "provider_name": "P"})


UPSTREAM = {"code": 429, "metadata": {"raw": "busy", "provider_name": "P"}}
REPORTED = {
    "vllm: context": (400, flat("This model's maximum context length is 8 tokens."), "BAD_REQUEST/context_overflow"),
    "vllm: limit below one": (400, flat("max_tokens must be at least 1, got -186."), "BAD_REQUEST/invalid_parameter"),
    "vllm: no such model": (404, flat("The model `m` does not exist.", "NotFoundError", 404), "NOT_FOUND/model"),
    "llama.cpp: context": (
        400, nested("too big", code=400, type="exceed_context_size_error"), "BAD_REQUEST/context_overflow"),
    "llama.cpp: loading": (
        503, nested("Loading model", code=503, type="unavailable_error"), "SERVER/model_not_ready"),
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
    "openai: the digits of a model's name are no limit": (
        429, nested("Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.", **LIMIT),
        "RATE_LIMITED/tokens"),
    "openai: requests of the day": (
        429, nested("Rate limit reached on requests per day (RPD): Limit 200, Used 200, Requested 1.",
            type="requests", code="rate_limit_exceeded"), "RATE_LIMITED/daily_quota"),
    "openai: scopes of a key": (
        401, nested("You have insufficient permissions for this operation. Missing scopes: x", type=BAD), "AUTH/permission_denied"),
    "openai: misspelt history": (
        400, nested("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", type=BAD),
        "BAD_REQUEST/malformed_history"),
    "openai: no output for a call": (
        400, nested("No tool output found for function call c.", type=BAD), "BAD_REQUEST/malformed_history"),
    "openai: reasoning without its item": (
        400, nested("Item 'rs' of type 'reasoning' was provided without its required following item.", type=BAD),
        "BAD_REQUEST/malformed_history"),
    "openai: too many inputs at once": (
        400, nested("max 9 tokens per request", code="max_tokens_per_request"), "BAD_REQUEST/request_too_large"),
    "openai: a file too big, typed as its own error": (
        413, nested("Maximum content size limit exceeded", type="server_error"), "BAD_REQUEST/request_too_large"),
    "openai: file format": (
        400, nested("Invalid file format. Supported formats: x", type=BAD), "BAD_REQUEST/invalid_media"),
    "azure: role": (401, coded("PermissionDenied", "The principal lacks the data action"), "AUTH/permission_denied"),
    "azure: image filter": (400, coded("contentFilter"), "PROMPT_BLOCKED/content_filter"),
    "azure: gateway quota": (
        403, {"statusCode": 403, "message": "Out of call volume quota."}, "CALL_BUDGET/insufficient_quota"),
    "openrouter: limit of a key": (
        403, coded(403, "Key limit exceeded (total limit)."), "CALL_BUDGET/spend_limit"),
    "openrouter: moderation that charged nothing": (
        403, coded(403, "Your input was flagged. No credits were charged.", metadata={"reasons": ["violence"]}),
        "PROMPT_BLOCKED/moderation"),
    "openrouter: a long prompt upstream": (
        400, coded(400, "Provider returned error", metadata={"raw": '{"error": {"message": "prompt is too long: 9"}}'}),
        "BAD_REQUEST/context_overflow"),
    "deepseek: risk": (400, nested("Content Exists Risk", type=BAD, code=BAD), "PROMPT_BLOCKED/moderation"),
    "xai: no credits yet": (
        403, {"code": "no permission", "error": "Your newly created team doesn't have any credits yet."}, "CALL_BUDGET/billing"),
    "xai: spending limit": (
        429, {"code": "Some resource has been exhausted", "error": "Your team reached its monthly spending limit."},
        "CALL_BUDGET/spend_limit"),
    "xai: usage guidelines": (
        403, {"code": "no permission", "error": "Content violates usage guidelines."}, "PROMPT_BLOCKED/moderation"),
    "glm: balance": (429, coded("1113", "x"), "CALL_BUDGET/billing"),
    "glm: five hours are used up": (429, coded("1308", "Usage limit reached for 5 hour."), "RATE_LIMITED/daily_quota"),
    "glm: concurrency": (429, coded("1302", "x"), "RATE_LIMITED/concurrency"),
    "glm: not in the plan": (429, coded("1311", "x"), "AUTH/permission_denied"),
    "glm: locked": (429, coded("1112", "x"), "AUTH/account_disabled"),
    "glm: content": (400, coded("1301", "x"), "PROMPT_BLOCKED/content_filter"),
    "glm: long prompt": (400, coded("1261", "x"), "BAD_REQUEST/context_overflow"),
    "a number means nothing under another status": (500, coded("1113", "x"), "SERVER/internal"),
    "kimi: quota": (429, nested("x", type="exceeded_current_quota_error"), "CALL_BUDGET/insufficient_quota"),
    "kimi: quota as a 403": (403, nested("x", type="exceeded_current_quota_error"), "CALL_BUDGET/insufficient_quota"),
    "kimi: tokens of the day": (
        429, nested("reached organization TPD rate limit, current: 9, limit: 8", type="rate_limit_reached_error"),
        "RATE_LIMITED/daily_quota"),
    "kimi: concurrency": (
        429, nested("reached max organization concurrency: 1", type="rate_limit_reached_error"), "RATE_LIMITED/concurrency"),
    "kimi: long prompt": (
        400, nested("Your request exceeded model token limit: 8192", type=BAD), "BAD_REQUEST/context_overflow"),
    "ark: overdue": (403, coded("AccountOverdueError", "x", type="Forbidden"), "CALL_BUDGET/billing"),
    "ark: own limit": (429, coded("SetLimitExceeded", "x", type="TooManyRequests"), "CALL_BUDGET/spend_limit"),
    "ark: tokens": (
        429, coded("RateLimitExceeded.EndpointTPMExceeded", "x", type="TooManyRequests"), "RATE_LIMITED/tokens"),
    "ark: overload": (429, coded("ServerOverloaded", "x", type="TooManyRequests"), "SERVER/overloaded"),
    "ark: input": (
        400, coded("InputTextSensitiveContentDetected", "x", type="BadRequest"), "PROMPT_BLOCKED/content_filter"),
    "ark: output": (
        400, coded("OutputImageSensitiveContentDetected", "x", type="BadRequest"), "OUTPUT_BLOCKED/content_filter"),
    "qwen: arrears": (400, coded("Arrearage", "x", type="Arrearage"), "CALL_BUDGET/billing"),
    "qwen: free tier": (403, coded("AllocationQuota.FreeTierOnly", "x"), "CALL_BUDGET/insufficient_quota"),
    "qwen: inspected output": (
        400, {"code": "DataInspectionFailed", "message": "Output data may contain inappropriate content."},
        "OUTPUT_BLOCKED/content_filter"),
    "qwen: inspected input": (
        400, coded("data_inspection_failed", "Input data may contain inappropriate content."),
        "PROMPT_BLOCKED/content_filter"),
    "minimax: balance": (429, nested("x", type="insufficient_balance_error"), "CALL_BUDGET/billing"),
    "minimax: a number under HTTP 200": (
        200, {"id": "", "choices": None, "base_resp": {"status_code": 1004, "status_msg": "login fail"}}, "AUTH/invalid_key"),
    "siliconflow: balance": (
        403, {"code": 30001, "message": "Sorry, your account balance is insufficient"}, "CALL_BUDGET/billing"),
    "siliconflow: long prompt": (
        400, {"code": 20015, "message": "length of prompt_tokens (9) must be less than max_seq_len (8)."},
        "BAD_REQUEST/context_overflow"),
    "nim: degraded": (
        400, {"status": 400, "title": "Bad Request", "detail": "Function id '3b': DEGRADED function cannot be invoked"},
        "SERVER/unavailable"),
    "github: requests of the day": (
        429, coded("RateLimitReached", "Rate limit of 50 per 86400s exceeded for UserByModelByDay."), "RATE_LIMITED/daily_quota"),
    "github: unavailable model": (400, coded("unavailable_model", "x"), "NOT_FOUND/model"),
    "huggingface: no provider has the model": (400, coded("model_not_supported", "x", type=BAD), "NOT_FOUND/model"),
    "tgi: long prompt": (
        422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8.", "error_type": "validation"},
        "BAD_REQUEST/context_overflow"),
    "cloudflare: free share of the day": (
        429, {"success": False, "errors": [{"code": 4006, "message": "used up"}]}, "RATE_LIMITED/daily_quota"),
    "cloudflare: no such model": (
        400, {"success": False, "errors": [{"code": 5007, "message": "x"}]}, "NOT_FOUND/model"),
    "cloudflare: guardrail": (
        424, {"success": False, "error": [{"code": 2016, "message": "Prompt blocked"}]}, "PROMPT_BLOCKED/guardrail"),
    "litellm: model not for this key": (401, nested("x", type="key_model_access_denied", code="401"), "AUTH/permission_denied"),
    "litellm: expired key": (401, nested("x", type="expired_key", code="400"), "AUTH/expired"),
    "litellm: a printed dict": (
        400, nested("{'error': '/chat/completions: Invalid model name passed in model=x.'}", type=BAD), "NOT_FOUND/model"),
    "litellm: policy of the provider behind it": (
        400, nested("litellm.ContentPolicyViolationError: filtered", code="400"), "PROMPT_BLOCKED/content_filter"),
    "litellm: guardrail": (
        400, nested("{'error': 'Violated guardrail policy', 'response': 'x'}", code="400"), "PROMPT_BLOCKED/guardrail"),
    "vllm: long prompt": (
        400, flat("The decoder prompt (length 9) is longer than the maximum model length of 8."), "BAD_REQUEST/context_overflow"),
    "sglang: long prompt": (
        400, flat("The input (9 tokens) is longer than the model's context length (8 tokens)."), "BAD_REQUEST/context_overflow"),
    "llama.cpp: overflow while it generates": (
        500, nested("Context size has been exceeded.", type="server_error", code=500), "BAD_REQUEST/context_overflow"),
    "lm studio: crash": (400, {"error": "The model has crashed without additional information."}, "SERVER/model_error"),
    "lm studio: unloaded": (400, {"error": "Model unloaded."}, "SERVER/model_not_ready"),
    "ollama: payment": (403, nested("your subscription payment is past due.", type="api_error"), "CALL_BUDGET/billing"),
    "ollama: share of the week": (
        429, nested("you have reached your weekly usage limit", type="api_error"), "RATE_LIMITED/daily_quota"),
    "groq: tokens of the day": (
        429, nested("Rate limit on tokens per day (TPD): Limit 9000, Used 8000, Requested 2000.", **LIMIT), "RATE_LIMITED/daily_quota"),
    "groq: unparsable output": (400, coded("output_parse_failed", "x", type=BAD), "TOOL_PROTOCOL/malformed_call"),
    "groq: spend limit": (400, coded("blocked_api_access", "x"), "CALL_BUDGET/spend_limit"),
    "fireworks: suspended": (
        412, coded("PRECONDITION_FAILED", "Account suspended, possibly due to reaching the monthly spending limit"),
        "CALL_BUDGET/spend_limit"),
    "perplexity: order": (400, nested("Last message must have role `user`.", type="invalid_message"), "BAD_REQUEST/malformed_history"),
    "mistral: order": (
        400, {"object": "error", "message": "x", "type": "invalid_request_message_order", "code": "3230"},
        "BAD_REQUEST/malformed_history"),
    "gemini: the text of a dead account, of a busy minute": (
        429, googles(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.",
            {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProject"}]}), "RATE_LIMITED/requests"),
    "gemini: day": (
        429, googles(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota",
            {"violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}), "RATE_LIMITED/daily_quota"),
    "gemini: region": (
        400, googles(400, "FAILED_PRECONDITION", "User location is not supported for the API use."), "AUTH/region"),
    "gemini: no header": (
        400, googles(400, "INVALID_ARGUMENT", "Missing or invalid Authorization header."), "AUTH/missing_key"),
    "gemini: billing": (
        403, googles(403, "PERMISSION_DENIED", "x", {"reason": "BILLING_DISABLED"}), "CALL_BUDGET/billing"),
    "azure: tokens, by its text": (
        429, coded("429", "Requests to the Operation have exceeded token rate limit of your tier."), "RATE_LIMITED/tokens"),
    "azure: calls, by its text": (
        429, coded("429", "Requests to the Operation have exceeded call rate limit of your tier."), "RATE_LIMITED/requests"),
    "azure: an unknown path is no model": (404, coded("404", "Resource not found"), "NOT_FOUND/resource"),
    "openai: a stored item that is gone is no model": (
        404, nested("Item with id 'rs' not found. Items are not persisted when `store` is set to false.", type=BAD),
        "NOT_FOUND/resource"),
    "openai: a stored item in a bad request": (
        400, nested("Item with id 'rs' not found. Items are not persisted when `store` is set to false.", type=BAD),
        "BAD_REQUEST/malformed_history"),
    "azure: encrypted reasoning of another key, without a code": (
        400, nested("The encrypted content gAAA could not be verified.", type=BAD), "BAD_REQUEST/malformed_history"),
    "openai: organization to be verified": (
        400, nested("Your organization must be verified to stream this model.", type=BAD), "AUTH/permission_denied"),
    "openai: an image that was made and then blocked": (
        400, coded("moderation_blocked", moderation_details={"moderation_stage": "output"}), "OUTPUT_BLOCKED/image_safety"),
    "openai: a request for an image that was blocked": (
        400, coded("moderation_blocked", moderation_details={"moderation_stage": "input"}), "PROMPT_BLOCKED/moderation"),
    "openai: overload that its code does not tell": (
        429, nested("That model is currently overloaded with other requests.", type="server_error"), "SERVER/overloaded"),
    "deepseek: reasoning left out of the history": (
        400, nested("The `reasoning_content` in the thinking mode must be passed back to the API.", type=BAD, code=BAD),
        "BAD_REQUEST/malformed_history"),
    "qwen: long prompt, its message beginning like a page": (
        400, coded("invalid_parameter_error", "<400> InternalError: Range of input length should be [1, 8]", type=BAD),
        "BAD_REQUEST/context_overflow"),
    "qwen: another parameter": (
        400, coded("invalid_parameter_error", "<400> InternalError: The thinking_budget must be positive", type=BAD),
        "BAD_REQUEST/invalid_parameter"),
    "qwen: order": (
        400, coded("invalid_parameter_error", '<400> InternalError: messages with role "tool" must be a response to a preceding message', type=BAD),
        "BAD_REQUEST/malformed_history"),
    "kimi: reasoning left out of the history": (
        400, nested("thinking is enabled but reasoning_content is missing in assistant tool call message at index 3", type=BAD),
        "BAD_REQUEST/malformed_history"),
    "claude through openai's wire: answers of tools": (
        400, nested("messages.1: tool_use ids were found without tool_result blocks immediately after: t."), "BAD_REQUEST/malformed_history"),
    "claude through openai's wire: ids": (
        400, nested("messages.1.content.3: `tool_use` ids must be unique", type=BAD), "BAD_REQUEST/malformed_history"),
    "openai: mimetype": (400, coded("unsupported_file_mimetype", "x", type=BAD), "BAD_REQUEST/invalid_media"),
    "openai: image that its sanitizer refuses": (400, coded("sanitizer_server_error", "x", type=BAD), "BAD_REQUEST/invalid_media"),
    "openai: images for another model, behind a router": (
        400, behind(nested("Invalid content type. image_url is only supported by certain models.", type=BAD)), "BAD_REQUEST/unsupported"),
    "vllm: text only": (400, flat("m is not a multimodal model None"), "BAD_REQUEST/unsupported"),
    "new api: words on its list": (400, coded("sensitive_words_detected"), "PROMPT_BLOCKED/moderation"),
    "new api: prompt": (400, coded("prompt_blocked"), "PROMPT_BLOCKED/content_filter"),
    "new api: quota of a token": (403, coded("pre_consume_token_quota_failed"), "CALL_BUDGET/insufficient_quota"),
    "new api: no channel": (500, coded("get_channel_failed"), "SERVER/unavailable"),
    "new api: slow channel": (500, coded("channel:response_time_exceeded"), "SERVER/deadline_exceeded"),
    "new api: nothing from the channel": (500, coded("empty_response"), "SERVER/upstream"),
    "new api: body": (400, coded("bad_request_body"), "BAD_REQUEST/invalid_parameter"),
    "new api: no channel for the model, under the status of a busy server": (
        503, coded("model_not_found", "No available channel for model m under group g"), "NOT_FOUND/model"),
    "kimi: longer than the model": (
        400, nested("model max length exceeded, max length:8192", type=BAD), "BAD_REQUEST/context_overflow"),
    "lm studio: tokens to keep": (
        400, {"error": "The number of tokens to keep from the initial prompt is greater than the context length."},
        "BAD_REQUEST/context_overflow"),
    "mistral: order, untyped": (
        400, {"object": "error", "message": "Unexpected role 'user' after role 'tool'", "type": BAD, "code": None},
        "BAD_REQUEST/malformed_history"),
    "openrouter: the code of the provider behind it": (
        400, behind({"object": "error", "message": "x", "type": "invalid_request_message_order", "code": "3230"}),
        "BAD_REQUEST/malformed_history"),
    "openrouter: the code of OpenAI behind it": (
        400, behind(coded("context_length_exceeded", "x", type=BAD)), "BAD_REQUEST/context_overflow"),
    "xai: argument": (
        400, {"code": "Client specified an invalid argument", "error": "Argument not supported on this model: presencePenalty"},
        "BAD_REQUEST/unsupported"),
    "xai: long prompt, named in the text": (
        400, {"code": "Client specified an invalid argument", "error": "Failed: [input_too_large] message (9 tokens) exceeds budget"},
        "BAD_REQUEST/context_overflow"),
    "groq: property": (400, nested("property 'reasoning' is unsupported", type=BAD), "BAD_REQUEST/unsupported"),
    "groq: a limit that only mentions the window": (
        400, nested("`max_completion_tokens` must be less than or equal to `8`, less than the `context_window`", type=BAD),
        "BAD_REQUEST/invalid_parameter"),
    "databricks: tokens": (
        429, {"error_code": "REQUEST_LIMIT_EXCEEDED", "message": "Exceeded workspace input tokens per minute rate limit."},
        "RATE_LIMITED/tokens"),
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
