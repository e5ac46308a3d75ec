"""Captures what a library logs while `llm-errors doctor` tests it, so that the messages do not appear on the terminal."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Ear(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: dict[int, list[str]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            message = f"{message}: {record.exc_info[1]}"
        self.records.setdefault(record.thread or 0, []).append(message)


@contextmanager
def warnings_of(logger: str) -> Iterator[dict[int, list[str]]]:
    """Capture the warnings and errors of a logger and of its existing children.

    Yields a dictionary: identifier of a thread -> the messages that the thread logged.
    """
    ear, log = _Ear(), logging.getLogger(logger)
    below = (found for name, found in logging.root.manager.loggerDict.items() if name.startswith(f"{logger}."))
    apart = [found for found in below if isinstance(found, logging.Logger) and not found.propagate]
    propagated, log.propagate = log.propagate, False
    for listened in (log, *apart):
        listened.addHandler(ear)
    try:
        yield ear.records
    finally:
        for listened in (log, *apart):
            listened.removeHandler(ear)
        log.propagate = propagated


def mine(records: dict[int, list[str]]) -> list[str]:
    """The captured messages of the current thread."""
    return records.get(threading.get_ident(), [])
