"""The desk acts on the plan: one case of each kind, against the real SDKs and the demo's provider."""

import socket
from dataclasses import replace

import pytest

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")

from llm_errors.recovery import KINDS, plan
from llm_errors.tools.demo import careful, monday
from llm_errors.tools.demo.stage import Stage


@pytest.fixture
def outcomes(provider):
    server = provider(Stage().answer)
    desk = careful.CarefulDesk(server.url)
    found = {case.ticket.fault: desk.answer(case) for case in monday.CASES}
    desk.close()
    return found, server


def test_one_case_of_each_kind(outcomes):
    found, _ = outcomes
    assert {outcome.first.kind for outcome in found.values()} == set(KINDS)


def test_the_desk_does_what_the_plan_says(outcomes):
    found, _ = outcomes
    assert found["quota"].did == ["waited 17 s, asked again"]
    assert found["busy"].did[-1] == f"fell back to {monday.MINI}"
    assert found["forbidden"].did == found["revoked"].did == ["took the spare key"]
    assert found["broken_call"].did == ["asked again"]
    assert found["too_long"].did == ["compressed to 140000 tokens"]
    assert {fault for fault, outcome in found.items() if not outcome.answered} == {
        "retired",
        "spent",
        "nothing",
        "blocked_prompt",
    }


def test_what_the_plan_gives_no_hope_for_is_asked_once(outcomes):
    _, server = outcomes
    for case in monday.CASES:
        asked = sum(case.ticket.question.encode() in request.body for request in server.requests)
        assert asked == (1 if case.ticket.attempts == monday.EVERY else case.ticket.attempts + 1)


def test_a_desk_whose_provider_is_gone_gives_up():
    """The loop over one case is bounded by the retries and the models to fall back to."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    desk = careful.CarefulDesk(f"http://127.0.0.1:{port}")
    for case in monday.CASES[:3]:
        outcome = desk.answer(case)
        assert not outcome.answered
        assert len(outcome.did) < careful.ATTEMPTS
    desk.close()


def test_a_plan_that_always_gives_hope_is_not_followed_for_ever(provider, monkeypatch):
    server = provider(Stage().answer)
    desk = careful.CarefulDesk(server.url)
    busy = monday.CASES[1]
    always = replace(plan(TimeoutError(), attempt=1), is_retryable=True, backoff_seconds=0.0)
    monkeypatch.setattr(careful, "plan", lambda *args, **kwargs: always)
    assert len(desk.answer(busy).did) == careful.ATTEMPTS - 1
    desk.close()
