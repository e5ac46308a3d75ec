"""Rules for every dialect: HTTP statuses, network exceptions by name, and facts about the content."""

from typing import Final

from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E


def _status(error_class: E, reason: str, *status: int, variant: str = "") -> Rule:
    return Rule(f"common.http.{variant or status[0]}", error_class, reason, status=frozenset(status))


def _exception(row_id: str, error_class: E, reason: str, names: str, weight: int) -> Rule:
    return Rule(f"common.{row_id}", error_class, reason, exceptions=words(names), weight=weight, wrapper=weight == 0)


def _parsing(row_id: str, error_class: E, reason: str, names: str) -> Rule:
    """A rule for an answer that could not be parsed. If the status means an error, the rule for the status wins."""
    return Rule(f"common.{row_id}", error_class, reason, exceptions=words(names), generic=True, kind="exception")


STATUS: Final = (
    _status(E.BAD_REQUEST, "other", 400),
    _status(E.AUTH, "invalid_key", 401),
    _status(E.CALL_BUDGET, "billing", 402),
    _status(E.AUTH, "permission_denied", 403),
    _status(E.NOT_FOUND, "other", 404),
    # 407 comes from a proxy in front of the provider. 410 means that a model was removed.
    _status(E.TRANSPORT, "proxy", 407),
    _status(E.TIMEOUT, "provider", 408),
    _status(E.SERVER, "conflict", 409),
    _status(E.NOT_FOUND, "model", 410),
    _status(E.BAD_REQUEST, "request_too_large", 413),
    _status(E.BAD_REQUEST, "invalid_parameter", 422),
    # 424 means that a server behind the one that answered has failed.
    _status(E.SERVER, "upstream", 424),
    _status(E.RATE_LIMITED, "requests", 429),
    _status(E.SERVER, "internal", 500),
    _status(E.SERVER, "gateway", 502, *range(520, 528), variant="gateway"),
    _status(E.SERVER, "unavailable", 503),
    _status(E.SERVER, "deadline_exceeded", 504),
    _status(E.SERVER, "overloaded", 529),
    _status(
        E.SERVER,
        "other",
        *(s for s in range(501, 600) if s not in {502, 503, 504, 529, *range(520, 528)}),
        variant="5xx",
    ),
    Rule("common.http.404.model", E.NOT_FOUND, "model", status=frozenset({404}), facts=words("error_object")),
    Rule(
        "common.http.403.moderation",
        E.PROMPT_BLOCKED,
        "moderation",
        status=frozenset({403}),
        facts=words("moderation"),
        weight=4,
    ),
)

