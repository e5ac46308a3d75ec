"""Findings about an error body that are no codes: what it reports beside them, and of which stage of the call."""

import re
from typing import Any

from llm_errors.extract.fields import field, items, text

_OBJECT = ("message", "code", "type", "status", "error_code", "errorCode")
"""Fields by which an API's own error is told from what a server in front of it says."""


_PROMPT = re.compile(r"(?:input|messages|prompt)\b")
"""The parameter that is the prompt, or a part of it."""


def facts_of(error: Any, outer: Any, details: list[Any], message: str) -> frozenset[str]:
    """What is found in an error object and around it."""
    found = [*_metadata(field(error, "metadata")), *_stages(error, outer), *_quotas(details)]
    if field(error, "base_resp") is True:
        found.append("base_resp")
    filtered = field(field(error, "innererror"), "content_filter_result", "content_filter_results")
    if field(field(filtered, "jailbreak"), "filtered", "detected") is True:
        found.append("jailbreak")
    if _exceeds_limit(message):
        found.append("exceeds_limit")
    if _PROMPT.match(text(field(error, "param"), 64)):
        found.append("prompt_parameter")
    if field(error, *_OBJECT) is not None:
        found.append("error_object")
    return frozenset(found)


def _metadata(metadata: Any) -> list[str]:
    """What a router adds to an error."""
    found = []
    if items(field(metadata, "reasons")) or field(metadata, "flagged_input") is not None:
        found.append("moderation")
    if text(field(metadata, "provider_name")):
        found.append("upstream")
    return found


def _stages(error: Any, outer: Any) -> list[str]:
    """At which stage something was blocked, if a trace of it says so: an answer is only there after the request."""
    hooks = field(outer, "hook_results")  # Portkey's, with a verdict of each guardrail
    if (
        text(field(field(error, "moderation_details"), "moderation_stage"), 16) == "output"
        or _fails(field(hooks, "after_request_hooks"))
        or field(outer, "output_guardrail") is not None
    ):
        return ["output_stage"]
    blocked = _fails(field(hooks, "before_request_hooks")) or field(outer, "input_guardrail") is not None
    return ["input_stage"] if blocked else []


def guardrail_stage(answer: Any) -> list[str]:
    """At which stage a guardrail of Bedrock's blocked, if the answer holds its trace."""
    trace = field(field(answer, "trace", "amazon-bedrock-trace"), "guardrail")
    on_input, on_output = field(trace, "inputAssessment", "input"), field(trace, "outputAssessments", "outputs")
    return ["input_stage"] if _is_blocked(on_input) and not _is_blocked(on_output) else []


def _is_blocked(assessment: Any, depth: int = 8) -> bool:
    if isinstance(assessment, list | tuple):
        return depth > 0 and any(_is_blocked(entry, depth - 1) for entry in assessment[:64])
    if not isinstance(assessment, dict):
        return False
    if text(assessment.get("action"), 16) in ("BLOCKED", "ANONYMIZED"):
        return assessment.get("action") == "BLOCKED"
    return depth > 0 and any(_is_blocked(entry, depth - 1) for entry in list(assessment.values())[:64])


def _fails(hooks: Any) -> bool:
    return any(field(hook, "verdict") is False for hook in items(hooks)[:64])


def _quotas(details: list[Any]) -> list[str]:
    names = [text(field(v, "quotaId")) for d in details for v in items(field(d, "violations"))[:8]]
    quota = " ".join((*names, *(text(field(field(d, "metadata"), "quota_limit")) for d in details)))
    return [fact for word, fact in (("PerDay", "quota_per_day"), ("Token", "quota_tokens")) if word in quota]


_AMOUNT = r"\D{0,20}?(?<![\w.-])(\d[\d,_]{0,12})(?![\w-])"
"""A number that stands alone: the digits in the name of a model are no limit."""
_ASKED = re.compile(r"\b(?:requested|needs?|asks? for|requires?)" + _AMOUNT)
_ALLOWED = re.compile(r"\b(?:limit|allows?|allowed|maximum|up to)" + _AMOUNT)


def _exceeds_limit(message: str) -> bool:
    """Whether a rate-limit message says that this one request asks for more than the whole limit.

    No wait can help then.
    """
    lowered = message.lower()
    asked, allowed = _ASKED.search(lowered), _ALLOWED.search(lowered)
    if asked is None or allowed is None:
        return False
    return _amount(asked[1]) > _amount(allowed[1])


def _amount(digits: str) -> int:
    return int(re.sub(r"\D", "", digits))
