"""One log record per classified failure, at most ten per second. The next record reports how many were dropped."""

import time
from collections.abc import Mapping
from typing import Any

from opentelemetry._logs import Logger, LogRecord, SeverityNumber

from llm_errors import semconv

PER_SECOND = 10


class FailureLog:
    """Emits log records with the event name `llm.call.failure`."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._second = 0
        self._emitted = 0
        self._left_out = 0

    def emit(self, attributes: Mapping[str, Any], context: Any) -> None:
        """Emit one record in the span's context, or count it as dropped."""
        now = time.monotonic_ns() // 1_000_000_000
        if now != self._second:
            self._second, self._emitted = now, 0
        if self._emitted >= PER_SECOND:
            self._left_out += 1
            return
        self._emitted += 1
        written = dict(attributes)
        if self._left_out:
            written[semconv.LOGS_LEFT_OUT], self._left_out = self._left_out, 0
        self._logger.emit(
            LogRecord(
                timestamp=time.time_ns(),
                context=context,
                severity_number=SeverityNumber.WARN,
                severity_text="WARN",
                event_name=semconv.FAILURE_EVENT,
                body=sentence(attributes),
                attributes=written,
            )
        )


def sentence(attributes: Mapping[str, Any]) -> str:
    """The body of the record, for people: `RATE_LIMITED/requests from openai gpt-5-mini: <message>`."""
    who = " ".join(filter(None, (attributes.get(semconv.PROVIDER), attributes.get(semconv.REQUEST_MODEL))))
    kind = "/".join(filter(None, (attributes.get(semconv.ERROR_CLASS), attributes.get(semconv.ERROR_REASON))))
    what = f"{kind or 'A failure'} from {who or 'an unknown provider'}"
    message = attributes.get(semconv.ERROR_MESSAGE)
    return f"{what}: {message}" if message else what
