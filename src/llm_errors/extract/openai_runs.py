"""Reads runs of OpenAI's assistants, as objects or as events. A run ends long after the call that began it."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, embedded_error, identity, suspect, unexpected, usage
from llm_errors.extract.fields import field, text

DIALECT = "openai"
NATURAL = frozenset(("queued", "in_progress", "requires_action", "cancelling", "cancelled", "completed"))
"""Statuses of a run that is running, has succeeded, or was cancelled by the application."""
_RUN = "thread.run."
_TERMINAL = frozenset(
    _RUN + name for name in ("completed", "failed", "cancelled", "expired", "incomplete", "requires_action")
)


class RunReader:
    """Reads a run with `status`, `last_error` and `incomplete_details`."""

    def whole(self, result: Any) -> Answer:
        """Read the status, and the error of a run that failed."""
        status = text(field(result, "status"), 64) if not isinstance(result, str | bytes) else ""
        if not status:
            return unexpected(DIALECT, result)
        reason = text(field(field(result, "incomplete_details"), "reason"), 64)
        tokens = usage(field(result, "usage"), "prompt_tokens", "completion_tokens")
        return Answer(
            _judge(result, status, reason),
            **identity(result),
            finish_reasons=(reason or status,),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
        )

    def chunks(self) -> "RunChunks":
        """Return a state that reads a streamed run."""
        return RunChunks(self)


def _judge(run: Any, status: str, reason: str) -> Evidence | None:
    if status in NATURAL:
        return None
    error = field(run, "last_error")
    if error is not None:
        return embedded_error(DIALECT, {"error": error}, status)
    return suspect(DIALECT, "unnatural_finish", finish_reason=reason or status)


class RunChunks:
    """The state of one streamed run. Only the event that ends it is read."""

    __slots__ = ("_answer", "_reader", "_seen", "done")

    def __init__(self, reader: RunReader) -> None:
        self.done = self._seen = False
        self._reader = reader
        self._answer: Answer | None = None

    def chunk(self, chunk: Any) -> bool:
        """Read the name of one event, and the run or the error in the last one."""
        self._seen = True
        name = getattr(chunk, "event", None)
        if name in _TERMINAL:
            self.done, self._answer = True, self._reader.whole(field(chunk, "data"))
        elif name == "error":
            error = embedded_error(DIALECT, {"error": field(chunk, "data")}, "error")
            self.done, self._answer = True, Answer(error, finish_reasons=("error",))
        return self.done

    def end(self) -> Answer:
        """The run in the last event. If that event is missing, the stream was cut off."""
        if self._answer is not None:
            return self._answer
        return Answer(suspect(DIALECT, "no_end" if self._seen else "empty"), finish_reasons=("error",))
