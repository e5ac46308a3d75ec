"""Raised exceptions: status, body, causes, groups, cancellation; any shape, never an exception of ours."""

import asyncio
import concurrent.futures
import json
import socket
import ssl
import sys

import pytest

from llm_errors import classify
from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.extract import bodies, causes, exceptions


class SDKError(Exception):
    """Stands for an SDK's exception: attributes as given."""

    def __init__(self, message="", **attributes):
        super().__init__(message)
        vars(self).update(attributes)


SDKError.__module__ = "openai._exceptions"


class Response:
    def __init__(self, status=None, headers=None, content=None):
        self.status_code, self.headers = status, headers or {}
        if content is not None:
            self._content = content


def wrapped(name, *chain):
    """An SDK's wrapper over a chain of causes."""
    error = type(name, (SDKError,), {"__module__": "openai._exceptions"})()
    link = error
    for cause in chain:
        link.__cause__ = cause
        link = cause
    return error


def http(name, module="httpx"):
    return type(name, (Exception,), {"__module__": module})("said so")


CASES = [
    ("status and inner body", SDKError(status_code=429, body={"code": "insufficient_quota"}), "CALL_BUDGET/insufficient_quota"),
    ("status and full body", SDKError(status_code=429, body={"error": {"code": "insufficient_quota"}}), "CALL_BUDGET/insufficient_quota"),
    ("http_status and a text body", SDKError(http_status=429, http_body='{"error": {"type": "tokens"}}'), "RATE_LIMITED/tokens"),
    ("a page", SDKError(status_code=502, body="<html>429 rate limit</html>"), "SERVER/gateway"),
    ("status of the response", SDKError(response=Response(503)), "SERVER/unavailable"),
    ("loaded body of the response", SDKError(response=Response(400, content=b'{"error": {"code": "invalid_api_key"}}')), "AUTH/invalid_key"),
    ("an error object in mid-stream", SDKError(code="502", body={"code": "502", "message": "x"}), "SERVER/upstream"),
    ("a numeric code that only the body gave", SDKError(code=502, body={"code": 502}), "SERVER/upstream"),
    ("a mid-stream error under status 200", SDKError(status_code=200, body={"error": {"type": "server_error"}}), "SERVER/internal"),
    ("codes as attributes only", SDKError(code="insufficient_quota", type="x"), "CALL_BUDGET/insufficient_quota"),
    ("botocore's response dict", SDKError(response={"Error": {"Code": "rate_limit_exceeded"}, "ResponseMetadata": {"HTTPStatusCode": 400}}), "RATE_LIMITED/requests"),
    ("refused", wrapped("APIConnectionError", http("ConnectError"), ConnectionRefusedError()), "TRANSPORT/connection_refused"),
    ("no such host", wrapped("APIConnectionError", http("ConnectError", "httpx2"), socket.gaierror()), "TRANSPORT/dns"),
    ("bad certificate", wrapped("APIConnectionError", http("ConnectError"), ssl.SSLCertVerificationError()), "TRANSPORT/tls"),
    ("end inside TLS", wrapped("APIConnectionError", ssl.SSLEOFError()), "TRANSPORT/disconnected"),
    ("read timeout", wrapped("APITimeoutError", http("ReadTimeout", "httpcore2"), TimeoutError()), "TIMEOUT/read"),
    ("pool timeout", wrapped("APITimeoutError", http("PoolTimeout")), "TIMEOUT/pool"),
    ("a timeout that was a refusal", wrapped("APITimeoutError", http("ConnectTimeout"), http("ClientConnectorError", "aiohttp.client_exceptions")), "TRANSPORT/other"),
    ("a wrapper alone", wrapped("APIConnectionError"), "TRANSPORT/other"),
    ("a wrapper over a foreign error", wrapped("APIConnectionError", KeyError("x")), "UNKNOWN/foreign_exception"),
    ("an illegal header", wrapped("APIConnectionError", http("LocalProtocolError")), "BAD_REQUEST/protocol"),
    ("a foreign error", KeyError("x"), "UNKNOWN/foreign_exception"),
    ("no JSON", json.JSONDecodeError("x", "", 0), "UNKNOWN/unexpected_body"),
    ("no key of a Fern SDK", type("ApiError", (Exception,), {"__module__": "cohere", "status_code": None})("set CO_API_KEY"), "AUTH/missing_key"),
    ("no credentials", type("OpenAIError", (Exception,), {"__module__": "openai"})("The api_key client option must be set"), "AUTH/missing_key"),
    ("a type error of the application", TypeError("'NoneType' object is not iterable"), "UNKNOWN/foreign_exception"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "wanted"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_exceptions(error, wanted):
    verdict = classify(error)
    assert f"{verdict.error_class}/{verdict.reason}" == wanted


class Code:
    name = "RESOURCE_EXHAUSTED"


def test_a_grpc_status_is_read_from_its_callable():
    error = type("RpcError", (Exception,), {"__module__": "grpc", "code": lambda self: Code})()
    assert classify(error).error_class == "RATE_LIMITED"


def test_a_callable_code_that_raises_is_no_code():
    error = type("RpcError", (Exception,), {"__module__": "grpc", "code": lambda self: 1 / 0})()
    assert classify(error).error_class == "UNKNOWN"


@pytest.mark.parametrize(
    "error",
    [asyncio.CancelledError(), concurrent.futures.CancelledError(), GeneratorExit(), KeyboardInterrupt(), SystemExit()],
    ids=lambda error: type(error).__name__,
)
def test_the_callers_own_cancellation_is_no_failure(error):
    assert classify(error) is None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups: this major of Python has none")
class TestGroups:
    def test_the_first_failure_of_a_group_counts(self):
        inner = ExceptionGroup("g", [SDKError(status_code=429, response=Response(429, {"retry-after": "4"}))])  # noqa: F821
        verdict = classify(BaseExceptionGroup("g", [asyncio.CancelledError(), inner]))  # noqa: F821
        assert (verdict.error_class, verdict.retry_after) == ("RATE_LIMITED", 4.0)

    def test_a_group_of_cancellations_is_none(self):
        assert classify(BaseExceptionGroup("g", [asyncio.CancelledError()])) is None  # noqa: F821

    def test_a_group_in_the_chain_is_entered(self):
        error = wrapped("APIConnectionError", OSError("all failed"), ExceptionGroup("g", [ConnectionRefusedError()]))  # noqa: F821
        assert classify(error).reason == "connection_refused"


def test_an_exception_that_was_being_handled_when_the_call_began_is_not_a_cause():
    ambient = ConnectionRefusedError()
    timeout = http("ReadTimeout")
    timeout.__context__ = ambient
    evidence = exceptions.read(timeout, ambient=id(ambient))
    assert [names[0] for names in evidence.exceptions] == ["httpx.ReadTimeout"]


def test_the_cancellation_that_asyncio_uses_to_end_a_timeout_is_left_out():
    timeout = TimeoutError()
    timeout.__cause__ = asyncio.CancelledError()
    assert len(causes.chain(timeout)) == 1


def test_a_chain_that_bites_its_tail_ends():
    first, second = OSError(), OSError()
    first.__cause__, second.__cause__ = second, first
    assert len(causes.chain(first)) == 2


def test_the_text_of_a_network_error_is_the_message_but_never_that_of_an_sdk_error():
    assert classify(wrapped("APIConnectionError", http("ConnectError"))).message == "said so"
    assert classify(SDKError("the whole body", status_code=500)).message == ""


def test_a_page_is_no_message():
    assert classify(SDKError(status_code=500, body={"message": " <html>page</html>"})).message == ""


def test_a_number_in_angle_brackets_begins_no_page():
    said = "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 8]"
    assert classify(SDKError(status_code=400, body={"message": said})).message == said


def test_an_event_whose_error_is_a_plain_string_is_an_unexpected_body_with_that_message():
    verdict = classify(SDKError(body="boom"))
    assert (verdict.error_class, verdict.reason, verdict.message) == ("UNKNOWN", "unexpected_body", "boom")


@pytest.mark.parametrize("body", ["<html>page</html>", ""], ids=["page", "empty"])
def test_a_page_or_nothing_in_place_of_an_event_is_no_message(body):
    assert classify(SDKError(body=body)).message == ""


def test_a_text_on_a_foreign_exception_is_not_read():
    error = OSError("x")
    error.body = "of a letter"
    assert classify(error).message == ""


def test_a_wait_in_an_attribute_is_taken_last():
    assert classify(SDKError(status_code=429, retry_after=9)).retry_after == 9.0
    assert (
        classify(SDKError(status_code=429, retry_after=9, response=Response(429, {"retry-after": "4"}))).retry_after
        == 4.0
    )
    assert classify(SDKError(status_code=429, retry_after=9, body={"error": {"retry_after": 5}})).retry_after == 5.0


class Hostile(Exception):
    def __getattribute__(self, name):
        if name in ("__class__", "__cause__", "__context__", "args"):
            return super().__getattribute__(name)
        raise RuntimeError(name)


def test_a_hostile_exception_ends_as_a_class():
    assert classify(Hostile()).error_class == "UNKNOWN"


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


Unprintable.__module__ = "httpx"


def test_an_exception_that_cannot_be_printed_ends_as_a_class():
    assert classify(Unprintable()).rule == "common.fallback.unrecognised_error"


BODIES = [
    (None, ()),
    ("", ()),
    (b'{"error": {"code": "x"}}', ("x",)),
    ("{broken", ()),
    ([], ()),
    ([1, {"error": {"code": "x"}}], ("x",)),
    ({"error": None}, ()),
    ({"error": {"code": 7, "type": "t"}}, ("7", "t")),
    ({"error": {"code": True, "type": ["t"]}}, ()),
    ({"error": {"innererror": {"code": "inner"}, "code": "outer"}}, ("inner", "outer")),
    ({"error": {"details": [{"reason": "R"}, 7], "status": "S"}}, ("R", "S")),
    ({"error": {"errors": [{"reason": "r"}], "code": 429}}, ("r",)),
    ({"error": {"details": {"error_code": "deep"}, "type": "t"}}, ("deep", "t")),
    ({"type": "kind", "error": {"message": "m"}}, ("kind",)),
    ({"error": "plain words"}, ()),
    ({"success": False, "errors": [{"code": 4006, "message": "m"}]}, ("4006",)),
    ({"success": False, "errors": ["words", 7]}, ()),
    ({"message": "m", "errors": [{"code": 4006}]}, ()),
    ({"error": {"code": 400, "metadata": {"raw": '{"error": {"code": "behind"}}'}}}, ("behind",)),
    ({"error": {"code": 400, "metadata": {"raw": {"type": "behind", "code": "3230"}}}}, ("3230", "behind")),
    ({"error": {"code": 429, "metadata": {"raw": {"type": "of another account"}}}}, ()),
]


@pytest.mark.parametrize(("body", "codes"), BODIES, ids=repr)
def test_codes_of_bodies_of_any_shape(body, codes):
    assert bodies.read(body).codes == codes


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "m"}}, "m"),
        ({"error": "plain words"}, "plain words"),
        ({"message": "m"}, "m"),
        ({"detail": "d"}, "d"),
        ({"detail": [{"msg": "field required"}]}, "field required"),
        ({"detail": []}, ""),
        ({"message": {"message": "nested"}}, "nested"),
        ({"error": {"message": "{'error': 'printed by a proxy', 'more': 'x'}"}}, "printed by a proxy"),
        ({"error": {"code": 400, "message": "m", "metadata": {"raw": '{"error": {"message": "behind"}}'}}}, "behind"),
        ({"error": {"code": 400, "message": "m", "metadata": {"raw": '{"message": "behind"}'}}}, "behind"),
        ({"error": {"code": 400, "message": "m", "metadata": {"raw": "a page"}}}, "m"),
        ({"error": {"code": 400, "message": '{"type": "error", "error": {"message": "wrapped"}}'}}, "wrapped"),
        ({"error": "<html>page</html>"}, ""),
        ({"error": {"code": 429, "message": "m", "metadata": {"raw": '{"message": "of another account"}'}}}, "m"),
        ("<html>page</html>", ""),
    ],
    ids=repr,
)
def test_messages_of_bodies_of_any_shape(body, message):
    assert bodies.read(body).message == message