# Weights: 3 for a root cause, 2 for a precise class of an HTTP library, 1 for a vague class, 0 for a wrapper of an SDK.
EXCEPTIONS: Final = (
    _exception("refused", E.TRANSPORT, "connection_refused", "builtins.ConnectionRefusedError", 3),
    _exception(
        "dns",
        E.TRANSPORT,
        "dns",
        "socket.gaierror socket.herror aiohttp.ClientConnectorDNSError urllib3.NameResolutionError",
        3,
    ),
    _exception(
        "tls",
        E.TRANSPORT,
        "tls",
        "ssl.SSLError aiohttp.ClientSSLError aiohttp.ClientConnectorCertificateError requests.SSLError urllib3.SSLError",
        3,
    ),
    _exception(
        "disconnected",
        E.TRANSPORT,
        "disconnected",
        "builtins.ConnectionResetError builtins.BrokenPipeError builtins.ConnectionAbortedError ssl.SSLEOFError"
        " ssl.SSLZeroReturnError aiohttp.ServerDisconnectedError aiohttp.ClientOSError aiohttp.ClientPayloadError"
        " anyio.BrokenResourceError anyio.EndOfStream builtins.IncompleteReadError http.IncompleteRead"
        " http.RemoteDisconnected",
        3,
    ),
    _exception("connector", E.TRANSPORT, "other", "aiohttp.ClientConnectorError", 3),
    _exception(
        "proxy",
        E.TRANSPORT,
        "proxy",
        "httpx.ProxyError httpcore.ProxyError aiohttp.ClientProxyConnectionError aiohttp.ClientHttpProxyError"
        " requests.ProxyError urllib3.ProxyError",
        4,
    ),
    _exception(
        "timeout.connect",
        E.TIMEOUT,
        "connect",
        "aiohttp.ConnectionTimeoutError",
        3,
    ),
    _exception("timeout.read", E.TIMEOUT, "read", "aiohttp.SocketTimeoutError aiohttp.ServerTimeoutError", 3),
    _exception(
        "timeout.connect.named",
        E.TIMEOUT,
        "connect",
        "httpx.ConnectTimeout httpcore.ConnectTimeout requests.ConnectTimeout urllib3.ConnectTimeoutError dspy.ConnectTimeout",
        2,
    ),
    _exception(
        "timeout.read.named",
        E.TIMEOUT,
        "read",
        "httpx.ReadTimeout httpcore.ReadTimeout requests.ReadTimeout urllib3.ReadTimeoutError dspy.ReadTimeout",
        2,
    ),
    _exception("timeout.write", E.TIMEOUT, "write", "httpx.WriteTimeout httpcore.WriteTimeout dspy.WriteTimeout", 2),
    _exception("timeout.pool", E.TIMEOUT, "pool", "httpx.PoolTimeout httpcore.PoolTimeout urllib3.EmptyPoolError", 2),
    _exception(
        "disconnected.named",
        E.TRANSPORT,
        "disconnected",
        "httpx.RemoteProtocolError httpcore.RemoteProtocolError h11.RemoteProtocolError httpx.ReadError httpcore.ReadError"
        " httpx.WriteError httpcore.WriteError httpx.CloseError requests.ChunkedEncodingError urllib3.ProtocolError"
        " dspy.ReadError dspy.WriteError dspy.ProtocolError",
        2,
    ),
    _exception(
        "connect",
        E.TRANSPORT,
        "other",
        "httpx.ConnectError httpcore.ConnectError urllib3.NewConnectionError dspy.ConnectError",
        2,
    ),
    _exception(
        "protocol",
        E.BAD_REQUEST,
        "protocol",
        "httpx.LocalProtocolError httpcore.LocalProtocolError h11.LocalProtocolError httpx.UnsupportedProtocol"
        " httpcore.UnsupportedProtocol httpx.InvalidURL requests.InvalidHeader requests.InvalidURL requests.MissingSchema"
        " aiohttp.InvalidURL",
        4,
    ),
    _exception(
        "timeout.vague",
        E.TIMEOUT,
        "other",
        "httpx.TimeoutException httpcore.TimeoutException builtins.TimeoutError requests.Timeout urllib3.TimeoutError",
        1,
    ),
    _exception(
        "transport.vague",
        E.TRANSPORT,
        "other",
        "httpx.TransportError httpx.NetworkError httpcore.NetworkError builtins.ConnectionError requests.ConnectionError"
        " urllib3.HTTPError aiohttp.ClientConnectionError google.auth.TransportError dspy.TransportError dspy.LMTransportError",
        1,
    ),
    _parsing("body.json", E.UNKNOWN, "unexpected_body", "json.JSONDecodeError httpx.DecodingError"),
    _parsing("schema", E.TOOL_PROTOCOL, "schema_mismatch", "pydantic_core.ValidationError pydantic.ValidationError"),
    _exception("sdk.timeout", E.TIMEOUT, "other", ".APITimeoutError .ArkAPITimeoutError", 0),
    _exception("sdk.connection", E.TRANSPORT, "other", ".APIConnectionError .ArkAPIConnectionError", 0),
    _exception("sdk.no_response", E.TRANSPORT, "disconnected", ".NoResponseError", 0),
    _exception(
        "sdk.body", E.UNKNOWN, "unexpected_body", ".APIResponseValidationError .ArkAPIResponseValidationError", 2
    ),
)

CONTENT: Final = (
    Rule("common.refusal", E.OUTPUT_BLOCKED, "refusal", facts=words("refusal"), weight=3),
    Rule("common.tool_arguments", E.TOOL_PROTOCOL, "invalid_arguments", facts=words("invalid_arguments"), weight=2),
    Rule(
        "common.finish.unrecognised",
        E.UNKNOWN,
        "unrecognised_finish_reason",
        facts=words("unnatural_finish"),
        generic=True,
        weight=-1,
        kind="finish_reason",
    ),
    Rule("common.no_end", E.TRANSPORT, "stream_cut", facts=words("no_end")),
    Rule("common.empty", E.UNKNOWN, "empty_response", facts=words("empty")),
    # Generic, because a bare string may arrive instead of an answer. A rule for its text is more specific.
    Rule(
        "common.unexpected_body",
        E.UNKNOWN,
        "unexpected_body",
        facts=words("unexpected_body"),
        generic=True,
        kind="content",
    ),
    Rule("common.missing_credentials", E.AUTH, "missing_key", facts=words("missing_credentials")),
    Rule(
        "common.refused_by_sdk",
        E.BAD_REQUEST,
        "invalid_parameter",
        facts=words("refused_by_sdk"),
        generic=True,
        kind="exception",
    ),
)

ROWS: Final = (*STATUS, *EXCEPTIONS, *CONTENT)
