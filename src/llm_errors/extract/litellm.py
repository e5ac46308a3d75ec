"""Reads what litellm's exceptions wrap: the provider's response, a network error, or the text of an error body.

litellm raises its own exception for every failure. If there was no response, it invents a status and a response.
"""

from llm_errors import providers
from llm_errors.extract import causes
from llm_errors.extract.fields import field, text

HTTP_ERROR = "httpx.HTTPStatusError"
"""The exception in the chain that has the provider's response, if litellm sent the request itself."""
_PACKAGE = "litellm."
_EXHAUSTED = (("builtins.StopIteration",), ("builtins.StopAsyncIteration",))
_CONNECTION = "litellm.APIConnectionError"
"""litellm raises this class for connection errors, and for every error that it does not recognise."""


def is_its_own(names: tuple[str, ...]) -> bool:
    """Whether litellm defines the exception."""
    return bool(names) and names[0].startswith(_PACKAGE)


def has_made_up_status(chain: tuple[tuple[str, ...], ...], bearer: BaseException) -> bool:
    """Whether litellm invented the status, because of a network error or because it did not recognise the error."""
    if not is_its_own(causes.names(bearer)) or HTTP_ERROR in causes.names(bearer):
        return False
    return _CONNECTION in causes.names(bearer) or any(map(causes.is_transport, chain))


def quoted_error(exc: BaseException) -> object:
    """The error body or the text that litellm quotes in its message, without the names that litellm puts before it."""
    message = text(field(exc, "message"))
    while True:
        name, colon, rest = message.partition(": ")
        if not colon or not name.removeprefix(_PACKAGE).isidentifier():
            break
        message = rest
    name, dash, rest = message.partition(" - ")
    if dash and name.endswith(("Exception", "Error")) and name.replace("_", "").isalnum():
        message = rest
    return {"error": message} if message else None


def findings(bearer: BaseException, chain: tuple[tuple[str, ...], ...]) -> frozenset[str]:
    """Facts that litellm detects itself: the call has no API key, or the stream stopped without a finish reason."""
    if any(names[:1] in _EXHAUSTED for names in chain):
        return frozenset(("no_end",))
    message = text(field(quoted_error(bearer), "error"), 200).lower() if is_its_own(causes.names(bearer)) else ""
    missing = "missing" in message and ("key" in message or "credentials" in message)
    return frozenset(("missing_credentials",)) if missing and "{" not in message else frozenset()


def served_by(exc: BaseException, dialect: str, provider: str) -> tuple[str, str]:
    """Dialect and provider, from the name of the provider that litellm called; unchanged if the exception names no provider."""
    name = text(field(exc, "llm_provider"), 64)
    if not name:
        return dialect, provider
    known = providers.provider(name)
    return providers.dialect_of_provider(name), provider or (known.name if known is not None else name)
