"""Streamed speech, tasks that are polled, and agents on a server, as plain data. The tests with the real SDKs are in
tests/sdks/longtail."""

import pytest

from llm_errors import classify
from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.extract import bodies
from llm_errors.extract.letta import LETTA, RUN
from llm_errors.extract.speech import AUDIO as PIECES
from llm_errors.extract.speech import SPEECH
from llm_errors.extract.tasks import TASKS
from llm_errors.extract.vendors import REKA, TWELVELABS
from tests.core.verdicts import of_chunks, told

AUDIO = {"type": "chunk", "data": "AAAA", "done": False}
ERROR = {"type": "error", "status_code": 429, "error_code": "concurrency_limited", "message": "m"}


@pytest.mark.parametrize(
    ("events", "verdict"),
    [
        ([AUDIO, {"type": "done", "done": True}], "ok"),
        ([AUDIO], "TRANSPORT/stream_cut"),
        ([], "UNKNOWN/empty_response"),
        ([{"type": "done", "done": True}], "UNKNOWN/empty_response"),
        ([AUDIO, ERROR], "RATE_LIMITED/concurrency"),
        ([ERROR, {**ERROR, "error_code": "quota_exceeded"}], "RATE_LIMITED/concurrency"),
    ],
)
def test_how_streamed_speech_ended(events, verdict):
    assert told(of_chunks(SPEECH, *events)) == verdict


@pytest.mark.parametrize(
    ("pieces", "verdict"),
    [
        ([b"RIFF", b""], "ok"),
        ([b""], "UNKNOWN/empty_response"),
        ([], "UNKNOWN/empty_response"),
        ([{"audio": "AAAA"}, {"error": {"code": "quota_exceeded"}}, {"error": {"code": "x"}}],
         "CALL_BUDGET/insufficient_quota"),
    ],
)  # fmt: skip
def test_how_streamed_audio_ended(pieces, verdict):
    assert told(of_chunks(PIECES, *pieces)) == verdict


def test_audio_has_no_event_that_ends_it():
    state = PIECES.chunks()
    state.chunk(b"RIFF")
    assert state.done is False


def test_whole_speech_is_a_body_of_any_kind():
    assert told(SPEECH.whole(b"RIFF")) == "ok"
    assert told(SPEECH.whole("<html>")) == "UNKNOWN/unexpected_body"


@pytest.mark.parametrize(
    ("task", "verdict", "finish"),
    [
        ({"id": "t"}, "ok", ()),
        ({"id": "t", "status": "THROTTLED"}, "ok", ()),
        ({"id": "t", "status": "CANCELLED"}, "ok", ()),
        ({"id": "t", "status": "SUCCEEDED"}, "ok", ("SUCCEEDED",)),
        ({"run": {"run_id": "t", "status": "completed"}, "output": {}}, "ok", ("completed",)),
        ({"id": "t", "status": "FAILED", "failureCode": "SAFETY.INPUT.IMAGE"}, "PROMPT_BLOCKED/safety", ("FAILED",)),
        ({"run_id": "t", "status": "failed", "error": {"message": "m"}}, "SERVER/model_error", ("failed",)),
        ({"id": "t", "status": "ODD"}, "UNKNOWN/unrecognised_finish_reason", ()),
        ({"error": {"code": "insufficient_quota", "message": "m"}}, "CALL_BUDGET/insufficient_quota", ()),
        ("<html>", "UNKNOWN/unexpected_body", ()),
    ],
)
def test_a_task_is_read_by_its_status(task, verdict, finish):
    answer = TASKS.whole(task)
    assert (told(answer), answer.finish_reasons) == (verdict, finish)


def test_the_failure_of_a_task_keeps_what_the_service_says():
    failed = TASKS.whole({"id": "t", "status": "FAILED", "failure": "blurred"})
    assert (failed.id, decide(failed.suspicion).message) == ("t", "blurred")


def test_a_stream_of_tasks_is_a_stream_of_events():
    assert told(of_chunks(TASKS, {"id": "t"})) == "ok"
    assert told(of_chunks(TASKS)) == "UNKNOWN/empty_response"


SAID = {"message_type": "assistant_message", "content": "hi"}
USED = {"message_type": "usage_statistics", "prompt_tokens": 3, "completion_tokens": 2}


def stop(reason):
    return {"message_type": "stop_reason", "stop_reason": reason}


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"messages": [SAID], "stop_reason": stop("end_turn"), "usage": USED}, "ok"),
        ({"messages": [SAID], "stop_reason": stop("max_steps")}, "CALL_BUDGET/max_turns"),
        ({"messages": [SAID]}, "ok"),
        ({"detail": "no", "code": "insufficient_quota"}, "CALL_BUDGET/insufficient_quota"),
        ("Internal Server Error", "SERVER/internal"),
    ],
)
def test_why_an_agent_stopped(answer, verdict):
    assert told(LETTA.whole(answer)) == verdict


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        ({"id": "r", "agent_id": "a", "status": "created"}, "ok"),
        ({"id": "r", "agent_id": "a", "status": "failed"}, "SERVER/other"),
        ({"id": "r", "agent_id": "a", "status": "failed", "stop_reason": "invalid_llm_response"}, "SERVER/model_error"),
        ({"id": "r", "agent_id": "a", "status": "cancelled", "stop_reason": "cancelled"}, "ok"),
    ],
)
def test_a_run_is_read_by_its_stop_reason_and_its_status(run, verdict):
    answer = RUN.whole(run)
    assert (answer.id, told(answer)) == ("r", verdict)