@pytest.mark.parametrize(
    ("message", "exceeds"),
    [
        ("Request too large: Limit 10000, Requested 12345.", True),
        ("Rate limit reached: Limit 10000, Used 9000, Requested 3000.", False),
        ("One request needs 41,000 tokens; the minute allows 20,000.", True),
        ("Please slow down.", False),
        ("Rate limit reached for gpt-4o: Limit 30000, Used 29000, Requested 2000.", False),
        ("Rate limit reached for llama-3.1: Limit 6000, Requested 9000.", True),
    ],
)
def test_a_request_above_the_whole_limit_is_told_from_one_too_many(message, exceeds):
    facts = bodies.read({"error": {"message": message}}).facts
    assert ("exceeds_limit" in facts) is exceeds


def test_findings_of_a_body():
    google = {"error": {"details": [{"violations": [{"quotaId": "InputTokensPerDay"}]}, {"retryDelay": "3s"}]}}
    read = bodies.read(google)
    assert {"quota_per_day", "quota_tokens"} <= read.facts
    assert read.retry_after == 3.0
    blocked = {"error": {"moderation_details": {"moderation_stage": "output"}}}
    assert "output_stage" in bodies.read(blocked).facts
    azure = {"error": {"innererror": {"content_filter_result": {"jailbreak": {"filtered": True}}}}}
    assert "jailbreak" in bodies.read(azure).facts
    assert {"moderation", "upstream"} <= bodies.read(
        {"error": {"metadata": {"reasons": ["x"], "provider_name": "P"}}}
    ).facts


