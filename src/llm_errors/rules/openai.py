"""Rows of the openai dialect: OpenAI, Azure OpenAI, and the many that speak its wire format.

Codes: the literals of the openai SDK, Azure's, OpenRouter's, DeepSeek's and Huawei's documentation, vLLM's, llama.cpp's,
groq's and LiteLLM's error bodies as public reports show them.
"""

from typing import Final

from llm_errors.rules import _openai_finish, _openai_texts
from llm_errors.rules._dialect import Dialect
from llm_errors.rules._numbers import numbers
from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("openai")
_code = _DIALECT.code


def _number(row_id: str, error_class: E, reason: str, codes: str) -> Rule:
    return _code(f"base_resp.{row_id}", error_class, reason, codes, facts=words("base_resp"), kind="code")


CODES: Final = (
    _code("quota", E.CALL_BUDGET, "insufficient_quota",
          "insufficient_quota insufficient_user_quota quota_exceeded quotaexceeded exceeded_current_quota_error"
          " allocationquota.freetieronly free_quota_exceeded pre_consume_token_quota_failed"
          " modelarts.81005 modelarts.4207"),
    _code("billing", E.CALL_BUDGET, "billing",
          "billing_not_active credit_balance_exhausted insufficient_balance insufficient_credits billing_error"
          " payment_required account_balance_insufficient insufficient_balance_error arrearage accountoverdueerror"
          " not_enough_balance credit_limit"),
    _code("spend_limit", E.CALL_BUDGET, "spend_limit",
          "billing_hard_limit_reached usage_limit_exceeded usage_limit_reached project_spend_limit_exceeded"
          " organization_spend_limit_exceeded organization_usage_limit_exceeded budget_exceeded spend_limit_reached"
          " setlimitexceeded blocked_api_access"),
    _code("spend_limit.suspended", E.CALL_BUDGET, "spend_limit",
          "precondition_failed",
          says=("spending limit", "failure to pay")),
    # OpenRouter's budget of tokens; others name a limit of a minute or of a prompt so, with the status for it.
    _code("spend_limit.tokens", E.CALL_BUDGET, "spend_limit", "token_limit_exceeded", status=frozenset({400, 402})),
    _code("spend_limit.tokens.generic", E.CALL_BUDGET, "spend_limit", "token_limit_exceeded", generic=True),
    _code("rate.requests", E.RATE_LIMITED, "requests",
          "rate_limit_exceeded requests rate_limit_error rate_limit_reached_error too_many_requests throttling"
          " too_many_requests_error ratelimitreached rate_limit RateLimitError limit_requests limit_burst_rate"
          " throttling.ratequota rate_limited rpm_rate_limit_exceeded ratelimitexceeded.endpointrpmexceeded"
          " modelaccountrpmratelimitexceeded accountratelimitexceeded request_quota_exceeded throttling_error"
          " throttlingexception toomanyrequestsexception model_rate_limit modelarts.81101"),
    # A router's limit is another matter than that of the provider behind it.
    _code("rate.upstream", E.RATE_LIMITED, "upstream", "rate_limit_exceeded", facts=words("upstream"), weight=1),
    _code("rate.tokens", E.RATE_LIMITED, "tokens",
          "tokens limit_tokens token_quota_exceeded too_many_tokens_error tpm_rate_limit_exceeded"
          " throttling.allocationquota ratelimitexceeded.endpointtpmexceeded modelaccounttpmratelimitexceeded"
          " modelarts.81103",
          weight=1),
    _code("rate.quota", E.RATE_LIMITED, "service_quota", "servicequotaexceededexception"),
    _code("rate.too_large", E.RATE_LIMITED, "request_too_large_for_rate",
          "rate_limit_exceeded tokens",
          facts=words("exceeds_limit"), weight=2, kind="message"),
    _code("rate.too_large.413", E.RATE_LIMITED, "request_too_large_for_rate",
          "rate_limit_exceeded tokens",
          status=frozenset({413}), weight=2),
    _code("rate.daily", E.RATE_LIMITED, "daily_quota",
          "tokens_per_day requests_per_day daily_limit_exceeded",
          weight=1),
    # The code of a limit is the same whatever its period; only the text names it.
    _code("rate.daily.said", E.RATE_LIMITED, "daily_quota",
          "rate_limit_exceeded tokens requests rate_limit_reached_error token_quota_exceeded request_quota_exceeded"
          " ratelimitreached",
          says=("per day", "tpd rate limit", "rpd rate limit", "userbymodelbyday"), weight=1),
    # Azure's code is the status again, or the same for both limits; only the text says which one it is.
    _code("rate.tokens.said", E.RATE_LIMITED, "tokens",
          "rate_limit_exceeded throttling_error rate_limit_error",
          says=("exceeded token rate limit", "limit type: tokens", "tpm limit reached"), weight=1),
    _code("rate.concurrency.said", E.RATE_LIMITED, "concurrency",
          "rate_limit_reached_error ratelimitreached rate_limit_exceeded throttling_error rate_limit_error",
          says=("concurrency:", "limit type: max_parallel_requests", "userconcurrentrequests"), weight=1),
    _code("rate.concurrency", E.RATE_LIMITED, "concurrency",
          "concurrency_limit_exceeded too_many_concurrent_requests",
          weight=1),
    _code("key", E.AUTH, "invalid_key",
          "invalid_api_key incorrect_api_key authentication_error invalid_authentication invalid_token unauthorized"
          " token_not_valid auth_error invalid_auth invalid_authentication_error authenticationerror invalidapikey"
          " wrong_api_key token_not_found_in_db invalid_iam_token unrecognizedclientexception"
          " invalidsignatureexception authentication modelarts.81003"),
    _code("key.expired", E.AUTH, "expired",
          "expired_api_key token_expired api_key_expired expired_token expired_key expiredtokenexception"),
    _code("key.missing", E.AUTH, "missing_key", "missing_api_key no_api_key missing_authorization_header modelarts.81002"),
    _code("denied", E.AUTH, "permission_denied",
          "permission_error permission_denied ip_not_authorized insufficient_permissions invalid_organization"
          " organization_must_be_verified access_denied forbidden permissiondenied key_model_access_denied"
          " team_model_access_denied user_model_access_denied org_model_access_denied model_terms_required no_access"
          " model.accessdenied accessdenied.unpurchased operationdenied.servicenotopen accessdeniedexception"
          " permission_denied_error accessdenied usage_not_included modelarts.81004 modelarts.81015 modelarts.81109"),
    _code("region", E.AUTH, "region", "unsupported_country_region_territory"),
    _code("account", E.AUTH, "account_disabled",
          "account_deactivated organization_deactivated account_suspended access_terminated organization_restricted"
          " account_disabled"),
    _code("model", E.NOT_FOUND, "model",
          "model_not_found model_not_available invalid_model model_deprecated model_decommissioned not_found_error"
          " notfounderror model_not_exist unknown_model unavailable_model model_not_supported modelnotfound"
          " modelnotopen invalidendpointormodel.notfound resourcenotfoundexception resource_not_found_error"
          " modelarts.81009"),
    # llama.cpp's word for a path that it does not serve.
    _code("model.path", E.NOT_FOUND, "resource", "not_found_error", says=("file not found",), weight=1),
    # No more than the name of a status.
    _code("model.status", E.NOT_FOUND, "model", "not_found", canonical=True, weight=1),
    _code("deployment", E.NOT_FOUND, "deployment", "deploymentnotfound deployment_not_found"),
    _code("resource", E.NOT_FOUND, "resource",
          "resource_not_found previous_response_not_found file_not_found conversation_not_found"
          " vector_store_not_found modelarts.81108"),
    _code("context", E.BAD_REQUEST, "context_overflow",
          "context_length_exceeded string_above_max_length context_window_exceeded exceed_context_size_error"
          " context_overflow model_context_window_exceeded max_prompt_tokens_exceeded input_too_long"),
    # llama.cpp reports an overflow in mid-generation as its own error.
    _code("context.server", E.BAD_REQUEST, "context_overflow",
          "server_error",
          says=("context size has been exceeded", "exceeds the available context size",
                "increase the physical batch size"), weight=1),
    _code("too_large", E.BAD_REQUEST, "request_too_large",
          "request_too_large payload_too_large array_above_max_length max_tokens_per_request"
          " tokens_limit_reached string_too_long"),
    _code("too_large.413", E.BAD_REQUEST, "request_too_large", "server_error", status=frozenset({413}), weight=1),
    _code("parameter", E.BAD_REQUEST, "invalid_parameter",
          "invalid_value missing_required_parameter unknown_parameter invalid_type invalid_request_format"
          " validation_error integer_below_min_value integer_above_max_value decimal_above_max_value"
          " decimal_below_min_value invalid_function_parameters invalid_json_schema missing_parameter"
          " invalid_parameter empty_array missingparameter bad_request_body convert_request_failed"),
    _code("unsupported", E.BAD_REQUEST, "unsupported",
          "unsupported_parameter unsupported_value unsupported_model operation_not_supported operationnotsupported"
          " unsupported_media_type not_supported unsupported_api_for_model"),
    # llama.cpp calls its own error what its templates and options refuse in a request.
    _code("unsupported.server", E.BAD_REQUEST, "unsupported", "server_error", says=("provide the mmproj",), weight=1),
    _code("history.server", E.BAD_REQUEST, "malformed_history",
          "server_error",
          says=("system message must be at the beginning", "conversation roles must alternate",
                "failed to parse tool call arguments as json"), weight=1),
    _code("history", E.BAD_REQUEST, "malformed_history",
          "invalid_request_message_order invalid_message invalid_encrypted_content"),
    # OpenAI's word for a prompt that its policy refuses.
    _code("history.openrouter", E.BAD_REQUEST, "malformed_history", "invalid_prompt", providers=words("openrouter")),
    _code("media", E.BAD_REQUEST, "invalid_media",
          "invalid_image invalid_image_format invalid_base64_image invalid_image_url image_too_large image_too_small"
          " image_parse_error invalid_image_mode image_file_too_large unsupported_image_media_type empty_image_file"
          " image_file_not_found failed_to_download_image image_content_error invalid_audio audio_too_short"
          " unsupported_file invalid_file sanitizer_server_error unsupported_file_mimetype"
          " unsupported_image_format image_not_found image_download_failed modelarts.81118"),
    _code("precondition", E.BAD_REQUEST, "failed_precondition", "data_residency_mismatch zero_data_retention"),
    _code("precondition.generic", E.BAD_REQUEST, "failed_precondition", "precondition_failed", generic=True),
    _code("tool", E.TOOL_PROTOCOL, "malformed_call", "tool_use_failed tool_call_failed output_parse_failed"),
    # Ollama calls its own error what the model wrote.
    _code("tool.said", E.TOOL_PROTOCOL, "malformed_call", "api_error", says=("error parsing tool call",), weight=1),
    _code("json", E.TOOL_PROTOCOL, "schema_mismatch", "json_validate_failed json_schema_validation_failed"),
    _code("blocked", E.PROMPT_BLOCKED, "content_filter",
          "content_filter responsibleaipolicyviolation data_inspection_failed content_filtered sensitive_content"
          " contentfilter datainspectionfailed sensitivecontentdetected prompt_blocked"
          " inputtextsensitivecontentdetected inputimagesensitivecontentdetected inputvideosensitivecontentdetected"
          " inputaudiosensitivecontentdetected modelarts.81011"),
    _code("blocked.output", E.OUTPUT_BLOCKED, "content_filter",
          "outputtextsensitivecontentdetected outputimagesensitivecontentdetected"
          " outputvideosensitivecontentdetected outputaudiosensitivecontentdetected"),
    _code("blocked.output.said", E.OUTPUT_BLOCKED, "content_filter",
          "data_inspection_failed datainspectionfailed",
          says=("output data may contain",), weight=1),
    _code("blocked.jailbreak", E.PROMPT_BLOCKED, "jailbreak",
          "content_filter responsibleaipolicyviolation",
          facts=words("jailbreak")),
    _code("blocked.policy", E.PROMPT_BLOCKED, "prohibited_content",
          "invalid_prompt cyber_policy bio_policy misalignment_policy_violation contentpolicyviolationerror"
          " content_policy_violation_error"),
    _code("blocked.moderation", E.PROMPT_BLOCKED, "moderation",
          "moderation_blocked content_policy_violation image_content_policy_violation moderation_error"
          " input_moderation safety_violation sensitive_words_detected"),
    # An image may have been made before it is blocked: the error says at which stage that was.
    _code("blocked.moderation.output", E.OUTPUT_BLOCKED, "image_safety",
          "moderation_blocked",
          facts=words("output_stage")),
    _code("blocked.guardrail", E.PROMPT_BLOCKED, "guardrail",
          "guardrail_blocked guardrail_intervened guardrail_raised_exception input_guardrail_triggered"),
    _code("blocked.guardrail.output", E.OUTPUT_BLOCKED, "guardrail", "output_guardrail_triggered hooks_failed"),
    _code("blocked.guardrail.input", E.PROMPT_BLOCKED, "guardrail", "hooks_failed", facts=words("input_stage")),
    _code("refusal", E.OUTPUT_BLOCKED, "refusal", "refusal"),
    _code("max_tokens", E.TRUNCATED, "max_tokens", "max_tokens_exceeded"),
    _code("server", E.SERVER, "internal",
          "server_error internal_error internal_server_error internalservererror internalfailure api_internal_error"
          " internalserviceerror internalserverexception"),
    _code("overloaded", E.SERVER, "overloaded",
          "server_overloaded engine_overloaded engine_overloaded_error overloaded_error overloaded flex_unavailable"
          " slow_down server_busy model_overloaded nocapacity no_capacity capacity_exceeded over_capacity"
          " queue_exceeded model_at_capacity insufficient_system_resource server_is_overloaded serveroverloaded"
          " service_tier_capacity_exceeded provider_overloaded"),
    _code("overloaded.said", E.SERVER, "overloaded", "server_error", says=("currently overloaded",), weight=1),
    _code("unavailable", E.SERVER, "unavailable",
          "service_unavailable service_unavailable_error unavailable model_unavailable serviceunavailable"
          " unavailable_error serviceunavailableexception no_db_connection get_channel_failed"
          " channel:no_available_key"),
    _code("not_ready", E.SERVER, "model_not_ready",
          "model_not_ready model_loading loading_model modelnotreadyexception"),
    _code("model_error", E.SERVER, "model_error", "modelerrorexception modelstreamerrorexception"),
    _code("deadline", E.SERVER, "deadline_exceeded",
          "vector_store_timeout deadline_exceeded channel:response_time_exceeded apig.0203"),
    _code("timeout", E.TIMEOUT, "provider", "request_timeout timeout timeout_error modeltimeoutexception user_request_timeout"),
    _code("upstream", E.SERVER, "upstream",
          "upstream_error provider_error bad_gateway provider_unavailable bad_response_status_code do_request_failed"
          " bad_response bad_response_body empty_response read_response_body_failed"),
    # These say little: the HTTP status, where there is one, says more.
    _code("generic.request", E.BAD_REQUEST, "invalid_parameter",
          "invalid_request_error invalid_request badrequesterror bad_request badrequest invalid_argument"
          " bad_request_error validationexception invalid_parameter_error invalidparameter unprocessable"
          " modelarts.81001",
          generic=True),
    _code("generic.server", E.SERVER, "internal", "api_error server", generic=True),
)  # fmt: skip

