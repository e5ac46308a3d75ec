"""Wrappers for functions that SDKs call between two attempts, with the failed response or, after a network error, None."""

import sys
from types import SimpleNamespace
from typing import Any

from llm_errors.extract import exceptions
from llm_errors.extract.fields import field
from llm_errors.instrument.protocol import Function, Wrap
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly


def _observe(edge: Edge, args: tuple[Any, ...], response: Any) -> None:
    call = edge.active(args)
    if call is None:
        return
    raised, dialect, provider = sys.exc_info()[1], call.info.dialect, call.info.provider
    if response is not None:
        content = exceptions.loaded(response)
        status = field(response, "status_code", "status")
        told = SimpleNamespace(status_code=status, headers=field(response, "headers"), _content=content)
        call.retried(exceptions.of_response(told, dialect, provider))
    elif raised is not None:
        call.retried(exceptions.read(raised, dialect, provider, call.ambient))


def waits(place: int, name: str = "response") -> Wrap:
    """The wrapper of a plain function. The response is the argument with this name, or at this position after the object."""

    def wrap(edge: Edge, original: Function) -> Function:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            quietly("retry", None, _observe, edge, args, kwargs.get(name, args[place] if len(args) > place else None))
            return original(*args, **kwargs)

        return wrapper

    return wrap


def waits_async(place: int, name: str = "response") -> Wrap:
    """The same for a coroutine function."""

    def wrap(edge: Edge, original: Function) -> Function:
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            quietly("retry", None, _observe, edge, args, kwargs.get(name, args[place] if len(args) > place else None))
            return await original(*args, **kwargs)

        return wrapper

    return wrap
