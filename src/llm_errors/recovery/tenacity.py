"""Contains strategies for tenacity, which retries as `plan` advises: whether, when, and what to change before.

    from tenacity import retry
    from llm_errors.recovery.tenacity import llm_retry

    @retry(**llm_retry(provider="openai", model="gpt-5", clients=[client]))
    def ask(prompt): ...

This works for functions and coroutine functions. One retry layer is enough: switch the retries of the SDK off
(`max_retries=0`). `llm_retry` warns about each of the `clients` that still retries.

The hooks `compress`, `rotate` and `fallback` repair failures that a plain retry cannot. A hook receives the plan and tenacity's
retry state, and returns True if it has changed something, for example `state.kwargs["model"]`. This module needs the extra
`tenacity`.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tenacity import RetryCallState, retry_base
from tenacity.asyncio.retry import async_retry_base
from tenacity.stop import stop_base
from tenacity.wait import wait_base

from llm_errors.recovery import backoff
from llm_errors.recovery.layers import log_second_layer, warn_of_second_layer
from llm_errors.recovery.plan import MAX_RETRIES, RecoveryPlan, plan
from llm_errors.taxonomy import ErrorClass

_LOG = logging.getLogger("llm_errors")

Hook = Callable[[RecoveryPlan, RetryCallState], bool | Awaitable[bool]]

RETRY, STOP, COMPRESS, ROTATE, FALLBACK = "retry", "stop", "compress", "rotate", "fallback"
_PROGRESS = "llm_progress"


@dataclass(frozen=True)
class LlmPolicy:
    """The settings that the strategies of one retried function share.

    `max_retries` is the maximum number of retries with one model and one credential. It also limits how often `rotate` and
    `fallback` are called; 0 switches retries and hooks off. `compress` is called at most once in each call of the function. If
    `results` is true, a failure inside a returned answer is retried like a raised error. `partial_output` is a function of the
    retry state. If it returns True, a part of the answer has reached the user, and nothing is retried.
    """

    provider: str = ""
    model: str = ""
    max_retries: int = MAX_RETRIES
    cap: float = backoff.CAP
    context_length: int | None = None
    results: bool = True
    compress: Hook | None = None
    rotate: Hook | None = None
    fallback: Hook | None = None
    partial_output: Callable[[RetryCallState], bool] | None = None

    def plan(self, state: RetryCallState) -> RecoveryPlan:
        """The plan for the attempt that has just ended. Several strategies ask for it, but it is created once."""
        progress = _progress(state)
        if progress.attempt != state.attempt_number:
            progress.attempt = state.attempt_number
            progress.plan = self._make(state, progress)
        return progress.plan

    def _make(self, state: RetryCallState, progress: "_Progress") -> RecoveryPlan:
        failure = self._failure(state)
        if not progress.warned:
            progress.warned = log_second_layer(failure)
        return plan(
            failure,
            provider=self.provider,
            model=self.model,
            attempt=state.attempt_number - progress.restarted_at,
            context_length=self.context_length,
            max_retries=self.max_retries,
            cap=self.cap,
            partial_output=self.partial_output is not None and self.partial_output(state),
            repaired=False,
        )

    def _failure(self, state: RetryCallState) -> Any:
        outcome = state.outcome
        if outcome is None:
            return None
        if outcome.failed:
            return outcome.exception()
        return outcome.result() if self.results else None

    def action(self, state: RetryCallState) -> str:
        """The next step: `RETRY`, `STOP`, or the name of the hook to call."""
        advice, done = self.plan(state), _progress(state).done
        if advice.error_class is None or self.max_retries < 1:
            return STOP
        if advice.should_compress_context:
            return COMPRESS if self.compress and advice.is_retryable and COMPRESS not in done else STOP
        if advice.classification is not None and advice.classification.partial_output:
            return STOP
        if advice.should_rotate_credential:
            return ROTATE if self.rotate and done.count(ROTATE) < self.max_retries else STOP
        if advice.is_retryable:
            return STOP if advice.error_class is ErrorClass.TOOL_PROTOCOL and RETRY in done else RETRY
        return FALLBACK if self._may_fall_back(advice, done) else STOP

    def _may_fall_back(self, advice: RecoveryPlan, done: list[str]) -> bool:
        return bool(self.fallback) and advice.should_fallback_model and done.count(FALLBACK) < self.max_retries

    def hook(self, action: str) -> Hook | None:
        """The hook that an action calls, or None."""
        return {COMPRESS: self.compress, ROTATE: self.rotate, FALLBACK: self.fallback}.get(action)


@dataclass
class _Progress:
    """Records what was done so far in one call of the function. It is stored as an attribute of tenacity's retry state."""

    attempt: int = 0
    plan: RecoveryPlan = field(default_factory=lambda: plan(None))
    restarted_at: int = 0
    """The number of the last attempt before the credential or the model was changed. The plan counts attempts from there."""
    done: list[str] = field(default_factory=list)
    repaired: bool = False
    warned: bool = False

    def taken(self, action: str, state: RetryCallState) -> bool:
        """Note an action that leads to another attempt, and return True."""
        self.done.append(action)
        self.repaired = action != RETRY
        if action in (ROTATE, FALLBACK):
            self.restarted_at = state.attempt_number
        return True


