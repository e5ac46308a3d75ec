"""Rules of the anthropic dialect.

The error types and codes come from the `ErrorType` literals and the table of error codes in the anthropic SDK.
"""

from typing import Final

from llm_errors.rules import openai
from llm_errors.rules._aws import aws
from llm_errors.rules._dialect import Dialect
from llm_errors.rules._numbers import numbers
from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("anthropic")
_code, _status, _finish, _says = _DIALECT.code, _DIALECT.status, _DIALECT.finish, _DIALECT.says

NAMED: Final = (
    # Codes for which the SDK has a class. Most of them belong to the administration APIs.
    _code("named.denied", E.AUTH, "permission_denied",
          "api_key_scope_missing approval_required grant_required provider_not_allowed workspace_policy_violation"
          " organization_level_scoped_api_key_required organization_not_eligible organization_not_enrolled_in_beta"
          " organization_type_not_supported parent_organization_required cmek_not_approved storage_not_approved"
          " compliance_configuration_restricted sandbox_egress_restricted email_domain_not_allowed"
          " environment_create_disabled environment_update_disabled human_review_not_available"
          " workspace_human_review_disabled claude_code_key_creator_not_member claude_tag_writes_not_enabled"
          " spend_limits_admin_api_writes_not_enabled rbac_group_grants_owner_access"
          " rbac_group_owner_access_unconfirmed cannot_invite_emails_with_unverified_domains"
          " cannot_remove_last_member cannot_sign_out_managed_member cannot_sign_out_membership_admin"
          " cannot_sign_out_owner cannot_sign_out_primary_owner cannot_sign_out_privileged_member cannot_sign_out_self",
          weight=1),
    _code("named.region", E.AUTH, "region", "region_not_supported unsupported_region", weight=1),
    _code("named.billing", E.CALL_BUDGET, "billing",
          "user_profile_billing_not_authorized user_profile_not_billable", weight=1),
    _code("named.resource", E.NOT_FOUND, "resource",
          "environment_not_found external_key_not_found file_expired rbac_group_managed_settings_not_found"
          " rbac_group_not_found rbac_role_not_found slack_channel_set_up_environment_not_found"
          " user_profile_not_found", weight=1),
    _code("named.history", E.BAD_REQUEST, "malformed_history",
          "compaction_block_ambiguous compaction_block_misplaced compaction_content_mismatch"
          " compaction_incomplete_turn compaction_signature_invalid compaction_too_many_tool_references"
          " compaction_tool_changes_mismatch thread_fingerprint_mismatch", weight=1),
    _code("named.unsupported", E.BAD_REQUEST, "unsupported",
          "bundle_attachment_not_supported claude_code_version_too_old cmek_feature_unsupported file_not_downloadable"
          " request_body_encoding_unsupported thread_unsupported_request too_many_report_groups unsupported_charset",
          weight=1),
    _code("named.parameter", E.BAD_REQUEST, "invalid_parameter",
          "external_key_provider_mismatch invalid_config_type_change invalid_metadata invalid_storage_arn"
          " report_page_too_large request_body_encoding_invalid slack_channel_set_up_settings_refused", weight=1),
    _code("named.precondition", E.BAD_REQUEST, "failed_precondition",
          "already_member bundle_on_call cmek_key_disabled cmek_key_network_blocked compaction_nothing_to_summarize"
          " environment_archived external_key_in_workspace_policy external_key_validation_failed"
          " external_storage_in_use external_storage_in_workspace_policy external_storage_not_available"
          " gcp_project_not_verified human_review_on_with_external_storage invite_already_exists"
          " key_profile_mismatch org_api_key_limit_exceeded org_member_limit_exceeded"
          " rbac_group_order_limit_exceeded scan_failed settings_document_limit_exceeded"
          " settings_history_limit_exceeded storage_attach_limit_reached storage_not_attachable"
          " storage_profile_mismatch storage_profile_still_required storage_verification_failed"
          " thread_already_continued thread_continue_in_flight transcripts_storage_required user_profile_cleared"
          " user_profile_required"
          " workspace_api_key_limit_exceeded workspace_member_limit_exceeded", weight=1),
    _code("named.conflict", E.SERVER, "conflict",
          "concurrent_membership_change external_key_changed gcp_project_controlled_by_another_organization"
          " plugin_name_taken scan_pending skill_name_taken skill_read_blocked_undecryptable"
          " slack_channel_set_up_settings_conflict storage_already_registered storage_attached_during_archive"
          " storage_changed_concurrently storage_in_use workspace_changed_concurrently", weight=1),
    _code("named.unavailable", E.SERVER, "unavailable",
          "api_key_requester_unconfirmed" # it has status 403, but the same request may be sent again
          " authorization_check_unavailable external_key_validation_timed_out registration_pending"
          " workspace_created_incomplete", weight=1),
    _code("named.timeout", E.TIMEOUT, "write", "request_body_timeout", weight=1),
)  # fmt: skip

