"""Reads a raised exception: its class names and causes, the status, the error body of the provider, and the time to wait."""

import re
from collections.abc import Mapping
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import bodies, causes, closes, frameworks, litellm, retry_after
from llm_errors.extract.fields import field, number, parsed, printable, text
from llm_errors.providers import SDKS

_CANCELLED = "builtins.CancelledError"
"""The name of the classes of asyncio and concurrent.futures: `causes.names` counts both packages as builtins."""

_PLAIN = frozenset(("builtins.TypeError", "builtins.ValueError", "builtins.NotImplementedError"))
_TEXT_BUILTINS = _PLAIN | {"builtins.RuntimeError"}
_CREDENTIALS = ("authentication method", "credential", "api_key", "api key")
_ROOTS = frozenset(
    f"{row.roots[0]}.{name}Error"
    for row in SDKS
    if row.family in ("stainless", "stainless_copies")
    for name in (row.clients[0].name, row.clients[0].name.removesuffix("Client"))
) | frozenset(f"{row.roots[0]}.ApiError" for row in SDKS if row.family in ("cohere", "fern"))
"""The root exception class of each Stainless and Fern SDK, such as `OpenAIError`. An SDK raises this class itself, without a
status, only before it sends a request.
"""
_CONFLICT = ("mutually exclusive", "at most one of", "only one of", "cannot be combined", "not both")
"""Phrases in errors about too many credentials, or about other arguments that exclude each other."""
_NO_DATA = "no embedding data received"
"""The text of openai's ValueError for an answer without embeddings. No other builtin error is about an answer."""
_NO_JSON = "is not json serializable"
"""The text of Python's TypeError for an argument that cannot be sent. Python's json module raises it, not the SDK."""
_MISSING = "missing required arguments"
_WITH_HEADER = ("retry_after_header",)
_HTTP = range(300, 600)
_RPC = "grpc.RpcError"
_FRAME = re.compile(r"':exception-type': '(\w{1,64})'")
_NO_ANSWER = frozenset(("unexpected_body",))
"""The fact for an exception about a response with status 200 that contains no error."""


def is_cancellation(exc: BaseException) -> bool:
    """Whether the caller cancelled the call.

    Every exception that is not an `Exception` means cancellation, in any event loop or framework.
    """
    members = causes.group(exc)
    if members:
        return all(map(is_cancellation, members))
    return not isinstance(exc, Exception) or _CANCELLED in causes.names(exc)


def first_failure(exc: BaseException) -> BaseException:
    """The exception itself, or the first member of a group that is not a cancellation."""
    members = causes.group(exc)
    return next((first_failure(m) for m in members if not is_cancellation(m)), exc)


def read(exc: BaseException, dialect: str = "", provider: str = "", ambient: int = 0) -> Evidence:
    """Evidence from one exception (not a group).

    `dialect` and `provider` are used if the exception itself does not show them. `ambient` is explained in `causes.chain`.
    """
    links = causes.chain(exc, ambient)
    chain = tuple(causes.names(link) for link in links)
    by_framework = frameworks.evidence_of(links[0], chain[0])
    if by_framework is not None:
        return by_framework
    close = next((found for link in links if (found := closes.close_of(link)) is not None), None)
    if close is not None:
        return _closed(close, chain, dialect, provider)
    by_litellm = litellm.is_its_own(chain[0])
    bearer = _bearer(links, chain, by_litellm)
    http = None if by_litellm and litellm.has_made_up_status(chain, bearer) else _status(bearer)
    body = bodies.read(_whole(bearer, _body(bearer)) or (litellm.quoted_error(bearer) if by_litellm else None), http)
    if by_litellm:
        dialect, provider = litellm.served_by(exc, dialect, provider)
    embedded = http is None or http == 200
    codes = body.codes or _attribute_codes(bearer) or _framed_code(links[0], chain[0])
    codes = _header_code(bearer) + codes
    says_something = bool(codes or body.status or body.message)
    wait = _wait(bearer, body)
    return Evidence(
        channel="thrown",
        dialect=body.dialect or _dialect(chain, dialect, by_litellm),
        provider=provider,
        status=(body.status or _valid(field(bearer, "code"))) if embedded else http,
        codes=codes,
        exceptions=chain,
        facts=frozenset().union(
            body.facts,
            litellm.findings(bearer, chain) if by_litellm else _refusal(links[0], chain[0]),
            frameworks.facts(links[0], chain[0]),
            _NO_ANSWER if http == 200 and not says_something else (),
            _WITH_HEADER if wait is not None else (),
        ),
        message=body.message or _rpc_text(bearer, chain) or (_transport_text(links, chain) if http is None else ""),
        retry_after=wait if wait is not None else body.retry_after,
        embedded=embedded and says_something,
    )


