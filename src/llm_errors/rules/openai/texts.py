"""Rules for phrases in error messages of the openai dialect, for failures that a provider signals in no other way.

Each rule also requires a status, or a code that many failures share.
"""

from dataclasses import replace
from typing import Final

from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule
from llm_errors.rules.account import account
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("openai")
_code, _says = _DIALECT.code, _DIALECT.says
_BAD = frozenset({400, 413, 422, 500})


def _words(row_id: str, error_class: E, reason: str, status: int, *says: str) -> Rule:
    return replace(_says(f"words.{row_id}", error_class, reason, frozenset({status}), *says, weight=-1), embedded=True)


SAYS: Final = (
    *account(_DIALECT),
    _says("context", E.BAD_REQUEST, "context_overflow", _BAD,
          "maximum context length", "context length exceeded", "longer than the maximum model length",
          "longer than the model's context length", "context length is only", "exceeded this model context window",
          "`max_new_tokens` must be <=", "must be less than max_seq_len", "exceeded model token limit",
          "contextwindowexceedederror", "context window of", "exceeds the available context size",
          "loaded with context length of only", "context size has been exceeded", "exceeds the context size",
          "exceeds the context", "reduce the length of the messages", "prompt is too long", "input is too long",
          "maximum prompt length", "exceeds maximum input", "exceeds the maximum number of tokens",
          "too many input tokens", "greater than the context length", "range of input length",
          "model max length exceeded", "[input_too_large]", "more than max tokens allowed",
          "than the maximum input length"),
    _says("key", E.AUTH, "invalid_key", frozenset({400}),
          "incorrect api key", "invalid api key", "api key not valid", "api key is invalid", "no auth credentials"),
    _says("denied", E.AUTH, "permission_denied", frozenset({401}), "insufficient permissions for this operation"),
    _says("verified", E.AUTH, "permission_denied", frozenset({400}), "organization must be verified"),
    _says("model", E.NOT_FOUND, "model", frozenset({400, 403, 422}),
          "is not a valid model", "not a valid model id", "model not found", "model does not exist", "model not exist", "no such model",
          "unknown model", "has been decommissioned", "invalid model name passed"),
    _says("deployment", E.NOT_FOUND, "deployment", frozenset({404}), "deployment for this resource does not exist"),
    # The missing resource is not a model, but a stored item, or a path that Azure does not know.
    _says("resource", E.NOT_FOUND, "resource", frozenset({404}),
          "resource not found", "items are not persisted when", "previous response with id"),
    _says("unsupported", E.BAD_REQUEST, "unsupported", frozenset({400}),
          "does not support", "is not supported by this model", "not supported with this model",
          "not supported on this model", "is unsupported", "only supported by certain models",
          "not supported for this model", "is not a multimodal model"),
    _says("history", E.BAD_REQUEST, "malformed_history", frozenset({400}),
          "must be followed by tool messages", "must be a response to a preceding message",
          "must be a response to a preceeding message", "no tool output found for function call",
          "no tool call found for", "reasoning_content is missing", "ids were found without", "ids must be unique",
          "provided without its required", "should interleave the user/assistant messages", "roles must alternate",
          "did not have response messages", "conversation roles must", "unexpected role",
          "in the thinking mode must be passed back", "the encrypted content", "items are not persisted when",
          "successive user or assistant messages", "system message must be at the beginning",
          weight=4),
    _says("template", E.BAD_REQUEST, "invalid_parameter", frozenset({400}), "rendering prompt with jinja template"),
    _says("billing", E.CALL_BUDGET, "billing", frozenset({400, 403, 429}), "exceeded your current quota"),
    _says("daily", E.RATE_LIMITED, "daily_quota", frozenset({429}),
          "per day", "daily limit", "daily quota", "free-models-per-day", "session usage limit", "weekly usage limit"),
    _says("rate.tokens", E.RATE_LIMITED, "tokens", frozenset({429}),
          "exceeded token rate limit", "tokens per minute", "limit type: tokens", "tpm limit reached"),
    _says("rate.concurrency", E.RATE_LIMITED, "concurrency", frozenset({429}),
          "limit type: max_parallel_requests", "userconcurrentrequests", "concurrency limit", "max organization concurrency",
          "too many concurrent", "concurrent requests", "reduce concurrency", "reached max concurrency"),
    # LiteLLM's proxy has no deployment left that it may call.
    _says("rate.upstream", E.RATE_LIMITED, "upstream", frozenset({429}), "no deployments available"),
    _says("rate.burst", E.RATE_LIMITED, "requests", frozenset({400}), "request rate increased too quickly"),
    _says("quota", E.CALL_BUDGET, "insufficient_quota", frozenset({403}), "out of call volume quota"),
    _says("overloaded", E.SERVER, "overloaded", frozenset({429, 500, 502, 503}),
          "model is overloaded", "server is overloaded", "is currently overloaded", "temporarily overloaded",
          "engine is overloaded", "service is overloaded", "server is busy", "system is busy", "experiencing high demand",
          "访问量过大"),
    _says("memory", E.SERVER, "model_error", frozenset({500}), "cuda out of memory", "failed during generation"),
    _says("degraded", E.SERVER, "unavailable", frozenset({400}), "degraded function cannot be invoked"),
    _says("crashed", E.SERVER, "model_error", frozenset({400}), "the model has crashed"),
    _says("unloaded", E.SERVER, "model_not_ready", frozenset({400}), "model unloaded", "failed to load model"),
    _says("media", E.BAD_REQUEST, "invalid_media", frozenset({400}),
          "invalid file format", "could not be decoded"),
    _says("loading", E.SERVER, "model_not_ready", frozenset({503}),
          "loading model", "currently loading", "model is loading", "is being loaded"),
    _says("refused_input", E.PROMPT_BLOCKED, "moderation", frozenset({400}),
          "rejected by the safety system", "rejected as a result of our safety system", "content exists risk"),
    _says("refused_input.403", E.PROMPT_BLOCKED, "moderation", frozenset({403}), "content violates usage guidelines"),
    _says("blocked", E.PROMPT_BLOCKED, "content_filter", frozenset({400}), "contentpolicyviolationerror"),
    _says("guardrail", E.PROMPT_BLOCKED, "guardrail", frozenset({400}), "violated guardrail policy"),
    # An error may be plain text, in place of an answer or in a stream. It has no status, but its words may name one.
    _words("rate", E.RATE_LIMITED, "requests", 429, "rate limit", "too many requests"),
    _words("key", E.AUTH, "invalid_key", 401, "unauthorized", "invalid api key", "authentication failed"),
    _words("denied", E.AUTH, "permission_denied", 403, "forbidden", "permission denied", "access denied", "access is denied"),
    _words("budget", E.CALL_BUDGET, "billing", 402, "payment required"),
    _words("too_large", E.BAD_REQUEST, "request_too_large", 413, "payload too large", "request entity too large"),
    _words("timeout", E.TIMEOUT, "provider", 408, "timed out", "request timeout"),
    _words("deadline", E.SERVER, "deadline_exceeded", 504, "gateway timeout", "gateway time-out", "deadline exceeded"),
    _words("gateway", E.SERVER, "gateway", 502, "bad gateway"),
    _words("unavailable", E.SERVER, "unavailable", 503, "service unavailable", "temporarily unavailable"),
    _words("overloaded", E.SERVER, "overloaded", 529, "overloaded", "at capacity", "capacity exceeded"),
    _words("upstream", E.SERVER, "upstream", 424, "upstream", "provider returned error"),
    _words("server", E.SERVER, "internal", 500, "internal server error", "internal error", "server error"),
)  # fmt: skip