CODES: Final = (
    _status("key", E.AUTH, "invalid_key", 401, "authentication_error"),
    _code("key.expired", E.AUTH, "expired", "authentication_error", says=("token has expired",), weight=1),
    _status("denied", E.AUTH, "permission_denied", 403, "permission_error"),
    _code("account", E.AUTH, "account_disabled", "organization_on_hold organization_disabled", weight=1),
    _code("billing", E.CALL_BUDGET, "billing",
          "billing_error linked_organization_billing_unavailable"),
    _code("spend_limit", E.CALL_BUDGET, "spend_limit",
          "contract_spend_limit_reached enforced_spend_limit_reached linked_organization_spend_limit_reached"
          " storage_quota_exceeded",
          weight=1),
    _status("model", E.NOT_FOUND, "model", 404, "not_found_error"),
    _status("too_large", E.BAD_REQUEST, "request_too_large", 413, "request_too_large"),
    _code("too_large.decoded", E.BAD_REQUEST, "request_too_large", "request_body_too_large_after_decoding"),
    _code("media", E.BAD_REQUEST, "invalid_media", "image_dimensions_too_large", weight=1),
    _code("tools", E.BAD_REQUEST, "invalid_parameter",
          "tool_name_conflict available_tools_limit_exceeded tool_reference_unresolved cmek_not_configured",
          weight=1),
    _status("rate", E.RATE_LIMITED, "requests", 429, "rate_limit_error"),
    _code("rate.tokens", E.RATE_LIMITED, "tokens", "rate_limit_error", says=("tokens per minute",), weight=1),
    _code("rate.concurrency", E.RATE_LIMITED, "concurrency",
          "rate_limit_error",
          says=("concurrent connections",), weight=1),
    _code("rate.ramp", E.RATE_LIMITED, "other", "ramp_limit_exceeded", weight=1),
    _code("overloaded", E.SERVER, "overloaded", "overloaded_error compaction_unavailable"),
    _code("unavailable", E.SERVER, "unavailable",
          "cmek_context_unavailable cmek_key_unreachable change_outcome_unknown",
          weight=1),
    _code("deadline", E.SERVER, "deadline_exceeded", "timeout_error"),
    _code("timeout", E.TIMEOUT, "provider", "timeout_error", status=frozenset({408}), weight=1),
    _code("precondition", E.BAD_REQUEST, "failed_precondition", "heartbeat_precondition_failed"),
    _code("conflict", E.SERVER, "conflict",
          "conflict_error memory_path_conflict_error memory_precondition_failed_error"),
    *NAMED,
    _code("generic.request", E.BAD_REQUEST, "invalid_parameter", "invalid_request_error", generic=True),
    # Servers of this dialect send `api_error` with any status.
    _code("generic.server", E.SERVER, "internal", "api_error", generic=True),
)  # fmt: skip

FINISH: Final = (
    _finish("max_tokens", E.TRUNCATED, "max_tokens", "max_tokens length"),
    _finish("reasoning", E.TRUNCATED, "reasoning_tokens", "max_tokens length", facts=words("only_reasoning")),
    _finish("window", E.TRUNCATED, "context_window", "model_context_window_exceeded"),
    _finish("refusal", E.OUTPUT_BLOCKED, "refusal", "refusal"),
    _finish("filter", E.OUTPUT_BLOCKED, "content_filter", "content_filter content_filtered"),
    _finish("guardrail", E.OUTPUT_BLOCKED, "guardrail", "guardrail_intervened"),
    _finish("guardrail.input", E.PROMPT_BLOCKED, "guardrail", "guardrail_intervened", facts=words("input_stage")),
)

OTHERS: Final = (
    Rule("anthropic.http.400", E.BAD_REQUEST, "invalid_parameter",
         dialects=_DIALECT.only, status=frozenset({400}), facts=words("error_object")),
    Rule("anthropic.credentials", E.AUTH, "missing_key",
         exceptions=words("anthropic.CredentialsError google.auth.DefaultCredentialsError"),
         weight=4),
    Rule("anthropic.google.refresh", E.AUTH, "expired", exceptions=words("google.auth.RefreshError"), weight=4),
)  # fmt: skip

TEXTS: Final = (
    _says("blocked.output", E.OUTPUT_BLOCKED, "content_filter", frozenset({400}),
          "output blocked by content filtering policy", weight=3),
    _says("context", E.BAD_REQUEST, "context_overflow", frozenset({400, 413}),
          "prompt is too long", "exceed context limit", "too many total text bytes"),
    # The plan of the account does not include long prompts, so waiting does not help.
    _says("billing", E.CALL_BUDGET, "billing", frozenset({400, 403, 429}),
          "out of extra usage", "draw from your extra usage", "extra usage is required"),
    _says("spend_limit", E.CALL_BUDGET, "spend_limit", frozenset({400, 429}),
          "reached your specified api usage limits", "reached your usage limit",
          "exceed your organization's spend limit"),
    _says("history", E.BAD_REQUEST, "malformed_history", frozenset({400}),
          "ids were found without", "unexpected `tool_use_id`", "roles must alternate", "`tool_result` block",
          "`tool_use` ids must be unique", "each tool_use must have a single result",
          "expected `thinking` or `redacted_thinking`", "blocks in the latest assistant message cannot be modified",
          "invalid `signature` in `thinking`", "in the thinking mode must be passed back"),
    _says("media", E.BAD_REQUEST, "invalid_media", frozenset({400}),
          "image dimensions exceed", "image exceeds", "image does not match the provided media type",
          "could not process image", "unable to download the file", "the pdf specified", "could not process pdf",
          "pdf pages may be provided", "too many images and documents"),
    _says("denied", E.AUTH, "permission_denied", frozenset({400}), "only authorized for use with"),
    _says("account", E.AUTH, "account_disabled", frozenset({400, 403}), "organization has been disabled"),
    _says("region", E.AUTH, "region", frozenset({400, 403}), "not allowed from unsupported countries"),
    _says("blocked", E.PROMPT_BLOCKED, "content_filter", frozenset({400}), "blocked by content filtering policy"),
)  # fmt: skip

_OWN: Final = (*CODES, *aws(_DIALECT), *FINISH, *TEXTS)
ROWS: Final = (
    *_OWN,
    *numbers(_DIALECT),
    *OTHERS,
    # Codes and texts of servers that offer this dialect as well as openai: llama.cpp, vLLM, LiteLLM, GLM, Kimi, Qwen.
    *_DIALECT.adopt(openai.SHARED, _OWN),
)
