"""What an error hook is told."""

import logging
from typing import Any

import pytest

from llm_errors.recovery import error_context, on_error
from tests.recovery.failures import with_status


def test_the_context_carries_the_verdict_and_the_advice() -> None:
    context = error_context(with_status(429), provider="openai", model="m", agent_id="a", session_id="s")
    assert context == {
        "class": "RATE_LIMITED",
        "reason": "requests",
        "category": "rate_limit",
        "user_message": context["user_message"],
        "retryable": True,
        "provider": "openai",
        "model": "m",
        "agent_id": "a",
        "session_id": "s",
    }


def test_what_the_framework_does_not_know_is_left_out() -> None:
    assert {"agent_id", "session_id"}.isdisjoint(error_context(with_status(429), provider="openai", model="m"))


def test_the_class_is_none_if_nothing_failed() -> None:
    assert error_context(None)["class"] is None


def test_a_hook_hands_the_context_to_its_handler() -> None:
    seen: list[dict[str, Any]] = []
    hook = on_error(seen.append, provider="openai", model="m")
    hook(with_status(401), agent_id="a", model="other")
    assert [(c["class"], c["agent_id"], c["model"]) for c in seen] == [("AUTH", "a", "other")]


def test_a_handler_that_raises_never_disturbs_the_framework(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_context: dict[str, Any]) -> None:
        raise RuntimeError("the handler's own")

    with caplog.at_level(logging.WARNING, logger="llm_errors"):
        on_error(broken)(with_status(401))
    assert "handler failed" in caplog.text
