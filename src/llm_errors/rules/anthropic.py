"""Rows of the anthropic dialect, with the exception types that Bedrock and Vertex put in its streams.

Types: the `ErrorType` literals and the error-code table of the anthropic SDK.
"""

from typing import Final

from llm_errors.rules import openai
from llm_errors.rules._dialect import Dialect
from llm_errors.rules._numbers import numbers
from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("anthropic")
_code, _finish, _says = _DIALECT.code, _DIALECT.finish, _DIALECT.says


CODES: Final = (
    _code("key", E.AUTH, "invalid_key", "authentication_error"),
    _code("key.expired", E.AUTH, "expired", "authentication_error", says=("token has expired",), weight=1),
    _code("denied", E.AUTH, "permission_denied", "permission_error"),
    _code("account", E.AUTH, "account_disabled", "organization_on_hold organization_disabled", weight=1),
    _code("billing", E.CALL_BUDGET, "billing",
          "billing_error linked_organization_billing_unavailable"),
    # Compatible servers have no type of their own for it. Nor has a plan that leaves long prompts out: no wait helps.
    _code("billing.said", E.CALL_BUDGET, "billing",
          "api_error rate_limit_error",
          says=("insufficient balance", "extra usage is required"), weight=2),
    _code("spend_limit", E.CALL_BUDGET, "spend_limit",
          "contract_spend_limit_reached enforced_spend_limit_reached linked_organization_spend_limit_reached"
          " storage_quota_exceeded",
          weight=1),
    _code("model", E.NOT_FOUND, "model", "not_found_error"),
    _code("too_large", E.BAD_REQUEST, "request_too_large", "request_too_large request_body_too_large_after_decoding"),
    _code("media", E.BAD_REQUEST, "invalid_media", "image_dimensions_too_large", weight=1),
    _code("tools", E.BAD_REQUEST, "invalid_parameter",
          "tool_name_conflict available_tools_limit_exceeded tool_reference_unresolved cmek_not_configured",
          weight=1),
    _code("rate", E.RATE_LIMITED, "requests", "rate_limit_error"),
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
    _code("conflict", E.SERVER, "conflict",
          "conflict_error memory_path_conflict_error memory_precondition_failed_error"),
    _code("generic.request", E.BAD_REQUEST, "invalid_parameter", "invalid_request_error", generic=True),
    # Servers that speak this dialect put it beside any status.
    _code("generic.server", E.SERVER, "internal", "api_error", generic=True),
    # Exceptions of AWS' event stream, which the Bedrock client passes on under AWS' own names.
    _code("aws.server", E.SERVER, "internal", "internalServerException"),
    _code("aws.unavailable", E.SERVER, "unavailable", "serviceUnavailableException"),
    _code("aws.model", E.SERVER, "model_error", "modelStreamErrorException modelErrorException"),
    _code("aws.not_ready", E.SERVER, "model_not_ready", "modelNotReadyException"),
    _code("aws.rate", E.RATE_LIMITED, "requests", "throttlingException tooManyRequestsException"),
    _code("aws.rate.tokens", E.RATE_LIMITED, "tokens",
          "throttlingException tooManyRequestsException",
          says=("too many tokens",), weight=1),
    _code("aws.rate.daily", E.RATE_LIMITED, "daily_quota",
          "throttlingException tooManyRequestsException",
          says=("per day",), weight=2),
    _code("aws.quota", E.RATE_LIMITED, "service_quota", "serviceQuotaExceededException"),
    _code("aws.timeout", E.TIMEOUT, "provider", "modelTimeoutException"),
    _code("aws.request", E.BAD_REQUEST, "invalid_parameter", "validationException", generic=True),
    _code("aws.denied", E.AUTH, "permission_denied", "accessDeniedException"),
    _code("aws.key", E.AUTH, "invalid_key",
          "unrecognizedClientException invalidSignatureException incompleteSignatureException invalidClientTokenId"),
    _code("aws.key.missing", E.AUTH, "missing_key", "missingAuthenticationTokenException"),
    _code("aws.key.said", E.AUTH, "invalid_key", "accessDeniedException", says=("api key is valid",), weight=1),
    _code("aws.expired", E.AUTH, "expired", "expiredTokenException expiredToken"),
    _code("aws.model_id", E.NOT_FOUND, "model", "resourceNotFoundException"),
)  # fmt: skip

FINISH: Final = (
    _finish("max_tokens", E.TRUNCATED, "max_tokens", "max_tokens length"),
    _finish("window", E.TRUNCATED, "context_window", "model_context_window_exceeded"),
    _finish("refusal", E.OUTPUT_BLOCKED, "refusal", "refusal"),
    _finish("filter", E.OUTPUT_BLOCKED, "content_filter", "content_filter content_filtered"),
    _finish("guardrail", E.OUTPUT_BLOCKED, "guardrail", "guardrail_intervened"),
)

