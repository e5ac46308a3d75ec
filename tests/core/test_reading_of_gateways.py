"""What gateways say of an error behind them: their own names for it, the provider's error inside theirs, guardrails."""

import importlib
import json

import openai
import pytest

from llm_errors import classify
from llm_errors.extract import bodies, error_shapes, exceptions, google
from llm_errors.extract.fields import TEXT_LIMIT
from llm_errors.extract.openai_chat import plain
from llm_errors.extract.results import CHAT
from llm_errors.rules import google as google_rules
from tests.core.verdicts import streamed, verdict

HTTP = importlib.import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])
"""httpx, or in later majors httpx2."""
OPENAIS = {"error": {"message": "m", "type": "invalid_request_error", "code": "context_length_exceeded"}}
ANTHROPICS = {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}}
GOOGLES = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "m"}}
DATABRICKS = {"external_model_provider": "openai", "external_model_error": OPENAIS}
GUARDRAIL = {"input_guardrail": [{"flagged": True}], "finishReason": "input_guardrail_triggered"}


def raised(body, status=400):
    """The exception that openai raises for a body, which keeps only the error of it."""
    response = HTTP.Response(status, json=body, request=HTTP.Request("POST", "http://127.0.0.1"))
    client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1")
    return client._make_status_error_from_response(response)


CODES = [
    ("a router's name of the error", {"error": {"code": 400, "message": "m", "metadata": {"error_type": "x", "provider_name": "P"}}}, ("x",)),
    ("before the provider's", {"error": {"code": 400, "metadata": {"error_type": "x", "raw": json.dumps(OPENAIS)}}}, ("x", "context_length_exceeded", "invalid_request_error")),
    ("in the error", {"error": {"error_type": "x", "type": "t"}}, ("x", "t")),
    ("beside the error", {"error": {"message": "m", "type": "t"}, "error_type": "x"}, ("x", "t")),
    ("beside a text", {"error": "m", "error_type": "overloaded"}, ("overloaded",)),
    ("a reason at the top", {"code": 403, "reason": "NOT_ENOUGH_BALANCE", "message": "m"}, ("NOT_ENOUGH_BALANCE",)),
    ("a reason in words", {"code": 403, "reason": "not enough balance", "message": "m"}, ()),
    ("Huawei's", {"error_code": "ModelArts.81005", "error_msg": "m"}, ("ModelArts.81005",)),
    ("a Bedrock proxy's", {"errorCode": "INVALID_REQUEST_BODY", "errorMessage": "m", "statusCode": 400}, ("INVALID_REQUEST_BODY",)),
    ("printed nothings", {"error": {"message": "m", "type": "None", "param": "None", "code": "400"}}, ()),
    ("a list of errors", {"success": False, "error": [{"code": 2009, "message": "m"}]}, ("2009",)),
    ("Databricks' guardrail", GUARDRAIL, ("input_guardrail_triggered",)),
    ("odd types around an error", {"error": {"code": "x"}, "type": [], "reason": {}, "finishReason": [], "error_type": {}}, ("x",)),
    ("another finish", {"message": "m", "finishReason": "x"}, ()),
]  # fmt: skip


@pytest.mark.parametrize(("body", "codes"), [c[1:] for c in CODES], ids=[c[0] for c in CODES])
def test_codes(body, codes):
    assert bodies.read(body).codes == codes
    assert exceptions.read(raised(body)).codes == codes
    assert classify(raised(body)).code in (codes or ("",))


@pytest.mark.parametrize(
    "body",
    [{"error_code": "x", "error_msg": "m"}, {"errorCode": "x", "errorMessage": "m"}, {"code": 400, "details": "m"}, {"status": 400, "title": "m"}],
    ids=["error_msg", "errorMessage", "details", "title"],
)  # fmt: skip
def test_messages(body):
    assert bodies.read(body).message == "m"


@pytest.mark.parametrize("body", [{"error": "x" * 9000}, {"detail": "x" * 9000}, {"error": {"msg": "x" * 9000}}])
def test_of_a_long_text_only_the_beginning_is_kept(body):
    assert len(bodies.read(body).message) == TEXT_LIMIT


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"status_code": 503}}, 503),
        ({"error": {"http_code": "429", "type": "rate_limit_error"}}, 429),
        ({"error": {"message": "m"}, "status_code": 503}, 503),
        ({"errorCode": "x", "statusCode": 400}, 400),
        ({"error": {"code": 429, "status_code": 503}}, 429),
        ({"error": {"message": "m", "status_code": 7}}, None),
    ],
)
def test_the_status_that_a_body_names(body, status):
    assert bodies.read(body).status == status


