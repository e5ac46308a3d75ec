"""What the text of a framework's exception adds to its class. The text is never exported: it may repeat a user or a model."""

from typing import Final

_LIMIT: Final = 400
_SAID: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "ModelBehaviorError": ((" not found in agent ", "unknown_tool"),),
    "UsageLimitExceeded": (("request_limit", "call_limit"), ("tool_calls_limit", "other_limit")),
}
"""Class -> words of its text, each with a fact. One class stands for several limits or for several faults of an answer."""


def facts(exc: BaseException, names: tuple[str, ...]) -> frozenset[str]:
    """The facts in the text of an exception with these class names."""
    phrases = _SAID.get(names[0].rpartition(".")[2], ()) if names else ()
    said = str(exc)[:_LIMIT] if phrases else ""
    return frozenset(fact for words, fact in phrases if words in said)