OTHERS: Final = (
    Rule("anthropic.says.blocked.output", E.OUTPUT_BLOCKED, "content_filter",
         dialects=_DIALECT.only, status=frozenset({400}), says=("output blocked by content filtering policy",),
         weight=2),
    Rule("anthropic.http.400", E.BAD_REQUEST, "invalid_parameter",
         dialects=_DIALECT.only, status=frozenset({400}), facts=words("error_object")),
    Rule("anthropic.http.412", E.BAD_REQUEST, "failed_precondition", dialects=_DIALECT.only, status=frozenset({412})),
    Rule("anthropic.http.431", E.BAD_REQUEST, "request_too_large", dialects=_DIALECT.only, status=frozenset({431})),
    Rule("anthropic.aws.credentials", E.AUTH, "missing_key",
         exceptions=words("anthropic.CredentialsError botocore.NoCredentialsError botocore.PartialCredentialsError"
                          " google.auth.DefaultCredentialsError"),
         weight=4),
    Rule("anthropic.google.refresh", E.AUTH, "expired", exceptions=words("google.auth.RefreshError"), weight=4),
    _says("context", E.BAD_REQUEST, "context_overflow", frozenset({400, 413}),
          "prompt is too long", "exceed context limit", "input is too long", "too many total text bytes"),
    _says("billing", E.CALL_BUDGET, "billing", frozenset({400, 403}),
          "credit balance is too low", "out of extra usage", "draw from your extra usage"),
    _says("spend_limit", E.CALL_BUDGET, "spend_limit", frozenset({400, 429}),
          "reached your specified api usage limits", "reached your usage limit", "spend limit reached",
          "exceed your organization's spend limit"),
    _says("history", E.BAD_REQUEST, "malformed_history", frozenset({400}),
          "ids were found without", "unexpected `tool_use_id`", "roles must alternate", "`tool_result` block",
          "`tool_use` ids must be unique", "each tool_use must have a single result",
          "expected `thinking` or `redacted_thinking`", "blocks in the latest assistant message cannot be modified",
          "invalid `signature` in `thinking`", "in the thinking mode must be passed back"),
    _says("unsupported", E.BAD_REQUEST, "unsupported", frozenset({400}), "this model does not support"),
    _says("media", E.BAD_REQUEST, "invalid_media", frozenset({400}),
          "image dimensions exceed", "image exceeds", "image does not match the provided media type",
          "could not process image", "unable to download the file", "the pdf specified", "could not process pdf",
          "pdf pages may be provided", "too many images and documents"),
    _says("denied", E.AUTH, "permission_denied", frozenset({400}), "only authorized for use with"),
    _says("account", E.AUTH, "account_disabled", frozenset({400, 403}), "organization has been disabled"),
    _says("region", E.AUTH, "region", frozenset({400, 403}), "not allowed from unsupported countries"),
    # Bedrock: without the header that names the exception, its words are all there is.
    _says("aws.model_id", E.NOT_FOUND, "model", frozenset({400}), "model identifier is invalid"),
    _says("aws.unsupported", E.BAD_REQUEST, "unsupported", frozenset({400}), "with on-demand throughput isn"),
    _says("aws.rate.tokens", E.RATE_LIMITED, "tokens", frozenset({429}), "too many tokens, please"),
    _says("aws.rate.daily", E.RATE_LIMITED, "daily_quota", frozenset({429}), "too many tokens per day"),
    _says("aws.expired", E.AUTH, "expired", frozenset({403}), "security token included in the request is expired"),
    _says("aws.key", E.AUTH, "invalid_key", frozenset({403}),
          "security token included in the request is invalid", "request signature we calculated does not match",
          "api key is valid"),
    _says("blocked", E.PROMPT_BLOCKED, "content_filter", frozenset({400}), "blocked by content filtering policy"),
)  # fmt: skip

ADOPTED: Final = _DIALECT.adopt(openai.SHARED, (*CODES, *FINISH))
"""The codes and words of the many that serve this dialect beside openai's: llama.cpp, vLLM, LiteLLM, GLM, Kimi, Qwen."""

ROWS: Final = (
    *CODES,
    *numbers(_DIALECT),
    *FINISH,
    *OTHERS,
    *_DIALECT.in_stream((*OTHERS, *ADOPTED), "invalid_request_error validationexception badrequesterror"),
    *ADOPTED,
)
