"""What servers that speak another's dialect say: codes, words and finish reasons, whichever wire carries them."""

import pytest

from llm_errors import classify
from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.rules.shipped import SHIPPED

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")


class Response:
    """As much of a response as the SDKs' exceptions ask for."""

    request = None

    def __init__(self, status, headers=None):
        self.status_code, self.headers = status, headers or {}


WIRES = {
    "openai": lambda status, error: openai.APIStatusError("m", response=Response(status), body=error),
    "anthropic": lambda status, error: anthropic.APIStatusError(
        "m", response=Response(status), body={"type": "error", "error": error}
    ),
}
on_both_wires = pytest.mark.parametrize("wire", WIRES)


def found(error, **more):
    verdict = classify(error, **more)
    return f"{verdict.error_class}/{verdict.reason}"


def in_stream(dialect, *codes, **more):
    """Class and reason of an error in mid-stream, where no status stands beside a code."""
    verdict = decide(Evidence(channel="in_band", dialect=dialect, codes=codes, embedded=True, **more))
    return f"{verdict.error_class}/{verdict.reason}"


CODES = [
    (400, {"type": "exceed_context_size_error", "message": "x"}, "BAD_REQUEST/context_overflow"),
    (400, {"type": "invalid_request_error", "code": "context_length_exceeded"}, "BAD_REQUEST/context_overflow"),
    (400, {"type": "budget_exceeded", "message": "x"}, "CALL_BUDGET/spend_limit"),
    (403, {"type": "exceeded_current_quota_error", "message": "x"}, "CALL_BUDGET/insufficient_quota"),
    (403, {"type": "new_api_error", "code": "insufficient_user_quota"}, "CALL_BUDGET/insufficient_quota"),
    (429, {"type": "insufficient_quota", "code": "insufficient_quota"}, "CALL_BUDGET/insufficient_quota"),
    (403, {"code": "NOT_ENOUGH_BALANCE", "message": "x"}, "CALL_BUDGET/billing"),
    (400, {"type": "expired_key", "message": "x"}, "AUTH/expired"),
    (401, {"type": "key_model_access_denied", "message": "x"}, "AUTH/permission_denied"),
    (403, {"type": "permission_denied_error", "message": "x"}, "AUTH/permission_denied"),
    (400, {"type": "invalid_request_error", "code": "content_filter"}, "PROMPT_BLOCKED/content_filter"),
    (400, {"type": "invalid_request_error", "code": "model_not_found"}, "NOT_FOUND/model"),
    (404, {"type": "not_found_error", "message": "File Not Found"}, "NOT_FOUND/resource"),
    (404, {"type": "not_found_error", "message": "model: x"}, "NOT_FOUND/model"),
    (500, {"type": "api_error", "message": "error parsing tool call: raw='{' err=x"}, "TOOL_PROTOCOL/malformed_call"),
    (500, {"type": "server_error", "message": "System message must be at the beginning"}, "BAD_REQUEST/malformed_history"),
    (500, {"type": "server_error", "message": "Failed to parse tool call arguments as JSON: x"}, "BAD_REQUEST/malformed_history"),
    (500, {"type": "server_error", "message": "input (9 tokens) is too large. increase the physical batch size"}, "BAD_REQUEST/context_overflow"),
    (500, {"type": "server_error", "message": "image input is not supported; you may need to provide the mmproj"}, "BAD_REQUEST/unsupported"),
    (500, {"type": "server_error", "message": "x"}, "SERVER/internal"),
    (446, {"type": "hooks_failed", "message": "x"}, "OUTPUT_BLOCKED/guardrail"),
    # a status beside a code that says little
    *((status, {"type": "api_error", "message": "x"}, wanted) for status, wanted in (
        (400, "BAD_REQUEST/invalid_parameter"), (401, "AUTH/invalid_key"), (403, "AUTH/permission_denied"),
        (404, "NOT_FOUND/model"), (422, "BAD_REQUEST/invalid_parameter"), (429, "RATE_LIMITED/requests"),
        (500, "SERVER/internal"), (503, "SERVER/unavailable"), (529, "SERVER/overloaded"),
    )),
    # Huawei's
    (401, {"error_code": "ModelArts.81005"}, "CALL_BUDGET/insufficient_quota"),
    (403, {"error_code": "ModelArts.81011"}, "PROMPT_BLOCKED/content_filter"),
    (429, {"error_code": "ModelArts.81103"}, "RATE_LIMITED/tokens"),
    (400, {"error_code": "ModelArts.81001", "message": "prompt length 9 must less than the maximum input length 8"}, "BAD_REQUEST/context_overflow"),
    # GLM's numbers
    (429, {"code": "1305", "message": "The service may be temporarily overloaded"}, "SERVER/overloaded"),
    (429, {"code": "1305", "message": "该模型当前访问量过大"}, "SERVER/overloaded"),
    (429, {"code": "1305", "message": "x"}, "RATE_LIMITED/requests"),
    (429, {"code": "1312", "message": "x"}, "SERVER/overloaded"),
    (400, {"code": "1210", "message": "tokens in request more than max tokens allowed"}, "BAD_REQUEST/context_overflow"),
]  # fmt: skip


