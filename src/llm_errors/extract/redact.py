"""Redacts a message for export: credentials always, and by default also what it repeats from the request.

The first `TEXT_LIMIT` characters of the message are redacted, and the result is cut to 256 characters. If the message were cut
to 256 first, the patterns could miss half a credential at its end. The patterns are imported with the first message, because
compiling them would delay the start of every process.
"""

from llm_errors.extract.fields import TEXT_LIMIT

MESSAGE_LIMIT = 256


def redact(message: str) -> str:
    """The message without credentials, and with `…` for what it quotes or repeats from the request."""
    from llm_errors.extract.echoes import without_echoes

    return without_echoes(_without_credentials(message))[:MESSAGE_LIMIT]


def redact_credentials(message: str) -> str:
    """The message without credentials. What it repeats from the request is kept."""
    return _without_credentials(message)[:MESSAGE_LIMIT]


def _without_credentials(message: str) -> str:
    from llm_errors.extract.credentials import without_credentials

    return without_credentials(message[:TEXT_LIMIT])
