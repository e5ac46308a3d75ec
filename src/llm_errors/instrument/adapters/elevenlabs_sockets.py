"""elevenlabs' websockets: transcripts, and conversations that the SDK runs in a thread or a task.

Speech over a websocket is not observed here: it is a generator function of the SDK, and `fern_apis` lists it.
"""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.sockets import connecting_async, opening
from llm_errors.instrument.adapters.spoken import Spoken
from llm_errors.instrument.adapters.spoken_apis import ELEVENLABS_AGENT, ELEVENLABS_TRANSCRIPT
from llm_errors.instrument.adapters.wire import observing
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.protocol import Function, Target
from llm_errors.instrument.sessions import SESSION, refused
from llm_errors.instrument.wrappers import Edge
from llm_errors.providers import provider_of_host
from llm_errors.safety import quietly

_CONVERSATION = "elevenlabs.conversational_ai.conversation"
_OPENING = "_llm_errors_opening"
"""The attribute of a conversation that is connecting. It holds the CallInfo, and the time at which the connecting began."""
_begin = observing("_ws", closes=False)


class ElevenLabsSockets(Spoken):
    """The adapter of transcripts and conversations."""

    def targets(self) -> Iterator[Target]:
        """The methods that connect, and the one that a conversation calls when it is connected."""
        scribe = connecting_async(observing("websocket"))
        yield Target("elevenlabs.realtime.scribe", "ScribeRealtime", "connect", scribe, optional=True)
        yield Target(_CONVERSATION, "Conversation", "_run_session", _runs, optional=True)
        yield Target(_CONVERSATION, "AsyncConversation", "_run_session", _runs_async, optional=True)
        yield Target(_CONVERSATION, "BaseConversation", "_create_initiation_message", _connected, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a session. The server's agent, not the application, chooses the model of a conversation.

        Only host and port of an agent's address are used, because the address may contain a secret.
        """
        is_agent = target.module == _CONVERSATION
        first = args[0] if args else kwargs.get("ws_url" if is_agent else "options")
        host, port = split_address(text(first if is_agent else field(instance, "base_url")))
        return self.info(
            operation="chat" if is_agent else "transcription",
            model=None if is_agent else text(field(first, "model_id"), 256),
            stream=True,
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=ELEVENLABS_AGENT if is_agent else ELEVENLABS_TRANSCRIPT,
        )


def _open(edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    info = opening(edge, args, kwargs)
    if info is not None:
        vars(args[0])[_OPENING] = info, perf_counter()


def _ended(edge: Edge, args: tuple[Any, ...], exc: BaseException | None) -> None:
    """The conversation has ended: it never connected, its first message was not sent, or the application has closed it."""
    found, session = (vars(args[0]).pop(name, None) for name in (_OPENING, SESSION))
    if found is not None and exc is not None:
        refused(edge.late, found[0], found[1], exc)
    if session is not None:
        if exc is not None:
            edge.adapter.lost(session, exc)  # type: ignore[attr-defined]  # `Spoken` defines it
        session.end()


def _runs(edge: Edge, original: Function) -> Function:
    """The wrapper of the method that runs a conversation."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        quietly("begin", None, _open, edge, args, kwargs)
        try:
            result = original(*args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, _ended, edge, args, exc)
            raise
        quietly("returned", None, _ended, edge, args, None)
        return result

    return wrapper


def _runs_async(edge: Edge, original: Function) -> Function:
    """The same for a coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        quietly("begin", None, _open, edge, args, kwargs)
        try:
            result = await original(*args, **kwargs)
        except BaseException as exc:
            quietly("failed", None, _ended, edge, args, exc)
            raise
        quietly("returned", None, _ended, edge, args, None)
        return result

    return wrapper


def _connected(edge: Edge, original: Function) -> Function:
    """The wrapper of the method that creates the first message of a conversation, which is connected at this time."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        quietly("begin", None, _attach, edge, args)
        return original(*args, **kwargs)

    return wrapper


def _attach(edge: Edge, args: tuple[Any, ...]) -> None:
    found = vars(args[0]).pop(_OPENING, None)
    if found is not None:
        session = _begin(edge, found[0], found[1], args[0])
        if session is not None:
            vars(args[0])[SESSION] = session
