"""What of a message may be exported: nothing that is a credential and, unless a user wants it, nothing that a user wrote.

Both look at a bounded prefix, and clip to 256 characters only then, so that nothing is cut into an unrecognised half.
"""

from llm_errors.extract.credentials import without_credentials
from llm_errors.extract.echoes import without_echoes
from llm_errors.extract.fields import TEXT_LIMIT

MESSAGE_LIMIT = 256


def redact(message: str) -> str:
    """The message without credentials, and with `…` for what it quotes or repeats of the request."""
    return without_echoes(without_credentials(message[:TEXT_LIMIT]))[:MESSAGE_LIMIT]


def redact_credentials(message: str) -> str:
    """The message without credentials."""
    return without_credentials(message[:TEXT_LIMIT])[:MESSAGE_LIMIT]
