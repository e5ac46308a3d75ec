"""claude-agent-sdk: each query counts as one call with the operation `invoke_agent`.

A child process calls the models. The SDK receives only messages from it.
"""

import os
from collections.abc import AsyncGenerator, Iterator
from typing import Any, Final

from llm_errors.call import CallInfo
from llm_errors.extract.claude_agent import MessagesOfQuery, begins, is_interrupted
from llm_errors.extract.fields import field, text
from llm_errors.instrument import drainer
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Function, Target
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly

_READER = MessagesOfQuery()
_CLOUDS: Final = {"CLAUDE_CODE_USE_BEDROCK": "aws.bedrock", "CLAUDE_CODE_USE_VERTEX": "gcp.vertex_ai"}
"""Environment variable -> the provider that the child process calls if the variable is set."""


class ClaudeAgent(Adapter):
    """The adapter of the function `query` and of the client."""

    def targets(self) -> Iterator[Target]:
        """The generator functions that pass the messages of the child process to the application."""
        yield Target("claude_agent_sdk._internal.client", "InternalClient", "process_query", _messages)
        yield Target("claude_agent_sdk.client", "ClaudeSDKClient", "receive_messages", _messages)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a query. The options are an argument of `query`, or an attribute of the client."""
        options = kwargs.get("options") or field(instance, "options") or next(iter(args[1:2]), None)
        environment = {**os.environ, **(field(options, "env") or {})}
        provider = next((p for name, p in _CLOUDS.items() if environment.get(name) in ("1", "true")), "")
        model = text(field(options, "model"), 256)
        return self.info(operation="invoke_agent", model=model, provider=provider, reader=_READER, stream=True)


class _Queries:
    """The queries in one stream of messages, one after the other. Between two messages, no context variable stays set."""

    def __init__(self, edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._patched, self._args, self._kwargs = edge, args, kwargs
        self._call: Invocation | None = None

    def begin(self) -> None:
        """A query begins."""
        self._call = call = self._patched.begin(self._args, self._kwargs)
        if call is not None:
            call.leave()
            call.expect(_READER.chunks())

    @property
    def _open(self) -> Invocation | None:
        return self._call if self._call is not None and self._call.unsettled else None

    def took(self, message: Any) -> None:
        """A message was received. After a result, the first message that belongs to a new query begins a new call."""
        if self._call is not None and not self._call.unsettled and begins(message):
            self.begin()
        if self._open is None:
            return
        if is_interrupted(message):
            self._open.abandoned()
        else:
            self._open.took(message)

    def ended(self) -> None:
        """The messages ended."""
        if self._open is not None:
            self._open.exhausted()

    def failed(self, exc: BaseException) -> None:
        """The framework raised instead of passing a message on."""
        if self._open is not None:
            self._open.failed(exc)

    def left(self) -> None:
        """The application stopped reading."""
        if self._open is not None:
            drainer.run(self._open.abandoned)


def _messages(edge: Edge, original: Function) -> Function:
    """The wrapper of an async generator function that yields messages."""

    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        queries = _Queries(edge, args, kwargs)
        quietly("begin", None, queries.begin)
        inner = original(*args, **kwargs)
        try:
            while True:
                try:
                    message = await inner.__anext__()
                except StopAsyncIteration:
                    quietly("stream", None, queries.ended)
                    return
                except BaseException as exc:
                    quietly("stream", None, queries.failed, exc)
                    raise
                quietly("chunk", None, queries.took, message)
                yield message
        finally:
            quietly("stream", None, queries.left)
            await inner.aclose()

    return wrapper