def _progress(state: RetryCallState) -> _Progress:
    found: _Progress | None = getattr(state, _PROGRESS, None)
    if found is None:
        found = _Progress()
        setattr(state, _PROGRESS, found)
    return found


class retry_if_llm_retryable(retry_base):  # type: ignore[misc]  # noqa: N801 - tenacity's own style for strategies
    """Retries if the plan says that the failure is retryable, or if a hook has repaired something."""

    def __init__(self, policy: LlmPolicy | None = None, **settings: Any) -> None:
        self.policy = policy or LlmPolicy(**settings)

    def __call__(self, retry_state: RetryCallState) -> bool:
        """Call the hook of the next step, if there is one, and return whether to make another attempt."""
        action = self.policy.action(retry_state)
        hook = self.policy.hook(action)
        if hook is not None:
            if not _guarded(hook, self.policy.plan(retry_state), retry_state):
                return False
        elif action == STOP:
            return False
        return _progress(retry_state).taken(action, retry_state)


class async_retry_if_llm_retryable(async_retry_base):  # type: ignore[misc]  # noqa: N801 - tenacity's own style
    """Is `retry_if_llm_retryable` for coroutine functions. Hooks may be coroutine functions or plain functions."""

    def __init__(self, policy: LlmPolicy | None = None, **settings: Any) -> None:
        self.policy = policy or LlmPolicy(**settings)

    async def __call__(self, retry_state: RetryCallState) -> bool:
        """Await the hook of the next step, if there is one, and return whether to make another attempt."""
        action = self.policy.action(retry_state)
        hook = self.policy.hook(action)
        if hook is not None:
            if not await _guarded_async(hook, self.policy.plan(retry_state), retry_state):
                return False
        elif action == STOP:
            return False
        return _progress(retry_state).taken(action, retry_state)


class wait_llm(wait_base):  # type: ignore[misc]  # noqa: N801 - tenacity's own style for strategies
    """Waits as long as the plan says, but does not wait after a hook has repaired something."""

    def __init__(self, policy: LlmPolicy | None = None, **settings: Any) -> None:
        self.policy = policy or LlmPolicy(**settings)

    def __call__(self, retry_state: RetryCallState) -> float:
        """The wait in seconds before the next attempt."""
        return 0.0 if _progress(retry_state).repaired else self.policy.plan(retry_state).backoff_seconds


class stop_after_llm_retries(stop_base):  # type: ignore[misc]  # noqa: N801 - tenacity's own style for strategies
    """Stops after `max_retries` retries with one model and one credential."""

    def __init__(self, policy: LlmPolicy | None = None, **settings: Any) -> None:
        self.policy = policy or LlmPolicy(**settings)

    def __call__(self, retry_state: RetryCallState) -> bool:
        """Whether there are no retries left."""
        return bool(retry_state.attempt_number - _progress(retry_state).restarted_at > self.policy.max_retries)


def llm_retry(*, clients: Iterable[Any] = (), **settings: Any) -> dict[str, Any]:
    """Returns keyword arguments for `tenacity.retry`, `Retrying` and `AsyncRetrying`. `settings` are the fields of `LlmPolicy`.

    If the last attempt fails too, its exception is raised unchanged, or its answer is returned if the failure is inside the
    answer. A warning is issued for each of the `clients` that retries by itself.
    """
    policy = LlmPolicy(**settings)
    warn_of_second_layer(*clients)
    hooks = (policy.compress, policy.rotate, policy.fallback)
    asynchronous = any(inspect.iscoroutinefunction(hook) for hook in hooks)
    condition = async_retry_if_llm_retryable(policy) if asynchronous else retry_if_llm_retryable(policy)
    return {
        "retry": condition,
        "wait": wait_llm(policy),
        "stop": stop_after_llm_retries(policy),
        "reraise": True,
        "retry_error_callback": _last_outcome,
    }


def _last_outcome(state: RetryCallState) -> Any:
    """Return the last answer, or raise the last exception unchanged."""
    return state.outcome.result() if state.outcome is not None else None


def _guarded(hook: Hook, advice: RecoveryPlan, state: RetryCallState) -> bool:
    """Call a hook and return whether it repaired something. If the hook raises, the caller gets the original failure."""
    try:
        return hook(advice, state) is True
    except Exception:  # noqa: BLE001 - an error in a hook must not replace the provider's error
        _LOG.warning("a recovery hook failed", exc_info=True)
        return False


async def _guarded_async(hook: Hook, advice: RecoveryPlan, state: RetryCallState) -> bool:
    try:
        answer = hook(advice, state)
        return (await answer if inspect.isawaitable(answer) else answer) is True
    except Exception:  # noqa: BLE001 - an error in a hook must not replace the provider's error
        _LOG.warning("a recovery hook failed", exc_info=True)
        return False
