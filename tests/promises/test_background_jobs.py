"""A response in the background that fails while it is asked for is a failure of the call that began it, told once."""

from importlib.util import find_spec

import pytest

from llm_errors.instrument import jobs
from llm_errors.testing.provider import Reply
from tests.promises.wire import RESPONSES, WHOLE, call, stream, streamed

ERROR = {"code": "server_error", "message": "no"}


def job(job_id: str, status: str, **more) -> Reply:
    """The state of a background response."""
    output = WHOLE[RESPONSES]["output"] if status == "completed" else []
    return Reply(
        json={**WHOLE[RESPONSES], "id": job_id, "background": True, "status": status, "output": output, **more}
    )


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
async def test_a_job_that_fails_is_told_once_however_often_it_is_asked_for(
    asynchronous, provider, connect, aconnect, observed
):
    name = f"resp_1_{asynchronous}"
    failed = job(name, "failed", error=ERROR)
    server = provider([job(name, "queued"), job(name, "in_progress"), failed, failed, failed])
    client = (aconnect if asynchronous else connect)(RESPONSES, server.url, asynchronous)

    async def done(result):
        return await result if asynchronous else result

    await done(call(RESPONSES, client, background=True))
    for _ in range(3):
        await done(client.responses.retrieve(name))
    await done(client.responses.with_raw_response.retrieve(name))
    assert len(server.requests) == 5
    assert observed.outcomes() == {"ok": 1}
    assert observed.reasons() == {("SERVER", "internal"): 1}
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == {"m": 1}
    assert [s.attributes["llm.error.class"] for s in observed.spans() if "llm.error.class" in s.attributes] == [
        "SERVER"
    ]


@pytest.mark.parametrize("how", ["plain", "raw"])
def test_a_job_that_another_process_began_has_no_model_that_a_server_chose(how, provider, connect, observed):
    name = f"resp_2_{how}"
    client = connect(RESPONSES, provider([job(name, "failed", error=ERROR)]).url)
    (client.responses if how == "plain" else client.responses.with_raw_response).retrieve(name)
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == {None: 1}
    assert observed.outcomes() == {}


def test_a_job_that_ends_well_or_is_cancelled_or_never_ran_in_the_background_tells_nothing_new(
    provider, connect, observed
):
    said = [
        job("resp_3", "completed"),
        job("resp_4", "cancelled"),
        job("resp_5", "failed", error=ERROR, background=False),
        Reply(404, json={"error": {"message": "no"}}),
    ]
    client = connect(RESPONSES, provider(said).url)
    for reply in said[:3]:
        client.responses.retrieve(reply.json["id"])
    with pytest.raises(Exception, match="no"):
        client.responses.retrieve("resp_6")
    assert observed.errors() == observed.outcomes() == {}
    assert observed.spans() == []


def test_a_failure_that_the_stream_had_told_is_not_told_again(provider, connect, observed):
    failed = {**WHOLE[RESPONSES], "id": "resp_7", "background": True, "status": "failed", "output": [], "error": ERROR}
    event = {"type": "response.failed", "sequence_number": 1, "response": failed}
    client = connect(RESPONSES, provider([streamed(RESPONSES, [event]), Reply(json=failed)]).url)
    list(stream(RESPONSES, client, background=True))
    client.responses.retrieve("resp_7")
    assert observed.errors() == {"SERVER": 1}


def test_only_the_latest_jobs_are_remembered(monkeypatch):
    monkeypatch.setattr(jobs, "LIMIT", 3)
    monkeypatch.setattr(jobs, "_reported", {})
    assert [jobs.is_news(f"j{n}") for n in range(10)] == [True] * 10
    assert list(jobs._reported) == ["j7", "j8", "j9"]
    assert not jobs.is_news("j9")
    assert not jobs.is_news("")


def test_an_interaction_that_fails_in_the_background_is_told_once(provider, observed):
    genai = pytest.importorskip("google.genai")
    state = {
        "id": "int_1",
        "object": "interaction",
        "model": "m",
        "created": "2026-01-01T00:00:00Z",
        "status": "failed",
    }
    server = provider([Reply(json={**state, "status": "in_progress"}), Reply(json=state), Reply(json=state)])
    client = genai.Client(api_key="k", http_options={"base_url": server.url})
    if find_spec("google.genai._gaos") is None:
        pytest.skip("only a newer major of the SDK")
    client.interactions.create(model="m", input="x", background=True)
    client.interactions.get("int_1")
    client.interactions.get("int_1")
    assert sum(observed.errors().values()) == 1
    assert observed.counts("llm_errors_total", "gen_ai.request.model") == {"m": 1}
    assert observed.outcomes() == {"ok": 1}
