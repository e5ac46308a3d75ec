"""Rules for error codes and types of the openai dialect, of OpenAI and of the many servers that use the same wire format.

The codes come from three sources: the literals of the openai SDK; the error tables of Azure, OpenRouter, DeepSeek, Huawei,
Alibaba, Volcengine, Moonshot, xAI, watsonx, Databricks, Vercel and Portkey, and of the Stainless SDKs in `providers`; and the
error bodies of vLLM, llama.cpp, TGI, LiteLLM and new-api, as public reports show them.
"""

from typing import Final

from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("openai")
_code, _status = _DIALECT.code, _DIALECT.status


CODES: Final = (
    _code("quota", E.CALL_BUDGET, "insufficient_quota",
          "insufficient_quota insufficient_user_quota quota_exceeded quotaexceeded exceeded_current_quota_error"
          " allocationquota.freetieronly free_quota_exceeded pre_consume_token_quota_failed"
          " modelarts.81005 modelarts.4207 token_quota_reached quota_exhausted free_quota_exhausted"
          " failedoperation.resourcepackexhausted failedoperation.freeresourcepackexhausted consumption_limit_reached"
          " monthly_quota_exceeded plan_limit_exceeded quota_limit_exceeded insufficient_quota_error voice_limit_reached"
          " provider_quota_exceeded chat_quota_exceeded"),
    _code("billing", E.CALL_BUDGET, "billing",
          "billing_not_active credit_balance_exhausted insufficient_balance insufficient_credits billing_error"
          " payment_required account_balance_insufficient insufficient_balance_error arrearage accountoverdueerror"
          " not_enough_balance credit_limit payment_required_error insufficient_funds customer_verification_required"
          " operationdenied.serviceoverdue serviceoverdue prepaidbilloverdue postpaidbilloverdue commoditynotpurchased"
          " resourceunavailable.inarrears resourceunavailable.lowbalance account_overdue no_credits out_of_credits"
          " insufficient_credit low_balance balance_not_enough insufficient_account_balance user_balance_not_enough"
          " failedoperation.servicestop invalidpaymentinstrument weight_exceeds_budget plan_upgrade_required"
          " asr_payment_required api_allowed_for_paid_plan e0300 subscription_required"),
    _code("spend_limit", E.CALL_BUDGET, "spend_limit",
          "billing_hard_limit_reached usage_limit_exceeded usage_limit_reached project_spend_limit_exceeded"
          " organization_spend_limit_exceeded organization_usage_limit_exceeded budget_exceeded spend_limit_reached"
          " setlimitexceeded blocked_api_access spend_cap_reached spending_limit_exceeded key_limit_exceeded"
          " in_flight_budget_exhausted usage_limit exceededbudget budgetexceedederror max_budget_exceeded"),
    _code("spend_limit.suspended", E.CALL_BUDGET, "spend_limit",
          "precondition_failed",
          says=("spending limit", "failure to pay")),
    # At OpenRouter, the code means a token budget. Other servers send it with another status, for a limit per minute or prompt.
    _code("spend_limit.tokens", E.CALL_BUDGET, "spend_limit", "token_limit_exceeded", status=frozenset({400, 402})),
    _code("spend_limit.tokens.generic", E.CALL_BUDGET, "spend_limit", "token_limit_exceeded", generic=True),
    _status("rate.requests", E.RATE_LIMITED, "requests", 429,
          "rate_limit_exceeded requests rate_limit_error rate_limit_reached_error too_many_requests throttling"
          " too_many_requests_error ratelimitreached rate_limit rate_limited ratelimited request_limit_exceeded"
          " throttling_error throttlingexception toomanyrequestsexception rate_limit_reached ratelimit throttled"
          " throttled_exception quota_rate_limit limitexceeded limit_exceeded rate_limit_exceeded_error"),
    # Codes for one kind of limit. Their messages contain nothing about an account.
    _code("rate.requests.named", E.RATE_LIMITED, "requests",
          "limit_requests limit_burst_rate throttling.ratequota throttling.burstrate rpm_rate_limit_exceeded"
          " ratelimitexceeded.endpointrpmexceeded modelaccountrpmratelimitexceeded accountratelimitexceeded"
          " request_quota_exceeded model_rate_limit modelarts.81101 apiaccountrpmratelimitexceeded requestbursttoofast"
          " modelaccountipmratelimitexceeded dynamic_request_limited requests_per_minute_exceeded"
          " rate_limit_reached_requests preemptible_rpm_rate_limit_exceeded user_rate_limit_exceeded"
          " cluster_rate_limit_exceeded rpm_limit_exceeded"),
    # With the fact `upstream`, a router reports the limit of a provider behind it, not its own limit.
    _code("rate.upstream", E.RATE_LIMITED, "upstream", "rate_limit_exceeded", facts=words("upstream"), weight=1),
    _code("rate.tokens", E.RATE_LIMITED, "tokens",
          "tokens limit_tokens token_quota_exceeded too_many_tokens_error tpm_rate_limit_exceeded"
          " throttling.allocationquota ratelimitexceeded.endpointtpmexceeded modelaccounttpmratelimitexceeded"
          " modelarts.81103 dynamic_token_limited tokens_per_minute_exceeded preemptible_tpm_rate_limit_exceeded"
          " tpm_limit_exceeded input_tokens_per_minute output_tokens_per_minute",
          weight=1),
    _code("rate.quota", E.RATE_LIMITED, "service_quota", "servicequotaexceededexception"),
    _code("rate.too_large", E.RATE_LIMITED, "request_too_large_for_rate",
          "rate_limit_exceeded tokens",
          facts=words("exceeds_limit"), weight=2, kind="message"),
    _code("rate.too_large.413", E.RATE_LIMITED, "request_too_large_for_rate",
          "rate_limit_exceeded tokens",
          status=frozenset({413}), weight=2),
    _code("rate.daily", E.RATE_LIMITED, "daily_quota",
          "tokens_per_day requests_per_day daily_limit_exceeded daily_quota_exceeded rpd_limit_exceeded tpd_limit_exceeded",
          weight=1),
    # These codes are the same for every period; only the text names the period.
    _code("rate.daily.said", E.RATE_LIMITED, "daily_quota",
          "rate_limit_exceeded tokens requests rate_limit_reached_error token_quota_exceeded request_quota_exceeded"
          " ratelimitreached",
          says=("per day", "tpd rate limit", "rpd rate limit", "userbymodelbyday"), weight=1),
    # Azure's codes repeat the status, or are the same for limits of requests and of tokens. Only the text tells which it is.
    _code("rate.tokens.said", E.RATE_LIMITED, "tokens",
          "rate_limit_exceeded throttling_error rate_limit_error",
          says=("exceeded token rate limit", "limit type: tokens", "tpm limit reached"), weight=1),
    _code("rate.concurrency.said", E.RATE_LIMITED, "concurrency",
          "rate_limit_reached_error ratelimitreached rate_limit_exceeded throttling_error rate_limit_error",
          says=("concurrency:", "limit type: max_parallel_requests", "userconcurrentrequests"), weight=1),
    _code("rate.concurrency", E.RATE_LIMITED, "concurrency",
          "concurrency_limit_exceeded too_many_concurrent_requests throttling.concurrency inflightbatchsizeexceeded"
          " concurrency_limit_reached concurrent_limit_exceeded failedoperation.engineserverlimitexceeded"
          " concurrency_limited",
          weight=1),
    _code("key", E.AUTH, "invalid_key",
          "invalid_api_key incorrect_api_key incorrect_api_key_error invalid_token token_not_valid wrong_api_key"
          " token_not_found_in_db invalid_iam_token invalidapikey unrecognizedclientexception"
          " invalidsignatureexception modelarts.81003 authentication_token_not_valid invalid_key bad_api_key"
          " invalidsubscriptionkey accessdeniedduetoinvalidsubscriptionkey invalid_credentials mismatched_project"
          " mismatched_organization failed_to_auth invalid_access_token invalid_api_key_error"
          " api_key_invalid"),
    _status("key.status", E.AUTH, "invalid_key", 401,
          "authentication_error invalid_authentication unauthorized auth_error invalid_auth authentication"
          " invalid_authentication_error authenticationerror authentication_failed unauthenticated"
          " unauthorized_error autherror authfailure"),
    _code("key.expired", E.AUTH, "expired",
          "expired_api_key token_expired api_key_expired expired_token expired_key expiredtokenexception"
          " authentication_token_expired"),
    _code("key.missing", E.AUTH, "missing_key", "missing_api_key no_api_key missing_authorization_header modelarts.81002"
          " needs_authorization provider_credentials_unavailable integration_credentials_unavailable"),
    _code("denied", E.AUTH, "permission_denied",
          "ip_not_authorized insufficient_permissions invalid_organization organization_must_be_verified"
          " key_model_access_denied team_model_access_denied user_model_access_denied org_model_access_denied"
          " model_terms_required no_access model.accessdenied app.accessdenied workspace.accessdenied"
          " accessdenied.unpurchased operationdenied.servicenotopen usage_not_included modelarts.81004"
          " modelarts.81015 modelarts.81109 model_permission_blocked_org model_permission_blocked_project"
          " authorization_rejected user_authorization_failed no_model_permission no_parameter_permission"
          " missing_permissions voice_access_denied api_not_allowed missing_scope modelidaccessdisabled servicenotactivated feature_disabled model_access_denied"),
    _status("denied.status", E.AUTH, "permission_denied", 403,
          "permission_error permission_denied permission_denied_error permissiondenied access_denied accessdenied"
          " forbidden forbidden_error accessdeniedexception access_deny operationdenied unauthorizedoperation"
          " not_authorized notauthorized permissionerror"),
    _code("region", E.AUTH, "region", "unsupported_country_region_territory region_not_allowed"),
    _code("account", E.AUTH, "account_disabled",
          "account_deactivated organization_deactivated account_suspended access_terminated organization_restricted"
          " account_disabled invalidaccountstatus account_inactive user_blocked account_locked user_deactivated"
          " organization_disabled account_banned detected_unusual_activity"),
    _code("model", E.NOT_FOUND, "model",
          "model_not_found model_not_available invalid_model model_deprecated model_decommissioned model_not_exist"
          " unknown_model unavailable_model model_not_supported modelnotfound modelnotopen no_such_model model_offline"
          " invalidendpointormodel.notfound resourcenotfoundexception resource_not_found_error modelarts.81009"
          " model_no_support_for_function model_retired model_end_of_life invalid_model_id mismatchedmodel"
          " model_not_found_error resource_does_not_exist invalidparametervalue.model"),
    _status("model.status", E.NOT_FOUND, "model", 404, "not_found_error notfounderror not_found notfound"),
    # llama.cpp sends this code for a path that it does not serve.
    _code("model.path", E.NOT_FOUND, "resource", "not_found_error", says=("file not found",), weight=1),
    _code("deployment", E.NOT_FOUND, "deployment", "deploymentnotfound deployment_not_found endpoint_not_found closedendpoint"
          " invalidendpoint.closedendpoint deployment_disabled"),
    _code("resource", E.NOT_FOUND, "resource",
          "resource_not_found previous_response_not_found file_not_found conversation_not_found"
          " vector_store_not_found modelarts.81108 response_not_found item_not_found thread_not_found project_not_found"
          " space_id_not_found workspacenotfound voice_not_found resource_not_exist"),
    _code("context", E.BAD_REQUEST, "context_overflow",
          "context_length_exceeded context_window_exceeded exceed_context_size_error context_overflow"
          " model_context_window_exceeded max_prompt_tokens_exceeded input_too_long tokens_too_long prompt_too_long"
          " outofcontexterror context_length_error max_context_length_exceeded input_tokens_exceeded"
          " contextwindowexceedederror contextlengthexceeded contextwindowexceeded invalid_request_prompt_too_long"),
    # At TwelveLabs, this code means that the video is too long. At other servers, it means a budget.
    _code("context.video", E.BAD_REQUEST, "context_overflow", "token_limit_exceeded",
          providers=words("twelvelabs"), weight=1),
    # Any parameter can be too long, but only a prompt can be compressed.
    _code("context.length", E.BAD_REQUEST, "context_overflow",
          "string_above_max_length string_too_long array_above_max_length",
          facts=words("prompt_parameter"), weight=1),
    _code("length", E.BAD_REQUEST, "invalid_parameter", "string_above_max_length array_above_max_length"),
    # llama.cpp reports an overflow during generation as a server error.
    _code("context.server", E.BAD_REQUEST, "context_overflow",
          "server_error",
          says=("context size has been exceeded", "exceeds the available context size",
                "increase the physical batch size"), weight=1),
    _code("too_large", E.BAD_REQUEST, "request_too_large",
          "max_tokens_per_request tokens_limit_reached string_too_long badrequest.toolarge"
          " request_entity_too_large body_too_large max_character_limit_exceeded text_too_long"
          " max_page_limit_exceeded"),
    _status("too_large.status", E.BAD_REQUEST, "request_too_large", 413, "request_too_large payload_too_large"),
    _code("too_large.413", E.BAD_REQUEST, "request_too_large", "server_error", status=frozenset({413}), weight=1),
    _code("parameter", E.BAD_REQUEST, "invalid_parameter",
          "invalid_value missing_required_parameter unknown_parameter invalid_type invalid_request_format"
          " validation_error integer_below_min_value integer_above_max_value decimal_above_max_value"
          " decimal_below_min_value invalid_function_parameters invalid_json_schema missing_parameter"
          " invalid_parameter empty_array missingparameter bad_request_body convert_request_failed"
          " invalid_parameter_value invalid_input_argument invalid_request_entity malformed_json invalid_messages"
          " missing_content incorrect_max_tokens invalid_argument_error invalidargumenterror validationerror"
          " invalid_response_format invalid_reasoning_effort invalid_parameters invalid_json parameter_invalid"
          " parameter_not_provided parameter_unknown unprocessable_entity_error invalid_inputs invalid_template"
          " invalid_workflow invalid_code"),
    _code("unsupported", E.BAD_REQUEST, "unsupported",
          "unsupported_parameter unsupported_value unsupported_model operation_not_supported operationnotsupported"
          " unsupported_media_type not_supported unsupported_api_for_model unsupportedoperation unsupported_operation"
          " background_mode_not_supported index_not_supported_for_generate"),
    # llama.cpp reports a request that its templates or options refuse as a server error.
    _code("unsupported.server", E.BAD_REQUEST, "unsupported", "server_error", says=("provide the mmproj",), weight=1),
    _code("history.server", E.BAD_REQUEST, "malformed_history",
          "server_error",
          says=("system message must be at the beginning", "conversation roles must alternate",
                "failed to parse tool call arguments as json"), weight=1),
    _code("history", E.BAD_REQUEST, "malformed_history",
          "invalid_request_message_order invalid_message invalid_encrypted_content"),
    # OpenAI sends `invalid_prompt` for a prompt that its policy refuses, OpenRouter for a wrong history.
    _code("history.openrouter", E.BAD_REQUEST, "malformed_history", "invalid_prompt", providers=words("openrouter")),
    _code("media", E.BAD_REQUEST, "invalid_media",
          "invalid_image invalid_image_format invalid_base64_image invalid_image_url image_too_large image_too_small"
          " image_parse_error invalid_image_mode image_file_too_large unsupported_image_media_type empty_image_file"
          " image_file_not_found failed_to_download_image image_content_error invalid_audio audio_too_short"
          " asset.invalid remote_content_error video_resolution_too_low video_file_broken unsupported_file invalid_file sanitizer_server_error unsupported_file_mimetype"
          " unsupported_image_format image_not_found image_download_failed modelarts.81118 invalidfile"
          " invalidparameter.oversizedimage oversizedimage invalidimageurl invalidimageresolution invalidurl"
          " invalidimageurl.emptyurl invalidimageurl.invalidformat invalid_media image_size_exceeded"),
    _code("precondition", E.BAD_REQUEST, "failed_precondition", "data_residency_mismatch zero_data_retention invalid_state"),
    # The session has reached its maximum age, or it cannot process the request of the application now.
    _code("session", E.BAD_REQUEST, "failed_precondition",
          "session_expired websocket_connection_limit_reached conversation_already_has_active_response"
          " response_cancel_not_active cannot_update_voice session_not_found"),
    _code("session.audio", E.BAD_REQUEST, "invalid_media", "input_audio_buffer_commit_empty invalid_audio_format"),
    _code("precondition.generic", E.BAD_REQUEST, "failed_precondition", "precondition_failed", generic=True),
    _code("tool", E.TOOL_PROTOCOL, "malformed_call", "tool_use_failed tool_call_failed output_parse_failed tool_call_parse_error"),
    # Error types of TGI. They are ordinary words, so a rule for the status wins.
    _code("tgi.tool", E.TOOL_PROTOCOL, "malformed_call", "tool_error", generic=True),
    _code("tgi.generation", E.SERVER, "model_error", "generation incomplete_generation", generic=True),
    _code("tgi.request", E.BAD_REQUEST, "invalid_parameter", "validation template_error", generic=True),
    # Ollama reports an invalid tool call of the model as a server error.
    _code("tool.said", E.TOOL_PROTOCOL, "malformed_call", "api_error", says=("error parsing tool call",), weight=1),
    _code("json", E.TOOL_PROTOCOL, "schema_mismatch", "json_validate_failed json_schema_validation_failed"),
    _code("blocked", E.PROMPT_BLOCKED, "content_filter",
          "content_filter contentpolicyviolationerror responsibleaipolicyviolation data_inspection_failed content_filtered sensitive_content"
          " contentfilter datainspectionfailed sensitivecontentdetected prompt_blocked"
          " inputtextsensitivecontentdetected inputimagesensitivecontentdetected inputvideosensitivecontentdetected"
          " inputaudiosensitivecontentdetected modelarts.81011 inputtextriskdetection inputimageriskdetection"
          " contentsecuritydetectionerror system_unsafe user_setting_unsafe functions_unsafe unsafe_request"
          " operationdenied.textillegaldetected operationdenied.imageillegaldetected content_blocked"
          " sensitive_content_detected risk_control content_risk input_data_inspection_failed"),
    _code("blocked.rule", E.PROMPT_BLOCKED, "blocklist", "faqruleblocked customroleblocked"),
    _code("blocked.output", E.OUTPUT_BLOCKED, "content_filter",
          "outputtextsensitivecontentdetected outputimagesensitivecontentdetected"
          " outputvideosensitivecontentdetected outputaudiosensitivecontentdetected outputtextriskdetection"
          " outputimageriskdetection output_data_inspection_failed"),
    _code("blocked.infringement", E.OUTPUT_BLOCKED, "recitation", "ipinfringementsuspect"),
    _code("blocked.output.said", E.OUTPUT_BLOCKED, "content_filter",
          "data_inspection_failed datainspectionfailed",
          says=("output data may contain",), weight=1),
    _code("blocked.jailbreak", E.PROMPT_BLOCKED, "jailbreak",
          "content_filter responsibleaipolicyviolation",
          facts=words("jailbreak")),
    _code("blocked.policy", E.PROMPT_BLOCKED, "prohibited_content",
          "invalid_prompt cyber_policy bio_policy misalignment_policy_violation"),
    # Failed tasks of Runway have a path as their code. The beginning of the path tells the stage.
    _code("blocked.safety", E.PROMPT_BLOCKED, "safety", "safety.input input_preprocessing.safety"),
    _code("blocked.safety.output", E.OUTPUT_BLOCKED, "safety", "safety.output third_party.safety"),
    _code("blocked.moderation", E.PROMPT_BLOCKED, "moderation",
          "moderation_blocked content_policy_violation image_content_policy_violation moderation_error"
          " input_moderation safety_violation sensitive_words_detected"),
    # An image may be blocked before or after it was generated. The error names the stage.
    _code("blocked.moderation.output", E.OUTPUT_BLOCKED, "image_safety",
          "moderation_blocked",
          facts=words("output_stage")),
    # The trace of a guardrail shows whether it blocked the prompt or the output. Without a trace, the output is assumed.
    _code("blocked.guardrail", E.OUTPUT_BLOCKED, "guardrail",
          "guardrail_blocked guardrail_intervened guardrail_raised_exception hooks_failed guardrail_violation"
          " output_guardrail_triggered"),
    _code("blocked.guardrail.input", E.PROMPT_BLOCKED, "guardrail",
          "guardrail_blocked guardrail_intervened guardrail_raised_exception hooks_failed guardrail_violation",
          facts=words("input_stage")),
    _code("blocked.guardrail.prompt", E.PROMPT_BLOCKED, "guardrail", "input_guardrail_triggered"),
    _code("refusal", E.OUTPUT_BLOCKED, "refusal", "refusal"),
    _code("max_tokens", E.TRUNCATED, "max_tokens", "max_tokens_exceeded"),
    _status("server", E.SERVER, "internal", 500,
          "server_error internal_error internal_server_error internalservererror internalfailure api_internal_error"
          " internalserviceerror internalserverexception internalerror systemerror system_error internal"
          " dispatch_internal_error engine_internal_error stream_incomplete cleanup_error stream_task_cancelled"),
    _code("overloaded", E.SERVER, "overloaded",
          "server_overloaded engine_overloaded engine_overloaded_error overloaded_error overloaded flex_unavailable"
          " slow_down server_busy model_overloaded nocapacity no_capacity capacity_exceeded over_capacity"
          " queue_exceeded model_at_capacity insufficient_system_resource server_is_overloaded serveroverloaded"
          " service_tier_capacity_exceeded provider_overloaded service_overloaded system_busy out_of_capacity"),
    _code("overloaded.said", E.SERVER, "overloaded", "server_error", says=("currently overloaded",), weight=1),
    _code("unavailable", E.SERVER, "unavailable",
          "model_unavailable no_db_connection get_channel_failed channel:no_available_key modelunavailable"
          " no_providers_available billing_service_unavailable_error"),
    _status("unavailable.status", E.SERVER, "unavailable", 503,
          "service_unavailable service_unavailable_error unavailable serviceunavailable unavailable_error"
          " serviceunavailableexception temporarily_unavailable service_not_available"),
    _code("not_ready", E.SERVER, "model_not_ready",
          "model_not_ready model_loading loading_model modelnotreadyexception modelloadingerror"),
    _code("model_error", E.SERVER, "model_error", "modelerrorexception modelstreamerrorexception unexpected_output modelservicefailed"
          " internal.bad_output task_failed model_call_error llm_empty_response"),
    _code("deadline", E.SERVER, "deadline_exceeded",
          "gateway_timeout_error vector_store_timeout deadline_exceeded channel:response_time_exceeded apig.0203"),
    # Letta's servers send these codes for errors of the provider that they call, in a stream and with a status.
    _code("upstream.timeout", E.TIMEOUT, "provider", "llm_timeout"),
    _code("upstream.rate", E.RATE_LIMITED, "upstream", "llm_rate_limit"),
    _code("upstream.key", E.AUTH, "invalid_key", "llm_authentication"),
    _code("upstream.denied", E.AUTH, "permission_denied", "bedrock_permission_denied"),
    _code("upstream.credits", E.CALL_BUDGET, "billing", "llm_insufficient_credits"),
    _code("upstream.request", E.BAD_REQUEST, "invalid_parameter", "llm_bad_request"),
    _code("upstream.context", E.BAD_REQUEST, "context_overflow", "context_window_overflow_in_system_prompt"),
    _code("timeout", E.TIMEOUT, "provider", "slow_upload request_canceled_or_timed_out request_timeout timeout timeout_error modeltimeoutexception user_request_timeout requesttimeout"
          " responsetimeout internalerror.timeout waittasktimeout workflow_timeout node_timeout"),
    _code("upstream", E.SERVER, "upstream",
          "upstream_error provider_error bad_gateway provider_unavailable bad_response_status_code do_request_failed"
          " bad_response bad_response_body empty_response read_response_body_failed downstream_request_failed"
          " failed_dependency llm_error llm_api_error llm_provider mcp_connection_error"),
    # Codes from the websockets of Deepgram, ElevenLabs and Hume.
    _code("speech.throttled", E.RATE_LIMITED, "requests", "commit_throttled"),
    _code("speech.failed", E.SERVER, "model_error", "transcriber_error failed_to_listen failed_to_think failed_to_speak"),
    _code("speech.server", E.SERVER, "internal", "net-0000 net-0002 net-0003 net-0004"),
    _code("speech.overloaded", E.SERVER, "overloaded", "queue_overflow"),
    _code("speech.terms", E.AUTH, "permission_denied", "unaccepted_terms unaccepted_terms_error"),
    _code("speech.credit", E.CALL_BUDGET, "insufficient_quota", "out_of_credit zero_balance"),
    _code("speech.media", E.BAD_REQUEST, "invalid_media", "input_error insufficient_audio_activity data-0000"),
    _code("speech.size", E.BAD_REQUEST, "request_too_large", "chunk_size_exceeded big-0000"),
    _code("speech.idle", E.BAD_REQUEST, "failed_precondition",
          "session_time_limit_exceeded client_message_timeout net-0001 inactivity_timeout max_duration_timeout"
          " injectionrefused"),
    _code("speech.message", E.BAD_REQUEST, "invalid_parameter",
          "schemaerror unparsable_client_message invalid_settings configurefailure message-0000 data-0002 invalid_config"),
    # Codes of Vellum's workflows, whose nodes and code belong to the application.
    _code("workflow.turns", E.CALL_BUDGET, "max_turns", "node_execution_count_limit_reached"),
    _code("workflow.start", E.BAD_REQUEST, "failed_precondition", "workflow_initialization"),
    _code("workflow.own", E.BAD_REQUEST, "other", "user_defined_error"),
    _code("workflow.outputs", E.TOOL_PROTOCOL, "schema_mismatch", "invalid_outputs"),
    _code("workflow.node", E.SERVER, "other", "node_execution"),
    _code("conflict", E.SERVER, "conflict", "conversation_locked conflict_error resource_conflict"),
    # These codes are general, so a rule for the HTTP status wins.
    _code("generic.request", E.BAD_REQUEST, "invalid_parameter",
          "invalid_request_error invalid_request badrequesterror bad_request badrequest invalid_argument"
          " bad_request_error validationexception invalid_parameter_error invalidparameter unprocessable"
          " modelarts.81001",
          generic=True),
    _code("generic.server", E.SERVER, "internal", "api_error server", generic=True),
)  # fmt: skip
