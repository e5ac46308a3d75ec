"""Rules of the google dialect: Gemini Developer API and Vertex AI.

The names come from `google.rpc.Code`, the reasons of `google.rpc.ErrorInfo` (googleapis `error_reason.proto`), and the
enumerations `FinishReason` and `BlockedReason` of google-genai.
"""

from typing import Any, Final

from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule, words
from llm_errors.rules.account import account
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("google")
_code, _finish, _block = _DIALECT.code, _DIALECT.finish, _DIALECT.block


def _canonical(row_id: str, error_class: E, reason: str, status: int, codes: str, weight: int = 1, **more: Any) -> Rule:
    return _DIALECT.status(f"rpc.{row_id}", error_class, reason, status, codes, weight=weight, **more)


def _said(row_id: str, error_class: E, reason: str, status: set[int], *says: str) -> Rule:
    """A rule for phrases in the message of an error with one of these statuses. It wins over a rule for the status alone."""
    row = f"google.says.{row_id}"
    return Rule(row, error_class, reason, dialects=_DIALECT.only, status=frozenset(status), says=says, weight=2)


def _live(row_id: str, error_class: E, reason: str, status: int, *says: str) -> Rule:
    """A rule for the reason with which the Live API closes its websocket.

    A close has no HTTP status. `status` is the one that the words of the reason mean.
    """
    row, where = f"google.live.{row_id}", frozenset({status})
    return Rule(row, error_class, reason, dialects=_DIALECT.only, status=where, says=says, embedded=True, weight=-1)


CODES: Final = (
    _code("key", E.AUTH, "invalid_key", "API_KEY_INVALID"),
    _code("key.expired", E.AUTH, "expired", "API_KEY_EXPIRED ACCESS_TOKEN_EXPIRED"),
    _code("key.missing", E.AUTH, "missing_key", "CREDENTIALS_MISSING"),
    _code("denied", E.AUTH, "permission_denied", "API_KEY_SERVICE_BLOCKED API_KEY_HTTP_REFERRER_BLOCKED API_KEY_IP_ADDRESS_BLOCKED"
          " API_KEY_ANDROID_APP_BLOCKED API_KEY_IOS_APP_BLOCKED ACCESS_TOKEN_TYPE_UNSUPPORTED ACCESS_TOKEN_SCOPE_INSUFFICIENT"
          " SERVICE_DISABLED IAM_PERMISSION_DENIED SECURITY_POLICY_VIOLATED ORG_RESTRICTION_VIOLATION"),
    _code("account", E.AUTH, "account_disabled", "CONSUMER_SUSPENDED USER_PROJECT_DENIED ACCOUNT_STATE_INVALID"),
    _code("region", E.AUTH, "region", "LOCATION_POLICY_VIOLATED LOCATION_ORG_POLICY_VIOLATED"),
    _code("billing", E.CALL_BUDGET, "billing", "BILLING_DISABLED"),
    _DIALECT.status("rate", E.RATE_LIMITED, "requests", 429, "RATE_LIMIT_EXCEEDED rateLimitExceeded userRateLimitExceeded"),
    _code("rate.daily", E.RATE_LIMITED, "daily_quota", "RATE_LIMIT_EXCEEDED rateLimitExceeded", facts=words("quota_per_day")),
    _code("rate.tokens", E.RATE_LIMITED, "tokens", "RATE_LIMIT_EXCEEDED rateLimitExceeded", facts=words("quota_tokens")),
    _code("rate.quota", E.RATE_LIMITED, "service_quota", "RESOURCE_QUOTA_EXCEEDED"),
    _code("capacity", E.SERVER, "overloaded", "MODEL_CAPACITY_EXHAUSTED"),
    _code("rate.dailyLimit", E.RATE_LIMITED, "daily_quota", "dailyLimitExceeded QUOTA_EXHAUSTED"),
    _canonical("unauthenticated", E.AUTH, "invalid_key", 401, "UNAUTHENTICATED"),
    _canonical("denied", E.AUTH, "permission_denied", 403, "PERMISSION_DENIED"),
    _canonical("not_found", E.NOT_FOUND, "model", 404, "NOT_FOUND"),
    _canonical("argument", E.BAD_REQUEST, "invalid_parameter", 400, "INVALID_ARGUMENT OUT_OF_RANGE"),
    _canonical("precondition", E.BAD_REQUEST, "failed_precondition", 400, "FAILED_PRECONDITION"),
    _canonical("exhausted", E.RATE_LIMITED, "requests", 429, "RESOURCE_EXHAUSTED"),
    _canonical("exhausted.daily", E.RATE_LIMITED, "daily_quota", 429, "RESOURCE_EXHAUSTED", facts=words("quota_per_day"), weight=3),
    _canonical("exhausted.tokens", E.RATE_LIMITED, "tokens", 429, "RESOURCE_EXHAUSTED", facts=words("quota_tokens"), weight=2),
    _canonical("unavailable", E.SERVER, "unavailable", 503, "UNAVAILABLE"),
    _canonical("internal", E.SERVER, "internal", 500, "INTERNAL UNKNOWN DATA_LOSS"),
    _canonical("deadline", E.SERVER, "deadline_exceeded", 504, "DEADLINE_EXCEEDED"),
    _canonical("conflict", E.SERVER, "conflict", 409, "ABORTED ALREADY_EXISTS"),
    # Google cancelled the call, for which it sends no specific status.
    _code("backend", E.SERVER, "internal", "backendError", generic=True),
    # In streams and in interactions, the names of errors are in lower case.
    _code("interaction.invalid", E.BAD_REQUEST, "invalid_parameter", "invalid_request", generic=True),
    _DIALECT.status("interaction.exhausted", E.RATE_LIMITED, "requests", 429, "quota_exceeded"),
    _code("interaction.budget", E.CALL_BUDGET, "token_limit", "budget_exceeded"),
    _code("interaction.server", E.SERVER, "internal", "internal_error server_error"),
    _code("interaction.safety", E.PROMPT_BLOCKED, "safety", "safety_violation content_blocked"),
)  # fmt: skip

