"""Finds an SDK's function in its class or inside the wrappers of other instrumentations.

A place is an object and the name of its attribute that holds the function: a class, a proxy of wrapt (`__wrapped__`), or the
cell of a closure that uses `functools.wraps` (`cell_contents`).
"""

from collections.abc import Iterator
from types import FunctionType
from typing import Any

import wrapt

Place = tuple[Any, str]

_Proxy: Any = getattr(wrapt, "BaseObjectProxy", wrapt.ObjectProxy)
"""The base class of every proxy. In wrapt 2, `ObjectProxy` is only one of its subclasses."""


def static(owner: Any, attribute: str) -> Any:
    """The attribute in the dictionary of the class that defines it, unbound, or of the module."""
    owners = getattr(owner, "__mro__", (owner,))
    return next((vars(c)[attribute] for c in owners if attribute in vars(c)), None)


def layers(owner: Any, attribute: str, undecorated: bool = False) -> Iterator[tuple[Place, Any]]:
    """Every place from the class to the SDK's own function, with the function at that place; outermost first.

    The SDK's own decorators count as part of its function, unless `undecorated` asks for the function inside them.
    """
    place: Place | None = (owner, attribute)
    function = static(owner, attribute)
    package = "" if undecorated else getattr(owner, "__module__", owner.__name__).partition(".")[0]
    while place is not None:
        yield place, function
        place = _inside(function, package)
        function = getattr(*place) if place is not None else None


def _inside(function: Any, package: str) -> Place | None:
    """The place inside a wrapper that holds the wrapped function; None if `function` is the SDK's own function."""
    if isinstance(function, _Proxy):
        return function, "__wrapped__"
    if not isinstance(function, FunctionType) or function.__globals__.get("__name__", "").partition(".")[0] == package:
        return None
    wrapped = vars(function).get("__wrapped__")
    for cell in function.__closure__ or ():
        inner = _contents(cell)
        # The function inside a wrapper of llm-errors, if `inner` is one.
        ours = vars(inner).get("__wrapped__") if isinstance(inner, FunctionType) else None
        if wrapped is not None and (inner is wrapped or ours is wrapped):
            return cell, "cell_contents"
    return None


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # an unassigned variable
        return None
