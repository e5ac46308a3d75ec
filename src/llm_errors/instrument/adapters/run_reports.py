"""Reports what a framework detects in a run: a limit, or a model answer that it cannot use.

A run that ends with one of the exceptions of its target is reported. A limit is counted as a call. An answer that the
framework cannot use is counted as a failure of the last model call, unless that call was already counted as failed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import causes, exceptions
from llm_errors.extract.answer import Answer, suspect
from llm_errors.instrument import runs
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Target
from llm_errors.instrument.runs import Run
from llm_errors.instrument.wrappers import Edge


@dataclass(frozen=True)
class Watched(Target):
    """A function of a framework to patch.

    `limits` are class names of exceptions that end a run because a limit is reached or a guardrail refuses. `verdicts` are
    class names of exceptions for an answer that the framework cannot use.
    """

    lost: str = "some limits of runs, or answers that the framework cannot use, will not be counted; model calls are"
    limits: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    in_band: Callable[[Any, Any], str] | None = None
    """Returns the fact of a limit that ended a run without an exception, or an empty text.

    The arguments are the object of the method, and what the method returned or yielded."""
    elsewhere: tuple[str, ...] = ()
    """If the function is a constructor: the modules that create the exception once more for a run that was counted already."""


def begin(edge: Edge, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run | None:
    """The run that begins, or None to ignore it."""
    if not edge.patcher.active:
        return None
    info = edge.adapter.describe(edge.target, *edge.bound(args), kwargs)
    return None if info is None else Run(edge.recorder, info)


def failed(edge: Edge, run: Run | None, exc: BaseException) -> None:
    """Report what a run, or a function inside it, raised, if it is one of the exceptions of the target."""
    target = edge.target
    if not isinstance(target, Watched) or run is None or exceptions.is_cancellation(exc):
        return
    first = exceptions.first_failure(exc)
    names = {name.rpartition(".")[2] for name in causes.names(first)}
    if runs.counted(first):
        return
    if not names.isdisjoint(target.limits):
        runs.count(first)
        _limit(edge, run, first)
    elif not names.isdisjoint(target.verdicts):
        runs.count(first)
        _verdict(edge, run, first)


def _limit(edge: Edge, run: Run, failure: BaseException | str) -> None:
    """Count a limit, once per run. The provider and the model are those of the last model call."""
    if run.limited:
        return
    run.limited = True
    info, last = run.info, run.with_call().last
    if last is not None:
        info = info._replace(provider=last.provider, model=last.model)
    _report(edge, run, info, failure, counted=False)
    if run.parent is not None:
        run.parent.failed_within()


def looked(edge: Edge, run: Run, args: tuple[Any, ...], result: Any) -> None:
    """Report a limit, if a function has returned or yielded a result that shows one."""
    target = edge.target
    fact = (
        target.in_band(args[0] if args else None, result)
        if isinstance(target, Watched) and target.in_band is not None
        else ""
    )
    if fact:
        _limit(edge, run, fact)


def _verdict(edge: Edge, run: Run, failure: BaseException) -> None:
    """Count an unusable answer as a failure of the last model call, or as a call if no model call was observed."""
    asked = run.with_call()
    if asked.last is None:
        _report(edge, run, run.info, failure, counted=False)
    elif asked.answered:
        asked.rejected()
        _report(edge, asked, asked.last, failure, counted=True)


def _report(edge: Edge, run: Run, info: CallInfo, failure: BaseException | str, counted: bool) -> None:
    recorder = edge.recorder
    scope = recorder.open_on(info, recorder.agent_span() or run.span, not counted)
    if scope is None:
        return
    call = Invocation(edge.adapter, info, recorder, scope)
    call.run = None  # this is not a model call
    call.counted = counted
    call.since(perf_counter(), None)
    if isinstance(failure, str):
        call.settle(Answer(suspect("", failure)))
    else:
        call.failed(failure)
    call.leave()
