"""openai's websockets: Realtime, the Responses API over a websocket, and APIs without separate responses.

The SDK has the same four classes for each API: a connection and its manager, sync and async. `parse_event` converts each
message to an event, whichever way the application receives it. This module has more than 120 lines because the Realtime and
the Responses API use different events and errors for the same steps.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import results
from llm_errors.extract.answer import Reader, embedded_error
from llm_errors.extract.fields import field, text
from llm_errors.extract.openai_realtime import BY_CALLER
from llm_errors.instrument.adapters.sockets import (
    closes,
    closes_async,
    connects,
    connects_async,
    makes_event,
    receives,
    receives_async,
    sends,
    sends_async,
)
from llm_errors.instrument.endpoints import address_of
from llm_errors.instrument.protocol import Adapter, Target
from llm_errors.instrument.sessions import Session
from llm_errors.providers import provider_of_host

CHAT = "chat"


class Api(NamedTuple):
    """One API of the SDK: its module, the name of its connection class, and the reader of its answers."""

    module: str
    name: str
    reader: Reader


APIS = (
    Api("realtime.realtime", "Realtime", results.REALTIME),
    Api("beta.realtime.realtime", "Realtime", results.REALTIME),
    Api("responses.responses", "Responses", results.RESPONSES),
    Api("beta.responses.responses", "Responses", results.RESPONSES),
    # These sessions have no separate responses. A session is one call.
    Api("realtime.translations.translations", "Translations", results.REALTIME),
    Api("live.live", "Live", results.REALTIME),
    Api("live.sideband", "Sideband", results.REALTIME),
    Api("live.forks", "Forks", results.REALTIME),
)

CREATED, DONE, ERROR = "response.created", "response.done", "error"
_OF_RESPONSES = "response."
_TRANSCRIPTION_FAILED = "conversation.item.input_audio_transcription.failed"
_TOO_LATE = "response_cancel_not_active"
"""The error code for a cancellation that arrived after the end of the response."""
_OF_THE_CALLER = "invalid_request_error"
"""The type of an error about a message of the application. Other errors are about the running response."""
_ELSEWHERE = ("session", "item", "audio")
"""If the `param` of an error begins with one of these, the error is not about a requested response."""
_BUFFER = "input_audio_buffer"
_LANE = "stream_id"
"""The field of an event of the Responses API that names its lane. Several responses can run at once on a socket, each in a lane
of its own."""


class OpenAISockets(Adapter):
    """The adapter of openai's connections."""

    def targets(self) -> Iterator[Target]:
        """The methods of the managers that connect, and of the connections that receive, send and close."""
        for api in APIS:
            module = f"{self.row.package}.resources.{api.module}"
            owner, manager = f"{api.name}Connection", f"{api.name}ConnectionManager"
            for attribute in ("__enter__", "enter"):
                yield Target(module, manager, attribute, connects, optional=True)
            for attribute in ("__aenter__", "enter"):
                yield Target(module, f"Async{manager}", attribute, connects_async, optional=True)
            for prefix in ("", "Async"):
                yield Target(module, prefix + owner, "parse_event", makes_event, optional=True)
            for attribute, wrap, wrap_async in (
                ("recv_bytes", receives, receives_async),
                ("send", sends, sends_async),
                ("close", closes, closes_async),
            ):
                yield Target(module, owner, attribute, wrap, optional=True)
                yield Target(module, f"Async{owner}", attribute, wrap_async, optional=True)

    @cached_property
    def _apis(self) -> dict[str, Api]:
        return {f"{self.row.package}.resources.{api.module}": api for api in APIS}

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes the session that a manager opens. Name-mangled private attributes of the manager hold client and model."""
        kept = {name.rpartition("__")[2]: value for name, value in vars(instance).items()}
        client = kept.get("client")
        host, port = address_of(field(client, "_base_url"))
        names = (c.__name__.removeprefix("Async") for c in type(client).__mro__)
        by_class = next((self._by_class[name] for name in names if name in self._by_class), "")
        return self.info(
            provider=by_class or provider_of_host(host, port),
            operation=CHAT,
            model=text(kept.get("model"), 256),
            stream=True,
            address=host,
            port=port,
            reader=self._apis[target.module].reader,
        )

    @cached_property
    def _by_class(self) -> dict[str, str]:
        return self.row.provider_by_class

    def received(self, session: Session, event: Any) -> None:
        """Pass an event to the response that it belongs to. Of most events, only the type and the response or lane are read."""
        fields = event if type(event) is dict else event.__dict__
        kind = fields.get("type")
        if not isinstance(kind, str):
            return
        by_lane = session.info.reader is results.RESPONSES
        if kind == ERROR:
            (_error_of_lane if by_lane else _error)(session, event, fields)
        elif kind == CREATED:
            lane = _lane(event, fields) if by_lane else ""
            session.begin(lane if by_lane else _id(fields), lane)
        elif kind.startswith(_OF_RESPONSES):
            if by_lane:
                session.part(_lane(event, fields), event)
            elif kind != DONE:
                session.part(fields.get("response_id") or "", event)
            else:
                _done(session, event, fields)
        elif kind == _TRANSCRIPTION_FAILED:
            session.fail(_evidence(session, event))

    def sends(self, session: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Read a message that the application sends. Only the type is read, except of a request for a response."""
        event = args[0] if args else kwargs.get("event")
        kind = event.get("type") if type(event) is dict else getattr(event, "type", None)
        if kind == "response.create":
            model = text(field(event, "model"), 256) or None
            session.ask(text(field(event, _LANE), 256), text(field(event, "event_id"), 256), model)


def _id(fields: Any) -> str:
    return text(field(fields.get("response"), "id"), 256)


def _lane(event: Any, fields: Any) -> str:
    """The lane of an event. Older releases of the SDK do not declare the field and store it separately."""
    named = fields.get(_LANE)
    if named is None and fields is not event:
        named = (event.__pydantic_extra__ or {}).get(_LANE)
    return named if isinstance(named, str) else ""


def _evidence(session: Session, event: Any) -> Evidence:
    return embedded_error(session.info.dialect, event)


def _done(session: Session, event: Any, fields: Any) -> None:
    """A realtime response has ended."""
    response, key = fields.get("response"), _id(fields)
    if text(field(field(response, "status_details"), "reason"), 64) == BY_CALLER:
        session.cancelled(key, session.info.reader.whole(response))
    else:
        session.part(key, event)


def _error_of_lane(session: Session, event: Any, fields: Any) -> None:
    """An error of the Responses API ends the response of its lane."""
    lane = _lane(event, fields)
    if lane in session.running:
        session.part(lane, event)
    elif not session.fail_asked(_evidence(session, event), lane):
        session.fail(_evidence(session, event))


def _error(session: Session, event: Any, fields: Any) -> None:
    """An error of the Realtime API is about a message of the application, or about the running response.

    The error may name the message by its `event_id`. It refuses the oldest response that was asked for and has not begun,
    unless its code or `param` shows that it is about something else. Any other error ends the running response, if exactly one
    runs and the type is not `invalid_request_error`; otherwise it is an error of the session.
    """
    error = fields.get("error")
    code, kind, message = (text(field(error, name), 256) for name in ("code", "type", "event_id"))
    if code == _TOO_LATE:
        return
    evidence = _evidence(session, event)
    elsewhere = code.startswith(_BUFFER) or text(field(error, "param"), 64).startswith(_ELSEWHERE)
    if not elsewhere and session.fail_asked(evidence, event=message):
        return
    running = session.running
    session.fail(evidence, running[0] if kind != _OF_THE_CALLER and len(running) == 1 else "")
