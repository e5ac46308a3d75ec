"""Strategies for tenacity: it does the retrying, the plan says whether, when, and what to change first.

    from tenacity import retry
    from llm_errors.recovery.tenacity import llm_retry

    @retry(**llm_retry(provider="openai", model="gpt-5", clients=[client]))
    def ask(prompt): ...

Works for functions and coroutine functions. One retry layer is enough: switch the SDK's own off (`max_retries=0`), for
which `clients` are checked. Hooks repair what a plain retry cannot cure; each gets the plan and tenacity's retry state,
and returns True if it has changed something, for instance `state.kwargs["model"]`. Needs the extra `tenacity`.
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
    """What the strategies of one retried function share.

    `max_retries` bounds the retries of one model under one credential, and how often `rotate` and `fallback` are asked;
    0 switches everything off. `compress` is called at most once per call. `results` says whether returned answers are
    read too: a failure inside an answer is retried like a raised one. `partial_output` tells, from the retry state,
    whether a part of the answer has reached the user; then nothing is retried.
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
        """The plan for the attempt that has just ended, made once."""
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
        """What comes next: retry, stop, or one of the hooks."""
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
        """The hook of an action."""
        return {COMPRESS: self.compress, ROTATE: self.rotate, FALLBACK: self.fallback}.get(action)


@dataclass
class _Progress:
    """What has been done about one call; kept on tenacity's state of that call."""

    attempt: int = 0
    plan: RecoveryPlan = field(default_factory=lambda: plan(None))
    restarted_at: int = 0
    """The attempt after which the count began anew, with another credential or model."""
    done: list[str] = field(default_factory=list)
    repaired: bool = False
    warned: bool = False

    def taken(self, action: str, state: RetryCallState) -> bool:
        """Note an action that leads to a further attempt."""
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
    """Retry what the plan calls retryable, or what a hook has repaired."""

    def __init__(self, policy: LlmPolicy | None = None, **settings: Any) -> None:
        self.policy = policy or LlmPolicy(**settings)

    def __call__(self, retry_state: RetryCallState) -> bool:
        """Whether there is a next attempt; a hook, if one is due, has run then."""
        action = self.policy.action(retry_state)
        hook = self.policy.hook(action)
        if hook is not None:
            if not _guarded(hook, self.policy.plan(retry_state), retry_state):
                return False
        elif action == STOP:
            return False
        return _progress(retry_state).taken(action, retry_state)


class async_retry_if_llm_retryable(async_retry_base):  # type: ignore[misc]  # noqa: N801 - tenacity's own style
    """The same for coroutine functions whose hooks are coroutine functions (plain ones are fine too)."""

    def __init__(self, policy: LlmPolicy | None = None, **settings: Any) -> None:
        self.policy = policy or LlmPolicy(**settings)

    async def __call__(self, retry_state: RetryCallState) -> bool:
        """Whether there is a next attempt; a hook, if one is due, has been awaited then."""
        action = self.policy.action(retry_state)
        hook = self.policy.hook(action)
        if hook is not None:
            if not await _guarded_async(hook, self.policy.plan(retry_state), retry_state):
                return False
        elif action == STOP:
            return False
        return _progress(retry_state).taken(action, retry_state)


class wait_llm(wait_base):  # type: ignore[misc]  # noqa: N801 - tenacity's own style for strategies
    """Wait as the provider asks, else by the backoff of the plan; not at all after a repair."""

    def __init__(self, policy: LlmPolicy | None = None, **settings: Any) -> None:
        self.policy = policy or LlmPolicy(**settings)

    def __call__(self, retry_state: RetryCallState) -> float:
        """Seconds before the next attempt."""
        return 0.0 if _progress(retry_state).repaired else self.policy.plan(retry_state).backoff_seconds


class stop_after_llm_retries(stop_base):  # type: ignore[misc]  # noqa: N801 - tenacity's own style for strategies
    """Stop after `max_retries` retries with one model and one credential."""

    def __init__(self, policy: LlmPolicy | None = None, **settings: Any) -> None:
        self.policy = policy or LlmPolicy(**settings)

    def __call__(self, retry_state: RetryCallState) -> bool:
        """Whether the retries are used up."""
        return bool(retry_state.attempt_number - _progress(retry_state).restarted_at > self.policy.max_retries)


def llm_retry(*, clients: Iterable[Any] = (), **settings: Any) -> dict[str, Any]:
    """Keywords for `tenacity.retry`, `Retrying` and `AsyncRetrying`; `settings` are the fields of `LlmPolicy`.

    The last failure is re-raised as it is, a last answer is returned. `clients` that retry by themselves are warned
    about.
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
    """The last answer, or its exception raised as it is."""
    return state.outcome.result() if state.outcome is not None else None


def _guarded(hook: Hook, advice: RecoveryPlan, state: RetryCallState) -> bool:
    """Whether a hook repaired something. One that raises has not; the failure that it was to cure stays the news."""
    try:
        return hook(advice, state) is True
    except Exception:  # noqa: BLE001 - the application's own code; its error must not replace the provider's
        _LOG.warning("a recovery hook failed", exc_info=True)
        return False


async def _guarded_async(hook: Hook, advice: RecoveryPlan, state: RetryCallState) -> bool:
    try:
        answer = hook(advice, state)
        return (await answer if inspect.isawaitable(answer) else answer) is True
    except Exception:  # noqa: BLE001 - as above
        _LOG.warning("a recovery hook failed", exc_info=True)
        return False
