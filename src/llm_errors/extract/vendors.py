"""Reads answers of watsonx, Qianfan, Aleph Alpha, Reka and TwelveLabs, converted to chat completions, and of Replicate."""

from typing import Any

from llm_errors.extract.answer import Answer, Reader, suspect
from llm_errors.extract.data import DataReader, EventCount
from llm_errors.extract.fields import field, is_object, items, number, text
from llm_errors.extract.openai_chat import ChatReader
from llm_errors.extract.reshaped import Reshaped, chat

_CHAT = ChatReader()
_UNFINISHED = "not_finished"


def _watsonx(streamed: bool) -> Any:
    def shape(result: Any) -> Any:
        answer = next(iter(items(field(result, "results"))), None)
        if answer is None:
            return None
        finish = text(field(answer, "stop_reason"), 64).lower()
        used = (number(field(answer, "input_token_count")), number(field(answer, "generated_token_count")))
        finish = "" if finish == _UNFINISHED else finish
        said = field(answer, "generated_text")
        return chat(finish, said, streamed=streamed, usage=used, model=field(result, "model_id"))

    return shape


class Answers:
    """Reads the answers to several prompts, in a list or one after the other. The first unhealthy answer counts."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def whole(self, result: Any) -> Answer:
        """Read an answer, or a list of them."""
        if not isinstance(result, list):
            return self._reader.whole(result)
        chunks = self.chunks()
        for answer in result:
            chunks.chunk(answer)
        return chunks.end()

    def chunks(self) -> "AnswerChunks":
        """Return a state that reads answers one after the other."""
        return AnswerChunks(self._reader)


class AnswerChunks:
    """The state of a series of answers."""

    __slots__ = ("_found", "_reader", "done")

    def __init__(self, reader: Reader) -> None:
        self.done, self._reader = False, reader
        self._found = Answer(suspect("openai", "empty"))

    def chunk(self, chunk: Any) -> None:
        """Read one whole answer."""
        if not self.done or self._found.suspicion is None:
            self.done, self._found = True, self._reader.whole(chunk)

    def end(self) -> Answer:
        """The first unhealthy answer, or else the last answer."""
        return self._found


WATSONX = Reshaped(_CHAT, _watsonx(False), _watsonx(True))
WATSONX_ANSWERS = Answers(WATSONX)


def _qianfan(streamed: bool) -> Any:
    def shape(result: Any) -> Any:
        body = field(result, "body") or result
        if not is_object(body) or field(body, "choices") is not None:
            return body if is_object(body) else None
        if field(body, "result", "function_call") is None:
            return None
        used = field(body, "usage")
        tokens = (number(field(used, "prompt_tokens")), number(field(used, "completion_tokens")))
        call = field(body, "function_call")
        shaped = chat(
            _qianfan_finish(body, streamed),
            field(body, "result"),
            tools=[{"function": call}] if call is not None else None,
            streamed=streamed,
            usage=tokens,
            answer_id=field(body, "id"),
        )
        if field(body, "need_clear_history") is True:  # the prompt was found unsafe
            shaped["prompt_filter_results"] = [{"content_filter_results": {"jailbreak": {"filtered": True}}}]
        return shaped

    return shape


def _qianfan_finish(body: Any, streamed: bool) -> str:
    """The finish reason of a whole answer, or of the last part of a stream (`is_end`); empty for any other part."""
    if field(body, "need_clear_history") is True:
        return "content_filter"
    finish = text(field(body, "finish_reason"), 64)
    if finish and finish != "normal":
        return finish
    if field(body, "is_truncated") is True:
        return "length"
    return "" if streamed and field(body, "is_end") is not True else "stop"


QIANFAN = Reshaped(_CHAT, _qianfan(False), _qianfan(True))


class _Body:
    """Reads vectors and ranks of Qianfan, from the body of the response."""

    def __init__(self, name: str) -> None:
        self._reader = DataReader(name)

    def whole(self, result: Any) -> Answer:
        """Read a complete answer."""
        return self._reader.whole(field(result, "body") or result)

    def chunks(self) -> EventCount:
        """Return a state, although these APIs do not stream."""
        return self._reader.chunks()


QIANFAN_DATA, QIANFAN_RESULTS = _Body("data"), _Body("results")


def _aleph(result: Any) -> Any:
    if field(result, "message") is not None:
        return chat(field(result, "finish_reason"), field(field(result, "message"), "content"))
    first = next(iter(items(field(result, "completions"))), None)
    if first is None:
        return None
    finish = text(field(first, "finish_reason"), 64)
    return chat(finish or "stop", field(first, "completion"), model=field(result, "model_version"))


def _aleph_chunk(chunk: Any) -> Any:
    if isinstance(chunk, str):  # a member of an enumeration, which ends a chat
        return chat(text(chunk, 64), None, streamed=True)
    written = field(chunk, "completion", "content") or field(field(chunk, "function"), "name")
    return chat(field(chunk, "finish_reason"), written, streamed=True)


ALEPH = Reshaped(_CHAT, _aleph, _aleph_chunk)


def _reka(streamed: bool) -> Any:
    def shape(result: Any) -> Any:
        first = next(iter(items(field(result, "responses"))), None)
        if first is None:
            return None
        said, used = field(first, "chunk", "message"), field(result, "usage")
        return chat(
            field(first, "finish_reason"),
            field(said, "content"),
            tools=[{"function": {"name": field(tool, "name")}} for tool in items(field(said, "tool_calls"))] or None,
            streamed=streamed,
            usage=(number(field(used, "input_tokens")), number(field(used, "output_tokens"))),
            model=field(result, "model"),
            answer_id=field(result, "id"),
        )

    return shape


REKA = Reshaped(_CHAT, _reka(False), _reka(True))


def _twelvelabs(result: Any) -> Any:
    if field(result, "data", "finish_reason") is None:
        return None
    used = (None, number(field(field(result, "usage"), "output_tokens")))
    said = field(result, "data")
    return chat(field(result, "finish_reason") or "stop", said, usage=used, answer_id=field(result, "id"))


def _twelvelabs_event(event: Any) -> Any:
    kind = text(field(event, "event_type"), 32)
    if kind == "stream_end":
        return chat(field(event, "finish_reason") or "stop", None, streamed=True)
    return chat(None, field(event, "text"), streamed=True) if kind else None


TWELVELABS = Reshaped(_CHAT, _twelvelabs, _twelvelabs_event)

FAILED_CODE = "prediction_failed"
"""The code that llm-errors gives the failure of a model, for which Replicate sends only a text."""
_FAILED, _CANCELED = "failed", "canceled"
_HEALTHY = frozenset(("starting", "processing", "succeeded", _CANCELED))
"""Statuses of a healthy prediction. A prediction that the caller cancelled is healthy."""


class ReplicateReader:
    """Reads predictions by their status, and the output that `run` returns."""

    def whole(self, result: Any) -> Answer:
        """Read a prediction. If it is still running, it is a healthy job."""
        status = text(field(result, "status"), 32)
        if status == _FAILED:
            said = text(field(result, "error"))
            failed = suspect("openai", codes=(FAILED_CODE,), finish_reason=status, message=said)
            return Answer(failed, id=text(field(result, "id"), 256), finish_reasons=(status,))
        if status not in _HEALTHY:
            return Answer(suspect("openai", "unnatural_finish", finish_reason=status), finish_reasons=(status,))
        return Answer(id=text(field(result, "id"), 256), finish_reasons=(status,) if status == "succeeded" else ())

    def chunks(self) -> "ReplicateChunks":
        """Return a state that reads a streamed answer."""
        return ReplicateChunks()


class ReplicateChunks:
    """The state of one stream of events. The last event contains the reason for the end."""

    __slots__ = ("_content", "_reason", "done")

    def __init__(self) -> None:
        self.done = self._content = False
        self._reason = ""

    def chunk(self, chunk: Any) -> bool:
        """Read one event, or one part of the output."""
        kind = text(field(chunk, "event"), 16)
        self._content = self._content or kind in ("", "output")
        if kind == "done":
            self.done = True
            self._reason = next((word for word in ("error", _CANCELED) if word in text(field(chunk, "data"), 256)), "")
        return self.done

    def end(self) -> Answer:
        """Judge the answer in this order: an unhealthy reason, an empty answer, a missing end."""
        if self._reason:
            return Answer(suspect("openai", "unnatural_finish", finish_reason=self._reason))
        if not self._content:
            return Answer(suspect("openai", "empty"))
        return Answer(None if self.done else suspect("openai", "no_end"))


REPLICATE = ReplicateReader()
