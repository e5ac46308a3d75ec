"""Keeps the HTTP response from which an SDK creates the object that it returns.

If the SDK cannot create the object, only the body shows the reason.
"""

from typing import Any, NamedTuple

from llm_errors.extract import exceptions, glimpse
from llm_errors.extract.answer import Answer, Chunks, Reader
from llm_errors.instrument.invocation import Invocation


class Received(NamedTuple):
    """A response that is kept until the SDK has created its object."""

    response: Any


class OfReceived:
    """A reader of an SDK's objects. If the SDK created no object, it reads the response."""

    def __init__(self, reader: Reader, dialect: str) -> None:
        self._reader, self._dialect = reader, dialect

    def whole(self, result: Any) -> Answer:
        """Read the object, or the body of the response."""
        if type(result) is not Received:
            return self._reader.whole(result)
        return glimpse.read(self._reader, self._dialect, exceptions.loaded(result.response) or b"")

    def chunks(self) -> Chunks:
        """A new state for a streamed answer."""
        return self._reader.chunks()


def judge(call: Invocation, result: Any) -> None:
    """Judge the object that the SDK created. If it is suspicious, for example empty, the body is judged too.

    The body may contain an error that the object has lost.
    """
    answer = call.info.reader.whole(result)
    if answer.suspicion is not None and type(call.parsed) is Received:
        of_body = call.info.reader.whole(call.parsed)
        answer = of_body if of_body.suspicion is not None else answer
    call.judge(answer)
