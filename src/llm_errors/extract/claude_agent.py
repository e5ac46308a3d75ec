"""Reads the messages of a query of claude-agent-sdk. They are SDK objects, or JSON of the process that the SDK starts.

The result message ends a query. If the process fails to call the model, this appears in the `error` of an assistant message, in
a rate limit event, in the status of the result message, and in the text of the result message, which may contain the body of
the provider's error.
"""

import time
from typing import Any, Final

from llm_errors.evidence import Evidence
from llm_errors.extract import bodies
from llm_errors.extract.answer import Answer, suspect
from llm_errors.extract.anthropic import DIALECT, NATURAL
from llm_errors.extract.fields import field, items, number, parsed, printable, text
from llm_errors.extract.retry_after import bounded

_CODES: Final = {
    "authentication_failed": "authentication_error",
    "billing_error": "billing_error",
    "rate_limit": "rate_limit_error",
    "invalid_request": "invalid_request_error",
    "server_error": "api_error",
}
"""Value of `AssistantMessage.error` -> the provider's own code."""
_LIMITS: Final = {
    "error_max_turns": "turn_limit",
    "error_max_budget_usd": "other_limit",
    "error_max_structured_output_retries": "off_the_schema",
}
"""Subtype of the result message -> the fact that it means."""
_INTERRUPTED: Final = "aborted"


class MessagesOfQuery:
    """Reads the messages of one query."""

    def whole(self, result: Any) -> Answer:
        """Read a result message on its own."""
        chunks = QueryChunks()
        chunks.chunk(result)
        return chunks.end()

    def chunks(self) -> "QueryChunks":
        """Return a state that reads the messages of a query."""
        return QueryChunks()


class QueryChunks:
    """The state of one query, from the messages so far."""

    __slots__ = ("_code", "_model", "_result", "_wait", "done")

    def __init__(self) -> None:
        self.done = False
        self._code = self._model = ""
        self._wait: float | None = None
        self._result: Any = None

    def chunk(self, chunk: Any) -> bool | None:
        """Read one message. True if it is the result."""
        limit = field(chunk, "rate_limit_info")
        if field(chunk, "subtype") is not None and field(chunk, "num_turns", "is_error") is not None:
            self._result, self.done = chunk, True
            return True
        if limit is not None:
            self._limited(limit)
        elif field(chunk, "parent_tool_use_id") is None and field(chunk, "content", "message") is not None:
            self._assistant(chunk)
        return None

    def _limited(self, limit: Any) -> None:
        if text(field(limit, "status")) == "rejected":
            at = number(field(limit, "resets_at", "resetsAt"))
            self._code, self._wait = "rate_limit", None if at is None else bounded(max(at - time.time(), 0.0))

    def _assistant(self, message: Any) -> None:
        """Read an assistant message. If it has no error, a retry after an earlier error has succeeded."""
        model = text(field(message, "model") or field(field(message, "message"), "model"), 256)
        error = text(field(message, "error"), 64)
        if model:
            self._code, self._model = error, self._model if error else model

    def end(self) -> Answer:
        """The outcome of the query after its last message."""
        result = self._result
        usage = field(result, "usage")
        stop = text(field(result, "stop_reason"), 64)
        return Answer(
            suspect(DIALECT, "no_end") if result is None else self._suspicion(result, stop),
            model=self._model,
            finish_reasons=(stop,) if stop else (),
            input_tokens=number(field(usage, "input_tokens")),
            output_tokens=number(field(usage, "output_tokens")),
        )

    def _suspicion(self, result: Any, stop: str) -> Evidence | None:
        fact = _LIMITS.get(text(field(result, "subtype"), 64), "")
        if fact:
            return suspect(DIALECT, fact)
        if field(result, "is_error") is not True:
            return None if not stop or stop in NATURAL else suspect(DIALECT, "unnatural_finish", finish_reason=stop)
        said = next(iter([*items(field(result, "errors")), field(result, "result")]), "")
        body = bodies.read(parsed(_json_in(text(said))))
        code = _CODES.get(self._code, "")
        return suspect(
            DIALECT,
            status=body.status or number(field(result, "api_error_status")),
            codes=tuple(dict.fromkeys(c for c in (*body.codes, code) if c)),
            message=body.message,
            retry_after=self._wait if body.retry_after is None else body.retry_after,
            embedded=True,
        )


def begins(message: Any) -> bool:
    """Whether a message that follows a result begins another query.

    Messages of hooks, tasks and limits do not, because they may follow the last result.
    """
    subtype = field(message, "subtype")
    if subtype is not None:
        return subtype == "init" or field(message, "num_turns", "is_error") is not None
    return field(message, "content", "message", "event") is not None


def is_interrupted(message: Any) -> bool:
    """Whether the application interrupted the query that this message ends."""
    return printable(text(field(message, "terminal_reason"), 64)).startswith(_INTERRUPTED)


def _json_in(message: str) -> str:
    """The JSON object in the text of an API error, such as `API Error: 429 {"type":"error",...}`."""
    begin, end = message.find("{"), message.rfind("}")
    return message[begin : end + 1] if 0 <= begin < end else "{}"