@on_both_wires
@pytest.mark.parametrize(("status", "error", "wanted"), CODES, ids=lambda value: str(value)[:60])
def test_a_code_means_the_same_on_both_wires(wire, status, error, wanted):
    assert found(WIRES[wire](status, error)) == wanted


BAD = "invalid_request_error"
WORDS = [
    (400, BAD, "Range of input length should be [1, 98304]", "BAD_REQUEST/context_overflow"),
    (400, "BadRequestError", "This model's maximum context length is 8192 tokens.", "BAD_REQUEST/context_overflow"),
    (400, BAD, "x does not support successive user or assistant messages", "BAD_REQUEST/malformed_history"),
    (400, BAD, "x does not support tools", "BAD_REQUEST/unsupported"),
    (400, BAD, "thinking is not supported for this model.", "BAD_REQUEST/unsupported"),
    (400, BAD, "The audio file could not be decoded or its format is unknown.", "BAD_REQUEST/invalid_media"),
    (400, "", "Request rate increased too quickly.", "RATE_LIMITED/requests"),
    (403, "", "User is locked. Reason: Exhausted balance.", "CALL_BUDGET/billing"),
    (403, "", "not enough balance", "CALL_BUDGET/billing"),
    (429, "", "Limit type: tokens. Current limit: 9", "RATE_LIMITED/tokens"),
    (429, "throttling_error", "Limit type: tokens. Current limit: 9", "RATE_LIMITED/tokens"),
    (429, "", "Limit type: max_parallel_requests. Current limit: 9", "RATE_LIMITED/concurrency"),
    (429, "rate_limit_error", "Limit type: max_parallel_requests. Current limit: 9", "RATE_LIMITED/concurrency"),
    (429, "", "Details:TPM limit reached.", "RATE_LIMITED/tokens"),
    (429, "RateLimitReached", "Rate limit of 2 per 0s exceeded for UserConcurrentRequests.", "RATE_LIMITED/concurrency"),
    (429, "rate_limit_reached_error", "reached max concurrency: 1", "RATE_LIMITED/concurrency"),
]  # fmt: skip


@on_both_wires
@pytest.mark.parametrize(("status", "kind", "message", "wanted"), WORDS)
def test_words_mean_the_same_on_both_wires(wire, status, kind, message, wanted):
    assert found(WIRES[wire](status, {"type": kind, "message": message})) == wanted


@on_both_wires
def test_a_template_that_refuses_the_request(wire):
    error = WIRES[wire](400, None)
    error.body = {"error": "Error rendering prompt with jinja template: x"}
    assert found(error) == "BAD_REQUEST/invalid_parameter"


@pytest.mark.parametrize(
    ("status", "message", "wanted"),
    [
        (400, "This credential is only authorized for use with another product.", "AUTH/permission_denied"),
        (400, "messages: roles must alternate between user and assistant", "BAD_REQUEST/malformed_history"),
    ],
)
def test_words_of_anthropics_own(status, message, wanted):
    assert found(WIRES["anthropic"](status, {"type": BAD, "message": message})) == wanted


def test_a_code_of_both_means_what_the_dialect_says():
    assert in_stream("anthropic", "timeout_error") == "SERVER/deadline_exceeded"
    assert in_stream("openai", "timeout_error") == "TIMEOUT/provider"
    assert found(WIRES["anthropic"](408, {"type": "timeout_error"})) == "TIMEOUT/provider"


@pytest.mark.parametrize(
    ("status", "message", "wanted"),
    [
        (400, "Your current safety filter threshold prohibited one or more words", "PROMPT_BLOCKED/safety"),
        (400, "You don't have access to this model or the model name is invalid", "NOT_FOUND/model"),
    ],
)
def test_words_of_googles(status, message, wanted):
    errors = pytest.importorskip("google.genai.errors")
    body = {"error": {"code": status, "status": "INVALID_ARGUMENT", "message": message}}
    assert found(errors.ClientError(status, body)) == wanted


