"""Observes one connection of the library `websockets` that an SDK has opened.

SDKs read from such a connection in several ways, and drop or replace messages that they do not know. All of them call
`recv`, `send` and `close` of the connection, which are replaced for this one object. Other connections are not touched.
"""

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, Protocol
from weakref import finalize, ref

from llm_errors.call import CallInfo
from llm_errors.instrument import drainer
from llm_errors.instrument.sessions import SESSION, Asked, Session
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly, report_internal_error

_LIBRARY = "websockets"


class Understands(Protocol):
    """An adapter that understands raw messages."""

    def received(self, session: Session, data: Any) -> None:
        """The SDK received a message."""
        ...

    def sent(self, session: Session, data: Any) -> None:
        """The SDK sends a message."""
        ...

    def lost(self, session: Session, exc: BaseException, asked: Asked | None = None) -> None:
        """The connection raised `exc`. `asked` is the call that the unsent message would have requested."""
        ...


def observing(attribute: str = "", closes: bool = True) -> Callable[[Edge, CallInfo, float, Any], Session | None]:
    """Returns a function that begins a session on the connection in this attribute of an object, or on the object itself.

    The session also ends when the object is garbage-collected, because a thread of the library may keep the connection.
    Connections of other libraries, and connections that are observed already, are ignored. `closes` tells whether the session
    ends when the connection is closed; otherwise the adapter ends it.
    """

    def begin(edge: Edge, info: CallInfo, started: float, holder: Any) -> Session | None:
        connection = getattr(holder, attribute) if attribute else holder
        if type(connection).__module__.partition(".")[0] != _LIBRARY or SESSION in vars(connection):
            return None
        adapter: Understands = edge.adapter  # type: ignore[assignment]  # every adapter with these targets is one
        session = Session(edge.late, info, started)
        _tap(connection, session, adapter)
        if not closes:
            del vars(connection)["close"]
        if holder is not connection:
            finalize(holder, drainer.run, session.end).atexit = False
        return session

    return begin


def _tap(connection: Any, session: Session, adapter: Understands) -> None:
    """Pass what the connection receives and sends to the adapter, and end the session with the connection.

    The replaced methods do not reference the connection, so it is freed when the SDK drops it.
    """
    kind = type(connection)
    methods = _methods_async if iscoroutinefunction(kind.recv) else _methods
    vars(connection).update({SESSION: session, **methods(kind, ref(connection), session, adapter)})


def _received(session: Session, adapter: Understands, data: Any) -> None:
    try:
        adapter.received(session, data)
    except Exception as error:  # noqa: BLE001 - the body of `quietly`, inlined because it runs for every message
        report_internal_error("event", error)


def _sent(session: Session, adapter: Understands, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked | None:
    """The call that the SDK requests with this message; None if the message requests no answer."""
    earlier = session.newest
    adapter.sent(session, args[0] if args else kwargs.get("message"))
    asked = session.newest
    return None if asked is earlier else asked


def _methods(kind: Any, held: Callable[[], Any], session: Session, adapter: Understands) -> dict[str, Any]:
    def recv(*args: Any, **kwargs: Any) -> Any:
        try:
            data = kind.recv(held(), *args, **kwargs)
        except Exception as exc:
            quietly("failed", None, adapter.lost, session, exc)
            raise
        _received(session, adapter, data)
        return data

    def send(*args: Any, **kwargs: Any) -> Any:
        asked = quietly("send", None, _sent, session, adapter, args, kwargs)
        try:
            return kind.send(held(), *args, **kwargs)
        except Exception as exc:
            quietly("failed", None, adapter.lost, session, exc, asked)
            raise

    def close(*args: Any, **kwargs: Any) -> Any:
        quietly("close", None, session.end)  # first, so that the server's reply to the close is ignored
        return kind.close(held(), *args, **kwargs)

    return {"recv": recv, "send": send, "close": close}


def _methods_async(kind: Any, held: Callable[[], Any], session: Session, adapter: Understands) -> dict[str, Any]:
    async def recv(*args: Any, **kwargs: Any) -> Any:
        try:
            data = await kind.recv(held(), *args, **kwargs)
        except Exception as exc:
            quietly("failed", None, adapter.lost, session, exc)
            raise
        _received(session, adapter, data)
        return data

    async def send(*args: Any, **kwargs: Any) -> Any:
        asked = quietly("send", None, _sent, session, adapter, args, kwargs)
        try:
            return await kind.send(held(), *args, **kwargs)
        except Exception as exc:
            quietly("failed", None, adapter.lost, session, exc, asked)
            raise

    async def close(*args: Any, **kwargs: Any) -> Any:
        quietly("close", None, session.end)
        return await kind.close(held(), *args, **kwargs)

    return {"recv": recv, "send": send, "close": close}
