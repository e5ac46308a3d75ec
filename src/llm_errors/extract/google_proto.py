"""Converts answers of Google's generated clients, which are protocol buffers, to dictionaries, enumerations to names."""

from itertools import islice
from typing import Any

from llm_errors.extract.fields import field, number
from llm_errors.extract.google import GenerateContentReader
from llm_errors.extract.reshaped import Reshaped

_CANDIDATES, _PARTS = 8, 64
"""The maximum number of candidates, and of parts of a candidate, that are read."""


def _shape(result: Any) -> Any:
    candidates = field(result, "candidates")
    if candidates is None:
        return None
    used = field(result, "usage_metadata")
    feedback = field(result, "prompt_feedback")
    blocked = _name(field(feedback, "block_reason"))
    return {
        "candidates": [_candidate(candidate) for candidate in islice(candidates, _CANDIDATES)],
        "prompt_feedback": {"block_reason": blocked} if blocked else None,
        "usage_metadata": {
            name: number(field(used, name)) for name in ("prompt_token_count", "candidates_token_count")
        },
        "model_version": field(result, "model_version"),
    }


def _candidate(candidate: Any) -> dict[str, Any]:
    parts = field(field(candidate, "content"), "parts") or ()
    return {
        "finish_reason": _name(field(candidate, "finish_reason")),
        "content": {"parts": [_part(part) for part in islice(parts, _PARTS)]},
    }


def _part(part: Any) -> dict[str, Any]:
    """The one field of a part that is set. Of a text, the value is copied; of any other field, only the name."""
    kind = type(part).pb(part).WhichOneof("data")
    return {} if kind is None else {kind: part.text if kind == "text" else {"name": kind}}


def _name(member: Any) -> str | None:
    """The name of a member of an enumeration. The value 0 means unset. An unknown member is named after its value."""
    value = number(member)
    if not value:
        return None
    name = field(member, "name")
    return name if isinstance(name, str) else f"UNKNOWN_{value}"


PROTO = Reshaped(GenerateContentReader(), _shape, _shape)
