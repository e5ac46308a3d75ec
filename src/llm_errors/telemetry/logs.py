"""One log record per classified failure, at most ten a second; the next one says how many were left out."""

import time
from collections.abc import Mapping
from typing import Any

from opentelemetry._logs import Logger, LogRecord, SeverityNumber

from llm_errors import semconv

PER_SECOND = 10


class FailureLog:
    """Emits `gen_ai.client.operation.exception` and `llm.call.failure`."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger
        self._second = 0
        self._emitted = 0
        self._left_out = 0

    def emit(self, event_name: str, attributes: Mapping[str, Any], context: Any) -> None:
        """Emit one record in the span's context, or count it as left out."""
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
                event_name=event_name,
                attributes=written,
            )
        )
