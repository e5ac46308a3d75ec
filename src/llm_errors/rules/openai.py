"""Rows of the openai dialect: OpenAI, Azure OpenAI, and the many that speak its wire format.

Codes: the literals of the openai SDK, Azure's, OpenRouter's and DeepSeek's documentation, vLLM's, llama.cpp's, groq's
and LiteLLM's error bodies as public reports show them.
"""

from typing import Final

from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("openai")
_code, _finish, _says = _DIALECT.code, _DIALECT.finish, _DIALECT.says
_BAD = frozenset({400, 413, 422, 500})


CODES: Final = (
    _code("quota", E.CALL_BUDGET, "insufficient_quota", "insufficient_quota insufficient_user_quota quota_exceeded"),
    _code(
        "billing",
        E.CALL_BUDGET,
        "billing",
        "billing_not_active credit_balance_exhausted insufficient_balance insufficient_credits billing_error"
        " payment_required account_balance_insufficient",
    ),
    _code(
        "spend_limit",
        E.CALL_BUDGET,
        "spend_limit",
        "billing_hard_limit_reached usage_limit_exceeded usage_limit_reached project_spend_limit_exceeded"
        " organization_spend_limit_exceeded organization_usage_limit_exceeded budget_exceeded spend_limit_reached",
    ),
    _code("rate.requests", E.RATE_LIMITED, "requests", "rate_limit_exceeded requests rate_limit_error rate_limit_reached_error"
          " too_many_requests throttling too_many_requests_error ratelimitreached rate_limit RateLimitError limit_requests"),
    _code("rate.tokens", E.RATE_LIMITED, "tokens", "tokens limit_tokens token_quota_exceeded too_many_tokens_error", weight=1),
    _code("rate.too_large", E.RATE_LIMITED, "request_too_large_for_rate", "rate_limit_exceeded tokens",
          facts=words("exceeds_limit"), weight=2, kind="message"),
    _code("rate.too_large.413", E.RATE_LIMITED, "request_too_large_for_rate", "rate_limit_exceeded tokens",
          status=frozenset({413}), weight=2),
    _code("rate.daily", E.RATE_LIMITED, "daily_quota", "tokens_per_day requests_per_day daily_limit_exceeded", weight=1),
    _code("rate.concurrency", E.RATE_LIMITED, "concurrency", "concurrency_limit_exceeded too_many_concurrent_requests", weight=1),
    _code("key", E.AUTH, "invalid_key", "invalid_api_key incorrect_api_key authentication_error invalid_authentication"
          " invalid_token unauthorized token_not_valid auth_error invalid_auth"),
    _code("key.expired", E.AUTH, "expired", "expired_api_key token_expired api_key_expired expired_token"),
    _code("key.missing", E.AUTH, "missing_key", "missing_api_key no_api_key missing_authorization_header"),
    _code("denied", E.AUTH, "permission_denied", "permission_error permission_denied ip_not_authorized insufficient_permissions"
          " invalid_organization organization_must_be_verified access_denied forbidden"),
    _code("region", E.AUTH, "region", "unsupported_country_region_territory"),
    _code("account", E.AUTH, "account_disabled", "account_deactivated organization_deactivated account_suspended access_terminated"
          " organization_restricted account_disabled"),
    _code("model", E.NOT_FOUND, "model", "model_not_found model_not_available invalid_model model_deprecated model_decommissioned"
          " not_found_error notfounderror model_not_exist unknown_model"),
    _code("deployment", E.NOT_FOUND, "deployment", "deploymentnotfound deployment_not_found"),
    _code("resource", E.NOT_FOUND, "resource", "resource_not_found previous_response_not_found file_not_found"
          " conversation_not_found vector_store_not_found"),
    _code("context", E.BAD_REQUEST, "context_overflow", "context_length_exceeded string_above_max_length context_window_exceeded"
          " exceed_context_size_error context_overflow model_context_window_exceeded max_prompt_tokens_exceeded"
          " input_too_long"),
    _code("too_large", E.BAD_REQUEST, "request_too_large", "request_too_large payload_too_large array_above_max_length"),
    _code("parameter", E.BAD_REQUEST, "invalid_parameter", "invalid_value missing_required_parameter unknown_parameter"
          " invalid_type invalid_request_format validation_error integer_below_min_value integer_above_max_value"
          " decimal_above_max_value decimal_below_min_value invalid_function_parameters invalid_json_schema"
          " missing_parameter invalid_parameter invalid_parameter_error empty_array"),
    _code("unsupported", E.BAD_REQUEST, "unsupported", "unsupported_parameter unsupported_value unsupported_model operation_not_supported"
          " operationnotsupported unsupported_media_type not_supported"),
    _code("media", E.BAD_REQUEST, "invalid_media", "invalid_image invalid_image_format invalid_base64_image invalid_image_url"
          " image_too_large image_too_small image_parse_error invalid_image_mode image_file_too_large"
          " unsupported_image_media_type empty_image_file image_file_not_found failed_to_download_image image_content_error"
          " invalid_audio audio_too_short unsupported_file invalid_file"),
    _code("precondition", E.BAD_REQUEST, "failed_precondition", "data_residency_mismatch zero_data_retention"),
    _code("tool", E.TOOL_PROTOCOL, "malformed_call", "tool_use_failed tool_call_failed"),
    _code("json", E.TOOL_PROTOCOL, "schema_mismatch", "json_validate_failed json_schema_validation_failed"),
    _code("blocked", E.PROMPT_BLOCKED, "content_filter", "content_filter responsibleaipolicyviolation data_inspection_failed"
          " content_filtered sensitive_content"),
    _code("blocked.jailbreak", E.PROMPT_BLOCKED, "jailbreak", "content_filter responsibleaipolicyviolation",
          facts=words("jailbreak")),
    _code("blocked.policy", E.PROMPT_BLOCKED, "prohibited_content", "invalid_prompt cyber_policy bio_policy"
          " misalignment_policy_violation contentpolicyviolationerror content_policy_violation_error"),
    _code("blocked.moderation", E.PROMPT_BLOCKED, "moderation", "moderation_blocked content_policy_violation"
          " image_content_policy_violation moderation_error input_moderation safety_violation"),
    _code("blocked.guardrail", E.PROMPT_BLOCKED, "guardrail", "guardrail_blocked guardrail_intervened"
          " guardrail_raised_exception"),
    _code("server", E.SERVER, "internal", "server_error internal_error internal_server_error internalservererror"
          " internalfailure api_internal_error"),
    _code("overloaded", E.SERVER, "overloaded", "server_overloaded engine_overloaded engine_overloaded_error overloaded_error"
          " overloaded flex_unavailable slow_down server_busy model_overloaded nocapacity no_capacity capacity_exceeded"
          " over_capacity queue_exceeded model_at_capacity insufficient_system_resource"),
    _code("unavailable", E.SERVER, "unavailable", "service_unavailable service_unavailable_error unavailable model_unavailable"
          " serviceunavailable unavailable_error"),
    _code("not_ready", E.SERVER, "model_not_ready", "model_not_ready model_loading loading_model"),
    _code("deadline", E.SERVER, "deadline_exceeded", "vector_store_timeout deadline_exceeded"),
    _code("timeout", E.TIMEOUT, "provider", "request_timeout timeout timeout_error"),
    _code("upstream", E.SERVER, "upstream", "upstream_error provider_error bad_gateway provider_unavailable"),
    # These say little: the HTTP status, where there is one, says more.
    _code("generic.request", E.BAD_REQUEST, "invalid_parameter", "invalid_request_error invalid_request badrequesterror bad_request"
          " badrequest invalid_argument bad_request_error", generic=True),
    _code("generic.server", E.SERVER, "internal", "api_error", generic=True),
)  # fmt: skip

