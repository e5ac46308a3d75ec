"""Tasks of dashscope on a websocket: the parts of an answer, and the failures that the SDK returns."""

from types import SimpleNamespace

import pytest

from llm_errors.decision import decide
from llm_errors.extract.dashscope import OUTPUT, TASKS, OnSocket


def part(status=200, output=None, code="", message=""):
    return SimpleNamespace(status_code=status, output=output, code=code, message=message)


def request(close=None):
    return SimpleNamespace(ws=SimpleNamespace(close_code=close))


def verdict_of(answer):
    found = answer.suspicion
    told = decide(found) if found is not None else None
    return f"{told.error_class}/{told.reason}" if told else None


def read(operation, *parts, close=None):
    chunks = OnSocket(TASKS[operation], request(close)).chunks()
    for one in parts:
        chunks.chunk(one)
    return chunks


def test_speech_is_healthy_if_a_part_of_it_arrived():
    assert verdict_of(read("speech", part(output=b"audio")).end()) is None
    assert verdict_of(read("speech").end()) == "UNKNOWN/empty_response"


def test_a_transcript_may_be_empty():
    assert verdict_of(read("transcription").end()) is None
    assert verdict_of(read("transcription", part(output={})).end()) is None


@pytest.mark.parametrize(
    ("failed", "close", "verdict"),
    [
        (part(44, code="InvalidApiKey", message="no"), None, "AUTH/invalid_key"),
        (part(401, code=401, message="no"), None, "AUTH/invalid_key"),
        (part(-1, code="ClientConnectorError", message="no"), None, "TRANSPORT/other"),
        (part(-1, code="Unknown", message="closed"), 1006, "TRANSPORT/disconnected"),
        (part(-1, code="Unknown", message="closed"), 1011, "SERVER/internal"),
        (part(-1, code="Unknown", message="closed"), None, "TRANSPORT/disconnected"),
    ],
)
def test_a_failure_that_the_sdk_returns_has_a_code_or_that_of_the_close(failed, close, verdict):
    chunks = read("speech", part(output=b"audio"), failed, close=close)
    assert chunks.done
    assert verdict_of(chunks.end()) == verdict
    assert verdict_of(OnSocket(OUTPUT, request(close)).whole(failed)) == verdict
