"""Closes of websockets and answers on them, without an SDK."""

from types import SimpleNamespace

import pytest

from llm_errors import classify
from llm_errors.extract import closes, results
from llm_errors.rules._rule import Rule


def verdict_of(found):
    return f"{found.error_class}/{found.reason}"


def kind(module, name, *bases):
    return type(name, bases or (Exception,), {"__module__": module})


CLOSED = kind("websockets.exceptions", "ConnectionClosed")
API_ERROR = kind("google.genai.errors", "APIError")


def closed(code=None, reason=""):
    exc = CLOSED()
    exc.rcvd = None if code is None else SimpleNamespace(code=code, reason=reason)
    return exc


def live(code, reason):
    exc = API_ERROR()
    exc.code, exc.details, exc.response = code, reason, None
    return exc


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (None, "", "TRANSPORT/disconnected"),
        (1000, "", "TRANSPORT/stream_cut"),
        (1001, "", "TRANSPORT/disconnected"),
        (1002, "", "BAD_REQUEST/protocol"),
        (1003, "", "BAD_REQUEST/unsupported"),
        (1007, "", "BAD_REQUEST/invalid_parameter"),
        (1008, "", "AUTH/permission_denied"),
        (1009, "", "BAD_REQUEST/request_too_large"),
        (1011, "", "SERVER/internal"),
        (1012, "", "SERVER/unavailable"),
        (1013, "", "SERVER/overloaded"),
        (1014, "", "SERVER/gateway"),
        (1015, "", "TRANSPORT/tls"),
        (3000, "", "AUTH/invalid_key"),
        (3008, "", "TIMEOUT/provider"),
        (4000, "", "TRANSPORT/disconnected"),
        (1008, "insufficient_quota", "CALL_BUDGET/insufficient_quota"),
        (1011, "invalid_request_error.model_not_found", "NOT_FOUND/model"),
        (1008, '{"error": {"code": "invalid_api_key", "message": "no"}}', "AUTH/invalid_key"),
        (1008, '{"error": {"message": "rate limit exceeded, please', "RATE_LIMITED/requests"),
        (1008, '{"cut": "', "AUTH/permission_denied"),
    ],
)
def test_a_close_is_classified_by_its_words_and_else_by_its_code(code, reason, expected):
    assert verdict_of(classify(closed(code, reason), provider="openai")) == expected


def test_the_code_and_the_reason_of_a_close_are_in_the_classification():
    found = classify(closed(1008, "You may not do that"))
    assert (found.code, found.message, found.channel) == ("close_1008", "You may not do that", "thrown")


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (1007, "API key not valid. Please pass a valid API key.", "AUTH/invalid_key"),
        (1008, "models/x is not found for API version v1beta", "NOT_FOUND/model"),
        (1011, "The service is currently unavailable.", "SERVER/unavailable"),
        (404, None, "NOT_FOUND/other"),
    ],
)
def test_a_close_that_google_genai_raises_as_its_own_error(code, reason, expected):
    assert verdict_of(classify(live(code, reason), provider="gcp.gemini")) == expected


ELEVENLABS = kind("elevenlabs.core.api_error", "ApiError")


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [
        (1008, "Unauthorized", "AUTH/invalid_key"),
        (1011, "", "SERVER/internal"),
        (1008, {"message": "no", "error": "quota_exceeded", "code": 1008}, "CALL_BUDGET/insufficient_quota"),
        (1000, {"message": "no", "error": None}, "TRANSPORT/stream_cut"),
        (401, "no", "AUTH/invalid_key"),
    ],
)
def test_a_close_that_elevenlabs_raises_as_its_own_error(code, body, expected):
    exc = ELEVENLABS()
    exc.status_code, exc.body = code, body
    assert verdict_of(classify(exc, provider="elevenlabs")) == expected


def test_an_exception_about_something_else_is_no_close():
    assert closes.close_of(None) is None
    assert closes.close_of(ValueError("x")) is None
    assert closes.close_of(live(None, "x")) is None
    assert closes.Close(1000, "").is_normal
    assert not closes.Close(1011, "").is_normal


class Response:
    """The answer to a refused handshake, as websockets gives it."""

    status_code = 429
    headers = {"Retry-After": "7"}
    body = bytearray(b'{"error": {"code": "insufficient_quota", "message": "no"}}')


Response.__module__ = "websockets.http11"


def test_a_refused_handshake_is_read_with_its_body():
    exc = kind("websockets.exceptions", "InvalidStatus", kind("websockets.exceptions", "InvalidHandshake"))()
    exc.response = Response()
    found = classify(exc, provider="openai")
    assert (verdict_of(found), found.status_code) == ("CALL_BUDGET/insufficient_quota", 429)


MESSAGE = {"type": "message", "content": [{"type": "output_audio", "transcript": "hi"}]}


