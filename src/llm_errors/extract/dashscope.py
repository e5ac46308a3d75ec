"""Reads answers of Alibaba's DashScope. Its SDK returns failures too, as answers with status, code and message."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import retry_after
from llm_errors.extract.answer import Answer, Chunks, Reader, embedded_error, suspect, unexpected
from llm_errors.extract.data import MediaReader
from llm_errors.extract.fields import field, is_object, items, number, text
from llm_errors.extract.openai_chat import ChatReader
from llm_errors.extract.reshaped import Reshaped, chat
from llm_errors.extract.speech import AUDIO

DIALECT = "openai"
"""Alibaba sends the same codes in its own format and in the openai format."""
_HTTP = range(100, 600)
"""HTTP statuses. The SDK uses other numbers for a failed connection, or for a failed task on a websocket."""
_UNKNOWN = "Unknown"
"""The code of a failure that the SDK does not recognise, for example when the server closes the websocket."""
_UNFINISHED = "null"
_TASK_FAILED = frozenset(("FAILED", "UNKNOWN"))


def failed(result: Any) -> Evidence | None:
    """Evidence of a failed response, from the status in its body."""
    status = number(field(result, "status_code"))
    if status is None or status == 200:
        return None
    found = embedded_error(DIALECT, {name: field(result, name) for name in ("code", "message")})
    wait = retry_after.from_headers(field(result, "headers"))
    return replace(found, status=status if status in _HTTP else None, embedded=False, retry_after=wait)


def _whole(result: Any) -> Any:
    return _shape(result, False)


def _chunk(result: Any) -> Any:
    return _shape(result, True)


def _shape(result: Any, streamed: bool) -> Any:
    output, used = field(result, "output"), field(result, "usage")
    if not is_object(output):
        return None
    choice = next(iter(items(field(output, "choices"))), None)
    message = field(choice, "message") if choice is not None else output
    finish = text(field(choice if choice is not None else output, "finish_reason"), 64)
    return chat(
        None if finish == _UNFINISHED else finish,
        field(message, "content", "text") or field(output, "audio"),
        tools=field(message, "tool_calls"),
        streamed=streamed,
        usage=(number(field(used, "input_tokens")), number(field(used, "output_tokens"))),
        answer_id=field(result, "request_id"),
    )


class _Output:
    """Reads vectors, ranks, media and tasks. An empty list of results and a failed task are failures."""

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        output = field(result, "output")
        if not is_object(output):
            return unexpected(DIALECT, result)
        if text(field(output, "task_status"), 16) in _TASK_FAILED:
            return Answer(embedded_error(DIALECT, output), id=text(field(output, "task_id"), 256))
        lists = [value for value in (field(output, "embeddings"), field(output, "results")) if isinstance(value, list)]
        empty = suspect(DIALECT, "empty") if lists and not any(lists) else None
        used = field(result, "usage")
        tokens = number(field(used, "input_tokens", "total_tokens"))
        return Answer(empty, id=text(field(output, "task_id"), 256), input_tokens=tokens)

    def chunks(self) -> "_LastChunk":
        """Return a state that reads a streamed answer."""
        return _LastChunk(self)


class _LastChunk:
    """The state of one stream of media. Only the last part is judged."""

    __slots__ = ("_last", "_reader", "done")

    def __init__(self, reader: _Output) -> None:
        self.done, self._reader = False, reader
        self._last = Answer(suspect(DIALECT, "empty"))

    def chunk(self, chunk: Any) -> None:
        """Read the chunk as an answer."""
        self.done, self._last = True, self._reader.whole(chunk)

    def end(self) -> Answer:
        """Return the answer that was read from the last chunk."""
        return self._last


class DashscopeReader:
    """Reads the status of a response, and its output with `reader`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def whole(self, result: Any) -> Answer:
        """Read the failure that the status shows, or else the output."""
        failure = failed(result)
        return self._reader.whole(result) if failure is None else Answer(failure)

    def chunks(self) -> "DashscopeChunks":
        """Return a state that reads a streamed answer."""
        return DashscopeChunks(self._reader.chunks())


class DashscopeChunks:
    """The state of one stream. Its last part may be a failure."""

    __slots__ = ("_chunks", "_failure")

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._failure: Evidence | None = None

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._failure is not None or self._chunks.done

    def chunk(self, chunk: Any) -> bool | None:
        """Read one part."""
        self._failure = self._failure or failed(chunk)
        return True if self._failure is not None else self._chunks.chunk(chunk)

    def end(self) -> Answer:
        """The failure, or the answer after the last part."""
        told = self._chunks.end()
        return told if self._failure is None else told._replace(suspicion=self._failure)


class _TranscriptChunks:
    """The state of one transcript, which may be empty."""

    __slots__ = ()
    done = False

    def chunk(self, chunk: Any) -> None:
        """Ignore the part: nothing in it can be a failure."""

    def end(self) -> Answer:
        """Return a healthy answer."""
        return Answer()


class _TranscriptReader(MediaReader):
    """Reads transcripts."""

    def chunks(self) -> _TranscriptChunks:  # type: ignore[override]
        """Return a state that reads a streamed answer."""
        return _TranscriptChunks()


class OnSocket:
    """Reads a task on a websocket with `reader`.

    `request` is the SDK's request object. It has the code with which the server closed the websocket.
    """

    def __init__(self, reader: Reader, request: Any) -> None:
        self._reader, self._request = reader, request

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        return self._closed(self._reader.whole(result))

    def chunks(self) -> "OnSocketChunks":
        """Return a state that reads a streamed answer."""
        return OnSocketChunks(self._reader.chunks(), self._closed)

    def _closed(self, answer: Answer) -> Answer:
        found = answer.suspicion
        if found is None or _UNKNOWN not in found.codes:
            return answer
        code = number(field(field(self._request, "ws"), "close_code"))
        codes = (f"close_{code}",) if code is not None else ()
        return answer._replace(suspicion=replace(found, codes=codes, facts=found.facts | {"closed"}))


class OnSocketChunks:
    """The state of one stream on a websocket."""

    __slots__ = ("_chunks", "_closed")

    def __init__(self, chunks: Chunks, closed: Callable[[Answer], Answer]) -> None:
        self._chunks, self._closed = chunks, closed

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._chunks.done

    def chunk(self, chunk: Any) -> bool | None:
        """Read one part."""
        return self._chunks.chunk(chunk)

    def end(self) -> Answer:
        """The answer after the last part."""
        return self._closed(self._chunks.end())


CHAT, OUTPUT = DashscopeReader(Reshaped(ChatReader(), _whole, _chunk)), DashscopeReader(_Output())
TASKS: Mapping[str, Reader] = {
    "speech": DashscopeReader(AUDIO),
    "transcription": DashscopeReader(_TranscriptReader()),
}
"""Operation of a task on a websocket -> its reader. An operation that is not listed is read as over HTTP."""