GOOGLES = {"code": 403, "status": "PERMISSION_DENIED", "details": [{"reason": "BILLING_DISABLED"}]}


@pytest.mark.parametrize("body", [{"error": GOOGLES}, [{"error": GOOGLES}], GOOGLES], ids=["object", "list", "inner"])
def test_an_error_object_of_googles_is_read_as_one_whoever_carries_it(body):
    assert classify(SDKError(status_code=403, body=body)).reason == "billing"


def test_a_google_status_alone_makes_no_error_of_googles():
    assert bodies.read({"error": {"code": "PERMISSION_DENIED", "status": "PERMISSION_DENIED"}}).dialect == ""
    assert bodies.read({"error": {"code": 403, "status": "Forbidden"}}).dialect == ""


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("ThrottlingException", "ThrottlingException"),
        ("ValidationException:http://internal", "ValidationException"),
        ("com.amazon.coral#AccessDeniedException", "AccessDeniedException"),
        (":", ""),
    ],
)
def test_aws_names_the_exception_in_a_header(header, code):
    read = exceptions.read(SDKError(status_code=400, response=Response(400, {"x-amzn-errortype": header})))
    assert read.codes == ((code,) if code else ())


def test_a_named_quota_of_a_day_is_found_in_the_metadata_too():
    body = {"error": {"details": [{"metadata": {"quota_limit": "RequestsPerDayPerUser"}}]}}
    assert "quota_per_day" in bodies.read(body).facts


