"""parallel-web, of the Stainless family: research runs in the background, and the state of a run tells how it ended."""

import itertools

import pytest

from llm_errors.testing.provider import Reply

each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
IDS = map("parallel-run-{}".format, itertools.count())
"""What was said of a run once is not said again in the same process."""


def client_of(url, asynchronous, retries=0):
    sdk = pytest.importorskip("parallel")
    cls = sdk.AsyncParallel if asynchronous else sdk.Parallel
    return cls(base_url=url, api_key="k", max_retries=retries, timeout=5.0)


def research(client):
    return client.task_run.create(input="hi", processor="core")


def run(status, run_id="r", **more):
    state = {"run_id": run_id, "interaction_id": "i", "is_active": status in ("queued", "running"), "processor": "core"}
    return Reply(json={**state, "status": status, **more})


def error(status, message="m", **more):
    told = {"ref_id": "f", "message": message, "detail": None}
    return Reply(status, json={"type": "error", "error": told}, **more)


@each_way
def test_a_run_is_one_good_call_when_it_begins(play, asynchronous):
    seen = play(client_of, research, run("queued"), asynchronous)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == ("ok", "invoke_agent")
    assert seen.labels["gen_ai.provider.name"] == "parallel"
    assert seen.labels["gen_ai.request.model"] == "core"
    assert seen.attributes["gen_ai.response.id"] == "r"


@each_way
@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (error(401), "AUTH/invalid_key"),
        (error(402), "CALL_BUDGET/billing"),
        (error(403), "AUTH/permission_denied"),
        (error(422), "BAD_REQUEST/invalid_parameter"),
        (error(429), "RATE_LIMITED/requests"),
        (error(500), "SERVER/internal"),
        (Reply(503, text="<html>"), "SERVER/unavailable"),
        (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
        (Reply(action="reset"), "TRANSPORT/disconnected"),
    ],
)
def test_a_run_that_is_not_accepted(play, reply, verdict, asynchronous):
    seen = play(client_of, research, reply, asynchronous)
    assert (seen.verdict, seen.channel) == (verdict, "thrown"), (seen.raised, seen.attributes)


@each_way
def test_an_error_object_instead_of_a_run(play, asynchronous):
    seen = play(client_of, research, error(200), asynchronous)
    assert (seen.verdict, seen.channel) == ("UNKNOWN/unexpected_body", "in_band")


@each_way
def test_a_run_that_has_failed_when_it_is_created(play, asynchronous):
    failed = run("failed", next(IDS), error={"message": "m", "ref_id": "f"})
    seen = play(client_of, research, failed, asynchronous)
    assert (seen.verdict, seen.channel) == ("SERVER/model_error", "in_band")


@each_way
def test_hidden_retries_are_counted(play, asynchronous):
    busy = error(503, headers={"retry-after-ms": "1"})
    seen = play(lambda url, way: client_of(url, way, 2), research, [busy, busy, run("queued")], asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"SERVER": 2})


def _counted(observed):
    ((labels, point),) = observed.points("llm_errors_total")
    calls = sum(point.value for _, point in observed.points("llm_calls_total"))
    return labels["llm.error.class"], labels["gen_ai.request.model"], point.value, calls


def test_a_run_that_fails_is_counted_once_when_it_is_asked_for(observed, provider):
    one = next(IDS)
    failed = run("failed", one, error={"message": "m", "ref_id": "f"})
    with client_of(provider([run("queued", one), run("running", one), failed, failed]).url, False) as client:
        begun = research(client)
        states = [client.task_run.retrieve(begun.run_id).status for _ in range(3)]
    assert states == ["running", "failed", "failed"]
    assert _counted(observed) == ("SERVER", "core", 1, 1)


async def test_an_async_run_that_fails_is_counted_once(observed, provider):
    one = next(IDS)
    failed = run("failed", one, error={"message": "m", "ref_id": "f"})
    async with client_of(provider([run("queued", one), failed, failed]).url, True) as client:
        begun = await research(client)
        for _ in range(2):
            await client.task_run.retrieve(begun.run_id)
    assert _counted(observed) == ("SERVER", "core", 1, 1)


def test_runs_that_succeed_or_are_cancelled_add_nothing(observed, provider):
    states = [run("queued"), run("completed"), run("cancelled"), run("action_required"), run("cancelling")]
    with client_of(provider(states).url, False) as client:
        begun = research(client)
        for _ in states[1:]:
            client.task_run.retrieve(begun.run_id)
    assert observed.outcomes() == {"ok": 1}
    assert observed.points("llm_errors_total") == []


def test_a_search_is_no_model_call(observed, provider):
    with client_of(provider([Reply(json={"search_id": "s", "results": []})]).url, False) as client:
        client.search(search_queries=["hi"])
    assert observed.outcomes() == {}
