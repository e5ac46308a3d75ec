"""Finish reasons of the openai dialect: the healthy ones, and those that combine two names."""

from llm_errors.extract.answer import ABSENT
from llm_errors.extract.google import FINISH_REASONS

NATURAL = frozenset(
    [
        "stop",
        "eos",
        "eos_token",
        "end_turn",
        "stop_sequence",
        "tool_calls",
        "tool_use",
        "function_call",
        "complete",
        "load",
        "unload",
        "COMPLETE",
        "STOP",
        "TOOL_CALL",
    ]
)
"""Finish reasons of a healthy answer, of OpenAI and of compatible servers."""


_TELLING = FINISH_REASONS - {"OTHER", "IMAGE_OTHER"}
"""Names of Gemini that are more specific than the name before them."""


def plain(reason: str) -> str:
    """The part of a combined reason that counts. For `content_filter: RECITATION` it is Gemini's name, if it is known."""
    if ": " not in reason:
        return "" if reason.upper() == ABSENT else reason
    general, _, own = reason.partition(": ")
    own = own.strip().upper()
    return own if own in _TELLING else general
