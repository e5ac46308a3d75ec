"""Finish reasons of the openai dialect: which ends are natural, and those that are made of two."""

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
"""Finish reasons of an answer that ended as it should, OpenAI's and those of compatible servers."""


_TELLING = FINISH_REASONS - {"OTHER", "IMAGE_OTHER"}
"""Those of Gemini's names that say more than what stands before them."""


def plain(reason: str) -> str:
    """Of Gemini's composed reasons, as in `content_filter: RECITATION`, its own name if it is known, else OpenAI's."""
    if ": " not in reason:
        return "" if reason.upper() == ABSENT else reason
    general, _, own = reason.partition(": ")
    own = own.strip().upper()
    return own if own in _TELLING else general