def test_a_router_names_the_error_in_a_stream_too():
    error = {"code": 502, "message": "m", "metadata": {"error_type": "rate_limit_exceeded"}}
    assert verdict(streamed(CHAT, [{"choices": [], "error": error}])) == "RATE_LIMITED/requests"
    beside = {"choices": [], "error": {"code": 502, "message": "m"}, "error_type": "rate_limit_exceeded"}
    assert verdict(streamed(CHAT, [beside])) == "RATE_LIMITED/requests"
    last = [{"index": 0, "delta": {}, "finish_reason": "error"}]
    assert verdict(streamed(CHAT, [{**beside, "choices": last}])) == "RATE_LIMITED/requests"


def said(inside, prefix="", suffix=""):
    return {"error": {"message": f"{prefix}{json.dumps(inside)}{suffix}", "code": "400", "type": "outer"}}


QUOTED = {"error": {"code": "insufficient_quota", "message": "q"}}
INSIDE = [
    ("OpenAI's", said(OPENAIS), "BAD_REQUEST/context_overflow", "openai.context"),
    ("with words behind", said(OPENAIS, suffix=". Received Model Group=x"), "BAD_REQUEST/context_overflow", "openai.context"),
    ("Anthropic's", said(ANTHROPICS), "BAD_REQUEST/context_overflow", "anthropic.says.context"),
    ("Google's, in a list", said([GOOGLES]), "BAD_REQUEST/invalid_parameter", "google.rpc.argument"),
    ("behind LiteLLM's names", said(ANTHROPICS, "litellm.BadRequestError: AnthropicException - "), "BAD_REQUEST/context_overflow", "anthropic.says.context"),
    ("as printed bytes", said(ANTHROPICS, "litellm.BadRequestError: AnthropicException - b'", "'"), "BAD_REQUEST/context_overflow", "anthropic.says.context"),
    ("behind a number", said(OPENAIS, "Error code: 400 - "), "BAD_REQUEST/context_overflow", "openai.context"),
    ("behind a bare number", said(OPENAIS, "Error: 400 "), "BAD_REQUEST/context_overflow", "openai.context"),
    ("behind a router's words", said(OPENAIS, "Error from provider(p,m: 400): "), "BAD_REQUEST/context_overflow", "openai.context"),
    ("Anthropic's in Google's", {"error": {**GOOGLES["error"], "message": json.dumps(ANTHROPICS)}}, "BAD_REQUEST/context_overflow", "anthropic.says.context"),
    ("Databricks' of OpenAI", {"error_code": "BAD_REQUEST", "message": json.dumps(DATABRICKS)}, "BAD_REQUEST/context_overflow", "openai.context"),
    ("Databricks' of Bedrock", {"error_code": "BAD_REQUEST", "message": '{"external_model_error": {"message": "Input is too long"}}'}, "BAD_REQUEST/context_overflow", "openai.says.context"),
    ("an object in the detail", {"detail": OPENAIS}, "BAD_REQUEST/context_overflow", "openai.context"),
    ("JSON in a text", {"error": f"BadRequestError: {json.dumps(OPENAIS)}"}, "BAD_REQUEST/context_overflow", "openai.context"),
    ("two gateways", said(said(OPENAIS)), "BAD_REQUEST/context_overflow", "openai.context"),
    ("quoted by a validator", said(QUOTED, suffix=" is not of type 'object' - 'messages.3'"), "BAD_REQUEST/invalid_parameter", "openai.http.400"),
    ("quoted behind a name", said(QUOTED, "BadRequestError: ", " is not valid"), "BAD_REQUEST/invalid_parameter", "openai.http.400"),
    ("quoted before a colon", said({"type": "error", "code": "model_not_found"}, suffix=" : bad output"), "BAD_REQUEST/invalid_parameter", "openai.http.400"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted", "rule"), [i[1:] for i in INSIDE], ids=[i[0] for i in INSIDE])
def test_the_error_inside_a_gateways(body, wanted, rule):
    found = classify(raised(body))
    assert (f"{found.error_class}/{found.reason}", found.rule) == (wanted, rule)


def test_the_codes_inside_come_first_and_its_message_counts():
    body = bodies.read(said(OPENAIS, "BadRequestError: "))
    assert body.codes == ("context_length_exceeded", "invalid_request_error", "outer")
    assert (body.message, body.status, body.dialect) == ("m", 400, "openai")


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 502, 503])
def test_of_a_gateways_own_account_and_load_nothing_is_read(status):
    body = {"error": {"message": json.dumps(OPENAIS), "code": str(status)}}
    assert "context_length_exceeded" not in exceptions.read(raised(body, status)).codes


