"""States of jobs that end long after the call that began them: runs of assistants, operations and batches of Gemini."""

from types import SimpleNamespace

import pytest

from llm_errors import classify
from llm_errors.extract import google_jobs, results
from tests.core.verdicts import streamed, verdict


def run(status, **more):
    return {"object": "thread.run", "id": "run_1", "status": status, **more}


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (run("queued"), None),
        (run("completed"), None),
        (run("cancelled"), None),
        (run("failed", last_error={"code": "server_error", "message": "no"}), "SERVER/internal"),
        (run("failed"), "SERVER/other"),
        (run("expired"), "TIMEOUT/provider"),
        (run("incomplete", incomplete_details={"reason": "max_completion_tokens"}), "TRUNCATED/max_tokens"),
    ],
)
def test_a_run(job, expected):
    assert verdict(results.RUNS.whole(job)) == expected
    found = classify(job)
    assert (found and f"{found.error_class}/{found.reason}") == expected


@pytest.mark.parametrize("odd", ["<html>", {}])
def test_something_else_than_a_run(odd):
    assert verdict(results.RUNS.whole(odd)) == "UNKNOWN/unexpected_body"


def event(name, data=None):
    return SimpleNamespace(event=name, data=data)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([event("thread.run.created"), event("thread.run.completed", run("completed"))], None),
        ([event("thread.run.requires_action", run("requires_action"))], None),
        ([event("thread.run.expired", run("expired"))], "TIMEOUT/provider"),
        ([event("error", {"code": "server_error", "message": "no"})], "SERVER/internal"),
        ([event("thread.run.created")], "TRANSPORT/stream_cut"),
        ([], "UNKNOWN/empty_response"),
    ],
)
def test_a_streamed_run(events, expected):
    assert verdict(streamed(results.RUNS, events)) == expected


NAME = "models/veo/operations/o"


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ({"name": NAME}, None),
        ({"name": NAME, "done": True, "response": {"generated_videos": [1], "rai_media_filtered_count": 1}}, None),
        ({"name": NAME, "done": True, "response": {"rai_media_filtered_count": 1}}, "OUTPUT_BLOCKED/image_safety"),
        ({"name": NAME, "error": {"code": 8, "message": "quota"}}, "RATE_LIMITED/requests"),
        ({"name": NAME, "error": {"code": 429, "message": "quota"}}, "RATE_LIMITED/requests"),
        ({"name": NAME, "error": {"message": "internal error"}}, "UNKNOWN/unexpected_body"),
        ({"name": NAME, "state": "JOB_STATE_FAILED"}, "SERVER/other"),
        ({"name": NAME, "state": "JOB_STATE_EXPIRED"}, "TIMEOUT/provider"),
        ({"name": NAME, "state": "JOB_STATE_PARTIALLY_SUCCEEDED"}, None),
    ],
)
def test_an_operation_or_a_batch(job, expected):
    answer = google_jobs.state_of(job)
    assert (answer.id, verdict(answer)) == (NAME, expected)
    assert google_jobs.OPERATION.whole(job) == answer


def test_something_else_than_an_operation():
    assert verdict(google_jobs.OPERATION.whole({})) == "UNKNOWN/unexpected_body"
    assert google_jobs.OPERATION.chunks().done is False
