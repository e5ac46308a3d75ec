"""What litellm's exceptions wrap, and how a body ends that it rewrites. Its classes are made up here by their names."""

import httpx
import pytest

from llm_errors import classify
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, native_finish, results
from llm_errors.extract.answer import Answer, suspect
from llm_errors.extract.native_finish import NativeFinish, RewrittenChunks, in_own_words, judged
from llm_errors.rules.shipped import DIALECTS


def its_own(name, *bases, **fields):
    """An exception of litellm: package and attributes."""
    cls = type(name, bases or (Exception,), {"__module__": "litellm.exceptions"})
    exc = cls(fields.pop("text", "x"))
    for key, value in fields.items():
        setattr(exc, key, value)
    return exc


def answered(status, body):
    """The error of litellm's HTTP handler."""
    request = httpx.Request("POST", "https://provider.example")
    response = httpx.Response(status, json=body, request=request)
    return httpx.HTTPStatusError("x", request=request, response=response)


def behind(outer, *inner):
    """A chain of exceptions."""
    link = outer
    for cause in inner:
        link.__cause__ = cause
        link = cause
    return outer


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def test_the_provider_s_answer_counts_and_not_the_status_that_litellm_gives():
    raised = its_own("InternalServerError", status_code=500, llm_provider="anthropic", message="litellm.x: y")
    found = classify(behind(raised, its_own("AnthropicError", status_code=500), answered(529, OVERLOADED)))
    assert (found.rule, found.status_code, found.message) == ("anthropic.overloaded", 529, "Overloaded")


def test_the_body_that_an_sdk_kept_counts():
    inner = type("RateLimitError", (Exception,), {"__module__": "openai"})("x")
    inner.status_code, inner.body = 429, {"code": "insufficient_quota", "message": "m"}
    assert classify(behind(its_own("RateLimitError", status_code=429), inner)).reason == "insufficient_quota"


def test_an_empty_response_still_has_its_status():
    request = httpx.Request("POST", "https://provider.example")
    inner = httpx.HTTPStatusError("x", request=request, response=httpx.Response(503, request=request))
    assert classify(behind(its_own("InternalServerError", status_code=500), inner)).status_code == 503


@pytest.mark.parametrize("name", ["InternalServerError", "APIConnectionError"])
def test_of_a_network_error_the_made_up_status_is_dropped(name):
    found = classify(behind(its_own(name, status_code=500), httpx.ReadTimeout("slow")))
    assert (found.error_class, found.reason, found.status_code) == ("TIMEOUT", "read", None)


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ('litellm.RateLimitError: AnthropicException - {"type": "error", "error": {"type": "overloaded_error"}}', "SERVER/overloaded"),
        ("litellm.APIConnectionError: BedrockException - Model access is denied for this role.", "AUTH/permission_denied"),
        ("litellm.APIConnectionError: something else", "TRANSPORT/other"),
        ("", "TRANSPORT/other"),
    ],
)  # fmt: skip
def test_without_a_cause_the_text_counts(message, verdict):
    raised = its_own("APIConnectionError", status_code=500, llm_provider="anthropic", message=message)
    found = classify(raised)
    assert f"{found.error_class.value}/{found.reason}" == verdict
    assert found.status_code is None


def test_the_status_of_the_innermost_exception_of_litellm_counts():
    raised = its_own(
        "MidStreamFallbackError", status_code=503, original_exception=its_own("RateLimitError", status_code=429)
    )
    assert classify(raised).error_class == "RATE_LIMITED"


def test_a_missing_key_that_litellm_finds_itself():
    raised = its_own(
        "AuthenticationError", status_code=401, message="litellm.AuthenticationError: Missing Anthropic API Key"
    )
    assert classify(raised).reason == "missing_key"
    quoted = its_own("AuthenticationError", status_code=401, message='litellm.x: {"error": "missing key"}')
    assert classify(quoted).reason == "invalid_key"


@pytest.mark.parametrize("end", [StopIteration, StopAsyncIteration])
def test_a_stream_of_litellm_that_stopped_without_a_finish_reason(end):
    assert classify(behind(its_own("MidStreamFallbackError", status_code=500), end())).reason == "stream_cut"


def test_the_provider_is_the_one_that_litellm_called():
    known = exceptions.read(its_own("RateLimitError", status_code=429, llm_provider="vertex_ai"))
    assert (known.provider, known.dialect) == ("gcp.vertex_ai", "google")
    unknown = exceptions.read(its_own("RateLimitError", status_code=429, llm_provider="novita"))
    assert (unknown.provider, unknown.dialect) == ("novita", "openai")
    assert exceptions.read(its_own("RateLimitError", status_code=429), "", "groq").provider == "groq"


