"""Answers of unknown origin find their reader by their shape, and any shape ends as a verdict."""

import enum
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_errors import Classification, classify
from llm_errors.extract import fields
from llm_errors.extract.results import DATA, MEDIA

SHAPES = [
    (None, None),
    ({"data": [{"embedding": [1]}]}, None),
    ({"data": []}, "UNKNOWN/empty_response"),
    ({"data": 7}, "UNKNOWN/unexpected_body"),
    ({"results": [{"flagged": True}]}, None),
    ({"text": ""}, None),
    ({"embeddings": [{"values": [1]}]}, None),
    ({"prompt_feedback": {"block_reason": "JAILBREAK"}}, "PROMPT_BLOCKED/jailbreak"),
    ({"error": {"status": "UNAVAILABLE", "code": 503}}, "SERVER/unavailable"),
    ({"odd": 1}, "UNKNOWN/unexpected_body"),
    ({}, "UNKNOWN/unexpected_body"),
    ("words", "UNKNOWN/unexpected_body"),
    (b"bytes", "UNKNOWN/unexpected_body"),
    (7, "UNKNOWN/unexpected_body"),
    ([{"choices": []}], "UNKNOWN/unexpected_body"),
    (SimpleNamespace(choices=[SimpleNamespace(finish_reason="length", message=SimpleNamespace(content="x"))]), "TRUNCATED/max_tokens"),
]  # fmt: skip


@pytest.mark.parametrize(("result", "wanted"), SHAPES, ids=repr)
def test_shapes(result, wanted):
    verdict = classify(result)
    assert (verdict and f"{verdict.error_class}/{verdict.reason}") == wanted


class Modelled:
    """An SDK's model whose every field is empty, as google-genai gives for an empty body."""

    model_fields = {"candidates": None}
    candidates = None


def test_an_empty_model_of_a_known_answer_is_an_empty_response():
    assert classify(Modelled()).reason == "empty_response"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "error", "code", "message", "candidates", "finishReason", "content", "parts", "status", "output", "type",
             "data", "delta", "finish_reason", "tool_calls", "function", "arguments", "usage", "details", "stop_reason"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(json_values)
def test_no_json_makes_it_raise(value):
    assert classify(value) is None or isinstance(classify(value), Classification)


@given(json_values, st.sampled_from([200, 400, 401, 403, 404, 429, 500, None]))
def test_no_error_body_makes_it_raise(body, status):
    error = Exception("x")
    error.body, error.status_code = body, status
    assert classify(error).rule != "common.unreadable"


class Reason(enum.Enum):
    STOP = "STOP"


class HostileValue:
    @property
    def value(self):
        raise RuntimeError


class Name(str, enum.Enum):
    A = "a"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("x", "x"), (Reason.STOP, "STOP"), (Name.A, "a"), (None, ""), (7, ""), (HostileValue(), ""), ("x" * 9, "xxxx")],
    ids=["string", "enumeration", "string enumeration", "none", "number", "hostile", "long"],
)
def test_text(value, wanted):
    assert fields.text(value, 4) == wanted[:4]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("{}", {}), (b"[1]", [1]), ("{", "{"), ("<html>", "<html>"), (7, 7), ("[" * 100_000, None)],
    ids=["object", "bytes", "broken", "page", "number", "deep"],
)
def test_parsed(value, wanted):
    assert fields.parsed(value) == (value if wanted is None else wanted)


def test_a_text_too_long_to_look_at_is_taken_for_json():
    assert fields.is_json("x" * (fields.JSON_LIMIT + 1))
    assert not fields.is_json("x")
    assert not fields.is_json("[" * 100_000)


def test_media_is_healthy_unless_it_is_a_page_or_an_error():
    assert MEDIA.whole("a transcript").suspicion is None
    assert MEDIA.whole(b"mp3").suspicion is None
    assert MEDIA.whole(SimpleNamespace(text="x", model="m")).model == "m"
    assert MEDIA.whole("<!doctype html>").suspicion is not None
    assert MEDIA.whole({"error": {"code": 500}}).suspicion.status == 500


@pytest.mark.parametrize("reader", [DATA, MEDIA], ids=["data", "media"])
def test_a_stream_of_media_needs_one_event(reader):
    state = reader.chunks()
    assert state.end().suspicion is not None
    state.chunk({})
    assert state.done
    assert state.end().suspicion is None


def test_a_page_in_place_of_data():
    assert "unexpected_body" in DATA.whole("<html>").suspicion.facts
