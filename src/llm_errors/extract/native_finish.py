"""Finds the provider's own finish reason, block reason and error in a body, because litellm rewrites them.

The body is searched, not parsed, because it may be an event stream or consist of binary frames of AWS. In generated text,
quotation marks are escaped, so the search cannot match there.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from llm_errors.extract import anthropic, bedrock, cohere, google, results
from llm_errors.extract.answer import Answer, Chunks, Reader, suspect
from llm_errors.extract.fields import parsed
from llm_errors.extract.openai_chat import NATURAL as _OPENAIS

_WORDS = re.compile(
    rb'"(?:finish_?reason|stop_?reason|done_reason)"\s*:\s*"(?P<finish>[\w-]{1,64})"'
    rb'|"block_?reason"\s*:\s*"(?P<block>\w{1,64})"'
    rb'|"type"\s*:\s*"(?P<error>\w{1,58}_error)"',
    re.IGNORECASE,
)
_LONGEST = 128
"""The number of bytes at the end of a piece that are searched again together with the next piece."""
_MARK = b"[DONE]"
STREAMS_TELL: dict[str, bool] = {
    "anthropic": True,
    "bedrock": False,  # its streams may be encoded, and then the search finds nothing
    "cohere": True,
    "google": True,
    "mistral": True,
    "ollama": False,  # `done_reason` is optional
    "openai": True,
    "xai": False,  # its own SDK uses gRPC; over HTTP it speaks the openai dialect
}
"""Dialect -> whether every complete stream contains a finish reason that this module finds."""
NATURAL = _OPENAIS | anthropic.NATURAL | bedrock.NATURAL | cohere.NATURAL | google.NATURAL
"""Finish reasons of a healthy answer in any dialect."""


class NativeFinish:
    """The last finish reason, block reason and type of an error in a body. Call it with every piece of the body."""

    __slots__ = ("_tail", "block", "ended", "error", "found")

    def __init__(self) -> None:
        self.found = self.block = self.error = ""
        self.ended = False
        """Whether the body contained an end marker."""
        self._tail = b""

    def __call__(self, data: bytes) -> None:
        """Search one piece."""
        seen = self._tail + data
        for match in _WORDS.finditer(seen):
            finish, block, error = ((match[name] or b"").decode() for name in ("finish", "block", "error"))
            self.found, self.block, self.error = finish or self.found, block or self.block, error or self.error
        self.ended = self.ended or bool(self.found or self.block) or _MARK in seen
        self._tail = seen[-_LONGEST:]


def judged(reader: Reader, result: Any, body: bytes, dialect: str) -> Answer:
    """Read an answer that litellm rewrote. If it or the provider's finish reason is not healthy, the provider's body counts."""
    answer = reader.whole(result)
    native = NativeFinish()
    native(body)
    if answer.suspicion is None and native.found in NATURAL | {""}:
        return answer
    answer = in_own_words(answer, native, dialect)
    original = parsed(body)
    found = results.read(original) if isinstance(original, dict) else answer.suspicion
    return answer if found is not None and "unexpected_body" in found.facts else answer._replace(suspicion=found)


def in_own_words(answer: Answer, native: NativeFinish, dialect: str) -> Answer:
    """The answer with the provider's finish or block reason instead of the rewritten one."""
    found, finish = answer.suspicion, native.found
    if found is not None and found.embedded:
        return answer
    if native.block and not finish:
        return answer._replace(suspicion=suspect(dialect, "blocked", block_reason=native.block), finish_reasons=())
    if not finish:
        return answer
    if finish not in NATURAL:
        found = replace(found or suspect(dialect, "unnatural_finish"), finish_reason=finish, dialect=dialect)
    elif found is not None and found.facts == {"unnatural_finish"}:
        found = None
    return answer._replace(suspicion=found, finish_reasons=(finish,))


class RewrittenChunks:
    """The state of a stream that litellm rewrites. `native` returns what its body contains; None if that is not observed."""

    __slots__ = ("_chunks", "_dialect", "_native")

    def __init__(self, chunks: Chunks, native: Callable[[], NativeFinish | None], dialect: str) -> None:
        self._chunks, self._native, self._dialect = chunks, native, dialect

    @property
    def done(self) -> bool:
        """Whether the terminal event was received."""
        return self._chunks.done

    @property
    def error(self) -> str:
        """The type of the error in the body. litellm's exception does not contain it."""
        native = self._native()
        return native.error if native is not None else ""

    def chunk(self, chunk: Any) -> bool | None:
        """Read one chunk."""
        return self._chunks.chunk(chunk)

    def end(self) -> Answer:
        """The answer after the last chunk. If a stream stops without a finish reason, litellm invents a healthy one."""
        answer, native = self._chunks.end(), self._native()
        if native is None:
            return answer
        if not native.ended and answer.suspicion is None and STREAMS_TELL.get(self._dialect):
            return answer._replace(suspicion=suspect(self._dialect, "no_end"), finish_reasons=("error",))
        return in_own_words(answer, native, self._dialect)