STATUS: Final = (
    Rule("openai.http.400", E.BAD_REQUEST, "invalid_parameter", dialects=_DIALECT.only, status=frozenset({400}), facts=words("error_object")),
    Rule("openai.embedded.5xx", E.SERVER, "upstream", dialects=_DIALECT.only, status=frozenset({500, 502, 503}), embedded=True),
    Rule("openai.embedded.429", E.RATE_LIMITED, "upstream", dialects=_DIALECT.only, status=frozenset({429}), embedded=True),
    Rule("openai.upstream.429", E.RATE_LIMITED, "upstream", dialects=_DIALECT.only, status=frozenset({429}), facts=words("upstream")),
    Rule("openai.upstream.5xx", E.SERVER, "upstream", dialects=_DIALECT.only, status=frozenset({500, 502, 503}), facts=words("upstream")),
)  # fmt: skip

FINISH: Final = (
    _finish("length", E.TRUNCATED, "max_tokens", "length max_tokens max_output_tokens MAX_TOKENS max_completion_tokens"
            " max_messages max_length incomplete"),
    _finish("window", E.TRUNCATED, "context_window", "model_length model_context_window_exceeded context_length_exceeded"
            " context_window"),
    _finish("filter", E.OUTPUT_BLOCKED, "content_filter", "content_filter content_filtered content-filter"),
    _finish("filter.prompt", E.PROMPT_BLOCKED, "content_filter", "content_filter", facts=words("prompt_filtered")),
    _finish("safety", E.OUTPUT_BLOCKED, "safety", "SAFETY safety PROHIBITED_CONTENT BLOCKLIST ERROR_TOXIC"),
    _finish("sensitive", E.OUTPUT_BLOCKED, "sensitive_data", "sensitive SPII"),
    _finish("recitation", E.OUTPUT_BLOCKED, "recitation", "RECITATION recitation"),
    _finish("refusal", E.OUTPUT_BLOCKED, "refusal", "refusal"),
    _finish("guardrail", E.OUTPUT_BLOCKED, "guardrail", "guardrail_intervened"),
    _finish("malformed_call", E.TOOL_PROTOCOL, "malformed_call", "MALFORMED_FUNCTION_CALL malformed_function_call"
            " function_call_filter malformed_tool_use"),
    _finish("resource", E.SERVER, "overloaded", "insufficient_system_resource"),
    _finish("network", E.SERVER, "upstream", "network_error"),
    _finish("abort", E.SERVER, "other", "abort aborted"),
    _finish("error", E.SERVER, "other", "error ERROR failed", generic=True),
)  # fmt: skip

