"""Redacts a message for export: credentials always, and by default also what it repeats from the request.

The message is shortened, redacted, and then clipped to 256 characters, so that no credential is clipped before it is found.
The patterns are imported with the first message, because compiling them would delay the start of every process.
"""

from llm_errors.extract.fields import TEXT_LIMIT

MESSAGE_LIMIT = 256


def redact(message: str) -> str:
    """The message without credentials, and with `…` for what it quotes or repeats from the request."""
    from llm_errors.extract.echoes import without_echoes

    return without_echoes(_without_credentials(message))[:MESSAGE_LIMIT]


def redact_credentials(message: str) -> str:
    """The message without credentials."""
    return _without_credentials(message)[:MESSAGE_LIMIT]


def _without_credentials(message: str) -> str:
    from llm_errors.extract.credentials import without_credentials

    return without_credentials(message[:TEXT_LIMIT])
