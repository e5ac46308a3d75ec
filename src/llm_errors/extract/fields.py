"""Reads fields of SDK objects and plain dicts. A field that raises when it is read counts as missing."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

CODE_LIMIT = 64
TEXT_LIMIT = 2048
"""The number of characters of a message that are read. The rest is neither matched nor exported."""
JSON_LIMIT = 1_000_000
"""The maximum number of characters of a string that is parsed."""
SEQUENCES = (list, tuple)
NO_OBJECTS = (str, bytes, int, float, list, tuple)
"""Types without fields. This is a tuple, because `list | tuple` would create a new object at every evaluation."""


def field(source: Any, *names: str) -> Any:
    """The first of the named fields that an object or mapping has and that is not None; None if there is no such field."""
    mapping = _is_mapping(type(source))  # type: ignore[arg-type]  # every class is hashable
    for name in names:
        try:
            value = source.get(name) if mapping else getattr(source, name, None)
        except Exception:  # noqa: BLE001 - a property of a foreign object may raise; the field then counts as missing
            continue
        if value is not None:
            return value
    return None


def undeclared(source: Any, name: str) -> Any:
    """A field that SDK models rarely declare. It is read from pydantic's storage, because a failed attribute access is slow."""
    if not hasattr(type(source), "__pydantic_extra__"):
        return field(source, name)
    value = vars(source).get(name)
    return value if value is not None else field(field(source, "__pydantic_extra__"), name)


def shown(source: Any) -> Any:
    """All fields of an SDK model as a mapping, because a failed attribute access is slow. Anything else is unchanged."""
    if not hasattr(type(source), "__pydantic_extra__"):
        return source
    own, extra = field(source, "__dict__"), field(source, "__pydantic_extra__")
    return {**own, **extra} if isinstance(own, dict) and isinstance(extra, dict) else source


def is_object(value: Any) -> bool:
    """Whether the value can have fields."""
    return value is not None and not isinstance(value, NO_OBJECTS)


@lru_cache(maxsize=512)
def _is_mapping(kind: type) -> bool:
    """Whether a type is a mapping. The result is cached, because a check with an abstract base class is slow."""
    return issubclass(kind, Mapping)


def items(value: Any) -> list[Any]:
    """The value if it is a list or tuple, else an empty list."""
    return list(value) if isinstance(value, SEQUENCES) else []


def text(value: Any, limit: int = TEXT_LIMIT) -> str:
    """The first `limit` characters of a string, or of the value of a string enumeration member; otherwise empty.

    Half a surrogate pair, which JSON may contain but exporters cannot encode, becomes a question mark.
    """
    raw = getattr(value, "value", value) if isinstance(value, str) else field(value, "value")
    found = raw if isinstance(raw, str) else value if isinstance(value, str) else ""
    clipped = found[:limit]
    return clipped if clipped.isascii() else clipped.encode("utf-8", "replace").decode()


def number(value: Any) -> int | None:
    """An integer (not a bool), or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def printable(value: str, limit: int = CODE_LIMIT) -> str:
    """The printable part of the first `limit` characters."""
    return "".join(c for c in value[:limit] if c.isprintable())


def parsed(value: Any) -> Any:
    """The value of a JSON text; anything else unchanged. A page or an invalid text stays a string."""
    if isinstance(value, bytes | bytearray):
        value = bytes(value[:JSON_LIMIT]).decode("utf-8", "replace")
    if isinstance(value, str) and value[:64].lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value[:JSON_LIMIT])
        except (ValueError, RecursionError):
            return value
    return value


def is_json(value: str) -> bool:
    """Whether the text is valid JSON. A text that is too long to parse counts as valid."""
    if len(value) > JSON_LIMIT:
        return True
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True