FINISH: Final = (
    _finish("max_tokens", E.TRUNCATED, "max_tokens", "MAX_TOKENS incomplete"),
    _finish("reasoning", E.TRUNCATED, "reasoning_tokens", "MAX_TOKENS incomplete", facts=words("only_reasoning")),
    _finish("continuation", E.TRUNCATED, "other", "CONTINUATION requires_continuation"),
    _finish("safety", E.OUTPUT_BLOCKED, "safety", "SAFETY"),
    _finish("blocklist", E.OUTPUT_BLOCKED, "blocklist", "BLOCKLIST"),
    _finish("prohibited", E.OUTPUT_BLOCKED, "prohibited_content", "PROHIBITED_CONTENT"),
    _finish("spii", E.OUTPUT_BLOCKED, "sensitive_data", "SPII"),
    _finish("recitation", E.OUTPUT_BLOCKED, "recitation", "RECITATION IMAGE_RECITATION"),
    _finish("language", E.OUTPUT_BLOCKED, "language", "LANGUAGE"),
    _finish("image", E.OUTPUT_BLOCKED, "image_safety", "IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT"),
    _finish("model_armor", E.OUTPUT_BLOCKED, "guardrail", "MODEL_ARMOR"),
    _finish("escalation", E.PROMPT_BLOCKED, "other", "ESCALATION"),
    _finish("account", E.AUTH, "account_disabled", "PUP_LIMITED_DISABLED"),
    _finish("malformed_call", E.TOOL_PROTOCOL, "malformed_call", "MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE"),
    _finish("unexpected_call", E.TOOL_PROTOCOL, "unexpected_call", "UNEXPECTED_TOOL_CALL"),
    _finish("too_many_calls", E.TOOL_PROTOCOL, "too_many_calls", "TOO_MANY_TOOL_CALLS"),
    _finish("history", E.BAD_REQUEST, "malformed_history", "MISSING_THOUGHT_SIGNATURE"),
    _finish("no_image", E.UNKNOWN, "empty_response", "NO_IMAGE"),
    _finish("other", E.UNKNOWN, "other", "OTHER IMAGE_OTHER"),
    _finish("budget", E.CALL_BUDGET, "token_limit", "budget_exceeded"),
    _finish("failed", E.SERVER, "other", "failed"),
)

