"""Reading one field of anything: SDK object or plain dict, well-behaved or hostile."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

CODE_LIMIT = 64
TEXT_LIMIT = 2048
"""Characters of a message that are ever looked at; everything behind is neither matched nor exported."""
JSON_LIMIT = 1_000_000
"""Characters of a string that are ever parsed."""
SEQUENCES = (list, tuple)
NO_OBJECTS = (str, bytes, int, float, list, tuple)
"""What has no fields. Tuples, since `list | tuple` is made anew wherever it is evaluated."""


def field(source: Any, *names: str) -> Any:
    """The first of the named fields that is there and not None, of an object or a mapping; None if reading fails."""
    mapping = _is_mapping(type(source))  # type: ignore[arg-type]  # every class is hashable
    for name in names:
        try:
            value = source.get(name) if mapping else getattr(source, name, None)
        except Exception:  # noqa: BLE001 - a property of a foreign object may raise anything; then the field is not there
            continue
        if value is not None:
            return value
    return None


def undeclared(source: Any, name: str) -> Any:
    """A field that models of SDKs do not declare as a rule, taken from where pydantic keeps it: asking in vain is slow."""
    if not hasattr(type(source), "__pydantic_extra__"):
        return field(source, name)
    value = vars(source).get(name)
    return value if value is not None else field(field(source, "__pydantic_extra__"), name)


def shown(source: Any) -> Any:
    """An SDK's model as a mapping of all that it holds: asking it for many a field that it has not is slow."""
    if not hasattr(type(source), "__pydantic_extra__"):
        return source
    own, extra = field(source, "__dict__"), field(source, "__pydantic_extra__")
    return {**own, **extra} if isinstance(own, dict) and isinstance(extra, dict) else source


def is_object(value: Any) -> bool:
    """Whether it can have fields."""
    return value is not None and not isinstance(value, NO_OBJECTS)


@lru_cache(maxsize=512)
def _is_mapping(kind: type) -> bool:
    """Asked of every object that is read, and the answer of an abstract base class takes its time."""
    return issubclass(kind, Mapping)


def items(value: Any) -> list[Any]:
    """The value if it is a list or tuple, else an empty list."""
    return list(value) if isinstance(value, SEQUENCES) else []


def text(value: Any, limit: int = TEXT_LIMIT) -> str:
    """A string clipped to `limit` characters; the value of a string enumeration member; otherwise empty.

    Half a surrogate pair, which JSON may hold and no exporter can encode, becomes a question mark.
    """
    raw = getattr(value, "value", value) if isinstance(value, str) else field(value, "value")
    found = raw if isinstance(raw, str) else value if isinstance(value, str) else ""
    clipped = found[:limit]
    return clipped if clipped.isascii() else clipped.encode("utf-8", "replace").decode()


def number(value: Any) -> int | None:
    """A whole number (no bool), or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def printable(value: str, limit: int = CODE_LIMIT) -> str:
    """The printable part of the first `limit` characters."""
    return "".join(c for c in value[:limit] if c.isprintable())


def parsed(value: Any) -> Any:
    """A JSON text as what it says, anything else as it is; a page or a broken text stays a string."""
    if isinstance(value, bytes | bytearray):
        value = bytes(value[:JSON_LIMIT]).decode("utf-8", "replace")
    if isinstance(value, str) and value[:64].lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value[:JSON_LIMIT])
        except (ValueError, RecursionError):
            return value
    return value


def is_json(value: str) -> bool:
    """Whether the text is valid JSON; one that is too long to look at is taken to be."""
    if len(value) > JSON_LIMIT:
        return True
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True
