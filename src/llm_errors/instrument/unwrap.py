"""Where a function sits: in its class, or inside what other instrumentations have put around it.

A place is an object and the name of the attribute that holds the function: a class, a proxy of wrapt (`__wrapped__`), or the
cell of a closure made with `functools.wraps` (`cell_contents`).
"""

from collections.abc import Iterator
from types import FunctionType
from typing import Any

import wrapt

Place = tuple[Any, str]

_Proxy: Any = getattr(wrapt, "BaseObjectProxy", wrapt.ObjectProxy)
"""The base of every proxy; in wrapt 2 `ObjectProxy` is only one of its subclasses."""


def static(owner: Any, attribute: str) -> Any:
    """The attribute as it stands in the class that defines it, unbound, or in the module."""
    owners = getattr(owner, "__mro__", (owner,))
    return next((vars(c)[attribute] for c in owners if attribute in vars(c)), None)


def layers(owner: Any, attribute: str) -> Iterator[tuple[Place, Any]]:
    """Every place on the way from the class to the SDK's own function, and what is there; outermost first."""
    place: Place | None = (owner, attribute)
    function = static(owner, attribute)
    package = getattr(owner, "__module__", owner.__name__).partition(".")[0]
    while place is not None:
        yield place, function
        place = _inside(function, package)
        function = getattr(*place) if place is not None else None


def _inside(function: Any, package: str) -> Place | None:
    """Where a wrapper keeps the function it wraps; None for the SDK's own function, decorated or not."""
    if isinstance(function, _Proxy):
        return function, "__wrapped__"
    if not isinstance(function, FunctionType) or function.__globals__.get("__name__", "").partition(".")[0] == package:
        return None
    wrapped = vars(function).get("__wrapped__")
    for cell in function.__closure__ or ():
        inner = _contents(cell)
        ours = vars(inner).get("__wrapped__") if isinstance(inner, FunctionType) else None  # once we are in there
        if wrapped is not None and (inner is wrapped or ours is wrapped):
            return cell, "cell_contents"
    return None


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has not been assigned yet
        return None
