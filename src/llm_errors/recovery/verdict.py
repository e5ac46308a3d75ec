"""Decides the class and the reason for the advice: by `classify`, and if that finds nothing, by names of exceptions.

`classify` ignores a class name such as `RateLimitError` from an unknown package, because it may have nothing to do with a
model. An application that asks for advice, however, knows that a model call has failed. So here the class names along the MRO
count too, and the text of a 400 without a body. This module needs the standard library only and imports no SDK.
"""

from dataclasses import replace
from typing import Any, Final

from llm_errors import providers
from llm_errors.classify import classify, decide
from llm_errors.evidence import Classification
from llm_errors.extract import causes, exceptions
from llm_errors.recovery import hints
from llm_errors.taxonomy import FINAL_REASONS, HANDLING, ErrorClass

_E = ErrorClass
NAMES: Final = {
    "RateLimitError": (_E.RATE_LIMITED, "other"),
    "AuthenticationError": (_E.AUTH, "other"),
    "PermissionDeniedError": (_E.AUTH, "permission_denied"),
    "BadRequestError": (_E.BAD_REQUEST, "other"),
    "UnprocessableEntityError": (_E.BAD_REQUEST, "invalid_parameter"),
    "NotFoundError": (_E.NOT_FOUND, "other"),
    "ConflictError": (_E.SERVER, "conflict"),
    "InternalServerError": (_E.SERVER, "internal"),
    "OverloadedError": (_E.SERVER, "overloaded"),
    "ServiceUnavailableError": (_E.SERVER, "unavailable"),
    "APIConnectionError": (_E.TRANSPORT, "other"),
    "ConnectionError": (_E.TRANSPORT, "other"),
    "ConnectError": (_E.TRANSPORT, "other"),
    "APITimeoutError": (_E.TIMEOUT, "other"),
    "TimeoutError": (_E.TIMEOUT, "other"),
    "ConnectTimeout": (_E.TIMEOUT, "connect"),
    "ReadTimeout": (_E.TIMEOUT, "read"),
}
"""Class name that means the same in every SDK -> class and reason.

These names count only if no code, no status and no known package decides.
"""

_WRAPPERS: Final = frozenset(("APIConnectionError", "APITimeoutError", "InternalServerError"))
"""Exceptions that SDKs also raise for any other error inside them.

They count only without a cause, because the cause may have nothing to do with the network.
"""


def provider_name(given: str) -> str:
    """Converts any usual name of a provider to the value of `gen_ai.provider.name` in the GenAI conventions."""
    known = providers.provider(given)
    return given.strip().lower() if known is None else known.name


def judge(
    failure: Any,
    *,
    provider: str,
    partial_output: bool = False,
    prompt_tokens: int | None = None,
    context_length: int | None = None,
) -> Classification | None:
    """The classification on which the advice is based, or None if nothing failed."""
    if isinstance(failure, Classification):
        return replace(failure, partial_output=True, retryable=False) if partial_output else failure
    # Servers of unknown providers usually use OpenAI's dialect.
    found = classify(failure, provider=provider_name(provider) or "openai", partial_output=partial_output)
    if found is None:
        return None
    if found.rule.startswith("common.fallback."):
        return _by_name(failure, found)
    if found.status_code == 400 and found.evidence == "status":
        over = prompt_tokens is not None and context_length is not None and prompt_tokens > context_length > 0
        if over:
            return replace(found, reason="context_overflow", rule="recovery.prompt_over_limit")
        return _by_text(failure, provider, found)
    return found


def _by_name(failure: Any, found: Classification) -> Classification:
    links = causes.chain(failure) if isinstance(failure, BaseException) else []
    for link in links:
        for qualified in causes.names(link):
            name = qualified.rpartition(".")[2]
            if name in NAMES and not (name in _WRAPPERS and link is not links[-1]):
                return _named(name, found)
    return found


def _named(name: str, found: Classification) -> Classification:
    error_class, reason = NAMES[name]
    retryable = HANDLING[error_class].retryable and (error_class, reason) not in FINAL_REASONS
    return replace(
        found,
        error_class=error_class,
        reason=reason,
        evidence="exception",
        rule=f"recovery.name.{name}",
        retryable=retryable and not found.partial_output,
    )


def _by_text(failure: Any, provider: str, found: Classification) -> Classification:
    """Refines a 400 without a body: the rules for messages are applied to the text of the exception."""
    text = hints.plain_text(failure)
    if found.message or not text:
        return found
    evidence = exceptions.read(failure, "openai", provider_name(provider))
    refined = decide(replace(evidence, message=text), partial_output=found.partial_output)
    if refined is not None and (refined.error_class is _E.AUTH or refined.reason == "context_overflow"):
        return refined
    return found
