"""Rules for websockets that a server closed or refused, for every dialect.

A close code is as general as an HTTP status. The reason text is more specific: a rule that matches it wins. The codes come
from RFC 6455 (section 7.4.1) and the IANA registry; those from 3000 to 4999 are for applications. OpenAI writes an error code
into the reason.
"""

from typing import Final

from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_REPEATS: Final = 400
"""The status that every close code counts as. It gives the rules the rank of a status, so that a text can refine them."""


def _close(code: str, error_class: E, reason: str) -> Rule:
    codes = words(" ".join(f"close_{one}" for one in code.split()))
    row = f"common.close.{code.partition(' ')[0]}"
    return Rule(row, error_class, reason, codes=codes, names=frozenset({_REPEATS}), weight=-2)


def _exception(row_id: str, error_class: E, reason: str, names: str, weight: int) -> Rule:
    return Rule(f"common.websocket.{row_id}", error_class, reason, exceptions=words(names), weight=weight)


CODES: Final = (
    # The server closed without an error, but an answer was missing or incomplete.
    _close("1000 1005", E.TRANSPORT, "stream_cut"),
    _close("1001 1006", E.TRANSPORT, "disconnected"),
    _close("1002", E.BAD_REQUEST, "protocol"),
    _close("1003", E.BAD_REQUEST, "unsupported"),
    _close("1007", E.BAD_REQUEST, "invalid_parameter"),
    # The server refused by a policy. Without a more specific text, the credential is taken to lack a permission.
    _close("1008 3003", E.AUTH, "permission_denied"),
    _close("1009", E.BAD_REQUEST, "request_too_large"),
    _close("1010", E.BAD_REQUEST, "unsupported"),
    _close("1011", E.SERVER, "internal"),
    _close("1012", E.SERVER, "unavailable"),
    _close("1013", E.SERVER, "overloaded"),
    _close("1014", E.SERVER, "gateway"),
    _close("1015", E.TRANSPORT, "tls"),
    _close("3000", E.AUTH, "invalid_key"),
    _close("3008", E.TIMEOUT, "provider"),
    Rule("common.close", E.TRANSPORT, "disconnected", facts=words("closed"), generic=True, weight=-3, kind="content"),
)

EXCEPTIONS: Final = (
    _exception("proxy", E.TRANSPORT, "proxy", "websockets.ProxyError websockets.InvalidProxy", 4),
    _exception("uri", E.BAD_REQUEST, "protocol", "websockets.InvalidURI", 4),
    _exception("misuse", E.BAD_REQUEST, "protocol", "websockets.ConcurrencyError websockets.InvalidState", 4),
    _exception("size", E.BAD_REQUEST, "request_too_large", "websockets.PayloadTooBig websockets.TooManyFragments", 4),
    # The server did not answer the handshake with HTTP, or violated the protocol.
    _exception("message", E.TRANSPORT, "disconnected", "websockets.InvalidMessage", 2),
    # Two other exceptions have better evidence: `ConnectionClosed` its close code, and `InvalidStatus` its HTTP status.
    _exception(
        "handshake",
        E.TRANSPORT,
        "other",
        "websockets.InvalidHeader websockets.InvalidMethod websockets.InvalidProtocol websockets.NegotiationError"
        " websockets.SecurityError websockets.ProtocolError",
        1,
    ),
)

ROWS: Final = (*CODES, *EXCEPTIONS)