STATUS: Final = (
    Rule("openai.http.400", E.BAD_REQUEST, "invalid_parameter",
         dialects=_DIALECT.only, status=frozenset({400}), facts=words("error_object")),
    Rule("openai.embedded.5xx", E.SERVER, "upstream",
         dialects=_DIALECT.only, status=frozenset({500, 502, 503}), embedded=True),
    Rule("openai.embedded.429", E.RATE_LIMITED, "upstream",
         dialects=_DIALECT.only, status=frozenset({429}), embedded=True),
    Rule("openai.upstream.429", E.RATE_LIMITED, "upstream",
         dialects=_DIALECT.only, status=frozenset({429}), facts=words("upstream")),
    Rule("openai.upstream.5xx", E.SERVER, "upstream",
         dialects=_DIALECT.only, status=frozenset({500, 502, 503}), facts=words("upstream")),
)  # fmt: skip

EXCEPTIONS: Final = (
    Rule("openai.parse.length", E.TRUNCATED, "max_tokens", exceptions=words(".LengthFinishReasonError"), weight=4),
    Rule("openai.parse.filter", E.OUTPUT_BLOCKED, "content_filter",
         exceptions=words(".ContentFilterFinishReasonError"), weight=4),
    Rule("openai.azure.credentials", E.AUTH, "invalid_key",
         exceptions=words("azure.ClientAuthenticationError openai.OAuthError"), weight=4),
)  # fmt: skip

