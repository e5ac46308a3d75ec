"""Reads answers of xai-sdk, which are gRPC messages: completions (whole or streamed), images, and deferred jobs."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.answer import Answer, all_reasoning, embedded_error, suspect, unexpected
from llm_errors.extract.fields import field, is_json, number, text

DIALECT = "xai"
FINISH_REASONS = ("", "REASON_MAX_LEN", "REASON_MAX_CONTEXT", "REASON_STOP", "REASON_TOOL_CALLS", "REASON_TIME_LIMIT")
"""Names of `FinishReason` by number. The first one means that the answer has not ended."""
NATURAL = frozenset(("", "REASON_STOP", "REASON_TOOL_CALLS"))
STATUSES = ("", "DONE", "EXPIRED", "PENDING", "FAILED")
"""Names of `DeferredStatus` by number."""
_WELL = frozenset(("", "DONE", "PENDING"))


def _name(value: Any, names: tuple[str, ...]) -> str:
    """The name of a member of an enumeration, or the number of an unknown member."""
    whole = number(value)
    if whole is None:
        return ""
    return names[whole] if 0 <= whole < len(names) else str(whole)


class CompletionReader:
    """Reads a completion with `outputs`."""

    def whole(self, result: Any) -> Answer:
        """Read every output."""
        if not hasattr(result, "outputs"):
            return unexpected(DIALECT, result)
        chunks = CompletionChunks(streamed=False)
        chunks.chunk(result)
        return chunks.end()

    def chunks(self) -> "CompletionChunks":
        """Return a state that reads a streamed completion."""
        return CompletionChunks()


class CompletionChunks:
    """The state of one completion. Tools of the server may add outputs. Only the last output has a finish reason."""

    __slots__ = ("_arguments", "_content", "_finish", "_last", "_streamed", "_tokens", "done")

    def __init__(self, streamed: bool = True) -> None:
        self.done = self._content = False
        self._streamed = streamed
        self._arguments = False
        self._finish: dict[int, str] = {}
        self._last: Any = None
        self._tokens: Any = None

    def chunk(self, chunk: Any) -> None:
        """Read one chunk, or a whole completion."""
        self._last = chunk
        for output in chunk.outputs:
            said = output.delta if self._streamed else output.message
            if not self._content:
                self._content = bool(said.content or said.tool_calls or said.encrypted_content)
            reason = _name(output.finish_reason, FINISH_REASONS)
            if reason:
                self._finish[output.index] = reason
                self.done = True
            if not self._streamed and any(_is_broken(call) for call in said.tool_calls):
                self._arguments = True
        if chunk.HasField("usage"):
            self._tokens = chunk.usage

    def end(self) -> Answer:
        """Judge the answer in this order: the finish reasons, broken tool calls, an empty answer, a missing end."""
        usage, due = self._tokens, ("error",) if self._streamed and not self._finish else ()
        return Answer(
            self._suspicion(),
            model=text(field(self._last, "model"), 256),
            id=text(field(self._last, "id"), 256),
            finish_reasons=tuple(self._finish.values()) or due,
            input_tokens=None if usage is None else number(usage.prompt_tokens),
            output_tokens=None if usage is None else number(usage.completion_tokens),
        )

    def _suspicion(self) -> Evidence | None:
        unhealthy = next((self._finish[i] for i in sorted(self._finish) if self._finish[i] not in NATURAL), "")
        usage = self._tokens
        if unhealthy:
            # The SDK counts reasoning tokens separately from completion tokens.
            reasoned = not self._content and (
                usage is not None
                and (all_reasoning(usage.completion_tokens, usage.reasoning_tokens) or usage.reasoning_tokens)
            )
            facts = ["unnatural_finish", *(["only_reasoning"] if reasoned else [])]
            return suspect(DIALECT, *facts, finish_reason=unhealthy)
        if self._arguments:
            return suspect(DIALECT, "invalid_arguments", finish_reason=next(iter(self._finish.values()), ""))
        if not self._content:
            return suspect(DIALECT, "empty", finish_reason=next(iter(self._finish.values()), ""))
        return suspect(DIALECT, "no_end") if self._streamed and not self._finish else None


def _is_broken(call: Any) -> bool:
    arguments = call.function.arguments
    return bool(arguments.strip()) and not is_json(arguments)


class ImagesReader:
    """Reads generated images. In place of an image that violates the rules, the answer contains a mark."""

    def whole(self, result: Any) -> Answer:
        """Read every image."""
        if not hasattr(result, "images"):
            return unexpected(DIALECT, result)
        images = list(result.images)
        facts = ["empty"] if not images else ["image_filtered"] if not all(i.respect_moderation for i in images) else []
        return Answer(suspect(DIALECT, *facts) if facts else None, model=text(field(result, "model"), 256))

    def chunks(self) -> CompletionChunks:
        """Return a state, although images are not streamed."""
        return CompletionChunks()


class JobReader:
    """Reads the answer that begins a deferred job, which contains its id."""

    def whole(self, result: Any) -> Answer:
        """Read the id."""
        job = text(field(result, "request_id"), 256)
        return Answer(None, id=job) if job else unexpected(DIALECT, result)

    def chunks(self) -> CompletionChunks:
        """Return a state, although jobs are not streamed."""
        return CompletionChunks()


COMPLETION, IMAGES, JOB = CompletionReader(), ImagesReader(), JobReader()


def deferred(result: Any) -> Answer:
    """Read the answer to a poll of a deferred job. A running job is healthy; if the job is complete, its answer is judged."""
    status = _name(field(result, "status"), STATUSES)
    response = result.response if result.HasField("response") else None
    if status not in _WELL:
        error = (
            response.error
            if response is not None and hasattr(response, "error") and response.HasField("error")
            else None
        )
        if error is not None:
            told = {"code": error.code, "message": error.message}
            return Answer(embedded_error(DIALECT, {"error": told}, status), finish_reasons=(status,))
        return Answer(suspect(DIALECT, "unnatural_finish", finish_reason=status), finish_reasons=(status,))
    if status != "DONE":
        return Answer()
    if response is None:
        return Answer(suspect(DIALECT, "empty"))
    return COMPLETION.whole(response) if hasattr(response, "outputs") else _video(response)


def _video(response: Any) -> Answer:
    blocked = response.HasField("video") and not response.video.respect_moderation
    facts = ["image_filtered"] if blocked else [] if response.HasField("video") else ["empty"]
    return Answer(suspect(DIALECT, *facts) if facts else None, model=text(response.model, 256))