def _closed(close: closes.Close, chain: tuple[tuple[str, ...], ...], dialect: str, provider: str) -> Evidence:
    """Evidence from the close of a websocket. A close has no HTTP status, so every rule for a text may match its reason."""
    body = close.read()
    return Evidence(
        dialect=body.dialect or next((d for names in chain if (d := causes.dialect_of(names))), dialect),
        provider=provider,
        status=body.status,
        codes=body.codes,
        exceptions=chain,
        facts=body.facts,
        message=body.message,
        retry_after=body.retry_after,
        embedded=True,
    )


def of_response(response: Any, dialect: str, provider: str) -> Evidence:
    """Evidence from a failed response for which the SDK raises no exception, because it retries."""
    status = number(field(response, "status_code"))
    body = bodies.read(loaded_body(response), status)
    return Evidence(
        dialect=dialect,
        provider=provider,
        status=status,
        codes=body.codes,
        facts=body.facts,
        message=body.message,
        retry_after=retry_after.from_headers(field(response, "headers")),
    )


def _dialect(chain: tuple[tuple[str, ...], ...], dialect: str, by_litellm: bool) -> str:
    """The dialect of the SDK that raised the exception; behind litellm, the dialect of the provider that litellm called."""
    by_sdk = next(filter(None, map(causes.dialect_of, chain)), dialect)
    return (dialect or by_sdk) if by_litellm else by_sdk


def _bearer(links: list[BaseException], chain: tuple[tuple[str, ...], ...], by_litellm: bool) -> BaseException:
    """The exception that has the status or the body: the first one in the chain that has either.

    In the chain of an exception of litellm, it is the innermost one with a response.
    """
    if by_litellm:
        for link, names in zip(reversed(links), reversed(chain), strict=True):
            answered = loaded(field(link, "response")) or field(link, "body") is not None
            if answered or litellm.HTTP_ERROR in names:
                return link
        return next((link for link in reversed(links) if _status(link) is not None), links[0])
    return next((link for link in links if _status(link) is not None or _body(link) is not None), links[0])


def _status(exc: BaseException) -> int | None:
    """The HTTP status. The attribute `code` counts only if there is a response; otherwise its value is from an error body."""
    response = field(exc, "response")
    for value in (
        field(exc, "status_code"),
        field(exc, "http_status"),
        field(exc, "status"),
        field(exc, "code") if response is not None else None,
        field(response, "status_code", "status"),
        field(field(response, "ResponseMetadata"), "HTTPStatusCode"),
    ):
        status = _valid(value)
        if status is not None:
            return status
    return None


def _valid(value: Any) -> int | None:
    whole = number(value)
    return whole if whole is not None and (whole in _HTTP or whole == 200) else None


def _body(exc: BaseException) -> Any:
    for name in ("body", "details", "json_body", "http_body", "json_data"):
        value = field(exc, name)
        if value is not None and not callable(value) and not _is_page(value):
            return value
    response = field(exc, "response")
    if isinstance(response, Mapping):
        return response
    if number(field(exc, "error_code")) is not None:  # an exception of qianfan
        return {name: field(exc, name) for name in ("error_code", "error_msg")}
    return loaded_body(response) if response is not None else _streamed_text(exc)


def _whole(exc: BaseException, body: Any) -> Any:
    """The whole body of the response if `body` is only the error object in it; otherwise `body`."""
    if not isinstance(body, dict) or field(exc, "body") is not body:
        return body
    whole = loaded_body(field(exc, "response"))
    error = field(whole, "error") if isinstance(whole, dict) else None
    return whole if isinstance(error, dict) and error.keys() == body.keys() else body


def _streamed_text(exc: BaseException) -> Any:
    """The error in a stream event if it is a plain string. The SDK then keeps the string as the body of the exception."""
    body = field(exc, "body")
    return {"error": body} if isinstance(body, str) and causes.dialect_of(causes.names(exc)) else None


def loaded_body(response: Any) -> Any:
    """The parsed body of a response, if the HTTP library has read it already."""
    content = loaded(response)
    return None if content is None else parsed(content)


def loaded(response: Any) -> bytes | None:
    """The bytes of a response body, if the HTTP library has read it already. Nothing is read or awaited here."""
    content = field(response, "_content", "_body")
    if content is None and "websockets" in type(response).__module__:
        content = field(response, "body")  # the answer to a refused handshake
    content = bytes(content) if isinstance(content, bytearray) else content
    return content if isinstance(content, bytes) and content else None