# OpenRouter's list of canonical types, each with the status it comes with.
OPENROUTER = [
    ("context_length_exceeded", 400, "BAD_REQUEST/context_overflow"),
    ("max_tokens_exceeded", 400, "TRUNCATED/max_tokens"),
    ("token_limit_exceeded", 400, "CALL_BUDGET/spend_limit"),
    ("string_too_long", 400, "BAD_REQUEST/request_too_large"),
    ("authentication", 401, "AUTH/invalid_key"),
    ("permission_denied", 403, "AUTH/permission_denied"),
    ("payment_required", 402, "CALL_BUDGET/billing"),
    ("rate_limit_exceeded", 429, "RATE_LIMITED/requests"),
    ("provider_overloaded", 503, "SERVER/overloaded"),
    ("provider_unavailable", 502, "SERVER/upstream"),
    ("invalid_request", 400, "BAD_REQUEST/invalid_parameter"),
    ("invalid_prompt", 400, "BAD_REQUEST/malformed_history"),
    ("not_found", 404, "NOT_FOUND/model"),
    ("precondition_failed", 412, "BAD_REQUEST/failed_precondition"),
    ("payload_too_large", 413, "BAD_REQUEST/request_too_large"),
    ("unprocessable", 422, "BAD_REQUEST/invalid_parameter"),
    ("content_policy_violation", 403, "PROMPT_BLOCKED/moderation"),
    ("refusal", 400, "OUTPUT_BLOCKED/refusal"),
    ("invalid_image", 400, "BAD_REQUEST/invalid_media"),
    ("image_too_large", 400, "BAD_REQUEST/invalid_media"),
    ("image_too_small", 400, "BAD_REQUEST/invalid_media"),
    ("unsupported_image_format", 400, "BAD_REQUEST/invalid_media"),
    ("image_not_found", 400, "BAD_REQUEST/invalid_media"),
    ("image_download_failed", 400, "BAD_REQUEST/invalid_media"),
    ("server", 500, "SERVER/internal"),
    ("timeout", 408, "TIMEOUT/provider"),
]


@on_both_wires
@pytest.mark.parametrize(("kind", "status", "wanted"), OPENROUTER)
def test_openrouters_types(wire, kind, status, wanted):
    # As an Evidence: which field the type stands in is the reader's matter.
    given = {"dialect": wire, "provider": "openrouter", "codes": (kind,), "facts": frozenset({"error_object"})}
    for verdict in decide(Evidence(**given, status=status)), decide(Evidence(**given, embedded=True)):
        assert f"{verdict.error_class}/{verdict.reason}" == wanted


@pytest.mark.parametrize(
    ("codes", "more", "wanted"),
    [
        # what OpenRouter could not map says nothing at all
        (("unmapped",), {"status": 503}, "SERVER/unavailable"),
        (("unmapped",), {"status": None}, "UNKNOWN/unexpected_body"),
        # the limit of the provider behind a router, and the router's own of a day
        (("rate_limit_exceeded",), {"facts": frozenset({"upstream"})}, "RATE_LIMITED/upstream"),
        (("rate_limit_exceeded",), {"message": "free requests per day"}, "RATE_LIMITED/daily_quota"),
        # the same words of other vendors
        (("invalid_prompt",), {"status": 400}, "PROMPT_BLOCKED/prohibited_content"),
        (("token_limit_exceeded",), {"status": 429}, "RATE_LIMITED/requests"),
        (("token_limit_exceeded",), {"status": 413}, "BAD_REQUEST/request_too_large"),
        (("not_found",), {"status": 404, "message": "previous response with id x"}, "NOT_FOUND/resource"),
        (("not_found",), {"status": 400}, "NOT_FOUND/model"),
        # guardrails: the trace tells input from output
        (("input_guardrail_triggered",), {"status": 400}, "PROMPT_BLOCKED/guardrail"),
        (("output_guardrail_triggered",), {"status": 400}, "OUTPUT_BLOCKED/guardrail"),
        (("hooks_failed",), {"status": 446}, "OUTPUT_BLOCKED/guardrail"),
        (("hooks_failed",), {"status": 446, "facts": frozenset({"output_stage"})}, "OUTPUT_BLOCKED/guardrail"),
        (("hooks_failed",), {"status": 446, "facts": frozenset({"input_stage"})}, "PROMPT_BLOCKED/guardrail"),
    ],
)
def test_a_code_and_what_stands_beside_it(codes, more, wanted):
    verdict = decide(Evidence(dialect="openai", codes=codes, **{"embedded": more.get("status") is None, **more}))
    assert f"{verdict.error_class}/{verdict.reason}" == wanted


