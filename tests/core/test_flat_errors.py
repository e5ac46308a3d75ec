"""Errors in place of an answer under HTTP 200: the embedded code decides; a healthy answer that looks like one is none."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from llm_errors import classify
from llm_errors.extract import bodies, saved
from llm_errors.extract.error_shapes import is_flat_error, told_error
from llm_errors.extract.results import CHAT, DATA, INTERACTIONS, MEDIA, MESSAGES, RESPONSES
from tests.core.verdicts import streamed, verdict

UNAVAILABLE = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}}
ERRORS = [
    ("z.ai's number", {"code": 500, "msg": "404 NOT_FOUND", "success": False}, "SERVER/upstream"),
    ("z.ai's key", {"code": 401, "msg": "token expired or incorrect", "success": False}, "AUTH/invalid_key"),
    ("z.ai's rate", {"code": 429, "msg": "too many", "success": False}, "RATE_LIMITED/upstream"),
    ("a number as a text", {"code": "402", "msg": "pay"}, "CALL_BUDGET/billing"),
    ("no success, nothing else", {"success": False}, "UNKNOWN/unexpected_body"),
    ("cloudflare's list", {"success": False, "errors": [{"code": 7000, "message": "No route"}], "result": {}}, "UNKNOWN/unexpected_body"),
    ("a gateway's list", {"success": False, "error": [{"code": 429, "message": "slow down"}]}, "RATE_LIMITED/upstream"),
    ("a list without an object", {"error": ["boom"]}, "UNKNOWN/unexpected_body"),
    ("DashScope's name", {"code": "Throttling.RateQuota", "message": "m", "request_id": "r"}, "RATE_LIMITED/requests"),
    ("error_code and error_msg", {"error_code": "insufficient_quota", "error_msg": "m"}, "CALL_BUDGET/insufficient_quota"),
    ("errorCode and errorMessage", {"errorCode": "model_not_found", "errorMessage": "m"}, "NOT_FOUND/model"),
    ("problem details", {"type": "about:blank", "status": 404, "title": "Not Found", "detail": "m"}, "NOT_FOUND/model"),
    ("problem details, a title alone", {"status": 503, "title": "Service Unavailable"}, "SERVER/upstream"),
    ("TGIS' details", {"code": 400, "details": "more than the maximum"}, "BAD_REQUEST/invalid_parameter"),
    ("a status beside a text", {"statusCode": 403, "message": "no"}, "AUTH/permission_denied"),
    ("a failure in a word", {"status": "error", "message": "m"}, "UNKNOWN/unexpected_body"),
    ("a status inside the error", {"error": {"status_code": 408, "message": "m"}}, "TIMEOUT/provider"),
    ("a status around the error", {"error": {"message": "m"}, "status_code": 429}, "RATE_LIMITED/upstream"),
    ("a status around an error's text", {"error": "slow down", "status_code": 429}, "RATE_LIMITED/upstream"),
    ("an error inside an error", {"error": {"error": {"code": "insufficient_quota", "message": "m"}}}, "CALL_BUDGET/insufficient_quota"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), [e[1:] for e in ERRORS], ids=[e[0] for e in ERRORS])
class TestErrors:
    def test_in_place_of_an_answer(self, body, wanted):
        assert verdict(CHAT.whole(body)) == wanted
        assert verdict(CHAT.whole(ChatCompletion.construct(**body))) == wanted
        found = classify(body)
        assert f"{found.error_class}/{found.reason}" == wanted

    def test_in_place_of_a_chunk(self, body, wanted):
        chunks = [{"choices": [{"index": 0, "delta": {"content": "Hel"}, "finish_reason": None}]}, body]
        assert verdict(streamed(CHAT, chunks)) == wanted
        assert verdict(streamed(CHAT, [ChatCompletionChunk.construct(**one) for one in chunks])) == wanted

    def test_in_a_list(self, body, wanted):
        assert verdict(CHAT.whole([7, {"odd": 1}, body])) == wanted

    def test_beside_nothing(self, body, wanted):
        assert verdict(CHAT.whole({"choices": [], **body})) == wanted
        assert verdict(DATA.whole({"data": [], **body})) == wanted

    def test_in_place_of_media(self, body, wanted):
        assert verdict(MEDIA.whole(body)) == wanted


def test_an_error_beside_a_choice_that_did_not_end_well():
    beside = {"choices": [{"index": 0, "finish_reason": "error", "message": {"content": "Hel"}}], "status_code": 429}
    assert verdict(CHAT.whole({**beside, "error": {"message": "m"}})) == "RATE_LIMITED/upstream"
    assert verdict(CHAT.whole({**beside, "message": "m"})) == "SERVER/other"


@pytest.mark.parametrize("reader", [MESSAGES, RESPONSES], ids=["messages", "responses"])
def test_an_event_of_no_type_may_be_an_error(reader):
    started = {"type": "ping"}
    flat = {"code": 401, "msg": "token expired", "success": False}
    assert verdict(streamed(reader, [started, flat])) == "AUTH/invalid_key"
    assert verdict(streamed(reader, [started, SimpleNamespace(**flat)])) == "AUTH/invalid_key"
    assert verdict(streamed(reader, [started, {"code": 0, "msg": "ok"}])) == "UNKNOWN/empty_response"


def test_a_saved_stream_may_be_an_error_alone():
    found = saved.evidence(saved.Saved(body='event: error\ndata: {"code": 400, "details": "m"}\n\ndata: [DONE]\n'))
    assert (found.status, found.message, found.embedded) == (400, "m", True)
    assert saved.evidence(saved.Saved(body='data: {"odd": 1}\n\n')).facts == {"unexpected_body"}


def test_a_list_of_googles_is_read_as_one():
    assert classify([UNAVAILABLE]).rule == "google.rpc.unavailable"


def test_the_class_of_an_answer_tells_whose_error_it_is():
    message = type("Message", (SimpleNamespace,), {"__module__": "anthropic.types"})
    assert classify(message(code="overloaded_error", message="m")).rule == "anthropic.overloaded"


ANSWER = {"id": "c", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "Hi"}}]}
HEALTHY = [
    ("code 0", {"code": 0, "message": "m"}),
    ("code 0 as a text", {"code": "0", "msg": "m"}),
    ("code 200", {"code": 200, "msg": "m", "success": True}),
    ("a count of its own, and success in words", {"code": 10000, "message": "Success"}),
    ("a code in words", {"code": "SUCCESS", "message": "m"}),
    ("no code", {"code": "", "message": "m"}),
    ("success", {"success": True, "code": 7, "message": "m"}),
    ("a status in words", {"status": "completed", "message": "m"}),
    ("HTTP's own status", {"status_code": 200, "message": "m", "status": 200}),
    ("a message alone", {"message": "m"}),
    ("a message that is an object", {"message": {"role": "assistant", "content": "Hi"}}),
    ("a code alone", {"code": "Paris"}),
    ("an unknown status", {"status": 7, "detail": "m"}),
    ("MiniMax's number", {"base_resp": {"status_code": 0, "status_msg": ""}}),
    ("no errors", {"errors": [], "title": "m"}),
]


@pytest.mark.parametrize("fields", [h[1] for h in HEALTHY], ids=[h[0] for h in HEALTHY])
def test_a_healthy_answer_stays_one(fields):
    assert told_error(fields) is None
    assert classify({**ANSWER, **fields}) is None
    assert CHAT.whole(ChatCompletion.construct(**ANSWER, **fields)).suspicion is None
    assert MEDIA.whole({"text": "Hi", **fields}).suspicion is None
    assert classify({"data": [{"embedding": [1]}], **fields}) is None
    chunks = [
        {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}], **fields},
        {"choices": [], "usage": {"prompt_tokens": 3}, **fields},
        fields,
    ]
    assert streamed(CHAT, chunks).suspicion is None
    assert streamed(CHAT, [ChatCompletionChunk.construct(**one) for one in chunks]).suspicion is None


@pytest.mark.parametrize(
    "fields",
    [{"code": 1000, "message": "done"}, {"code": "A0000", "msg": "done"}, {"code": "MTG-1", "title": "Meeting"}],
    ids=["number", "name", "title"],
)
def test_a_transcript_with_a_code_of_its_own_is_healthy(fields):
    assert classify({"text": "Hi", **fields}) is None
    assert MEDIA.whole({"text": "Hi", **fields}).suspicion is None


def test_a_title_beside_a_code_that_is_no_status_is_no_error():
    assert told_error({"code": "MTG-1", "title": "Meeting"}) is None


def test_of_a_healthy_text_nothing_is_read():
    assert classify({"message": "the model's words", "status": "completed"}).message == ""


NAMES = (
    *("error", "errors", "message", "msg", "code", "error_code", "error_message", "type", "status", "status_code", "success"),
    *("details", "metadata", "raw", "error_type", "hook_results", "after_request_hooks", "finishReason", "reason"),
    *("base_resp", "external_model_error", "content", "parts", "choices", "turn_complete", "author", "actions"),
)  # fmt: skip
TEXT = st.sampled_from(
    ["", "error", "ok", "400", "None", '{"error": {"code": 400}}', '[{"type": "error"}]', "Error: {"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([0, 200, 400, 429]) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=16,
)


@given(VALUES, st.sampled_from([None, 200, 400, 446, 500]))
def test_no_value_makes_a_reader_raise(value, status):
    for found in (classify(value), classify([value])):
        assert found is None or found.rule != "common.unreadable"
    bodies.read(value, status)
    for reader in (CHAT, MESSAGES, RESPONSES, INTERACTIONS):
        streamed(reader, [value if isinstance(value, dict) else {"event_type": value}])


class Hostile:
    __pydantic_extra__ = {}

    def __getattribute__(self, name):
        raise RuntimeError(name)


def test_a_hostile_object_is_no_error():
    assert not is_flat_error(Hostile())
    assert not is_flat_error({"code": [], "msg": {}})
    assert not is_flat_error({"success": "no", "msg": 7, "code": True})