TURN: Final = (
    _finish(
        "turn.prompt",
        E.PROMPT_BLOCKED,
        "prohibited_content",
        "PROHIBITED_INPUT_CONTENT INPUT_TEXT_CONTAIN_PROMINENT_PERSON_PROHIBITED INPUT_TEXT_NCII_PROHIBITED"
        " INPUT_IP_PROHIBITED",
    ),
    _finish(
        "turn.prompt.image",
        E.PROMPT_BLOCKED,
        "image_safety",
        "IMAGE_PROHIBITED_INPUT_CONTENT INPUT_IMAGE_CELEBRITY INPUT_IMAGE_PHOTO_REALISTIC_CHILD_PROHIBITED"
        " UNSAFE_PROMPT_FOR_IMAGE_GENERATION",
    ),
    _finish("turn.prompt.other", E.PROMPT_BLOCKED, "other", "INPUT_OTHER"),
    _finish("turn.rejected", E.OUTPUT_BLOCKED, "other", "RESPONSE_REJECTED GENERATED_OTHER MAX_REGENERATION_REACHED"),
    _finish(
        "turn.safety",
        E.OUTPUT_BLOCKED,
        "safety",
        "GENERATED_CONTENT_SAFETY GENERATED_AUDIO_SAFETY GENERATED_VIDEO_SAFETY",
    ),
    _finish("turn.prohibited", E.OUTPUT_BLOCKED, "prohibited_content", "GENERATED_CONTENT_PROHIBITED"),
    _finish("turn.blocklist", E.OUTPUT_BLOCKED, "blocklist", "GENERATED_CONTENT_BLOCKLIST"),
    _finish(
        "turn.image",
        E.OUTPUT_BLOCKED,
        "image_safety",
        "GENERATED_IMAGE_SAFETY GENERATED_IMAGE_PROHIBITED GENERATED_IMAGE_CELEBRITY GENERATED_IMAGE_MINORS"
        " GENERATED_IMAGE_IDENTIFIABLE_PEOPLE GENERATED_IMAGE_PROMINENT_PEOPLE_DETECTED_BY_REWRITER",
    ),
    _finish("turn.recitation", E.OUTPUT_BLOCKED, "recitation", "OUTPUT_IMAGE_IP_PROHIBITED"),
)
"""Reasons with which the Live API ends a turn, in addition to those of `generateContent`."""

JOBS: Final = (
    _finish("job.failed", E.SERVER, "other", "JOB_STATE_FAILED", generic=True),
    _finish("job.expired", E.TIMEOUT, "provider", "JOB_STATE_EXPIRED"),
)
"""States of a batch that failed as a whole. Whether its single requests succeeded is left to the application."""

# In interactions, the reasons are in lower case.
BLOCK: Final = (
    _block("safety", "safety", "SAFETY safety"),
    _block("blocklist", "blocklist", "BLOCKLIST blocklist"),
    _block("prohibited", "prohibited_content", "PROHIBITED_CONTENT prohibited_content"),
    _block("image", "image_safety", "IMAGE_SAFETY image_safety"),
    _block("model_armor", "guardrail", "MODEL_ARMOR"),
    _block("jailbreak", "jailbreak", "JAILBREAK"),
    _block("other", "other", "OTHER other BLOCKED_REASON_UNSPECIFIED BLOCK_REASON_UNSPECIFIED"),
)

