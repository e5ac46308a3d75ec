"""The websockets of the Fern family. A context manager connects, and yields an object that holds the connection."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import cached_property
from time import perf_counter
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.sockets import opening
from llm_errors.instrument.adapters.spoken import Spoken
from llm_errors.instrument.adapters.spoken_apis import SOCKETS, Socket
from llm_errors.instrument.adapters.wire import observing
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.protocol import Function, Target
from llm_errors.instrument.sessions import refused
from llm_errors.instrument.wrappers import Edge
from llm_errors.providers import provider_of_host
from llm_errors.safety import quietly


class FernSockets(Spoken):
    """The adapter of the websockets of one SDK of the Fern family."""

    def targets(self) -> Iterator[Target]:
        """The methods that connect."""
        for (module, owner), socket in self._sockets.items():
            yield Target(module, owner, "connect", _entered, optional=socket.optional)
            yield Target(module, f"Async{owner}", "connect", _entered_async, optional=socket.optional)

    @cached_property
    def _sockets(self) -> dict[tuple[str, str], Socket]:
        return {(f"{self.row.package}.{one.module}", one.owner): one for one in SOCKETS[self.row.name]}

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a session. The environment of the client contains the server's address."""
        socket = self._sockets[target.module, target.owner.removeprefix("Async")]
        url = text(field(instance._raw_client._client_wrapper.get_environment(), socket.server))
        host, port = split_address(url)
        return self.info(
            operation=socket.operation,
            model=text(kwargs.get("model"), 256),
            stream=True,
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=socket.reader,
        )


_attach = observing("_websocket")


def _entered(edge: Edge, original: Function) -> Function:
    """The wrapper of a generator function that `contextmanager` decorates. The decorator stays outside."""
    managed = contextmanager(original)

    def wrapper(*args: Any, **kwargs: Any) -> Iterator[Any]:
        info, started = quietly("begin", None, opening, edge, args, kwargs), perf_counter()
        with ExitStack() as stack:
            try:
                connection = stack.enter_context(managed(*args, **kwargs))
            except BaseException as exc:
                if info is not None:
                    quietly("failed", None, refused, edge.late, info, started, exc)
                raise
            if info is not None:
                quietly("returned", None, _attach, edge, info, started, connection)
            yield connection

    return wrapper


def _entered_async(edge: Edge, original: Function) -> Function:
    """The same for `asynccontextmanager`."""
    managed = asynccontextmanager(original)

    async def wrapper(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        info, started = quietly("begin", None, opening, edge, args, kwargs), perf_counter()
        async with AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(managed(*args, **kwargs))
            except BaseException as exc:
                if info is not None:
                    quietly("failed", None, refused, edge.late, info, started, exc)
                raise
            if info is not None:
                quietly("returned", None, _attach, edge, info, started, connection)
            yield connection

    return wrapper
