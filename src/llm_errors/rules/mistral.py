"""Rules of the mistral dialect: Mistral's API through mistralai. The error bodies are flat and have numeric codes.

The numbers were seen in Mistral's error bodies. All other rules come from the openai dialect.
"""

from typing import Final

from llm_errors.rules import openai
from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("mistral")
_code, _finish, _says = _DIALECT.code, _DIALECT.finish, _DIALECT.says

CODES: Final = (
    _code("rate", E.RATE_LIMITED, "requests", "1300"),
    _code("overloaded", E.SERVER, "overloaded", "3505"),
    _code("model", E.NOT_FOUND, "model", "1500", status=frozenset({400, 404})),
    # A request about a conversation or an agent names no model, so another resource is missing.
    Rule("mistral.resource", E.NOT_FOUND, "resource", dialects=_DIALECT.only, status=frozenset({404}),
         facts=words("names_no_model"), weight=2),
    _code("history", E.BAD_REQUEST, "malformed_history", "3230", status=frozenset({400})),
    _code("request", E.BAD_REQUEST, "invalid_parameter", "3051", status=frozenset({400})),
)  # fmt: skip
TEXTS: Final = (
    _says("context", E.BAD_REQUEST, "context_overflow", frozenset({400, 422}),
          "too large for model with", "maximum context length"),
    _says("resource", E.NOT_FOUND, "resource", frozenset({404}), "conversation"),
    _says("history", E.BAD_REQUEST, "malformed_history", frozenset({400, 422}),
          "expected last role", "unexpected role", "not the same number of function calls and responses"),
    _says("overloaded", E.SERVER, "overloaded", frozenset({429}), "service tier capacity exceeded"),
    _says("budget", E.CALL_BUDGET, "spend_limit", frozenset({402, 403, 429}), "monthly usage limit", "usage limit exceeded"),
)  # fmt: skip
FINISH: Final = (
    _finish("window", E.TRUNCATED, "context_window", "model_length"),
    _finish("error", E.SERVER, "other", "error", generic=True),
    _finish("length", E.TRUNCATED, "max_tokens", "length"),
    _finish("reasoning", E.TRUNCATED, "reasoning_tokens", "length", facts=words("only_reasoning")),
)

_OWN: Final = (*CODES, *TEXTS, *FINISH)
ROWS: Final = (*_OWN, *_DIALECT.adopt(openai.SHARED, _OWN))