OTHERS: Final = (
    *account(_DIALECT),
    Rule("google.block.unrecognised", E.PROMPT_BLOCKED, "other", dialects=_DIALECT.only, facts=words("blocked"), kind="finish_reason"),
    Rule("google.image.filtered", E.OUTPUT_BLOCKED, "image_safety", dialects=_DIALECT.only, facts=words("image_filtered")),
    Rule("google.stream.garbled", E.UNKNOWN, "unexpected_body", exceptions=words("google.genai.UnknownApiResponseError"), weight=4),
    # Errors that the SDK's automatic function calling finds in the arguments from the model, or in a function.
    Rule("google.call.arguments", E.TOOL_PROTOCOL, "invalid_arguments",
         exceptions=words("google.genai.UnknownFunctionCallArgumentError google.genai.FunctionInvocationError"), weight=4),
    Rule("google.call.unsupported", E.BAD_REQUEST, "unsupported",
         exceptions=words("google.genai.UnsupportedFunctionError"), weight=4),
    # google-genai raises this in place of the error that interrupted a continued interaction. The error is its cause.
    Rule("google.continuation", E.SERVER, "other",
         exceptions=words("google.genai.ContinuationInterruptedError"), wrapper=True),
    Rule("google.says.context", E.BAD_REQUEST, "context_overflow", dialects=_DIALECT.only, status=frozenset({400}), says=(
         "exceeds the maximum number of tokens", "input token count", "context length", "prompt is too long"), weight=2),
    _said("history", E.BAD_REQUEST, "malformed_history", {400}, "number of function response parts", "comes immediately after a",
          "requests alternate between user and model", "requests end with a user role", "missing a thought_signature"),
    _said("media", E.BAD_REQUEST, "invalid_media", {400}, "unable to process input image", "provided image is not valid",
          "unsupported mime type", "document has no pages", "cannot fetch content from the provided url"),
    _said("unsupported", E.BAD_REQUEST, "unsupported", {400}, "is unsupported", "supported only when they are all"),
    _said("model", E.NOT_FOUND, "model", {400}, "the model name is invalid"),
    _said("too_large", E.BAD_REQUEST, "request_too_large", {400}, "request payload size exceeds"),
    _said("blocked", E.PROMPT_BLOCKED, "safety", {400}, "violate google's responsible ai practices",
          "safety filter threshold prohibited"),
    _said("billing", E.CALL_BUDGET, "billing", {400, 429}, "only accessible to billed users"),
    # Vertex AI names the exceeded quota only in the text.
    _said("rate.tokens", E.RATE_LIMITED, "tokens", {429}, "tokens_per_minute"),
    _said("account", E.AUTH, "account_disabled", {403}, "for violation of terms"),
    _said("key.leaked", E.AUTH, "invalid_key", {403}, "reported as leaked"),
    _said("key.missing", E.AUTH, "missing_key", {400}, "missing or invalid authorization header"),
    Rule("google.says.key", E.AUTH, "invalid_key", dialects=_DIALECT.only, status=frozenset({400}), says=(
         "api key not valid", "api key expired"), weight=2),
    Rule("google.says.region", E.AUTH, "region", dialects=_DIALECT.only, status=frozenset({400, 403}), says=(
         "user location is not supported",), weight=2),
    Rule("google.says.overloaded", E.SERVER, "overloaded", dialects=_DIALECT.only, status=frozenset({503}), says=("overloaded", "experiencing high demand"), weight=2),
)  # fmt: skip

LIVE: Final = (
    _live("model", E.NOT_FOUND, "model", 404, "is not found for api version", "is not supported for bidigeneratecontent"),
    _live("resource", E.NOT_FOUND, "resource", 404, "requested entity was not found"),
    _live("key", E.AUTH, "missing_key", 403, "unregistered callers", "without established identity"),
    _live("token", E.AUTH, "invalid_key", 401, "invalid authentication credentials", "token has expired", "token is invalid"),
    _live("denied", E.AUTH, "permission_denied", 403, "permission denied", "does not have permission"),
    _live("rate", E.RATE_LIMITED, "requests", 429, "exceeded your current quota", "resource_exhausted", "quota exceeded",
          "resource has been exhausted"),
    _live("concurrency", E.RATE_LIMITED, "concurrency", 429, "concurrent session"),
    _live("unsupported", E.BAD_REQUEST, "unsupported", 400, "is not implemented, or supported, or enabled"),
    _live("unavailable", E.SERVER, "unavailable", 503, "service is currently unavailable"),
    _live("deadline", E.SERVER, "deadline_exceeded", 504, "deadline expired", "deadline exceeded"),
    _live("blocked", E.PROMPT_BLOCKED, "safety", 400, "blocked due to safety", "violates our policies"),
)  # fmt: skip
"""Phrases of Gemini's Live API, from reports of users. A close code alone is not specific."""

ROWS: Final = (*CODES, *FINISH, *TURN, *JOBS, *BLOCK, *OTHERS, *LIVE)
