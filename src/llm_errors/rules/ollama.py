"""Rules of the ollama dialect.

Ollama's errors are plain texts, which may also be lines of a stream. The texts come from public reports about Ollama's server.
Finish reasons and everything else come from the openai dialect.
"""

from typing import Final

from llm_errors.rules import openai
from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("ollama")
_says = _DIALECT.says
_BROKEN = frozenset({500})

TEXTS: Final = (
    # Before phrases are matched, each quotation in the message becomes a space.
    _says("model", E.NOT_FOUND, "model", frozenset({404}), "try pulling it first", "model   not found"),
    _says("unsupported", E.BAD_REQUEST, "unsupported", frozenset({400}), "does not support"),
    _says("context", E.BAD_REQUEST, "context_overflow", frozenset({400, 500}),
          "exceeds the context length", "exceeds maximum context length", "exceeds the available context size"),
    _says("busy", E.SERVER, "overloaded", frozenset({503}), "maximum pending requests exceeded"),
    _says("memory", E.SERVER, "unavailable", _BROKEN, "requires more system memory"),
    _says("starting", E.SERVER, "model_not_ready", _BROKEN, "waiting for llama runner to start"),
    _says("runner", E.SERVER, "model_error", _BROKEN, "runner process has terminated", "runner process no longer running"),
    _says("tool", E.TOOL_PROTOCOL, "malformed_call", _BROKEN, "error parsing tool call"),
)  # fmt: skip
LINES: Final = (
    # An error in a line of a stream has no status. The rules above match its text.
    Rule("ollama.line", E.SERVER, "other",
         dialects=_DIALECT.only, exceptions=words("ollama.ResponseError"), embedded=True, generic=True, kind="exception"),
    # The SDK builds an object from any body with a successful status. If the body does not fit, pydantic raises.
    Rule("ollama.body", E.UNKNOWN, "unexpected_body",
         dialects=_DIALECT.only, exceptions=words("pydantic_core.ValidationError"), embedded=True, weight=5),
)  # fmt: skip

REFUSED: Final = (
    # The SDK reports missing arguments before it sends anything.
    Rule("ollama.refused", E.BAD_REQUEST, "invalid_parameter", exceptions=words("ollama.RequestError"), weight=4),
)

_OWN: Final = (*TEXTS, *LINES, *REFUSED)
ROWS: Final = (*_OWN, *_DIALECT.adopt(openai.SHARED, _OWN))