IN_STREAM = [
    ("credit_limit", "CALL_BUDGET/billing"),
    ("model_rate_limit", "RATE_LIMITED/requests"),
    ("tokens_limit_reached", "BAD_REQUEST/request_too_large"),
    ("user_request_timeout", "TIMEOUT/provider"),
    ("permission_denied_error", "AUTH/permission_denied"),
    ("AccessDenied", "AUTH/permission_denied"),
    ("usage_not_included", "AUTH/permission_denied"),
    ("api_error", "SERVER/internal"),
    # numbers: nothing else is known there
    ("1113", "CALL_BUDGET/billing"),
    ("1211", "NOT_FOUND/model"),
    ("1214", "BAD_REQUEST/invalid_parameter"),
    ("1234", "SERVER/internal"),
    ("1301", "PROMPT_BLOCKED/content_filter"),
    ("1302", "RATE_LIMITED/concurrency"),
    ("3040", "SERVER/overloaded"),
]


@on_both_wires
@pytest.mark.parametrize(("code", "wanted"), IN_STREAM)
def test_a_code_in_mid_stream(wire, code, wanted):
    assert in_stream(wire, code) == wanted


def test_a_number_yields_to_whatever_else_is_known():
    assert in_stream("openai", "1302", "rate_limited") == "RATE_LIMITED/requests"
    assert in_stream("openai", "1004", facts=frozenset({"base_resp"})) == "AUTH/invalid_key"
    assert in_stream("openai", "1302", status=503) == "SERVER/upstream"
    assert decide(Evidence(dialect="openai", codes=("1302",))).error_class == "UNKNOWN"


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_every_code_of_the_tables_decides_without_a_status(dialect):
    for row in SHIPPED:
        if dialect in row.dialects and not row.facts:
            for code in row.codes:
                assert not in_stream(dialect, code).startswith("UNKNOWN"), code


FINISH = [
    ("MALFORMED_FUNCTION_CALL", "TOOL_PROTOCOL/malformed_call"),
    ("UNEXPECTED_TOOL_CALL", "TOOL_PROTOCOL/unexpected_call"),
    ("TOO_MANY_TOOL_CALLS", "TOOL_PROTOCOL/too_many_calls"),
    ("MISSING_THOUGHT_SIGNATURE", "BAD_REQUEST/malformed_history"),
    ("RECITATION", "OUTPUT_BLOCKED/recitation"),
    ("IMAGE_RECITATION", "OUTPUT_BLOCKED/recitation"),
    ("PROHIBITED_CONTENT", "OUTPUT_BLOCKED/prohibited_content"),
    ("SAFETY", "OUTPUT_BLOCKED/safety"),
    ("BLOCKLIST", "OUTPUT_BLOCKED/blocklist"),
    ("SPII", "OUTPUT_BLOCKED/sensitive_data"),
    ("LANGUAGE", "OUTPUT_BLOCKED/language"),
    ("MODEL_ARMOR", "OUTPUT_BLOCKED/guardrail"),
    ("IMAGE_SAFETY", "OUTPUT_BLOCKED/image_safety"),
    ("IMAGE_PROHIBITED_CONTENT", "OUTPUT_BLOCKED/image_safety"),
    ("NO_IMAGE", "UNKNOWN/empty_response"),
    ("MAX_TOKENS", "TRUNCATED/max_tokens"),
]
GEMINIS = [(spelt, wanted) for name, wanted in FINISH for spelt in (name, name.lower())]
OTHERS = [
    ("sensitive", "OUTPUT_BLOCKED/content_filter"),
    ("network_error", "SERVER/upstream"),
    ("input_guardrail_triggered", "PROMPT_BLOCKED/guardrail"),
    ("output_guardrail_triggered", "OUTPUT_BLOCKED/guardrail"),
    ("function_call_filter", "TOOL_PROTOCOL/malformed_call"),
    ("error", "SERVER/other"),
]


@on_both_wires
@pytest.mark.parametrize(("finish", "wanted"), [*GEMINIS, *OTHERS])
def test_finish_reasons_of_others(wire, finish, wanted):
    given = Evidence(channel="in_band", dialect=wire, finish_reason=finish, facts=frozenset({"unnatural_finish"}))
    verdict = decide(given)
    assert f"{verdict.error_class}/{verdict.reason}" == wanted


def test_a_limit_of_messages_is_none_of_tokens():
    assert decide(Evidence(channel="in_band", dialect="openai", finish_reason="max_messages")).reason == "other"