# --- finish reasons of a body ---


def seen(*pieces):
    native = NativeFinish()
    for piece in pieces:
        native(piece)
    return native


def test_a_finish_reason_is_found_across_pieces_and_not_inside_text():
    native = seen(b'data: {"text": "\\"finish_reason\\": \\"error\\""}\n', b'data: {"stop_rea', b'son": "refusal"}')
    assert (native.found, native.ended) == ("refusal", True)
    assert seen(b'{"finish_reason": null}').ended is False
    assert seen(b"data: [DONE]").ended is True


def test_a_block_and_an_error_are_found():
    native = seen(b'{"promptFeedback": {"blockReason": "SAFETY"}}', b'{"type": "overloaded_error"}')
    assert (native.block, native.error, native.ended) == ("SAFETY", "overloaded_error", True)


HEALTHY = {"choices": [{"finish_reason": "stop", "message": {"content": "hi"}}]}


@pytest.mark.parametrize(
    ("body", "facts", "finish"),
    [
        (b'{"choices": [{"finish_reason": "stop"}]}', None, ("stop",)),
        (b"", None, ("stop",)),
        (b'{"candidates": [{"finishReason": "OTHER", "content": {"parts": [{"text": "x"}]}}]}', {"unnatural_finish"}, ("OTHER",)),
        (b'{"stopReason": "odd"}', {"unnatural_finish"}, ("odd",)),
        (b'[{"stopReason": "odd"}]', {"unnatural_finish"}, ("odd",)),
    ],
    ids=["natural", "no body", "unnatural", "unreadable", "no object"],
)  # fmt: skip
def test_of_an_unnatural_end_the_provider_s_body_decides(body, facts, finish):
    answer = judged(results.CHAT, HEALTHY, body, "google")
    assert (answer.suspicion and set(answer.suspicion.facts), answer.finish_reasons) == (facts, finish)


def test_a_rewritten_answer_whose_original_is_healthy_is_healthy():
    cut = {"choices": [{"finish_reason": "length", "message": {"content": "hi"}}]}
    body = b'{"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": "pause_turn"}'
    assert judged(results.CHAT, cut, body, "anthropic").suspicion is None


def test_words_of_the_provider_replace_those_of_litellm():
    limit = Answer(suspect("openai", "unnatural_finish", finish_reason="length"))
    assert in_own_words(limit, seen(b'"stop_reason": "pause_turn"'), "anthropic").suspicion is None
    told = in_own_words(limit, seen(b'"stop_reason": "refusal"'), "anthropic").suspicion
    assert (told.finish_reason, told.dialect) == ("refusal", "anthropic")
    assert in_own_words(limit, seen(b"{}"), "anthropic") is limit
    blocked = in_own_words(limit, seen(b'"blockReason": "SAFETY"'), "google").suspicion
    assert (blocked.block_reason, blocked.facts) == ("SAFETY", {"blocked"})
    embedded = Answer(Evidence(embedded=True))
    assert in_own_words(embedded, seen(b'"stop_reason": "refusal"'), "anthropic") is embedded
    empty = Answer(suspect("openai", "empty"))
    assert in_own_words(empty, seen(b'"stop_reason": "end_turn"'), "anthropic").suspicion == empty.suspicion


def _stream(native, dialect="anthropic"):
    chunks = RewrittenChunks(results.CHAT.chunks(), lambda: native, dialect)
    chunks.chunk({"choices": [{"index": 0, "delta": {"content": "hi"}}]})
    chunks.chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return chunks


def test_a_stream_that_litellm_ended_by_itself_was_cut():
    assert _stream(seen(b"")).end().suspicion.facts == {"no_end"}
    assert _stream(seen(b""), "bedrock").end().suspicion is None
    assert _stream(None).end().suspicion is None
    assert _stream(seen(b'"stop_reason": "refusal"')).end().suspicion.finish_reason == "refusal"


def test_a_stream_tells_the_error_in_its_body():
    assert _stream(seen(b'"type": "api_error"')).error == "api_error"
    assert _stream(None).error == ""
    assert _stream(None).done is True


def test_the_natural_finish_reasons_are_those_of_every_dialect():
    assert {"stop", "end_turn", "pause_turn", "COMPLETE", "STOP"} <= native_finish.NATURAL


def test_of_each_dialect_it_is_said_whether_a_stream_without_a_finish_reason_is_cut():
    assert {*native_finish.STREAMS_TELL} == {*DIALECTS}
