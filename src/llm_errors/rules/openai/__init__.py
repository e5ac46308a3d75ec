"""Rules of the openai dialect: OpenAI, Azure OpenAI, and the many servers that use the same wire format."""

from typing import Final

from llm_errors.rules._dialect import Dialect
from llm_errors.rules._numbers import numbers
from llm_errors.rules._rule import Rule, words
from llm_errors.rules.openai import codes, finish, texts
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("openai")


def _number(row_id: str, error_class: E, reason: str, number: str) -> Rule:
    facts = words("base_resp")
    return _DIALECT.code(f"base_resp.{row_id}", error_class, reason, number, facts=facts, kind="code")


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
    Rule("openai.parse.length", E.TRUNCATED, "max_tokens", exceptions=words(".LengthFinishReasonError .ArkLengthFinishReasonError"), weight=4),
    Rule("openai.parse.filter", E.OUTPUT_BLOCKED, "content_filter",
         exceptions=words(".ContentFilterFinishReasonError .ArkContentFilterFinishReasonError"), weight=4),
    Rule("openai.together.download", E.TRANSPORT, "other", exceptions=words("together.DownloadError"), weight=2),
    Rule("openai.together.file", E.BAD_REQUEST, "invalid_parameter", exceptions=words("together.FileTypeError"), weight=2),
    # The Azure SDK's exceptions for network errors. Each contains the original error.
    Rule("openai.azure.connection", E.TRANSPORT, "other",
         exceptions=words("azure.ServiceRequestError azure.ServiceResponseError azure.IncompleteReadError"),
         wrapper=True),
    Rule("openai.azure.timeout", E.TIMEOUT, "other",
         exceptions=words("azure.ServiceRequestTimeoutError azure.ServiceResponseTimeoutError"), wrapper=True),
    Rule("openai.azure.request", E.BAD_REQUEST, "invalid_parameter", exceptions=words("azure.SerializationError"), weight=4),
    Rule("openai.azure.body", E.UNKNOWN, "unexpected_body", exceptions=words("azure.DeserializationError"), weight=4),
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
"""Rules for the numeric error codes that MiniMax sends in `base_resp`, with HTTP 200."""

SHARED: Final = (*codes.CODES, *texts.SAYS, *finish.ROWS)
"""Rules that other dialects adopt, because their servers send the same codes, texts and finish reasons."""

ROWS: Final = (*SHARED, *numbers(_DIALECT), *STATUS, *EXCEPTIONS, *BASE_RESP)