def _is_page(value: Any) -> bool:
    return isinstance(value, str | bytes) and isinstance(parsed(value), str | bytes)


def _attribute_codes(exc: BaseException) -> tuple[str, ...]:
    code = field(exc, "code")
    if callable(code):  # grpc: code() gives an enumeration member
        code = field(_called(exc, "code"), "name")
    of_grpc = field(field(exc, "grpc_status_code"), "name")  # an exception of google.api_core
    own = field(exc, "provider_code")  # dspy: its `code` is the same for all providers
    found = (printable(text(value, 64)) for value in (own, code, field(exc, "type"), field(exc, "status"), of_grpc))
    return tuple(dict.fromkeys(c for c in found if c and not c.isdecimal() and c not in bodies.NO_CODES))


def _called(exc: BaseException, name: str) -> Any:
    """The result of a method of an exception, or None if it is not a method or raises."""
    method = field(exc, name)
    try:
        return method() if callable(method) else None
    except Exception:  # noqa: BLE001 - a foreign callable
        return None


def _str(exc: BaseException) -> str:
    """The text of an exception, or an empty text if `str` raises."""
    result = _called(exc, "__str__")
    return result if isinstance(result, str) else ""


def _rpc_text(exc: BaseException, chain: tuple[tuple[str, ...], ...]) -> str:
    """The message of a gRPC error. `str` of the error would also contain the address and the trailers."""
    return text(_called(exc, "details")) if any(_RPC in names for names in chain) else ""


def _framed_code(exc: BaseException, names: tuple[str, ...]) -> tuple[str, ...]:
    """The code of an error in an AWS event stream, for which anthropic 0 raises a ValueError.

    The text of the ValueError shows the frame of the error, in which the exception type is the code.
    """
    found = _FRAME.search(_str(exc)[:4096]) if names[:1] == ("builtins.ValueError",) else None
    return (found[1],) if found else ()


def _header_code(exc: BaseException) -> tuple[str, ...]:
    """The code, from the header in which AWS names the exception. The body contains only a text."""
    header = text(field(field(field(exc, "response"), "headers"), "x-amzn-errortype"), 256)
    name = printable(header.partition(":")[0].rpartition("#")[2]).strip()
    return (name,) if name else ()


def _refusal(exc: BaseException, names: tuple[str, ...]) -> frozenset[str]:
    """A fact if an SDK refused the call before it sent a request. The SDK then raises its root class or a builtin error.

    The text of the exception distinguishes missing credentials from invalid arguments. The text is never exported.
    """
    plain = not _PLAIN.isdisjoint(names[:1])
    root = not _ROOTS.isdisjoint(names[:1]) and field(exc, "status_code") is None
    by_sdk = root or (plain and causes.is_raised_by_sdk(exc))
    said = _str(exc)[:400].lower() if root or not _TEXT_BUILTINS.isdisjoint(names[:1]) else ""
    conflict = any(words in said for words in _CONFLICT)
    if not conflict and any(word in said for word in _CREDENTIALS):
        return frozenset(("missing_credentials",))
    if _NO_JSON in said and names[0] == "builtins.TypeError":
        return frozenset(("refused_by_sdk",))
    if by_sdk and said.startswith(_NO_DATA):
        return frozenset(("empty",))
    if by_sdk and names[0] == "builtins.TypeError" and not said.startswith(_MISSING):
        return frozenset()  # an error inside the SDK, for example while it reads an unusual answer
    return frozenset(("refused_by_sdk",)) if by_sdk else frozenset()


def _transport_text(links: list[BaseException], chain: tuple[tuple[str, ...], ...]) -> str:
    """The text of the innermost network error."""
    for link, names in zip(reversed(links), reversed(chain), strict=True):
        if causes.is_transport(names):
            said = _str(link)
            if said:
                return said[:2048]
    return ""


def _wait(exc: BaseException, body: bodies.ErrorBody) -> float | None:
    """The wait from a Retry-After header. If neither a header nor the body states a wait, the attribute `retry_after`."""
    response = field(exc, "response")
    headers = (
        field(response, "headers") or field(exc, "headers") or field(field(response, "ResponseMetadata"), "HTTPHeaders")
    )
    wait = retry_after.from_headers(headers or _trailers(exc))
    if wait is None and body.retry_after is None:
        return retry_after.bounded(field(exc, "retry_after", "cooldown_time"))
    return wait


def _trailers(exc: BaseException) -> Any:
    """The trailing metadata of a gRPC error, as a mapping."""
    found = _called(exc, "trailing_metadata")
    try:
        return {str(name).lower(): value for name, value in found or ()}
    except (TypeError, ValueError):  # the metadata has another shape
        return None
