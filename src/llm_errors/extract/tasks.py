"""Reads tasks of Runway and Parallel: jobs that run after the call was answered. The status of a task shows how it ended."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, suspect, unexpected
from llm_errors.extract.data import EventCount
from llm_errors.extract.fields import field, is_object, text

FAILED_CODE = "task_failed"
"""The code that llm-errors gives a failed task, if the service sends none."""
_FAILED = "FAILED"
_SUCCEEDED = frozenset(("SUCCEEDED", "COMPLETED"))
_OPEN = frozenset(
    ("", "PENDING", "THROTTLED", "QUEUED", "RUNNING", "ACTION_REQUIRED", "CANCELLING", "CANCELLED", "CANCELED")
)
"""Statuses of a task that has neither failed nor succeeded. A task that the caller cancelled has not failed."""


class TaskReader:
    """Reads a task. If it has not finished, it is healthy."""

    def whole(self, result: Any) -> Answer:
        """Read the status of a task. `result` is the task, or the task result of Parallel, whose field `run` is the task."""
        task = field(result, "run") or result
        task_id = text(field(task, "id", "run_id"), 256) if is_object(task) else ""
        if not task_id:
            return unexpected("openai", result)
        status = text(field(task, "status"), 32)
        known = status.upper()
        if known == _FAILED:
            return Answer(failure(task), id=task_id, finish_reasons=(status,))
        if known not in _OPEN | _SUCCEEDED:
            return Answer(suspect("openai", "unnatural_finish", finish_reason=status), id=task_id)
        return Answer(id=task_id, finish_reasons=(status,) if known in _SUCCEEDED else ())

    def chunks(self) -> EventCount:
        """A state that counts events. Every reader has one, although these APIs do not stream."""
        return EventCount("openai")


def failure(task: Any) -> Evidence:
    """Evidence of a failed task, from `failureCode` and `failure` of Runway or the error object of Parallel."""
    codes = (text(field(task, "failure_code", "failureCode"), 64) or FAILED_CODE,)
    said = text(field(task, "failure")) or text(field(field(task, "error"), "message"))
    return suspect("openai", codes=codes, finish_reason=_FAILED.lower(), message=said)


TASKS = TaskReader()
