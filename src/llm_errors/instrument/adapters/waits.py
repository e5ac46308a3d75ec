"""Wrappers for functions that SDKs call between two attempts. They receive the failed response; None after a network error."""

import sys
from types import SimpleNamespace
from typing import Any

from llm_errors.extract import exceptions
from llm_errors.extract.fields import field
from llm_errors.instrument.protocol import Wrap
from llm_errors.instrument.wrappers import Edge, before, before_async


def _observe(edge: Edge, position: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    call = edge.active(args)
    if call is None:
        return
    response = kwargs.get(name, args[position] if len(args) > position else None)
    raised, dialect, provider = sys.exc_info()[1], call.info.dialect, call.info.provider
    if response is not None:
        content = exceptions.loaded(response)
        status = field(response, "status_code", "status")
        failed = SimpleNamespace(status_code=status, headers=field(response, "headers"), _content=content)
        call.retried(exceptions.of_response(failed, dialect, provider))
    elif raised is not None:
        call.retried(exceptions.read(raised, dialect, provider, call.ambient))


def waits(position: int, name: str = "response") -> Wrap:
    """The wrapper of a plain method. The response is the keyword `name`, or the argument at `position`; 0 is the object."""
    return lambda edge, original: before(original, "retry", _observe, edge, position, name)


def waits_async(position: int, name: str = "response") -> Wrap:
    """The same for a coroutine function."""
    return lambda edge, original: before_async(original, "retry", _observe, edge, position, name)