EXCEPTIONS: Final = (
    Rule("openai.parse.length", E.TRUNCATED, "max_tokens", exceptions=words(".LengthFinishReasonError"), weight=4),
    Rule("openai.parse.filter", E.OUTPUT_BLOCKED, "content_filter", exceptions=words(".ContentFilterFinishReasonError"), weight=4),
    Rule("openai.azure.credentials", E.AUTH, "invalid_key", exceptions=words("azure.ClientAuthenticationError openai.OAuthError"), weight=4),
)  # fmt: skip

SAYS: Final = (
    _says("context", E.BAD_REQUEST, "context_overflow", _BAD,
          "maximum context length", "context length exceeded", "context window of", "exceeds the available context size", "loaded with context length of only", "context size has been exceeded", "exceeds the context size", "exceeds the context",
          "reduce the length of the messages", "prompt is too long", "input is too long", "maximum prompt length",
          "exceeds maximum input", "exceeds the maximum number of tokens", "too many input tokens"),
    _says("budget", E.CALL_BUDGET, "spend_limit", frozenset({400, 429}),
          "budget has been exceeded", "crossed budget", "exceededbudget"),
    _code("budget.auth", E.CALL_BUDGET, "spend_limit", "auth_error", says=("exceededbudget", "over budget"), weight=1),
    _says("key", E.AUTH, "invalid_key", frozenset({400}),
          "incorrect api key", "invalid api key", "api key not valid", "api key is invalid", "no auth credentials"),
    _says("model", E.NOT_FOUND, "model", frozenset({400, 403, 422}),
          "is not a valid model", "model not found", "model does not exist", "model not exist", "no such model",
          "unknown model", "has been decommissioned"),
    _says("deployment", E.NOT_FOUND, "deployment", frozenset({404}), "deployment for this resource does not exist"),
    _says("unsupported", E.BAD_REQUEST, "unsupported", frozenset({400}),
          "does not support", "is not supported by this model", "not supported with this model"),
    _says("history", E.BAD_REQUEST, "malformed_history", frozenset({400}),
          "must be followed by tool messages", "must be a response to a preceding message", "roles must alternate",
          "did not have response messages", "conversation roles must"),
    _says("billing", E.CALL_BUDGET, "billing", frozenset({400, 403, 429}),
          "insufficient balance", "credit balance", "exceeded your current quota", "no credits", "out of credits"),
    _says("daily", E.RATE_LIMITED, "daily_quota", frozenset({429}),
          "per day", "daily limit", "daily quota", "free-models-per-day"),
    _says("loading", E.SERVER, "model_not_ready", frozenset({503}), "loading model", "currently loading", "model is loading"),
    _says("refused_input", E.PROMPT_BLOCKED, "moderation", frozenset({400}), "rejected by the safety system",
          "rejected as a result of our safety system"),
)  # fmt: skip

ROWS: Final = (*CODES, *STATUS, *FINISH, *EXCEPTIONS, *SAYS)