@pytest.mark.parametrize(
    ("events", "verdict"),
    [
        ([SAID, stop("end_turn"), USED], "ok"),
        ([USED, SAID], "TRANSPORT/stream_cut"),
        ([{"message_type": "ping"}], "UNKNOWN/empty_response"),
        ([SAID, stop("no_tool_call")], "TOOL_PROTOCOL/malformed_call"),
        (
            [
                {"message_type": "error_message", "error_type": "llm_timeout", "message": "m"},
                {"message_type": "error_message", "error_type": "internal_error", "message": "m"},
            ],
            "TIMEOUT/provider",
        ),
    ],
)
def test_how_the_stream_of_an_agent_ended(events, verdict):
    assert told(of_chunks(LETTA, *events)) == verdict


def test_the_stream_of_an_agent_ends_with_the_usage_after_the_stop_reason():
    state = LETTA.chunks()
    assert [state.chunk(event) for event in (USED, SAID, stop("end_turn"), USED)] == [False, False, False, True]
    assert state.end()[3:] == (("end_turn",), 3, 2)


def test_classify_knows_agents_and_tasks_by_their_fields():
    assert classify({"messages": [], "stop_reason": stop("max_steps")}).reason == "max_turns"
    assert classify({"id": "t", "status": "FAILED", "failure": "m"}).reason == "model_error"


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"detail": {"status": "invalid_api_key", "message": "m"}}, "invalid_api_key", "m"),
        ({"detail": {"type": "t", "code": "quota_exceeded", "message": "m", "status": "s"}}, "quota_exceeded", "m"),
        ({"detail": "no", "code": "c"}, "c", "no"),
        ({"err_code": "INVALID_AUTH", "err_msg": "m", "request_id": "r"}, "INVALID_AUTH", "m"),
        ({"category": "INVALID_JSON", "message": "m", "details": "d"}, "INVALID_JSON", "m"),
        (
            {"fault": {"faultstring": "m", "detail": {"errorcode": "oauth.v2.InvalidApiKey"}}},
            "oauth.v2.InvalidApiKey",
            "m",
        ),
    ],
)
def test_an_error_inside_a_detail_or_of_a_gateway(body, code, message):
    read = bodies.read(body, 400)
    assert (read.codes[0], read.message) == (code, message)


def reka(finish="stop", **message):
    return {"id": "c", "model": "m", "responses": [{"finish_reason": finish, "message": {"content": "hi", **message}}],
            "usage": {"input_tokens": 3, "output_tokens": 2}}  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (reka(), "ok"),
        (reka("context"), "TRUNCATED/context_window"),
        (reka(content=None, tool_calls=[{"id": "t", "name": "f", "parameters": {}}]), "ok"),
        (reka(content=""), "UNKNOWN/empty_response"),
        ({"detail": "no", "code": "insufficient_quota"}, "CALL_BUDGET/insufficient_quota"),
    ],
)
def test_an_answer_of_reka(answer, verdict):
    read = REKA.whole(answer)
    assert told(read) == verdict
    if verdict == "ok":
        assert (read.model, read.id, read.input_tokens, read.output_tokens) == ("m", "c", 3, 2)


def test_a_stream_of_reka():
    part = {"responses": [{"chunk": {"content": "hi"}}]}
    last = {"responses": [{"chunk": {"content": ""}, "finish_reason": "length"}]}
    assert told(of_chunks(REKA, part, last)) == "TRUNCATED/max_tokens"
    assert told(of_chunks(REKA, part, {"error": {"code": "server_error", "message": "m"}})) == "SERVER/internal"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"id": "c", "data": "hi", "finish_reason": "stop", "usage": {"output_tokens": 2}}, "ok"),
        ({"data": "hi"}, "ok"),
        ({"data": "hi", "finish_reason": "length"}, "TRUNCATED/max_tokens"),
        ({"error": {"code": "token_limit_exceeded", "message": "m"}}, "CALL_BUDGET/spend_limit"),
    ],
)
def test_an_answer_of_twelvelabs(answer, verdict):
    assert told(TWELVELABS.whole(answer)) == verdict


@pytest.mark.parametrize(
    ("events", "verdict"),
    [
        (["stream_start", "text_generation", "stream_end"], "ok"),
        (["stream_start", "text_generation"], "TRANSPORT/stream_cut"),
        (["stream_start", "stream_end"], "UNKNOWN/empty_response"),
    ],
)
def test_a_stream_of_twelvelabs(events, verdict):
    said = ({"event_type": kind, **({"text": "hi"} if kind == "text_generation" else {})} for kind in events)
    assert told(of_chunks(TWELVELABS, *said)) == verdict


def test_an_error_in_a_stream_of_twelvelabs():
    assert told(of_chunks(TWELVELABS, {"error": {"code": "server_error", "message": "m"}})) == "SERVER/internal"


def test_the_same_code_means_a_long_video_at_twelvelabs():
    evidence = Evidence(dialect="openai", provider="twelvelabs", status=400, codes=("token_limit_exceeded",))
    assert decide(evidence).reason == "context_overflow"
