"""Rules of the xai dialect: xAI's API over gRPC.

xAI's errors are status codes of gRPC (`google.rpc.Code`), with a text from xAI or from the client's own channel. The names of
finish reasons and of the states of deferred jobs come from the enumerations of xai-sdk.
"""

from typing import Final

from llm_errors.rules import google
from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import words
from llm_errors.rules.openai import texts
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("xai")
_code, _finish = _DIALECT.code, _DIALECT.finish
_RPC: Final = tuple(row for row in google.CODES if row.id.startswith("google.rpc."))

CHANNEL: Final = (
    _code("channel.refused", E.TRANSPORT, "connection_refused", "unavailable", says=("connection refused",), weight=1),
    _code("channel.dns", E.TRANSPORT, "dns", "unavailable", says=("dns resolution failed", "name resolution"), weight=1),
    _code("channel.tls", E.TRANSPORT, "tls", "unavailable", says=("ssl", "certificate", "handshake"), weight=1),
    _code("channel.disconnected", E.TRANSPORT, "disconnected", "unavailable internal unknown cancelled",
          says=("connection reset", "socket closed", "broken pipe", "goaway", "stream removed", "keepalive",
                "recvmsg:", "connection aborted", "rst_stream"), weight=1),
    _code("channel.connect", E.TRANSPORT, "other", "unavailable", says=("failed to connect",)),
    # The channel of the client refuses a message that is larger than its options allow.
    _code("channel.size", E.BAD_REQUEST, "request_too_large", "resource_exhausted", says=("message larger than max",)),
)  # fmt: skip
"""Rules for texts of the client's gRPC channel, for example if the server does not answer."""

CODES: Final = (
    _code("unimplemented", E.BAD_REQUEST, "unsupported", "unimplemented"),
    _code("cancelled", E.UNKNOWN, "other", "cancelled", generic=True),
    _code("video.blocked", E.PROMPT_BLOCKED, "moderation", "content_moderation moderation content_policy"),
    _code("video.server", E.SERVER, "internal", "internal_error server_error", generic=True),
)
FINISH: Final = (
    _finish("length", E.TRUNCATED, "max_tokens", "REASON_MAX_LEN"),
    _finish("reasoning", E.TRUNCATED, "reasoning_tokens", "REASON_MAX_LEN", facts=words("only_reasoning")),
    _finish("window", E.TRUNCATED, "context_window", "REASON_MAX_CONTEXT"),
    _finish("time", E.TRUNCATED, "other", "REASON_TIME_LIMIT"),
    _finish("expired", E.TIMEOUT, "provider", "EXPIRED"),
    _finish("failed", E.SERVER, "other", "FAILED", generic=True),
)
IMAGES: Final = tuple(row for row in google.OTHERS if row.id == "google.image.filtered")

ROWS: Final = (
    *CHANNEL,
    *CODES,
    *FINISH,
    *_DIALECT.adopt((*_RPC, *IMAGES), (*CODES, *FINISH)),
    *_DIALECT.adopt(texts.SAYS, CHANNEL),
)
