"""Reads the trace of a Bedrock guardrail: whether it blocked the request or the answer, or only masked a text."""

from typing import Any

from llm_errors.extract.fields import field, text

_ACTED = ("BLOCKED", "ANONYMIZED")


def guardrail_stage(answer: Any) -> list[str]:
    """The fact `input_stage` if the trace in an answer shows that a guardrail blocked the request; else none."""
    return assessed_stage(*_assessments(answer))


def assessed_stage(on_input: Any, on_output: Any) -> list[str]:
    """As `guardrail_stage`, but from the guardrail's assessments of the request and of the answer."""
    return ["input_stage"] if _did(on_input, "BLOCKED") and not _did(on_output, "BLOCKED") else []


def has_only_masked(answer: Any) -> bool:
    """Whether the guardrail masked something and blocked nothing, according to the trace in an answer."""
    return only_masks(list(_assessments(answer)))


def only_masks(assessments: Any) -> bool:
    """Whether the guardrail only masked something, according to the assessments. False if there are no assessments."""
    return _did(assessments, "ANONYMIZED") and not _did(assessments, "BLOCKED")


def _assessments(answer: Any) -> tuple[Any, Any]:
    trace = field(field(answer, "trace", "amazon-bedrock-trace"), "guardrail")
    return field(trace, "inputAssessment", "input"), field(trace, "outputAssessments", "outputs")


def _did(assessment: Any, action: str, depth: int = 8) -> bool:
    if isinstance(assessment, list | tuple):
        return depth > 0 and any(_did(entry, action, depth - 1) for entry in assessment[:64])
    if not isinstance(assessment, dict):
        return False
    acted = text(assessment.get("action"), 16)
    if acted in _ACTED:
        return acted == action
    return depth > 0 and any(_did(entry, action, depth - 1) for entry in list(assessment.values())[:64])
