"""Messages of speech and conversations on a websocket, without an SDK."""

import json

import pytest

from llm_errors.decision import decide
from llm_errors.extract.spoken import SpokenReader, Step, Talk, error_of

TALK = Talk(
    asks=frozenset(("Speak", "finalize")),
    asks_with="transcript",
    cancels_with="cancel",
    key="context_id",
    steps={"chunk": Step.PART, "done": Step.END, "error": Step.ERROR},
    last="is_last",
)


def test_a_message_has_the_step_of_its_kind_and_the_name_of_its_answer():
    found = TALK.received('{"type": "chunk", "context_id": "c"}')
    assert (found.step, found.key) == (Step.PART, "c")
    assert TALK.received(b'{"type": "done"}').step is Step.END
    assert TALK.received('{"type": "unknown"}') is None
    assert TALK.received('{"type": 3}') is None


def test_a_part_may_say_that_it_is_the_last():
    assert TALK.received('{"type": "chunk", "is_last": true}').step is Step.END
    assert TALK.received('{"type": "chunk", "is_last": false}').step is Step.PART


@pytest.mark.parametrize("data", [b"RIFF", b"{broken", "words", "[1]"])
def test_what_is_no_object_is_a_part_of_the_answer(data):
    assert TALK.received(data).step is Step.PART
    assert Talk(binary=Step.UNMARKED).received(data).step is Step.UNMARKED


def test_a_talk_without_names_has_one_answer_at_a_time():
    assert Talk(steps=TALK.steps).received('{"type": "chunk", "context_id": "c"}').key == ""


@pytest.mark.parametrize(
    ("data", "asks"),
    [
        ('{"type": "Speak"}', True),
        ('{"type": "Clear"}', False),
        ('{"transcript": "hi"}', True),
        ('{"transcript": ""}', False),
        ("finalize", True),
        ("close", False),
        (b"RIFF", False),
        ("[1]", False),
    ],
)
def test_a_message_of_the_application_asks_for_an_answer_by_its_kind_or_a_field(data, asks):
    assert (TALK.request(data) is not None) is asks


def test_a_message_of_the_application_may_cancel_an_answer():
    assert TALK.cancellation('{"cancel": true, "context_id": "c"}') == "c"
    assert TALK.cancellation('{"cancel": false}') is None
    assert TALK.cancellation("words") is None
    assert TALK.cancellation(b"RIFF") is None
    assert Talk().cancellation('{"cancel": true}') is None


@pytest.mark.parametrize(
    ("steps", "silent", "endless", "verdict", "done"),
    [
        ((Step.BEGIN, Step.PART, Step.END), False, False, None, True),
        ((Step.PART,), False, False, "TRANSPORT/stream_cut", False),
        ((Step.PART,), False, True, None, True),
        ((Step.UNMARKED,), False, False, None, True),
        ((Step.BEGIN,), False, True, "UNKNOWN/empty_response", False),
        ((Step.END,), False, False, "UNKNOWN/empty_response", True),
        ((Step.END,), True, False, None, True),
        ((Step.BEGIN,), True, False, "UNKNOWN/empty_response", False),
        ((Step.BEGIN, Step.BREAK), False, False, None, True),
    ],
)
def test_an_answer_needs_content_and_an_end_unless_its_protocol_has_none(steps, silent, endless, verdict, done):
    chunks = SpokenReader(Talk(silent=silent, endless=endless)).chunks()
    for step in steps:
        chunks.chunk(step)
    assert chunks.done is done
    found = chunks.end().suspicion
    told = decide(found) if found is not None else None
    assert (f"{told.error_class}/{told.reason}" if told else None) == verdict


def test_what_is_no_message_of_a_session_is_unexpected():
    assert "unexpected_body" in SpokenReader(TALK).whole(3).suspicion.facts


@pytest.mark.parametrize(
    ("message", "codes", "status", "said"),
    [
        ({"type": "Error", "code": "NET-0000", "description": "no"}, ("NET-0000",), None, "no"),
        ({"type": "Error", "variant": "SchemaError", "description": "no"}, ("SchemaError",), None, "no"),
        ({"type": "error", "code": "E0301", "slug": "out_of_credit", "message": "no"}, ("out_of_credit",), None, "no"),
        ({"type": "error", "data": {"message": "no", "code": 429}}, (), 429, "no"),
        ({"type": "error", "data": {"error": "no", "code": "rate_limit"}}, ("rate_limit",), None, "no"),
        ({"type": "error", "error_code": "c", "title": "no", "status_code": 402}, ("c",), 402, "no"),
        ({"type": "quota_exceeded", "error": "no", "status_code": 1008}, ("quota_exceeded",), None, "no"),
    ],
)
def test_an_error_of_any_protocol_has_a_code_and_a_message(message, codes, status, said):
    found = TALK.evidence(message)
    assert (found.codes, found.status, found.message, found.embedded) == (codes, status, said, True)


def test_an_error_without_a_code_has_the_code_of_its_kind_only():
    assert error_of(json.loads('{"message": "no"}')).message == "no"
