"""Reads what exceptions of agent frameworks tell beyond their class: their text, or the
result message in an exception of claude-agent-sdk.

The text is never exported, because it may repeat what a user or a model wrote.
"""

from dataclasses import replace
from typing import Final

from llm_errors.evidence import Evidence
from llm_errors.extract.claude_agent import MessagesOfQuery
from llm_errors.extract.fields import field

_LIMIT: Final = 400
SAID: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "ModelBehaviorError": ((" not found in agent ", "unknown_tool"),),
    "UsageLimitExceeded": (("request_limit", "call_limit"), ("tool_calls_limit", "other_limit")),
    "WorkflowRuntimeError": (("Max iterations of ", "turn_limit"),),
}
"""Exception class -> phrases in its text, each with the fact (`Evidence.facts`) that the phrase shows. Frameworks use each of
these classes for several limits or several kinds of unusable answers.
"""


def facts(exc: BaseException, names: tuple[str, ...]) -> frozenset[str]:
    """The facts in the text of an exception with these class names."""
    phrases = SAID.get(names[0].rpartition(".")[2], ()) if names else ()
    message = str(exc)[:_LIMIT] if phrases else ""
    return frozenset(fact for words, fact in phrases if words in message)


def evidence_of(exc: BaseException, names: tuple[str, ...]) -> Evidence | None:
    """Evidence from the result message in an exception of claude-agent-sdk; None for any other exception."""
    if names[:1] != ("claude_agent_sdk.ResultError",):
        return None
    found = MessagesOfQuery().whole(field(exc, "data")).suspicion
    return None if found is None else replace(found, channel="thrown", exceptions=(names,))