BASE_RESP: Final = (
    _number("billing", E.CALL_BUDGET, "billing", "1008"),
    _number("window", E.RATE_LIMITED, "daily_quota", "2056"),
    _number("rate", E.RATE_LIMITED, "requests", "1002 2045"),
    _number("tokens", E.RATE_LIMITED, "tokens", "1039"),
    _number("concurrency", E.RATE_LIMITED, "concurrency", "1041"),
    _number("key", E.AUTH, "invalid_key", "1004 2049"),
    _number("input", E.PROMPT_BLOCKED, "content_filter", "1026"),
    _number("output", E.OUTPUT_BLOCKED, "content_filter", "1027"),
    _number("parameter", E.BAD_REQUEST, "invalid_parameter", "2013"),
    _number("timeout", E.TIMEOUT, "provider", "1001"),
    _number("server", E.SERVER, "internal", "1000 1013 1024 1033"),
)
"""MiniMax answers HTTP 200 with the number of its error in `base_resp`."""

SHARED: Final = (*CODES, *_openai_texts.SAYS, *_openai_finish.ROWS)
"""What servers of other dialects may say, too."""

ROWS: Final = (*SHARED, *numbers(_DIALECT), *STATUS, *EXCEPTIONS, *_openai_texts.IN_STREAM, *BASE_RESP)
