"""A reader of another dialect's shapes reports in the dialect of the API that copies them."""

from types import SimpleNamespace

from llm_errors.classify import decide
from llm_errors.extract import results
from llm_errors.extract.answer import InDialect

MISTRAL = InDialect(results.CHAT, "mistral")
CUT = {"choices": [{"index": 0, "finish_reason": "model_length", "message": {"content": "hi"}}]}
GOOD = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "hi"}}]}


def delta(content, finish=None):
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]}


def test_a_suspicion_is_told_in_the_other_dialect():
    suspicion = MISTRAL.whole(CUT).suspicion
    assert suspicion.dialect == "mistral"
    assert decide(suspicion).rule == "mistral.finish.window"


def test_a_good_answer_stays_good():
    assert MISTRAL.whole(GOOD).suspicion is None


def test_the_chunks_of_a_stream_may_be_inside_events():
    chunks = MISTRAL.chunks()
    chunks.chunk(SimpleNamespace(data=delta("hi")))
    assert not chunks.done
    chunks.chunk(delta("", "model_length"))
    assert chunks.done
    assert decide(chunks.end().suspicion).rule == "mistral.finish.window"