def realtime(status="completed", output=(MESSAGE,), **details):
    return {"object": "realtime.response", "status": status, "status_details": details or None, "output": list(output)}


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (realtime(), None),
        (realtime("cancelled", (), reason="turn_detected"), None),
        (realtime("incomplete", reason="max_output_tokens"), "TRUNCATED/max_tokens"),
        (realtime("incomplete", reason="content_filter"), "OUTPUT_BLOCKED/content_filter"),
        (realtime("failed", error={"code": "server_error"}), "SERVER/internal"),
        (realtime("completed", ()), "UNKNOWN/empty_response"),
        (realtime(output=[{"type": "message", "content": []}]), "UNKNOWN/empty_response"),
        (realtime(output=[{"type": "function_call", "arguments": "{}"}]), None),
        (realtime(output=[{"type": "function_call", "arguments": "{"}]), "TOOL_PROTOCOL/invalid_arguments"),
        (realtime(""), "UNKNOWN/unexpected_body"),
    ],
)
def test_a_realtime_response(response, expected):
    found = classify(response)
    assert (found and verdict_of(found)) == expected


def test_something_else_than_a_realtime_response():
    assert results.REALTIME.whole("<html>").suspicion is not None


@pytest.mark.parametrize(
    ("events", "facts"),
    [
        ([{"type": "response.output_audio.delta"}, {"type": "response.done", "response": realtime(output=())}], None),
        ([{"type": "response.done", "response": realtime(output=())}], {"empty"}),
        ([SimpleNamespace(type="response.output_audio.delta")], {"no_end"}),
        ([{"type": None}], {"empty"}),
        ([], {"empty"}),
    ],
)
def test_the_events_of_a_realtime_response(events, facts):
    chunks = results.REALTIME.chunks()
    for event in events:
        chunks.chunk(event)
    found = chunks.end().suspicion
    assert (found and found.facts) == facts


def message(content=None, tool_call=None, usage=None):
    return SimpleNamespace(server_content=content, tool_call=tool_call, usage_metadata=usage)


def content(model_turn=None, complete=None, interrupted=None, spoken=None, **more):
    return SimpleNamespace(
        model_turn=model_turn, turn_complete=complete, interrupted=interrupted, output_transcription=spoken, **more
    )


TEXT = {"parts": [{"text": "hi"}]}


@pytest.mark.parametrize(
    ("messages", "done", "facts"),
    [
        ([message(content(TEXT)), message(content(complete=True))], True, None),
        ([message(content(spoken={"text": "hi"})), message(content(interaction_status="IDLE"))], True, None),
        ([message(tool_call={"function_calls": [1]})], True, None),
        ([message(content(interrupted=True)), message(content(complete=True))], True, None),
        ([message(content(complete=True, turn_complete_reason="NEED_MORE_INPUT"))], True, None),
        ([message(content(complete=True))], True, {"empty"}),
        ([message(content({"parts": [{"text": "so", "thought": True}]}, True))], True, {"empty"}),
        ([message(content(TEXT))], False, {"no_end"}),
        ([message(content(TEXT, True, turn_complete_reason="GENERATED_CONTENT_SAFETY"))], True, {"unnatural_finish"}),
    ],
)
def test_the_messages_of_a_turn(messages, done, facts):
    chunks = results.LIVE.chunks()
    for one in messages:
        chunks.chunk(one)
    found = chunks.end().suspicion
    assert chunks.done is done
    assert (found and found.facts) == facts


def test_the_tokens_of_a_turn():
    chunks = results.LIVE.chunks()
    chunks.chunk(message(content(TEXT, True), usage={"prompt_token_count": 3, "response_token_count": 2}))
    answer = chunks.end()
    assert (answer.input_tokens, answer.output_tokens, answer.finish_reasons) == (3, 2, ())


def test_something_else_than_a_message_of_a_turn():
    assert results.LIVE.whole("<html>").suspicion is not None


def test_a_close_code_never_shields_the_words_of_a_user_rule():
    from llm_errors.decision import decide
    from llm_errors.extract import exceptions
    from llm_errors.rules._rule import index
    from llm_errors.taxonomy import ErrorClass

    own = Rule("own", ErrorClass.SERVER, "overloaded", codes=frozenset({"close_1008"}))
    assert decide(exceptions.read(closed(1008, "no")), own=index([own])).rule == "own"


ROOTS = {"WebSocketException", "InvalidHandshake"}
"""Classes that say nothing themselves."""


def test_every_exception_of_websockets_is_decided_by_a_rule():
    known = pytest.importorskip("websockets.exceptions")
    for name in set(known.__all__) - ROOTS - {"InvalidStatus"}:  # its HTTP status decides
        cls = getattr(known, name)
        found = classify(cls.__new__(cls))
        assert not found.rule.startswith("common.fallback."), name