def test_a_provider_hint_names_the_dialect():
    body = {"error": {"details": [{"reason": "API_KEY_INVALID"}], "code": 400}}
    error = type("Error", (Exception,), {"__module__": "app"})()
    error.status_code, error.body = 400, body
    assert classify(error, provider="gcp.gemini").error_class == "AUTH"


def test_evidence_itself_is_decided_over():
    assert classify(exceptions.read(SDKError(status_code=404))).error_class == "NOT_FOUND"
    assert decide(exceptions.read(SDKError(status_code=404))).status_code == 404


def test_names_of_google_packages_keep_two_parts():
    error = type("TransportError", (Exception,), {"__module__": "google.auth.exceptions"})()
    assert causes.names(error) == ("google.auth.TransportError",)


def test_a_raised_exception_names_its_type():
    assert exceptions.read(KeyError("x")).exception_type == "builtins.KeyError"


@pytest.mark.parametrize(
    ("evidence", "wanted"),
    [
        (Evidence(status=401, exceptions=(("openai.AuthenticationError",),)), True),
        (Evidence(exceptions=(("openai.APITimeoutError", "openai.APIConnectionError"),)), True),
        (Evidence(exceptions=(("pydantic_core.ValidationError", "builtins.ValueError"),)), False),
    ],
    ids=["a status", "no connection", "over an answer"],
)
def test_an_exception_tells_of_a_request_or_of_what_was_made_of_an_answer(evidence, wanted):
    assert causes.is_of_a_request(evidence) is wanted


def test_a_failure_that_cannot_be_read_is_still_a_failure(monkeypatch):
    def broken(*args):
        raise RuntimeError

    monkeypatch.setattr("llm_errors.decision.of_any", broken)
    found = classify(SDKError("no"))
    assert (found.error_class, found.rule) == ("UNKNOWN", "common.unreadable")


def test_what_cannot_be_sent_as_json_is_a_bad_request():
    with pytest.raises(TypeError) as raised:
        json.dumps({"options": {1}})
    found = classify(raised.value)
    assert (found.error_class, found.reason) == ("BAD_REQUEST", "invalid_parameter")


def test_the_functions_that_an_exception_has_passed():
    def refuses():
        raise ValueError

    with pytest.raises(ValueError) as raised:
        refuses()
    assert causes.passed(raised.value)[-1] == "refuses"
    assert causes.passed(ValueError()) == ()
