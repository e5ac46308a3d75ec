"""Speech and conversations on websockets: what the steps of any protocol mean for the calls of a session."""

from typing import Any

from llm_errors.extract.answer import Answer
from llm_errors.extract.closes import close_of
from llm_errors.extract.fields import text
from llm_errors.extract.spoken import SpokenReader, Step, Talk
from llm_errors.instrument.protocol import Adapter
from llm_errors.instrument.sessions import Asked, Session

_ASIDE = "aside"
"""The key of an answer that never runs, for an error that ends none."""


class Spoken(Adapter):
    """The base of adapters that pass raw messages on. The reader in the CallInfo of a session knows its protocol."""

    def received(self, session: Session, data: Any) -> None:
        """Pass a message to its answer."""
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
        """Whether the answer begins with this step. Without a request, only a part of it can be its first message."""
        lane = _lane(session, key)
        asked = lane in session.lanes
        if step is Step.BREAK or (
            not asked and (bool(talk.key) or step is Step.CANCELLED or self._is_late(step, talk))
        ):
            return False
        session.begin(key, lane)
        return True

    def _is_late(self, step: Step, talk: Talk) -> bool:
        """Whether the step is an end to which nothing was asked. A transcript may have no earlier part."""
        return step is Step.END and not (talk.silent and not talk.endless)

    def sent(self, session: Session, data: Any) -> None:
        """The application asks for an answer, unless it waits for one already, or cancels one."""
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
        """The connection raised. A regular close ends an answer that has no end marker."""
        close = close_of(exc)
        if close is not None and close.is_normal and _talk(session).endless:
            for key in session.running:
                session.part(key, Step.END)
        session.lost(exc, asked)


def _talk(session: Session) -> Talk:
    reader = session.info.reader
    return reader.talk if isinstance(reader, SpokenReader) else Talk()


def _lane(session: Session, key: str) -> str:
    """The lane in which the answer was asked for. The server may choose the name of an answer, or leave it out."""
    lanes = set(session.lanes)
    if key in lanes or not lanes:
        return key
    if "" in lanes:
        return ""
    return lanes.pop() if not key and len(lanes) == 1 else key


def _error(session: Session, key: str, talk: Talk, message: Any) -> None:
    """An error of the running answer, of the one that was asked for, or of the session."""
    evidence, running = talk.evidence(message), session.running
    if key not in running and not key and len(running) == 1:
        key = running[0]
    if key in running or not session.fail_asked(evidence, _lane(session, key)):
        session.fail(evidence, key)
