"""Wrappers of functions that may refuse a call before the request, because its arguments or its key are wrong."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import causes, exceptions
from llm_errors.extract.answer import Answer
from llm_errors.instrument.adapters.unreadable import names_of
from llm_errors.instrument.protocol import Function, Wrap
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly


@runtime_checkable
class Refusing(Protocol):
    """An adapter of an SDK that refuses some calls before it sends a request."""

    def refused(self, instance: Any, exc: BaseException, given: Sequence[Any] = ()) -> CallInfo | None:
        """The call that was refused with this exception. `given` are the patched function's arguments except the object."""
        ...


def _refused(edge: Edge, given: Sequence[Any], exc: BaseException) -> None:
    adapter: Any = edge.adapter
    first = given[0] if given else None
    info = adapter.refused(first, exc, given[1:]) if isinstance(adapter, Refusing) else None
    call = edge.late(info, perf_counter()) if info is not None else None
    if info is not None and call is not None:
        call.settle(Answer(), adapter.failure(call, exc) or _evidence(info, exc))
        call.leave()


def _evidence(info: CallInfo, exc: BaseException) -> Evidence:
    """Evidence of a refusal. An error of Python or of pydantic, such as one about a file, is about the arguments."""
    found = exceptions.read(exc, info.dialect, info.provider)
    known = any(causes.is_transport(names) or causes.dialect_of(names) for names in found.exceptions)
    if known or found.status or found.codes or found.facts:
        return found
    own = (names_of(exc), *found.exceptions[1:])
    return replace(found, facts=frozenset(("refused_by_sdk",)), exceptions=own)


def refusal(edge: Edge, original: Function) -> Function:
    """The wrapper of a function that raises if the request is refused."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except Exception as exc:
            quietly("refused", None, _refused, edge, (*args, *kwargs.values()), exc)
            raise

    return wrapper


def refusal_of_steps(edge: Edge, original: Function) -> Function:
    """The same for a generator function."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            yield from original(*args, **kwargs)
        except Exception as exc:
            quietly("refused", None, _refused, edge, (*args, *kwargs.values()), exc)
            raise

    return wrapper


def refusal_in(*steps: str) -> Wrap:
    """The wrapper of a method that sends a request. Before that, the method, or one of the functions `steps`, may refuse it."""

    def wrap(edge: Edge, original: Function) -> Function:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except Exception as exc:
                quietly("refused", None, _refused_in, steps, edge, (*args, *kwargs.values()), exc)
                raise

        return wrapper

    return wrap


def refusal_in_async(*steps: str) -> Wrap:
    """The same for a coroutine function."""

    def wrap(edge: Edge, original: Function) -> Function:
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                return await original(*args, **kwargs)
            except Exception as exc:
                quietly("refused", None, _refused_in, steps, edge, (*args, *kwargs.values()), exc)
                raise

        return wrapper

    return wrap


def _refused_in(steps: tuple[str, ...], edge: Edge, given: Sequence[Any], exc: Exception) -> None:
    _, *names = causes.passed(exc)  # the names of the wrapper, the method, and the functions that it called
    if names[1:2] in [[step] for step in steps] or (len(names) == 1 and isinstance(exc, ValueError)):
        _refused(edge, given, exc)
