"""Answers of xai-sdk, as messages of gRPC without the SDK, and errors of gRPC in its dialect."""

from types import SimpleNamespace

import pytest

from llm_errors import classify
from llm_errors.decision import decide
from llm_errors.extract import xai
from llm_errors.extract.answer import Answer
from tests.core.verdicts import streamed, verdict


class Message(SimpleNamespace):
    """A message: a field that is not set has no presence."""

    def HasField(self, name):  # the name of the method in protobuf
        return getattr(self, name, None) is not None


def part(content="", calls=(), encrypted=""):
    return Message(content=content, tool_calls=list(calls), encrypted_content=encrypted)


def output(said, finish=3, index=0):
    return Message(index=index, finish_reason=finish, message=said, delta=said)


def completion(*outputs, usage=None):
    return Message(id="c", model="grok", outputs=list(outputs), usage=usage)


def usage(written, reasoned):
    return Message(prompt_tokens=3, completion_tokens=written, reasoning_tokens=reasoned)


def call(arguments):
    return Message(function=Message(arguments=arguments))


WHOLE = [
    (completion(output(part("hi"))), None),
    (completion(output(part(calls=[call("{}")]), 4)), None),
    (completion(output(part(encrypted="x"))), None),
    (completion(output(part("so"), 0), output(part("hi"), 3, 1)), None),
    (completion(output(part("hi"), 1)), "TRUNCATED/max_tokens"),
    (completion(output(part(""), 1), usage=usage(0, 7)), "TRUNCATED/reasoning_tokens"),
    (completion(output(part(""), 1), usage=usage(7, 7)), "TRUNCATED/reasoning_tokens"),
    (completion(output(part(""), 1), usage=usage(7, 0)), "TRUNCATED/max_tokens"),
    (completion(output(part("hi"), 2)), "TRUNCATED/context_window"),
    (completion(output(part("hi"), 5)), "TRUNCATED/other"),
    (completion(output(part("hi"), 6)), "UNKNOWN/unrecognised_finish_reason"),
    (completion(output(part("hi"), "odd")), None),
    (completion(output(part(calls=[call("{")]), 4)), "TOOL_PROTOCOL/invalid_arguments"),
    (completion(output(part(calls=[call("{")]), 0)), "TOOL_PROTOCOL/invalid_arguments"),
    (completion(output(part(""))), "UNKNOWN/empty_response"),
    (completion(), "UNKNOWN/empty_response"),
]


@pytest.mark.parametrize(("answer", "expected"), WHOLE)
def test_a_completion(answer, expected):
    assert verdict(xai.COMPLETION.whole(answer)) == expected


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([completion(output(part("h"), 0)), completion(output(part(""), 3))], None),
        ([completion(output(part("h"), 0))], "TRANSPORT/stream_cut"),
        ([completion(output(part(""), 3))], "UNKNOWN/empty_response"),
        ([completion(output(part("h"), 1))], "TRUNCATED/max_tokens"),
        ([], "UNKNOWN/empty_response"),
    ],
)
def test_a_streamed_completion(chunks, expected):
    assert verdict(streamed(xai.COMPLETION, chunks)) == expected


def test_the_facts_of_a_completion():
    answer = xai.COMPLETION.whole(completion(output(part("hi")), usage=usage(2, 0)))
    assert answer == Answer(None, "grok", "c", ("REASON_STOP",), 3, 2)
    assert streamed(xai.COMPLETION, [completion(output(part("h"), 0))]).finish_reasons == ("error",)


def images(*respected):
    return Message(model="grok", images=[Message(respect_moderation=one) for one in respected])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(images(True), None), (images(True, False), "OUTPUT_BLOCKED/image_safety"), (images(), "UNKNOWN/empty_response")],
)
def test_images(answer, expected):
    assert verdict(xai.IMAGES.whole(answer)) == expected


def test_what_begins_a_job():
    assert xai.JOB.whole(Message(request_id="j")) == Answer(None, id="j")


@pytest.mark.parametrize("reader", [xai.COMPLETION, xai.IMAGES, xai.JOB])
def test_something_else_than_an_answer(reader):
    assert verdict(reader.whole(object())) == "UNKNOWN/unexpected_body"
    assert reader.chunks().done is False


def video(respected=None, **error):
    made = None if respected is None else Message(respect_moderation=respected)
    return Message(model="v", video=made, error=Message(**error) if error else None)


@pytest.mark.parametrize(
    ("status", "response", "expected"),
    [
        (3, None, None),
        (0, None, None),
        (9, None, "UNKNOWN/unrecognised_finish_reason"),
        (None, None, None),
        (1, completion(output(part("hi"))), None),
        (1, completion(output(part("hi"), 1)), "TRUNCATED/max_tokens"),
        (1, None, "UNKNOWN/empty_response"),
        (1, video(True), None),
        (1, video(False), "OUTPUT_BLOCKED/image_safety"),
        (1, video(), "UNKNOWN/empty_response"),
        (2, None, "TIMEOUT/provider"),
        (4, None, "SERVER/other"),
        (4, video(), "SERVER/other"),
        (4, completion(), "SERVER/other"),
        (4, video(code="content_moderation", message="no"), "PROMPT_BLOCKED/moderation"),
    ],
)
def test_a_deferred_job(status, response, expected):
    assert verdict(xai.deferred(Message(status=status, response=response))) == expected


RPC = type("RpcError", (Exception,), {"__module__": "grpc"})


class Rpc(RPC):
    """An error of gRPC."""

    __module__ = "grpc._channel"

    def __init__(self, text, trailers=(), code="UNAVAILABLE"):
        self._text, self._trailers, self._code = text, trailers, code

    def code(self):
        return SimpleNamespace(name=self._code)

    def details(self):
        return self._text

    def trailing_metadata(self):
        return self._trailers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("failed to connect to all addresses; last error: connection refused", "TRANSPORT/connection_refused"),
        ("DNS resolution failed for x.ai", "TRANSPORT/dns"),
        ("failed to connect to all addresses; last error: Ssl handshake failed", "TRANSPORT/tls"),
        ("failed to connect to all addresses", "TRANSPORT/other"),
        ("Socket closed", "TRANSPORT/disconnected"),
        ("busy", "SERVER/unavailable"),
    ],
)
def test_what_the_channel_says_of_a_server_that_does_not_answer(text, expected):
    from llm_errors.extract import exceptions

    evidence = exceptions.read(Rpc(text), "xai")
    found = decide(evidence.__class__(**{**vars(evidence), "dialect": "xai"}))
    assert f"{found.error_class}/{found.reason}" == expected
    assert found.message == text


@pytest.mark.parametrize(
    ("trailers", "wait"),
    [((("retry-after", "7"),), 7.0), ((), None), (None, None), (((1, 2, 3),), None), (5, None)],
)
def test_the_wait_in_the_trailing_metadata(trailers, wait):
    assert classify(Rpc("busy", trailers)).retry_after == wait


def test_an_error_of_grpc_whose_methods_fail_is_still_classified():
    class Broken(Rpc):
        def details(self):
            raise ValueError("x")

    assert classify(Broken("busy")).reason == "unavailable"
