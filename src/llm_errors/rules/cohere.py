"""Rules of the cohere dialect.

Cohere's errors contain only a message, and its finish reasons are in capitals. The texts come from Cohere's error reference
(docs.cohere.com/reference/errors). What status 498 means depends on the text.
"""

from typing import Final

from llm_errors.rules import openai
from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("cohere")
_finish, _says = _DIALECT.finish, _DIALECT.says
_BAD, _ODD = frozenset({400, 422}), frozenset({498})

TEXTS: Final = (
    _says("context", E.BAD_REQUEST, "context_overflow", _BAD,
          "total number of tokens in the prompt", "too many tokens: size limit", "too many tokens in the prompt"),
    _says("parameter", E.BAD_REQUEST, "invalid_parameter", _BAD, "too many tokens: max tokens must be"),
    _says("unsupported", E.BAD_REQUEST, "unsupported", _BAD, "is not supported by the generate api", "is not supported with"),
    _says("key.expired", E.AUTH, "expired", frozenset({401, 498}), "api key has expired"),
    _says("key.missing", E.AUTH, "missing_key", frozenset({401, 498}), "no api key supplied"),
    _says("key.invalid", E.AUTH, "invalid_key", _ODD, "invalid api token", "invalid token", "token is invalid"),
    # A trial key has a limit per month and one per minute. Only the limit per month is a spent quota.
    _says("trial", E.CALL_BUDGET, "insufficient_quota", frozenset({429}), "/ month", "per month", "calls/month"),
    _says("blocked.input", E.PROMPT_BLOCKED, "content_filter", frozenset({400, 498}),
          "blocked input", "input was blocked", "prompt was blocked"),
    _says("blocked.output", E.OUTPUT_BLOCKED, "content_filter", frozenset({400, 498}),
          "blocked output", "output was blocked", "response was blocked"),
)  # fmt: skip
FINISH: Final = (
    _finish("length", E.TRUNCATED, "max_tokens", "MAX_TOKENS"),
    _finish("window", E.TRUNCATED, "context_window", "ERROR_LIMIT"),
    _finish("toxic", E.OUTPUT_BLOCKED, "safety", "ERROR_TOXIC"),
    _finish("timeout", E.TIMEOUT, "provider", "TIMEOUT"),
    _finish("error", E.SERVER, "other", "ERROR", generic=True),
    _finish("reasoning", E.TRUNCATED, "reasoning_tokens", "MAX_TOKENS", facts=words("only_reasoning")),
)

EXCEPTIONS: Final = (
    # The answer was not an event stream. The weight is high, because the base class stands for network errors.
    Rule("cohere.no_stream", E.UNKNOWN, "unexpected_body", exceptions=words("cohere.SSEError"), weight=6),
)

_OWN: Final = (*TEXTS, *FINISH, *EXCEPTIONS)
ROWS: Final = (*_OWN, *_DIALECT.adopt(openai.SHARED, _OWN))
