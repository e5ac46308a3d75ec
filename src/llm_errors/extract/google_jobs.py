"""Reads long-running operations and batches of the google dialect: the answer that begins one, and its state later."""

from typing import Any

from llm_errors.extract.answer import Answer, embedded_error, suspect, unexpected
from llm_errors.extract.data import EventCount
from llm_errors.extract.error_shapes import RPC_CODES
from llm_errors.extract.fields import field, items, number, text

DIALECT = "google"
_BAD_STATES = frozenset(("JOB_STATE_FAILED", "JOB_STATE_EXPIRED"))
"""States of a batch that failed as a whole."""


class OperationReader:
    """Reads the answer that begins a long-running operation: its name, or an error."""

    def whole(self, result: Any) -> Answer:
        """Read the name."""
        name = text(field(result, "name"), 256)
        return state_of(result) if name else unexpected(DIALECT, result)

    def chunks(self) -> EventCount:
        """Return a state, although operations are not streamed."""
        return EventCount(DIALECT)


def state_of(job: Any) -> Answer:
    """The outcome of an operation or a batch. If it is running or its state is unknown, it is healthy."""
    name = text(field(job, "name"), 256)
    error, state = field(job, "error"), text(field(job, "state"), 64)
    if error is not None:
        return Answer(embedded_error(DIALECT, {"error": _named(error)}, state), id=name)
    if state in _BAD_STATES:
        return Answer(suspect(DIALECT, "unnatural_finish", finish_reason=state), id=name)
    response = field(job, "response", "result")
    filtered = number(field(response, "rai_media_filtered_count", "raiMediaFilteredCount"))
    if filtered and not items(field(response, "generated_videos", "generatedVideos")):
        return Answer(suspect(DIALECT, "image_filtered"), id=name)
    return Answer(None, id=name)


def _named(error: Any) -> Any:
    """The error of an operation, with the name of its code. The error itself has only the number from `google.rpc.Code`."""
    code = number(field(error, "code"))
    if code is None or not 0 <= code < len(RPC_CODES):
        return error
    return {"status": RPC_CODES[code], "message": field(error, "message")}


OPERATION = OperationReader()
