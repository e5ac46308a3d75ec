"""Finds the exceptions and the literal values that an installed SDK declares, in its own types."""

import dataclasses
import enum
import importlib
import inspect
import pkgutil
import re
import typing
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

_REQUESTS = re.compile(r"(_params?|\.__main__|\.cli|\.tests?)(\.|$)")
"""Modules that describe requests or are programs: their values are the caller's."""
_TWINS = ("TypedDict", "Dict", "Param", "Params")
"""Ends of the names of dictionaries that repeat a model, or that describe a request."""


class Value(NamedTuple):
    """One literal value, and the field that may hold it, as `Class.field`."""

    field: str
    value: str

    def __str__(self) -> str:
        """As a test names it."""
        return f"{self.field} = {self.value!r}"


def modules(*names: str) -> Iterator[ModuleType]:
    """The modules, and those below each name that ends in `.*`. What cannot be imported here is left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                root = importlib.import_module(name.removesuffix(".*"))
            except ImportError:
                continue  # another release has it
            yield root
            if name.endswith(".*"):
                yield from _below(root)


def _below(root: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(getattr(root, "__path__", ()), root.__name__ + ".", onerror=lambda _: None):
        if _REQUESTS.search(found.name):
            continue
        try:
            yield importlib.import_module(found.name)
        except Exception:
            continue  # a part of the SDK that needs something else installed


def exceptions(*names: str) -> dict[str, type[Exception]]:
    """The public exception classes of these modules, by their names."""
    found: dict[str, type[Exception]] = {}
    for module in modules(*names):
        for name in _exported(module):
            cls = _attribute(module, name)
            is_own = inspect.isclass(cls) and cls.__module__.split(".")[0] == module.__name__.split(".")[0]
            if is_own and issubclass(cls, Exception) and not issubclass(cls, Warning):
                found.setdefault(cls.__name__, cls)
    return found


def _attribute(module: ModuleType, name: str) -> Any:
    try:
        return getattr(module, name, None)
    except Exception:
        return None  # loaded lazily, with something else that is not installed


def _exported(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None) or list(vars(module))
    return [name for name in names if not name.startswith("_")]


def values(wanted: re.Pattern[str], *names: str) -> Iterator[Value]:
    """The literals of every field whose `Class.field` matches, in the models of these modules."""
    seen: set[Value] = set()
    for module in modules(*names):
        for cls in list(vars(module).values()):
            if not inspect.isclass(cls) or cls.__module__ != module.__name__ or cls.__name__.endswith(_TWINS):
                continue
            for name, annotation in _fields(cls).items():
                if not wanted.search(f"{cls.__name__}.{name}"):
                    continue
                for value in literals(annotation):
                    if (found := Value(f"{cls.__name__}.{name}", value)) not in seen:
                        seen.add(found)
                        yield found


def _fields(cls: type) -> dict[str, Any]:
    if issubclass(cls, enum.Enum):  # where models name their enumerations in a way that only a type checker can follow
        return {"value": cls}
    if hasattr(cls, "model_fields"):
        return {name: field.annotation for name, field in cls.model_fields.items()}
    if not (dataclasses.is_dataclass(cls) or typing.is_typeddict(cls)):
        return {}
    try:
        return typing.get_type_hints(cls)
    except Exception:
        return {}  # an annotation that only a type checker can resolve


def literals(annotation: Any) -> Iterator[str]:
    """The strings that an annotation allows: literals and members of enumerations, however deep."""
    if inspect.isclass(annotation) and issubclass(annotation, enum.Enum):
        yield from (member.value for member in annotation if isinstance(member.value, str))
    elif typing.get_origin(annotation) is typing.Literal:
        yield from (value for value in typing.get_args(annotation) if isinstance(value, str))
    else:
        for part in typing.get_args(annotation):
            if not isinstance(part, str):
                yield from literals(part)