NOT_INSIDE = [
    ("three gateways", said(said(said(OPENAIS)))),
    ("an echo behind other words", said(OPENAIS, "Invalid tool result: ")),
    ("no error", said({"code": "context_length_exceeded"})),
    ("broken", {"error": {"message": json.dumps(OPENAIS)[:-1], "code": 400}}),
    ("too deep", {"error": {"message": "[" * 50_000, "code": 400}}),
    ("an empty list", {"error": {"message": "[]", "code": 400}}),
    ("a text in a list", {"error": {"message": '["error"]', "code": 400}}),
    ("too long", said({"long": "x" * error_shapes.LIMIT, **OPENAIS})),
    ("a number", {"error": {"message": 7, "code": 400}}),
]


@pytest.mark.parametrize("body", [n[1] for n in NOT_INSIDE], ids=[n[0] for n in NOT_INSIDE])
def test_what_is_not_taken_for_an_error_inside(body):
    assert "context_length_exceeded" not in bodies.read(body).codes


HOOK, PASSED = {"verdict": False, "id": "h"}, {"verdict": True}


def hooks(before, after):
    error = {"message": "m", "type": "hooks_failed", "param": None, "code": None}
    return {"error": error, "hook_results": {"before_request_hooks": before, "after_request_hooks": after}}


STAGES = [
    ("Portkey, before", hooks([HOOK], []), "hooks_failed", {"input_stage"}),
    ("Portkey, after", hooks([PASSED], [PASSED, HOOK]), "hooks_failed", {"output_stage"}),
    ("Portkey, a warning before", hooks([HOOK], [HOOK]), "hooks_failed", {"output_stage"}),
    ("Portkey, no trace", {"error": {"type": "hooks_failed"}}, "hooks_failed", set()),
    ("Portkey, odd traces", hooks("x", [7]), "hooks_failed", set()),
    ("Databricks, input", GUARDRAIL, "input_guardrail_triggered", {"input_stage"}),
    ("Databricks, output", {"output_guardrail": [{"flagged": True}], "finishReason": "output_guardrail_triggered"}, "output_guardrail_triggered", {"output_stage"}),
    ("Databricks, in a message", {"error_code": "BAD_REQUEST", "message": json.dumps(GUARDRAIL)}, "input_guardrail_triggered", {"input_stage"}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code", "stage"), [s[1:] for s in STAGES], ids=[s[0] for s in STAGES])
def test_the_stage_at_which_a_guardrail_blocked(body, code, stage):
    read = exceptions.read(raised(body, 400))
    assert read.codes[0] == code
    assert read.facts & {"input_stage", "output_stage"} == stage


def test_what_stands_beside_an_error_is_only_taken_from_the_body_that_held_it():
    error = raised(hooks([HOOK], []))
    error.body = {"type": "of the application"}
    assert "input_stage" not in exceptions.read(error).facts
    error.body = {"message": "m", "type": "hooks_failed", "param": None, "code": None}
    error.response = None
    assert "input_stage" not in exceptions.read(error).facts


def test_a_printed_nothing_is_no_code_of_an_exception():
    error = raised({"error": {"message": "m"}})
    error.code = error.type = "None"
    assert classify(error).code == ""


def test_the_finish_reasons_that_are_read_are_those_that_have_a_row():
    assert {name for row in google_rules.FINISH for name in row.finish if name.isupper()} == google.FINISH_REASONS


FINISHES = [
    ("function_call_filter: MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL", "TOOL_PROTOCOL/malformed_call"),
    ("function_call_filter: malformed_function_call", "MALFORMED_FUNCTION_CALL", "TOOL_PROTOCOL/malformed_call"),
    ("content_filter: RECITATION", "RECITATION", "OUTPUT_BLOCKED/recitation"),
    ("content_filter: PROHIBITED_CONTENT", "PROHIBITED_CONTENT", "OUTPUT_BLOCKED/prohibited_content"),
    ("content_filter: OTHER", "content_filter", "OUTPUT_BLOCKED/content_filter"),
    ("content_filter: SOMETHING_NEW", "content_filter", "OUTPUT_BLOCKED/content_filter"),
    ("content_filter: ", "content_filter", "OUTPUT_BLOCKED/content_filter"),
    ("x1", "x1", "UNKNOWN/unrecognised_finish_reason"),
]


@pytest.mark.parametrize(("reason", "own", "wanted"), FINISHES, ids=[f[0] for f in FINISHES])
def test_a_finish_reason_made_of_two(reason, own, wanted):
    assert plain(reason) == own
    whole = CHAT.whole({"choices": [{"index": 0, "finish_reason": reason, "message": {"content": "Hi"}}]})
    stream = streamed(CHAT, [{"choices": [{"index": 0, "finish_reason": reason, "delta": {"content": "Hi"}}]}])
    for answer in (whole, stream):
        assert answer.finish_reasons == (reason,)
        assert answer.suspicion.finish_reason == own
        assert verdict(answer) == wanted
