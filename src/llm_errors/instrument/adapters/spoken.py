"""The base of the adapters for speech on websockets. It decides what the steps of a protocol mean for a session's calls."""

from typing import Any

from llm_errors.extract.answer import Answer
from llm_errors.extract.closes import close_of
from llm_errors.extract.fields import text
from llm_errors.extract.spoken import SpokenReader, Step, Talk
from llm_errors.instrument.protocol import Adapter
from llm_errors.instrument.sessions import Asked, Session

_ASIDE = "aside"
"""A key that no answer has: an error with this key is reported, but ends no running answer."""


class Spoken(Adapter):
    """The base of adapters that observe raw messages. The reader in a session's CallInfo knows the protocol."""

    def received(self, session: Session, data: Any) -> None:
        """Pass a message of the server to the answer that it belongs to."""
        talk = _talk(session)
        found = talk.received(data)
        if found is None:
            return
        step, key = found.step, found.key
        if step is Step.ASIDE:
            session.fail(talk.evidence(found.message), _ASIDE)
        elif step is Step.ERROR:
            _error(session, key, talk, found.message)
        elif key in session.running or self._begins(session, step, key, talk):
            if step is Step.CANCELLED:
                session.cancelled(key, Answer())
            else:
                session.part(key, step)

    def _begins(self, session: Session, step: Step, key: str, talk: Talk) -> bool:
        """Begin an answer with this step, if the step can be its first message, and return whether it can.

        If no answer was requested, a cancellation and a late end begin none, and neither does any step of a protocol whose
        messages name their answer.
        """
        lane = _lane(session, key)
        asked = lane in session.lanes
        if step is Step.BREAK or (
            not asked and (bool(talk.key) or step is Step.CANCELLED or self._is_late(step, talk))
        ):
            return False
        session.begin(key, lane)
        return True

    def _is_late(self, step: Step, talk: Talk) -> bool:
        """Whether the step is only the end of an earlier answer. A transcript of silence may consist of its end alone."""
        return step is Step.END and not (talk.silent and not talk.endless)

    def sent(self, session: Session, data: Any) -> None:
        """The application sends a message. It may request an answer, unless one is awaited already, or cancel an answer."""
        talk = _talk(session)
        request = talk.request(data)
        if request is not None:
            key = talk.key_of(request)
            if talk.turns and key in session.running:
                session.part(key, Step.BREAK)
            if key not in session.running and key not in session.lanes:
                session.ask(key, model=text(request.get(talk.model), 256) or None if talk.model else None)
            return
        cancelled = talk.cancellation(data)
        if cancelled is not None:
            if cancelled in session.lanes:
                session.begin(cancelled, cancelled)
            session.cancelled(cancelled, Answer())

    def lost(self, session: Session, exc: BaseException, asked: Asked | None = None) -> None:
        """The connection raised `exc`. In protocols without an end marker, a regular close ends the running answers."""
        close = close_of(exc)
        if close is not None and close.is_normal and _talk(session).endless:
            for key in session.running:
                session.part(key, Step.END)
        session.lost(exc, asked)


def _talk(session: Session) -> Talk:
    reader = session.info.reader
    return reader.talk if isinstance(reader, SpokenReader) else Talk()


def _lane(session: Session, key: str) -> str:
    """The lane of the request for the answer with this key. The server may choose a key of its own, or leave it out."""
    lanes = set(session.lanes)
    if key in lanes or not lanes:
        return key
    if "" in lanes:
        return ""
    return lanes.pop() if not key and len(lanes) == 1 else key


def _error(session: Session, key: str, talk: Talk, message: Any) -> None:
    """Report an error: of a running answer, or else of a requested one, or else of the session itself."""
    evidence, running = talk.evidence(message), session.running
    if key not in running and not key and len(running) == 1:
        key = running[0]
    if key in running or not session.fail_asked(evidence, _lane(session, key)):
        session.fail(evidence, key)
