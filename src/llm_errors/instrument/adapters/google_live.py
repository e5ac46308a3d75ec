"""google-genai's Live API: a websocket on which a model answers in turns. Every turn is a call."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from inspect import isasyncgenfunction
from time import perf_counter
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import exceptions, results
from llm_errors.extract.closes import close_of
from llm_errors.extract.fields import field, text
from llm_errors.extract.google_live import gives, is_complete
from llm_errors.instrument import drainer
from llm_errors.instrument.adapters.sockets import (
    attach,
    closes_async,
    opening,
    receives_async,
    sends_async,
    session_of,
)
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.protocol import Adapter, Function, Target
from llm_errors.instrument.sessions import Session, refused
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly, report_internal_error

_LIVE, _MUSIC = "google.genai.live", "google.genai.live_music"
_TURN = "turn"
"""The key of the running answer. A session has only one at a time."""


class GoogleLive(Adapter):
    """The adapter of Live sessions. A session that generates music has no turns, and is one call."""

    def targets(self) -> Iterator[Target]:
        """The context managers that connect, and the methods of a session that receive, send and close."""
        for module, owner, session in (
            (_LIVE, "AsyncLive", "AsyncSession"),
            (_MUSIC, "AsyncLiveMusic", "AsyncMusicSession"),
        ):
            yield Target(module, owner, "connect", _entered, optional=module == _MUSIC)
            yield Target(module, session, "_receive", _receives if module == _LIVE else receives_async, optional=True)
            yield Target(module, session, "close", closes_async, optional=True)
        yield Target(_LIVE, "AsyncSession", "send_client_content", sends_async, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a session. The path before the model's name is removed, as in other calls of the SDK."""
        client = field(instance, "_api_client")
        url = field(field(client, "_http_options"), "base_url")
        host, port = split_address(url) if isinstance(url, str) else (None, None)
        return self.info(
            provider="gcp.vertex_ai" if field(client, "vertexai") is True else "gcp.gemini",
            operation="generate_content",
            model=text(kwargs.get("model"), 256).rpartition("/")[2],
            stream=True,
            address=host,
            port=port,
            reader=results.LIVE,
        )

    def received(self, session: Session, event: Any) -> None:
        """Pass a message to the running turn. A turn begins when it is requested, or with the first part of an answer."""
        content = getattr(event, "server_content", None)
        if not session.answers:
            wanted = content is not None and (gives(content) or (session.asked and is_complete(content)))
            if not wanted and getattr(event, "tool_call", None) is None:
                return
            session.begin(_TURN)
        session.part(_TURN, event)

    def sends(self, session: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The application has completed its turn, so the model has to answer."""
        if kwargs.get("turn_complete", True) is not False and not session.answers and not session.asked:
            session.ask()


def _entered(edge: Edge, original: Function) -> Function:
    """The wrapper of `connect`: a generator function behind `asynccontextmanager`, or a function that returns a manager."""

    @asynccontextmanager
    async def observed(args: tuple[Any, ...], kwargs: dict[str, Any], manager: Any) -> AsyncIterator[Any]:
        info, started = quietly("begin", None, opening, edge, args, kwargs), perf_counter()
        async with AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(manager)
            except BaseException as exc:
                if info is not None:
                    quietly("failed", None, refused, edge.late, info, started, exc)
                raise
            session = quietly("returned", None, attach, edge, info, started, connection) if info is not None else None
            try:
                yield connection
            finally:
                if session is not None:
                    drainer.run(session.end)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return observed(args, kwargs, original(*args, **kwargs))

    async def generator(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        async with observed(args, kwargs, managed(*args, **kwargs)) as connection:
            yield connection

    managed = asynccontextmanager(original)
    return generator if isasyncgenfunction(original) else wrapper


def _receives(edge: Edge, original: Function) -> Function:
    """The wrapper of the method that returns a message. It runs for every message."""
    adapter = edge.adapter

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            event = await original(*args, **kwargs)
        except Exception as exc:
            quietly("failed", None, _failed, args, exc)
            raise
        try:
            session = session_of(args)
            if session is not None and isinstance(adapter, GoogleLive):
                adapter.received(session, event)
        except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every message
            report_internal_error("event", error)
        return event

    return wrapper


def _failed(args: tuple[Any, ...], exc: BaseException) -> None:
    """The server closed the session, or sent an error instead of a message."""
    session = session_of(args)
    if session is None:
        return
    if close_of(exc) is not None:
        session.closed(exc)
        return
    evidence = exceptions.read(exc, session.info.dialect, session.info.provider)
    if session.answers or not session.fail_asked(evidence):
        session.fail(evidence, _TURN)
