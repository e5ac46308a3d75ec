"""The strategies under the real tenacity, sync and async. Waits are recorded, not slept."""

import asyncio
import logging
from collections.abc import Callable
from types import SimpleNamespace as Space
from typing import Any

import pytest

tenacity = pytest.importorskip("tenacity")

from llm_errors.recovery.layers import SecondRetryLayerWarning  # noqa: E402 - needs tenacity
from llm_errors.recovery.tenacity import (  # noqa: E402
    llm_retry,
    retry_if_llm_retryable,
    stop_after_llm_retries,
    wait_llm,
)
from tests.recovery.failures import CallError, with_code, with_status  # noqa: E402

OVERFLOW = with_code(400, "context_length_exceeded")
TRUNCATED = {"choices": [{"finish_reason": "length", "message": {"content": "a"}}]}
BROKEN_TOOL = with_code(400, "tool_use_failed")
UPSTREAM = {"choices": [{"finish_reason": "error", "error": {"code": 502}, "message": {"content": ""}}]}
FINE = {"choices": [{"finish_reason": "stop", "message": {"content": "hello"}}]}


class Script:
    """A function that fails as told, and then answers; it notes how it was called."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes, self.calls = list(outcomes), []  # type: ignore[var-annotated]

    def __call__(self, **kwargs: Any) -> Any:
        self.calls.append(dict(kwargs))
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class Runner:
    """Runs a script under the strategies."""

    def __init__(self, asynchronous: bool) -> None:
        self.asynchronous, self.waits = asynchronous, []  # type: ignore[var-annotated]

    def __call__(self, script: Script, call: dict[str, Any] | None = None, **settings: Any) -> Any:
        strategies = llm_retry(provider="openai", model="m", **settings)
        if not self.asynchronous:
            return tenacity.Retrying(sleep=self.waits.append, **strategies)(script, **(call or {}))

        async def ask(**kwargs: Any) -> Any:
            return script(**kwargs)

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        return asyncio.run(tenacity.AsyncRetrying(sleep=sleep, **strategies)(ask, **(call or {})))


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Runner:
    return Runner(request.param)


def failing(failure: Exception, run: Callable[[], Any]) -> None:
    with pytest.raises(type(failure)) as caught:
        run()
    assert caught.value is failure


def test_a_retryable_failure_is_retried_after_the_wait_it_asks_for(run: Runner) -> None:
    script = Script(with_status(429, retry_after=7), with_status(503, retry_after=0), "answer")
    assert run(script) == "answer"
    assert run.waits == [7, 0]


def test_without_a_hint_the_plan_s_backoff_is_waited(run: Runner) -> None:
    run(Script(with_status(503), with_status(503), "answer"))
    first, second = run.waits
    assert 7.5 <= first <= 22.5
    assert 15 <= second <= 45


def test_three_retries_then_the_failure_itself_is_raised(run: Runner) -> None:
    failure = with_status(503)
    script = Script(failure)
    failing(failure, lambda: run(script))
    assert len(script.calls) == 4


@pytest.mark.parametrize("failure", [with_status(401), with_status(400), CallError("unknown"), OVERFLOW])
def test_what_is_not_retryable_is_raised_at_once(run: Runner, failure: Exception) -> None:
    script = Script(failure)
    failing(failure, lambda: run(script))
    assert len(script.calls) == 1


def test_zero_switches_everything_off(run: Runner) -> None:
    script = Script(OVERFLOW)
    failing(OVERFLOW, lambda: run(script, max_retries=0, compress=lambda _plan, _state: True))
    assert len(script.calls) == 1


def test_a_failure_inside_an_answer_is_retried(run: Runner) -> None:
    assert run(Script(UPSTREAM, FINE)) == FINE


def test_answers_can_be_left_unread(run: Runner) -> None:
    assert run(Script(UPSTREAM, FINE), results=False) == UPSTREAM


def test_an_answer_that_no_retry_can_better_is_returned(run: Runner) -> None:
    assert run(Script(TRUNCATED)) == TRUNCATED


def test_the_last_answer_is_returned_when_the_retries_are_used_up(run: Runner) -> None:
    script = Script(UPSTREAM)
    assert run(script) == UPSTREAM
    assert len(script.calls) == 4


def test_a_broken_tool_call_is_asked_again_once(run: Runner) -> None:
    script = Script(BROKEN_TOOL)
    failing(BROKEN_TOOL, lambda: run(script))
    assert (len(script.calls), run.waits) == (2, [0])


def test_nothing_is_retried_once_the_user_has_seen_a_part(run: Runner) -> None:
    failure = with_status(503)
    failing(failure, lambda: run(Script(failure), partial_output=lambda _state: True, fallback=lambda _p, _s: True))


# --- hooks ---------------------------------------------------------------------------------------------------------


def shortened(plan: Any, state: Any) -> bool:
    state.kwargs["prompt"] = state.kwargs["prompt"][: plan.compress_to_tokens]
    return True


def test_compress_repairs_an_overflow_once(run: Runner) -> None:
    script = Script(OVERFLOW, "answer")
    assert run(script, {"prompt": "x" * 20}, compress=shortened, context_length=10) == "answer"
    assert [len(c["prompt"]) for c in script.calls] == [20, 7]
    assert run.waits == [0]


def test_a_second_overflow_is_raised(run: Runner) -> None:
    script = Script(OVERFLOW)
    failing(OVERFLOW, lambda: run(script, {"prompt": "x"}, compress=shortened, context_length=10))
    assert len(script.calls) == 2


def test_an_overflow_after_another_failure_is_still_compressed(run: Runner) -> None:
    script = Script(with_status(503, retry_after=1), OVERFLOW, "answer")
    assert run(script, {"prompt": "x"}, compress=shortened, context_length=10) == "answer"


def test_rotate_gives_another_credential(run: Runner) -> None:
    def rotate(_plan: Any, state: Any) -> bool:
        state.kwargs["key"] = "second"
        return True

    script = Script(with_status(401), "answer")
    assert run(script, {"key": "first"}, rotate=rotate) == "answer"
    assert script.calls[1] == {"key": "second"}


def test_a_hook_that_has_nothing_left_ends_the_retries(run: Runner) -> None:
    failure = with_status(401)
    keys = ["second"]
    script = Script(failure)
    failing(failure, lambda: run(script, rotate=lambda _p, _s: bool(keys and keys.pop())))
    assert len(script.calls) == 2


def test_fallback_comes_when_the_retries_are_used_up_and_the_count_begins_anew(run: Runner) -> None:
    def fall_back(plan: Any, state: Any) -> bool:
        state.kwargs["model"] = "other"
        return bool(plan.should_fallback_model)

    script = Script(*[with_status(503, retry_after=0)] * 5, "answer")
    assert run(script, {"model": "m"}, fallback=fall_back) == "answer"
    assert [c["model"] for c in script.calls] == ["m"] * 4 + ["other"] * 2


def test_hooks_that_always_say_yes_do_not_loop_for_ever(run: Runner) -> None:
    failure = with_status(503, retry_after=0)
    script = Script(failure)
    failing(failure, lambda: run(script, max_retries=1, fallback=lambda _p, _s: True))
    assert len(script.calls) == 4


def test_a_hook_that_fails_leaves_the_provider_s_failure_the_news(
    run: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_plan: Any, _state: Any) -> bool:
        raise RuntimeError("the hook's own")

    failure = with_status(401)
    with caplog.at_level(logging.WARNING, logger="llm_errors"):
        failing(failure, lambda: run(Script(failure), rotate=broken))
    assert "recovery hook failed" in caplog.text


async def test_hooks_may_be_coroutine_functions() -> None:
    async def compress(plan: Any, state: Any) -> bool:
        await asyncio.sleep(0)
        return shortened(plan, state)

    script = Script(OVERFLOW, "answer")

    @tenacity.retry(**llm_retry(compress=compress, context_length=10))
    async def ask(prompt: str) -> Any:
        return script(prompt=prompt)

    assert await ask(prompt="x" * 20) == "answer"
    assert [len(c["prompt"]) for c in script.calls] == [20, 7]


async def test_a_coroutine_hook_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_plan: Any, _state: Any) -> bool:
        raise RuntimeError("the hook's own")

    @tenacity.retry(**llm_retry(rotate=broken))
    async def ask() -> Any:
        raise with_status(401)

    with caplog.at_level(logging.WARNING, logger="llm_errors"), pytest.raises(CallError):
        await ask()
    assert "recovery hook failed" in caplog.text


async def test_coroutine_hooks_leave_other_failures_to_the_plan() -> None:
    async def compress(_plan: Any, _state: Any) -> bool:
        raise AssertionError

    script = Script(with_status(503, retry_after=0), with_status(400))

    @tenacity.retry(**llm_retry(compress=compress))
    async def ask() -> Any:
        return script()

    with pytest.raises(CallError):
        await ask()
    assert len(script.calls) == 2


# --- as tenacity's own strategies ----------------------------------------------------------------------------------


def test_the_strategies_combine_with_tenacity_s() -> None:
    script = Script(KeyError("x"), with_status(503, retry_after=2), "answer")
    waits: list[float] = []
    retrying = tenacity.Retrying(
        retry=retry_if_llm_retryable(provider="openai") | tenacity.retry_if_exception_type(KeyError),
        wait=wait_llm(provider="openai") + tenacity.wait_fixed(1),
        stop=stop_after_llm_retries(max_retries=5) | tenacity.stop_after_attempt(4),
        sleep=waits.append,
    )
    assert retrying(script) == "answer"
    assert waits == [1, 3]


def test_stop_alone_bounds_the_retries() -> None:
    script = Script(KeyError("x"))
    retrying = tenacity.Retrying(stop=stop_after_llm_retries(max_retries=2), sleep=lambda _s: None)
    with pytest.raises(tenacity.RetryError):
        retrying(script)
    assert len(script.calls) == 3


def test_a_retrying_loop_works_too() -> None:
    attempts = []
    for attempt in tenacity.Retrying(sleep=lambda _s: None, **llm_retry(provider="openai")):
        with attempt:
            attempts.append(1)
            if len(attempts) < 3:
                raise with_status(503)
    assert len(attempts) == 3


def test_before_the_first_outcome_there_is_nothing_to_plan() -> None:
    state = tenacity.RetryCallState(tenacity.Retrying(), None, (), {})
    assert wait_llm()(state) == 0
    assert llm_retry()["retry_error_callback"](state) is None


# --- the guard -----------------------------------------------------------------------------------------------------


def test_a_client_that_retries_by_itself_is_warned_about() -> None:
    with pytest.warns(SecondRetryLayerWarning):
        llm_retry(clients=[Space(max_retries=2)])


def test_a_second_layer_that_shows_in_a_failure_is_logged_once_per_call(
    run: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    retried = with_status(503, retry_after=0, request=Space(headers={"x-stainless-retry-count": "2"}))
    with caplog.at_level(logging.WARNING, logger="llm_errors"):
        failing(retried, lambda: run(Script(retried)))
    assert caplog.text.count("one layer is enough") == 1
