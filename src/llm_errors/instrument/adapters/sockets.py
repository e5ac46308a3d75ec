"""Wrappers for the methods of a connection, for SDKs with a model that answers on a websocket.

The wrapper of the connecting method attaches a `Session` to the connection. The other wrappers report to this session.
The session is garbage-collected with the connection, which ends its calls. This module has more than 120 lines because every
wrapper has a twin for coroutine functions.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from llm_errors.call import CallInfo
from llm_errors.instrument.protocol import Function, Wrap
from llm_errors.instrument.sessions import SESSION, Asked, Session, refused
from llm_errors.instrument.wrappers import Edge, before, before_async
from llm_errors.safety import quietly, report_internal_error


@runtime_checkable
class Speaks(Protocol):
    """An adapter of an SDK with websockets."""

    def received(self, session: Session, event: Any) -> None:
        """The application received an event."""
        ...

    def sends(self, session: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The application sends a message. The arguments are those of the SDK's method, without the connection."""
        ...


def opening(edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
    """The CallInfo for the calls of a session that begins, or None to ignore it."""
    if not edge.patcher.active:
        return None
    instance, given = edge.bound(args)
    return edge.adapter.describe(edge.target, instance, given, kwargs)


def attach(edge: Edge, info: CallInfo, started: float, connection: Any) -> Session:
    """Attach a session to the SDK's connection."""
    session = Session(edge.late, info, started)
    vars(connection)[SESSION] = session
    return session


Attach = Callable[[Edge, CallInfo, float, Any], object]
"""Begins a session on the object that a connecting method returned. The number is the `perf_counter` time of the call."""


def connecting(begin: Attach) -> Wrap:
    """The wrapper of a method that returns a connection, on which `begin` begins a session."""

    def wrap(edge: Edge, original: Function) -> Function:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            info, started = quietly("begin", None, opening, edge, args, kwargs), perf_counter()
            if info is None:
                return original(*args, **kwargs)
            try:
                connection = original(*args, **kwargs)
            except BaseException as exc:
                quietly("failed", None, refused, edge.late, info, started, exc)
                raise
            quietly("returned", None, begin, edge, info, started, connection)
            return connection

        return wrapper

    return wrap


def connecting_async(begin: Attach) -> Wrap:
    """The same for a coroutine function."""

    def wrap(edge: Edge, original: Function) -> Function:
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            info, started = quietly("begin", None, opening, edge, args, kwargs), perf_counter()
            if info is None:
                return await original(*args, **kwargs)
            try:
                connection = await original(*args, **kwargs)
            except BaseException as exc:
                quietly("failed", None, refused, edge.late, info, started, exc)
                raise
            quietly("returned", None, begin, edge, info, started, connection)
            return connection

        return wrapper

    return wrap


connects, connects_async = connecting(attach), connecting_async(attach)


def makes_event(edge: Edge, original: Function) -> Function:
    """The wrapper of a method that converts a message to an event of the SDK. It runs for every event."""
    received = edge.adapter.received if isinstance(edge.adapter, Speaks) else None

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        event = original(*args, **kwargs)
        try:
            session = args[0].__dict__.get(SESSION)
            if session is not None and received is not None:
                received(session, event)
        except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every event
            report_internal_error("event", error)
        return event

    return wrapper


def receives(edge: Edge, original: Function) -> Function:
    """The wrapper of a method that returns a message, or raises if the connection is closed."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except Exception as exc:
            quietly("failed", None, _lost, args, exc)
            raise

    return wrapper


def receives_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return await original(*args, **kwargs)
        except Exception as exc:
            quietly("failed", None, _lost, args, exc)
            raise

    return wrapper


def sends(edge: Edge, original: Function) -> Function:
    """The wrapper of a method that sends a message."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        asked = quietly("send", None, _sending, edge, args, kwargs)
        try:
            return original(*args, **kwargs)
        except Exception as exc:
            quietly("failed", None, _lost, args, exc, asked)
            raise

    return wrapper


def sends_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        asked = quietly("send", None, _sending, edge, args, kwargs)
        try:
            return await original(*args, **kwargs)
        except Exception as exc:
            quietly("failed", None, _lost, args, exc, asked)
            raise

    return wrapper


def closes(edge: Edge, original: Function) -> Function:
    """The wrapper of a method that closes the connection. The session ends first, so the server's reply to it is ignored."""
    return before(original, "close", _closing)


def closes_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""
    return before_async(original, "close", _closing)


def session_of(args: tuple[Any, ...]) -> Session | None:
    """The session of a connection, which is the first argument of its methods."""
    found = vars(args[0]).get(SESSION) if args else None
    return found if isinstance(found, Session) else None


def _sending(edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked | None:
    """The call that the application requests with this message; None if the message requests no answer."""
    session = session_of(args)
    if session is None or not edge.patcher.active or not isinstance(edge.adapter, Speaks):
        return None
    earlier = session.newest
    edge.adapter.sends(session, args[1:], kwargs)
    asked = session.newest
    return None if asked is earlier else asked


def _lost(args: tuple[Any, ...], exc: BaseException, asked: Asked | None = None) -> None:
    """A method of the connection raised `exc`. `asked` is the call that the unsent message would have requested."""
    session = session_of(args)
    if session is not None:
        session.lost(exc, asked)


def _closing(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    session = session_of(args)
    if session is not None:
        session.end()
